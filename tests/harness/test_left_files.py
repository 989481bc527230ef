"""What lies in the directories of people and projects, however odd, stops no start."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from sloyd.errors import SettingsError
from sloyd.harness.context_files import find_context_files
from sloyd.harness.home import private_directory, replace_privately
from sloyd.harness.skills import find_skills
from sloyd.harness.templates import find_templates
from sloyd.modes.tui.key_store import set_provider
from tests.sloyd_process import SLOYD, run, script


def start(home: Path, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    assert home
    return run(
        "--model", script(tmp_path, {"text": "alive"}), "--no-session", "-p", *words, "hello",
        cwd=tmp_path,
    )  # fmt: skip


@pytest.mark.parametrize(
    "place", ["AGENTS.md", ".sloyd/skills/x.md", ".sloyd/prompts/x.md", ".sloyd/config.toml"]
)
def test_a_named_pipe_is_not_waited_for(home: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / place)
    done = start(home, tmp_path, "--approve")
    assert (done.returncode, done.stdout) == (0, b"alive\n")


def test_pipes_among_skills_and_templates_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")
    for problems in (find_skills([tmp_path])[1], find_templates([tmp_path])[1]):
        assert [str(each) for each in problems] == [f"{tmp_path / 'x.md'}: is not a regular file"]


def test_links_that_lead_in_circles_are_followed_once(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"link{number}").symlink_to(".")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "SKILL.md").write_text("---\ndescription: d\n---\n")
    assert [skill.name for skill in find_skills([tmp_path])[0]] == ["one"]


@pytest.mark.parametrize(
    "header",
    [
        "description: 2026-99-99",
        "description: " + "[" * 5000,
        "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
        + "".join(
            f"c{n}: &c{n} [{', '.join([f'*{before}'] * 9)}]\n"
            for n, before in enumerate(["b", *(f"c{n}" for n in range(12))])
        )
        + "description: *c12",
    ],
    ids=["no date", "deep", "lists in lists"],
)
def test_a_header_that_yaml_chokes_on_is_a_problem(tmp_path: Path, header: str) -> None:
    (tmp_path / "x.md").write_text(f"---\n{header}\n---\n")
    skills, problems = find_skills([tmp_path])
    assert not skills
    assert len(problems) == 1


def test_the_model_is_told_the_beginning_of_an_enormous_file(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("first\n" + "line\n" * 100_000)
    (found,) = (each for each in find_context_files(tmp_path, tmp_path / "home")
                if each.path.parent == tmp_path)  # fmt: skip
    assert found.text.startswith("first\nline\n")
    assert found.text.endswith(f"[Cut at 128 KiB; read {tmp_path / 'AGENTS.md'} for the rest.]")
    assert len(found.text) < 140_000
    assert "only of its beginning" in (found.problem or "")


def test_a_binary_file_is_no_instruction(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\x7fELF\0\0\1")
    (found,) = (each for each in find_context_files(tmp_path, tmp_path / "home")
                if each.path.parent == tmp_path)  # fmt: skip
    assert (found.text, "is binary" in (found.problem or "")) == ("", True)


def test_settings_nested_without_end_are_named(home: Path, tmp_path: Path) -> None:
    (home / ".sloyd").mkdir()
    (home / ".sloyd" / "config.toml").write_text("a = " + "[" * 50_000)
    done = start(home, tmp_path)
    assert done.stdout == b"alive\n"
    assert b"config.toml" in done.stderr


@pytest.mark.parametrize("closed", [".sloyd", ".sloyd/skills", ".sloyd/SYSTEM.md", "AGENTS.md"])
def test_what_may_not_be_read_is_named(home: Path, tmp_path: Path, closed: str) -> None:
    (tmp_path / ".sloyd" / "skills").mkdir(parents=True)
    (tmp_path / ".sloyd" / "SYSTEM.md").write_text("x")
    (tmp_path / "AGENTS.md").write_text("x")
    (tmp_path / closed).chmod(0)
    words = ["--model", script(tmp_path, {"text": "alive"}), "--no-session", "-a", "-p", "hello"]
    # Who may read everything, as in a container, gives that right up first.
    rights = "-dac_override,-dac_read_search"
    lowered = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    prefix = lowered if os.geteuid() == 0 else []
    done = subprocess.run([*prefix, SLOYD, *words], cwd=tmp_path, capture_output=True, check=False)
    (tmp_path / closed).chmod(0o700)
    assert (done.returncode, done.stdout) == (0, b"alive\n"), done.stderr.decode()
    assert str(tmp_path / closed).encode() in done.stderr or closed == ".sloyd/skills"


def test_files_of_ones_own_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private_directory(tmp_path / "a" / "b" / "c")
        replace_privately(tmp_path / "a" / "d" / "file", "text")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "a").rglob("*"))]
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert modes == [0o700, 0o700, 0o700, 0o600]


def test_a_file_that_is_replaced_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    replace_privately(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_what_is_secret_is_private_wherever_it_is_put(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("# mine\n")
    (tmp_path / "config.toml").chmod(0o644)
    set_provider(tmp_path / "config.toml", "openai", api_key="secret")
    assert stat.S_IMODE((tmp_path / "config.toml").stat().st_mode) == 0o600
    assert "# mine" in (tmp_path / "config.toml").read_text()


def test_a_key_is_not_kept_in_settings_of_another_shape(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("providers = 5\n")
    with pytest.raises(SettingsError, match="cannot change"):
        set_provider(tmp_path / "config.toml", "openai", api_key="secret")
    assert (tmp_path / "config.toml").read_text() == "providers = 5\n"
