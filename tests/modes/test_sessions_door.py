"""``sloyd sessions`` and ``--export``, through the real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sloyd.llm.messages import AssistantMessage, Text, UserMessage
from sloyd.sessions.session import Session
from tests.sloyd_process import lines_of, run, shell


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A directory with two sessions, and one of another directory."""
    sessions = home / ".sloyd" / "sessions"
    for cwd, name, words in (
        (tmp_path, "Parser", "mend the parser"),
        (tmp_path, None, "say caf\u00e9 \x1b[31mred"),
        (tmp_path / "home", "Elsewhere", "paint the parser blue"),
    ):
        with Session.create(sessions, str(cwd)) as session:
            session.append_message(UserMessage(content=words))
            session.append_message(AssistantMessage(content=(Text(f"I did: {words}"),)))
            if name:
                session.set_name(name)
    return tmp_path


def test_list(project: Path) -> None:
    done = run("sessions", cwd=project)
    assert (done.returncode, done.stderr) == (0, b"")
    rows = done.stdout.decode().splitlines()
    assert len(rows) == 2
    assert any("Parser" in row for row in rows)
    assert "\x1b" not in done.stdout.decode()
    everywhere = run("sessions", "--all", cwd=project).stdout.decode()
    assert "Elsewhere" in everywhere
    assert str(project / "home") in everywhere


def test_ids_of_the_list_are_taken_back(project: Path) -> None:
    for row in run("sessions", "list", "--all", cwd=project).stdout.decode().splitlines():
        done = run("sessions", "path", row.split()[0], cwd=project)
        assert done.returncode == 0
        assert Path(done.stdout.decode().rstrip("\n")).is_file()


def test_list_for_programs(project: Path) -> None:
    found = lines_of(run("sessions", "--json", cwd=project).stdout)
    assert {each["name"] for each in found} == {"Parser", None}
    assert all(each["messages"] == 2 for each in found)


def test_search_finds_in_all_projects(project: Path) -> None:
    done = run("sessions", "search", "parser", "mend", cwd=project)
    assert done.returncode == 0
    assert "mend the parser" in done.stdout.decode()
    assert "blue" not in done.stdout.decode()
    found = lines_of(run("sessions", "search", "parser", "--json", cwd=project).stdout)
    assert {each["session"]["name"] for each in found} == {"Parser", "Elsewhere"}
    here = lines_of(run("sessions", "search", "--here", "--json", "parser", cwd=project).stdout)
    assert {each["session"]["name"] for each in here} == {"Parser"}
    nothing = run("sessions", "search", "xylophone", cwd=project)
    assert (nothing.returncode, nothing.stdout) == (1, b"")


def test_show(project: Path) -> None:
    text = run("sessions", "show", "Parser", cwd=project).stdout.decode()
    assert "1 + 1 answers" in text
    assert "I did: mend the parser" in text


def test_rename_and_delete(project: Path) -> None:
    assert run("sessions", "rename", "Parser", "The", "Lexer", cwd=project).returncode == 0
    path = Path(run("sessions", "path", "The Lexer", cwd=project).stdout.decode().rstrip("\n"))
    refused = run("sessions", "delete", "The Lexer", cwd=project)
    assert refused.returncode == 2
    assert b"--yes" in refused.stderr
    assert path.exists()
    assert run("sessions", "delete", "The Lexer", "--yes", cwd=project).returncode == 0
    assert not path.exists()


def test_a_session_in_use_is_not_deleted(project: Path) -> None:
    path = Path(run("sessions", "path", "Parser", cwd=project).stdout.decode().rstrip("\n"))
    with Session.open(path):
        done = run("sessions", "delete", "Parser", "--yes", cwd=project)
    assert done.returncode == 1
    assert b"in use" in done.stderr
    assert path.exists()


@pytest.mark.parametrize(
    ("words", "name", "begins"),
    [
        (["Parser"], None, b"<!doctype html>"),
        (["Parser", "out.md"], "out.md", b"# Parser"),
        (["Parser", "out.txt", "--format", "markdown"], "out.txt", b"# Parser"),
        (["Parser", "-", "--format", "jsonl"], "-", b'{"type":"session"'),
    ],
)
def test_export(project: Path, words: list[str], name: str | None, begins: bytes) -> None:
    done = run("sessions", "export", *words, cwd=project)
    assert (done.returncode, done.stderr) == (0, b"")
    if name == "-":
        assert done.stdout.startswith(begins)
        assert all(json.loads(line) for line in done.stdout.splitlines())
        return
    written = project / done.stdout.decode().rstrip("\n")
    assert name is None or written.name == name
    assert written.read_bytes().startswith(begins)
    assert written.stat().st_mode & 0o777 == 0o600


def test_export_never_overwrites_the_session(project: Path) -> None:
    path = run("sessions", "path", "Parser", cwd=project).stdout.decode().rstrip("\n")
    before = Path(path).read_bytes()
    done = run("sessions", "export", path, path, "--format", "html", cwd=project)
    assert done.returncode == 1
    assert Path(path).read_bytes() == before


def test_a_moved_directory_takes_its_sessions_along(tmp_path: Path, home: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    with Session.create(home / ".sloyd" / "sessions", str(old)) as session:
        session.append_message(UserMessage(content="before the move"))
    old.rename(new)
    listed = run("sessions", cwd=new)
    assert b"takes it along" in listed.stderr
    assert run("sessions", "move", session.id, cwd=new).returncode == 0
    assert b"before the move" in run("sessions", cwd=new).stdout


def test_colours_only_at_a_terminal(project: Path) -> None:
    line = "script -qec 'sloyd sessions search parser' /dev/null"
    assert b"\x1b[1;33mparser" in shell(line, project, {"TERM": "xterm"}).stdout
    assert b"\x1b[1;33m" not in shell(line, project, {"NO_COLOR": "1"}).stdout
    assert b"\x1b[" not in run("sessions", "search", "parser", cwd=project).stdout
