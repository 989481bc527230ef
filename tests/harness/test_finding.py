"""What is found at the start of a run, by real files: settings, prompts, trust, and faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sloyd import CodingAgent, ScriptedModel, UsageError
from sloyd.harness.events import HarnessEvent, Notice
from sloyd.harness.options import AgentOptions
from sloyd.harness.resources import Resources, find_resources, start_notices
from sloyd.harness.trust import TrustAnswer, TrustFile
from tests.sloyd_process import run, script


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def found(home: Path, project: Path, **options: object) -> Resources:
    chosen = AgentOptions(cwd=project, **options)  # type: ignore[arg-type]
    return await find_resources(chosen, {"HOME": str(home), "SLOYD_HOME": str(home / ".sloyd")})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that has something of everything."""
    own = tmp_path / "project" / ".sloyd"
    write(own / "config.toml", "[limits]\nturns = 3\n")
    write(own / "SYSTEM.md", "project system")
    write(own / "APPEND_SYSTEM.md", "project addition")
    write(own / "prompts" / "go.md", "project go")
    write(own / "skills" / "one" / "SKILL.md", "---\nname: one\ndescription: d\n---\n")
    write(own / "extensions" / "e.py", "def setup(api):\n    raise ValueError\n")
    write(own.parent / ".agents" / "skills" / "two" / "SKILL.md", "---\ndescription: d\n---\n")
    write(own.parent / "AGENTS.md", "project rules")
    return own.parent


async def test_an_untrusted_project_gives_its_instructions_only(home: Path, project: Path) -> None:
    write(home / ".sloyd" / "SYSTEM.md", "user system")
    resources = await found(home, project)
    assert [file.text for file in resources.context_files][-1] == "project rules"
    assert resources.system_prompt == "user system"
    assert (resources.skills, resources.templates, resources.additions) == ((), (), ())
    assert resources.extension_roots == ()
    assert resources.loaded.settings.limits.turns is None
    (notice,) = start_notices(resources)
    for name in (".sloyd/config.toml", ".sloyd/extensions", ".agents/skills", "--approve"):
        assert name in notice.message


async def test_a_trusted_project_goes_before_the_user(home: Path, project: Path) -> None:
    write(home / ".sloyd" / "SYSTEM.md", "user system")
    write(home / ".sloyd" / "config.toml", "[limits]\nturns = 9\nseconds = 7\n")
    write(home / ".sloyd" / "prompts" / "go.md", "user go")
    resources = await found(home, project, trust_project=True)
    assert resources.system_prompt == "project system"
    assert resources.additions == ("project addition",)
    assert {skill.name for skill in resources.skills} == {"one", "two"}
    assert [template.text for template in resources.templates] == ["project go"]
    assert resources.extension_roots == (project / ".sloyd" / "extensions",)
    limits = resources.loaded.settings.limits
    assert (limits.turns, limits.seconds) == (3, 7)
    assert list(start_notices(resources)) == []


@pytest.mark.parametrize(
    ("answer", "trusted", "saved"),
    [
        ("always", True, "trusted"),
        ("once", True, None),
        ("not-now", False, None),
        ("never", False, "untrusted"),
    ],
)
async def test_the_person_is_asked_once_and_the_answer_kept(
    home: Path, project: Path, answer: TrustAnswer, trusted: bool, saved: str | None
) -> None:
    asked: list[Sequence[Path]] = []

    async def ask(where: Path, what: Sequence[Path]) -> TrustAnswer:
        assert where == project
        asked.append(what)
        return answer

    assert (await found(home, project, ask=ask)).trusted is trusted
    assert TrustFile(home / ".sloyd").decision(project) == saved
    assert (await found(home, project, ask=ask)).trusted is trusted
    assert len(asked) == (2 if saved is None else 1)


async def test_the_flag_counts_more_than_what_was_decided(home: Path, project: Path) -> None:
    file = TrustFile(home / ".sloyd")
    file.decide(project, "untrusted")
    assert (await found(home, project, trust_project=True)).trusted
    file.decide(project, "trusted")
    assert not (await found(home, project, trust_project=False)).trusted
    assert (await found(home, project)).trusted


async def test_the_users_setting_decides_where_nobody_has_and_the_projects_never(
    home: Path, project: Path
) -> None:
    write(project / ".sloyd" / "config.toml", '[sessions]\nproject_trust = "always"\n')
    assert not (await found(home, project)).trusted
    write(home / ".sloyd" / "config.toml", '[sessions]\nproject_trust = "always"\n')
    resources = await found(home, project)
    assert resources.trusted
    assert any("counts in the user's file only" in problem for problem in resources.problems)


async def test_a_no_for_a_folder_with_instructions_only_stays(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write(folder / "AGENTS.md", "rules")
    TrustFile(home / ".sloyd").decide(folder, "untrusted")
    assert not (await found(home, folder)).trusted
    write(folder / ".sloyd" / "prompts" / "x.md", "x")
    assert (await found(home, folder)).templates == ()


async def test_the_users_own_directory_is_no_project(home: Path) -> None:
    write(home / ".sloyd" / "prompts" / "x.md", "x")
    write(home / ".sloyd" / "config.toml", "[limits]\nturns = 2\n")
    resources = await found(home, home)
    assert list(start_notices(resources)) == []
    assert len(resources.templates) == 1
    assert resources.loaded.settings.limits.turns == 2


async def test_everything_broken_is_named_and_stops_nothing(home: Path, tmp_path: Path) -> None:
    own = home / ".sloyd"
    write(own / "config.toml", "[limits]\nturns = 0\n[shel]\npath = 1\n")
    write(own / "skills" / "bad" / "SKILL.md", "---\nname: bad\nx: [\n---\n")
    write(own / "prompts" / "bad.md", "---\na: b: c\n---\n")
    write(own / "extensions" / "bad.py", "def setup(api):\n    api.nothing()\n")
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "missing")
    notices: list[str] = []

    def hear(event: HarnessEvent) -> None:
        if isinstance(event, Notice):
            notices.append(event.message)

    model = ScriptedModel([{"text": "fine"}])
    async with CodingAgent.open(model=model, cwd=tmp_path) as agent:
        agent.subscribe(hear)
        result = await agent.prompt("go")
    assert result.text == "fine"
    for place in ("config.toml:2", "config.toml:3", "SKILL.md:", "bad.md:2", "bad.py:2"):
        assert any(place in notice for notice in notices), place


async def test_a_damaged_list_of_decisions_is_no_permission(home: Path, project: Path) -> None:
    write(home / ".sloyd" / "trust.json", "{")
    resources = await found(home, project)
    assert not resources.trusted
    assert any("trust.json" in problem for problem in resources.problems)


async def test_named_files_are_used_beside_and_without_the_found_ones(
    home: Path, tmp_path: Path
) -> None:
    write(home / ".sloyd" / "prompts" / "kept.md", "kept")
    skill = write(tmp_path / "s" / "SKILL.md", "---\nname: own\ndescription: d\n---\n")
    single = write(tmp_path / "single.md", "---\nname: single\ndescription: d\n---\n")
    template = write(tmp_path / "t.md", "text")
    resources = await found(
        home, tmp_path, skills=[skill.parent, single], prompt_templates=[template]
    )
    assert {each.name for each in resources.skills} == {"own", "single"}
    assert {each.name for each in resources.templates} == {"t", "kept"}
    resources = await found(
        home, tmp_path, prompt_templates=[template], find_prompt_templates=False
    )
    assert {each.name for each in resources.templates} == {"t"}
    with pytest.raises(UsageError, match="--skill: there is no file"):
        await found(home, tmp_path, skills=[tmp_path / "none"])


def test_print_mode_leaves_the_project_out_and_says_so(home: Path, project: Path) -> None:
    model = script(project, {"text": "hello"})
    done = run("-p", "hi", "--model", model, cwd=project)
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert b"--approve" in done.stderr
    approved = run("-p", "hi", "--model", model, "--approve", cwd=project)
    assert approved.returncode == 0
    assert b"--approve" not in approved.stderr
    assert b"e.py:2" in approved.stderr


async def test_the_prompt_has_its_parts_in_order_and_no_date(home: Path, project: Path) -> None:
    options = AgentOptions(
        model=ScriptedModel([]),
        cwd=project,
        trust_project=True,
        find_extensions=False,
        append_system_prompt=["by flag"],
    )
    async with CodingAgent.open(options) as agent:
        prompt = agent.agent.system_prompt
    async with CodingAgent.open(options) as agent:
        assert agent.agent.system_prompt == prompt
    parts = ["project system", "project addition", "by flag", "project rules", "<name>one</name>"]
    places = [prompt.index(part) for part in (*parts, "Working directory: ")]
    assert places == sorted(places)
