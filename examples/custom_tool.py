"""A tool of your own beside the built-in ones, with a look of its own.

As an extension, for every door; the tool draws itself where calls are drawn:

    sloyd -e examples/custom_tool.py "What does a kilogram of flour cost?"

As a program, with a model that you have a key for:

    python examples/custom_tool.py "What does a kilogram of flour cost?"
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from sloyd import CodingAgent, ExtensionApi, RenderState, ToolError, ToolResult, tool

if TYPE_CHECKING:
    from rich.text import Text

PRICES = {"flour": 1.29, "butter": 2.49}


@tool(prompt_snippet="Tell the price of an item in euros")
def price(item: Annotated[str, "what is sold, in the singular"]) -> ToolResult:
    """Tell the price of an item in euros."""
    if item not in PRICES:
        known = ", ".join(PRICES)
        raise ToolError(f"There is no {item!r}. There are: {known}. Ask for one of them.")
    # The text is for the model; the details are for the renderer and for programs.
    return ToolResult.of(f"{PRICES[item]:.2f} euros", details={"euros": PRICES[item]})


class PriceTag:
    """Draws the calls. Arguments may still be streaming in, so none is sure to be there."""

    def render_call(self, arguments: Mapping[str, Any], state: RenderState) -> Text:
        from rich.text import Text

        return Text.assemble(("price ", "bold cyan"), str(arguments.get("item", "...")))

    def render_result(
        self, arguments: Mapping[str, Any], result: ToolResult, state: RenderState
    ) -> Text:
        from rich.text import Text

        if result.is_error:
            return Text("  not for sale", "red")
        return Text(f"  {result.details['euros']:.2f} EUR", "green")


def setup(api: ExtensionApi) -> None:
    """Register the tool and how it looks. The renderer is made when something is drawn."""
    api.register_tool(price)
    api.register_renderer("price", PriceTag)


async def main() -> None:
    """Ask the question of the command line and print the answer."""
    question = " ".join(sys.argv[1:]) or "What does a kilogram of flour cost?"
    async with CodingAgent.open(extra_tools=[price]) as agent:
        result = await agent.prompt(question)
    print(result.text if result.outcome == "done" else f"{result.outcome}: {result.error}")


if __name__ == "__main__":
    asyncio.run(main())
