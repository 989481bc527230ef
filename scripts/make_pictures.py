"""Makes the pictures of the documentation of real runs, ``docs/demo.svg`` and ``docs/screen.svg``.

usage: python scripts/make_pictures.py [demo] [screen]

``demo`` is ``sloyd demo`` as a terminal showed it. ``screen`` is the screen after a small task in
the demo's project: the real app and the real tools, and a model whose words are below.
"""

from __future__ import annotations

import asyncio
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["PICTURES", "demo", "main", "screen"]

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 96
SIZE = (100, 38)
"""Columns and rows of the screen."""
_CONTROL = re.compile(r"\x1b\[\?[0-9;]*[a-z]|\x1b\[[0-9;]*[A-HJKfsu]|\x1b\][^\x07]*\x07|\r")
_FONT_FACE = re.compile(r" *@font-face \{.*?\}\n", re.DOTALL)
_CREDIT = re.compile(r" *<!-- Generated with Rich.*?-->\n")
_FONTS = "Menlo, Consolas, DejaVu Sans Mono, monospace"
_SECONDS = 60.0

PROMPT = "The tests fail: some taxes are a cent too low. Mend it, please."
TURNS: list[dict[str, Any]] = [
    {
        "calls": [
            {"name": "read", "arguments": {"path": "till/money.py"}},
            {"name": "bash", "arguments": {"command": "sh run_tests.sh 2>&1 | tail -1"}},
        ],
    },
    {
        "thinking": "7 % of 3.50 is 0.245, which has to become 0.25. quantize makes 0.24 of it.",
        "text": "`quantize` rounds half to even unless it is told otherwise.",
        "calls": [
            {
                "name": "edit",
                "arguments": {
                    "path": "till/money.py",
                    "edits": [
                        {
                            "oldText": "amount.quantize(CENT)",
                            "newText": 'amount.quantize(CENT, rounding="ROUND_HALF_UP")',
                        }
                    ],
                },
            }
        ],
    },
    {"calls": [{"name": "bash", "arguments": {"command": "sh run_tests.sh 2>&1 | tail -1"}}]},
    {"text": "All tests pass. `whole_cents` now rounds **half up**, as its docstring says."},
]


def _terminal_output(arguments: list[str]) -> str:
    """What a program writes to a terminal of ``WIDTH`` columns, its colours included."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "60"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break  # Linux reports a terminal without writers this way
            if not piece:
                break
            pieces.append(piece)
        os.close(ours)
    if process.returncode != 0:
        raise SystemExit(b"".join(pieces).decode(errors="replace"))
    return b"".join(pieces).decode("utf-8")


def demo() -> str:
    """The picture of a run of ``sloyd demo``."""
    from rich.console import Console
    from rich.text import Text

    with tempfile.TemporaryDirectory(prefix="sloyd-") as parent:
        directory = Path(parent) / "demo"
        output = _terminal_output(["sloyd", "demo", "--keep", str(directory)])
        shown = output.replace(str(directory), "/tmp/sloyd-demo")
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text("$ sloyd demo\n") + Text.from_ansi(_CONTROL.sub("", shown)))
    return console.export_svg(title="sloyd demo", unique_id="demo")


def screen() -> str:
    """The picture of the screen after a small task."""
    from sloyd.demo import prepare

    with tempfile.TemporaryDirectory(prefix="sloyd-") as parent:
        home = Path(parent).resolve()
        os.environ |= {"HOME": str(home), "SLOYD_HOME": str(home / ".sloyd")}
        os.environ.pop("NO_COLOR", None)
        project = prepare(home / "till")
        subprocess.run(["git", "init", "-q", "-b", "main", project.directory], check=True)
        return asyncio.run(_screen(project.directory))


async def _screen(directory: Path) -> str:
    from sloyd import CodingAgent, ScriptedModel
    from sloyd.harness.options import AgentOptions
    from sloyd.modes.tui.app import SloydApp
    from sloyd.modes.tui.keys import KeyMap

    options = AgentOptions(model=ScriptedModel([*TURNS]), cwd=directory, find_extensions=False)
    async with CodingAgent.open(options) as agent:
        app = SloydApp(agent, KeyMap())
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            app.composer.set_text(PROMPT)
            await pilot.press("enter")
            async with asyncio.timeout(_SECONDS):
                while agent.is_running or not agent.messages:
                    await pilot.pause(0.1)
            await pilot.pause(0.5)
            return app.export_screenshot(title="sloyd")


def _by_itself(picture: str) -> str:
    """A picture that loads nothing: no fonts from elsewhere, which viewers refuse anyway."""
    alone = _CREDIT.sub("", _FONT_FACE.sub("", picture))
    return alone.replace("Fira Code, monospace", _FONTS).replace(
        "font-family: arial", "font-family: sans-serif"
    )


PICTURES: dict[str, Callable[[], str]] = {"demo": demo, "screen": screen}


def main() -> None:
    """Make the pictures that are named, or all of them."""
    for name in sys.argv[1:] or PICTURES:
        target = DOCS / f"{name}.svg"
        target.write_text(_by_itself(PICTURES[name]()), encoding="utf-8")
        print(f"wrote docs/{name}.svg")


if __name__ == "__main__":
    main()
