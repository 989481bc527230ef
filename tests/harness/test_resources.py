"""Context files, skills and project trust, from real directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sloyd.errors import SettingsError
from sloyd.harness.context_files import find_context_files, project_context
from sloyd.harness.frontmatter import DocumentProblem
from sloyd.harness.skills import find_skills, skill_list, skill_prompt
from sloyd.harness.trust import TrustFile, needs_trust


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_context_files_come_from_home_and_then_inward(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home / "AGENTS.md", "user")
    write(tmp_path / "a" / "CLAUDE.md", "outer")
    write(tmp_path / "a" / "b" / "AGENTS.md", "not this one")
    write(tmp_path / "a" / "b" / "AGENTS.override.md", "inner")
    found = find_context_files(tmp_path / "a" / "b", home)
    assert [file.text for file in found if tmp_path in file.path.parents] == [
        "user",
        "outer",
        "inner",
    ]


def test_a_directory_with_the_name_of_a_context_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    write(tmp_path / "CLAUDE.md", "text")
    found = find_context_files(tmp_path, tmp_path / "home")
    assert [file.path.name for file in found if file.path.parent == tmp_path] == ["CLAUDE.md"]


def test_the_same_file_through_a_link_counts_once(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "once")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "AGENTS.md").symlink_to(tmp_path / "AGENTS.md")
    assert project_context(find_context_files(tmp_path / "in", tmp_path / "h")).count("once") == 1


def test_a_worktree_inside_its_repository_speaks_for_itself(tmp_path: Path) -> None:
    main = tmp_path / "main"
    (main / ".git" / "worktrees" / "w").mkdir(parents=True)
    write(main / "AGENTS.md", "main")
    write(main / "trees" / "w" / ".git", f"gitdir: {main}/.git/worktrees/w\n")
    write(main / "trees" / "w" / "AGENTS.md", "worktree")
    texts = [file.text for file in find_context_files(main / "trees" / "w", tmp_path / "h")]
    assert "worktree" in texts
    assert "main" not in texts


def test_the_byte_order_mark_is_no_instruction(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbfrule")
    assert find_context_files(tmp_path, tmp_path / "h")[-1].text == "rule"


def test_skills_are_found_listed_and_put_into_prompts(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pdf" / "SKILL.md", "---\nname: pdf\ndescription: Read <PDF>\n---\nUse it.\n"
    )
    write(tmp_path / "pdf" / "deeper" / "SKILL.md", "---\ndescription: no\n---\n")
    write(tmp_path / "x" / "y" / "SKILL.md", "---\ndescription: Deep\n---\n")
    hidden = "---\ndescription: h\ndisable-model-invocation: true\n---\n"
    write(tmp_path / "hidden" / "SKILL.md", hidden)
    skills, problems = find_skills([tmp_path])
    assert problems == []
    assert {skill.name for skill in skills} == {"pdf", "y", "hidden"}
    listed = skill_list(skills)
    assert "Read &lt;PDF&gt;" in listed
    assert "hidden" not in listed
    pdf = next(skill for skill in skills if skill.name == "pdf")
    prompt = skill_prompt(pdf, "now")
    assert prompt == f'<skill name="pdf" location="{path}">\nUse it.\n</skill>\n\nnow'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no header", "description"),
        ("---\nname: Bad_Name\ndescription: x\n---\n", "Bad_Name"),
        (f"---\ndescription: {'x' * 1025}\n---\n", "1024"),
        ("---\n- list\n---\n", "keys and values"),
    ],
)
def test_broken_skills_are_named_and_skipped(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path / "s" / "SKILL.md", text)
    skills, problems = find_skills([tmp_path])
    assert skills == []
    assert said in problems[0].message


def test_a_loop_of_links_does_not_catch_the_search(tmp_path: Path) -> None:
    write(tmp_path / "s" / "SKILL.md", "---\ndescription: x\n---\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    skills, problems = find_skills([tmp_path])
    assert [skill.name for skill in skills] == ["s"]
    assert problems == []


def test_a_skill_that_vanished_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    path = write(tmp_path / "s" / "SKILL.md", "---\ndescription: x\n---\n")
    (skill,), _ = find_skills([tmp_path])
    path.unlink()
    assert isinstance(skill_prompt(skill, ""), DocumentProblem)


def test_instructions_alone_need_no_trust(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "x")
    assert needs_trust(tmp_path) == []
    write(tmp_path / ".sloyd" / "config.toml", "")
    assert needs_trust(tmp_path) == [tmp_path / ".sloyd" / "config.toml"]


def test_the_nearest_decision_about_trust_holds(tmp_path: Path) -> None:
    trust = TrustFile(tmp_path / "home")
    project = tmp_path / "p"
    (project / "inner").mkdir(parents=True)
    assert trust.decision(project) is None
    trust.decide(project, "trusted")
    assert TrustFile(tmp_path / "home").decision(project / "inner") == "trusted"
    trust.decide(project / "inner", "untrusted")
    assert trust.decision(project / "inner") == "untrusted"
    assert trust.decision(project) == "trusted"


def test_a_broken_trust_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "trust.json", "{broken")
    with pytest.raises(SettingsError, match=r"trust\.json"):
        TrustFile(tmp_path).decide(tmp_path, "trusted")
    assert path.read_text() == "{broken"


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_the_directory_of_the_decisions_is_private(tmp_path: Path) -> None:
    TrustFile(tmp_path / "h").decide(tmp_path, "trusted")
    assert (tmp_path / "h").stat().st_mode & 0o777 == 0o700
