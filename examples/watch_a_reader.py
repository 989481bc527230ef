"""A read-only agent whose every step is shown as it happens.

Run it in any directory, with a model that you have a key for:

    python examples/watch_a_reader.py "What does this project do?"
"""

from __future__ import annotations

import asyncio
import sys

from sloyd import CodingAgent
from sloyd.agent.events import AgentEnd, MessageUpdate, ToolExecutionEnd, ToolExecutionStart


async def main() -> None:
    """Ask the question of the command line and show how the answer comes about."""
    question = " ".join(sys.argv[1:]) or "What does this project do?"
    async with CodingAgent.open(tools="read,grep,find,ls") as agent:
        async for event in agent.run(question):
            match event:
                case ToolExecutionStart(tool_name=name, arguments=arguments):
                    print(f"> {name} {arguments}")
                case ToolExecutionEnd(tool_name=name, is_error=True):
                    print(f"! {name} failed")
                case MessageUpdate(delta=delta) if delta.kind == "text_delta":
                    print(delta.text, end="", flush=True)
                case AgentEnd(outcome=outcome):
                    print(f"\n({outcome})")


if __name__ == "__main__":
    asyncio.run(main())
