"""The footer: what it says, what gives way where it is narrow; and the branch it names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from sloyd.modes.tui.footer import Footer, FooterFacts, short_count, short_path
from sloyd.modes.tui.git_branch import git_branch
from sloyd.modes.tui.theme import DARK

FACTS = FooterFacts(
    directory="~/projects/日本/sloyd",
    branch="main",
    session="a long name of a session",
    model="claude-sonnet-4-5",
    thinking="high",
    context=0.43,
    window=200_000,
    input=15_300,
    output=2_100,
    cached=80_000,
    cost=0.1234,
    queued=2,
)


class FooterApp(App[None]):
    """Nothing but a footer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK.textual())
        self.theme = "sloyd-dark"

    def compose(self) -> ComposeResult:
        yield Footer(DARK)


async def lines_at(width: int, facts: FooterFacts) -> list[str]:
    app = FooterApp()
    async with app.run_test(size=(width, 2)):
        footer = app.query_one(Footer)
        footer.show(facts)
        return [footer.render_line(y).text for y in (0, 1)]


async def test_everything_is_said_where_there_is_room() -> None:
    first, second = await lines_at(100, FACTS)
    assert first.startswith("~/projects/日本/sloyd (main)")
    assert first.rstrip().endswith("a long name of a session")
    assert second.split() == [
        *("43%", "of", "200k", "2", "waiting", "$0.123", "↑95.3k", "↓2.1k"),
        *("claude-sonnet-4-5", "·", "high"),
    ]


@pytest.mark.parametrize("width", range(4, 100, 7))
async def test_no_line_is_too_wide_and_the_share_comes_first(width: int) -> None:
    first, second = await lines_at(width, FACTS)
    assert cell_len(first) == cell_len(second) == width - 2
    if width >= 20:
        assert second.startswith("43%")


async def test_a_long_model_keeps_its_end_and_its_level() -> None:
    facts = FooterFacts(model="provider/some/long-model-name", thinking="high", window=1000)
    assert (await lines_at(42, facts))[1].endswith("long-model-name · high")
    assert (await lines_at(24, facts))[1].endswith("… · high")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (12_345, "12.3k"),
        (123_456, "123k"),
        (2_500_000, "2.5M"),
    ],
)
def test_counts_are_short(number: int, text: str) -> None:
    assert short_count(number) == text


def test_the_home_directory_is_a_tilde() -> None:
    assert short_path("/home/me/x", "/home/me") == "~/x"
    assert short_path("/home/me", "/home/me/") == "~"
    assert short_path("/home/mean", "/home/me") == "/home/mean"


def test_the_branch_is_that_of_the_work_tree(tmp_path: Path) -> None:
    def git(*arguments: str, cwd: Path = tmp_path) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)

    assert git_branch(str(tmp_path)) is None
    git("init", "-b", "trunk/one", ".")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    assert git_branch(str(tmp_path / "deep" / "er")) == "trunk/one"
    git("commit", "--allow-empty", "-m", "x")
    git("worktree", "add", "-b", "other", "tree")
    assert git_branch(str(tmp_path / "tree")) == "other"
    git("checkout", "--detach")
    detached = git_branch(str(tmp_path))
    assert detached is not None
    assert len(detached) == 8
