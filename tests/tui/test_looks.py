"""How the screen looks, as text: a task with reasoning, a read, an edit and an answer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from sloyd.workspace.memory import MemoryWorkspace
from tests.tui.screening import Hands, screening

PRICE = "def price(cents):\n    return cents / 100\n\n\ndef tax(cents):\n    return cents * 0.2\n"
EDITS = [{"oldText": "cents / 100", "newText": "round(cents / 100, 2)"}]
TURNS: list[dict[str, Any]] = [
    {
        "thinking": "The price must be rounded.\nI look at the file first.",
        "text": "I look at `price.py` first.",
        "calls": [{"name": "read", "arguments": {"path": "price.py"}}],
    },
    {"calls": [{"name": "edit", "arguments": {"path": "price.py", "edits": EDITS}}]},
    {
        "text": "Prices are **rounded** now:\n\n"
        "1. `price` rounds to cents\n2. `tax` is as it was\n\n"
        "```python\nprice(1999)  # 19.99\n```"
    },
]


def look(hands: Hands) -> str:
    """The screen; the counts of tokens, which follow the descriptions of tools, are left out."""
    *lines, last = hands.text.split("\n")
    last = re.sub(r"↑\S+ ↓\S+", "↑ ↓", re.sub(r"\d+%", "%", last))
    return "\n".join([*lines, re.sub(" {3,}", "   ", last)])


@asynccontextmanager
async def looking(tmp_path: Path, size: tuple[int, int]) -> AsyncIterator[Hands]:
    """The screen after the task."""
    workspace = MemoryWorkspace(cwd="/nowhere/shop", home="/nowhere")
    await workspace.replace("/nowhere/shop/price.py", PRICE.encode())
    async with screening(tmp_path, TURNS, size=size, workspace=workspace) as hands:
        await hands.say("round the prices, please")
        await hands.until_shown("19.99")
        await hands.until_idle()
        await hands.until_shown("↑")
        yield hands


async def test_a_usual_terminal(tmp_path: Path) -> None:
    async with looking(tmp_path, (80, 36)) as hands:
        assert look(hands) == snapshot("""\

 ❯ round the prices, please

 ▸ thinking  The price must be rounded.

 I look at price.py first.

 ● read price.py
   6 lines

 ● edit price.py
    1 def price(cents):
   -2     return cents / 100
   +2     return round(cents / 100, 2)
    3
    4
    5 def tax(cents):
    6     return cents * 0.2

 Prices are rounded now:

 1. price rounds to cents
 2. tax is as it was

   price(1999)  # 19.99






╭──────────────────────────────────────────────────────────────────────────────╮
│ Ask for something, / for commands, @ for files, ! for the shell              │
╰──────────────────────────────────────────────────────────────────────────────╯
 ~/shop
 % of 200k  ↑ ↓   script · medium\
""")


async def test_a_small_terminal(tmp_path: Path) -> None:
    async with looking(tmp_path, (40, 20)) as hands:
        assert look(hands) == snapshot("""\
 ● edit price.py
    1 def price(cents):
   -2     return cents / 100
   +2     return round(cents / 100, 2)
    3
    4
    5 def tax(cents):
    6     return cents * 0.2

 Prices are rounded now:

 1. price rounds to cents
 2. tax is as it was

   price(1999)  # 19.99
╭──────────────────────────────────────╮
│ Ask for something, / for commands, @ │
╰──────────────────────────────────────╯
 ~/shop
 %  ↑ ↓   script · medium\
""")


async def test_everything_opened(tmp_path: Path) -> None:
    async with looking(tmp_path, (60, 46)) as hands:
        await hands.press("ctrl+o", "ctrl+t")
        assert look(hands) == snapshot("""\

 ❯ round the prices, please

 ▾ thinking
   The price must be rounded.
   I look at the file first.

 I look at price.py first.

 ● read price.py
   def price(cents):
       return cents / 100


   def tax(cents):
       return cents * 0.2

 ● edit price.py
    1 def price(cents):
   -2     return cents / 100
   +2     return round(cents / 100, 2)
    3
    4
    5 def tax(cents):
    6     return cents * 0.2

 Prices are rounded now:

 1. price rounds to cents
 2. tax is as it was

   price(1999)  # 19.99









╭──────────────────────────────────────────────────────────╮
│ Ask for something, / for commands, @ for files, ! for th │
╰──────────────────────────────────────────────────────────╯
 ~/shop
 % of 200k  ↑ ↓   script · medium\
""")
