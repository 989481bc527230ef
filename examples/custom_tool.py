"""A tool of your own beside the built-in ones.

Run it in any directory, with a model that you have a key for:

    python examples/custom_tool.py "What does a kilogram of flour cost?"
"""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from sloyd import CodingAgent, ToolError, tool

PRICES = {"flour": 1.29, "butter": 2.49}


@tool
def price(item: Annotated[str, "what is sold, in the singular"]) -> float:
    """Tell the price of an item in euros."""
    if item not in PRICES:
        known = ", ".join(PRICES)
        raise ToolError(f"There is no {item!r}. There are: {known}. Ask for one of them.")
    return PRICES[item]


async def main() -> None:
    """Ask the question of the command line and print the answer."""
    question = " ".join(sys.argv[1:]) or "What does a kilogram of flour cost?"
    async with CodingAgent.open(extra_tools=[price]) as agent:
        result = await agent.prompt(question)
    print(result.text if result.outcome == "done" else f"{result.outcome}: {result.error}")


if __name__ == "__main__":
    asyncio.run(main())
