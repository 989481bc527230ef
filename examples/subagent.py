"""A tool that gives a question to a second agent, which can only read, and brings back its answer.

    sloyd -e examples/subagent.py "Which of these packages still use the old parser?"

The second agent works in the same place with the same model, but with a context and limits of its
own: what it reads on its way does not fill the first one's window.
"""

from __future__ import annotations

from typing import Annotated

from sloyd import CodingAgent, ExtensionApi, ToolCallContext, ToolError, ToolResult
from sloyd.agent.events import ToolExecutionStart
from sloyd.agent.limits import Limits

READ_ONLY = ["read", "grep", "find", "ls"]
TASK = """\
Answer the question below by looking into the files of this directory. You cannot change anything.
Give facts with the paths and line numbers where you found them, and nothing that you only suppose.
"""


def setup(api: ExtensionApi) -> None:
    """Register the tool."""
    turns = api.flag("subagent-turns", "integer", "Most requests of one sub-agent", 15)

    async def investigate(
        question: Annotated[str, "what is to be found out, with all that must be known for it"],
        call: ToolCallContext,
    ) -> ToolResult:
        """Let a second agent find something out in the files, and get its answer.

        It knows nothing of this conversation. Use it for questions that need many files; read a
        single file yourself.
        """
        steps: list[str] = []

        async def follow(event: object) -> None:
            if isinstance(event, ToolExecutionStart):
                steps.append(f"{event.tool_name} {event.arguments.get('path', '')}".strip())
                await call.update(ToolResult.of("\n".join(steps)))

        async with CodingAgent.open(
            model=api.agent.model,
            thinking=api.agent.thinking,
            tools=READ_ONLY,
            workspace=api.agent.workspace,
            limits=Limits(max_turns=turns, max_cost=1.0),
            settings=api.agent.settings,
            append_system_prompt=[TASK],
            # An agent of its own must not begin others, or be gated twice.
            find_extensions=False,
        ) as agent:
            agent.subscribe(follow)
            result = await agent.prompt(question)
        if result.outcome != "done":
            raise ToolError(
                f"The sub-agent stopped ({result.outcome}: {result.error_message}). It had said:"
                f" {result.text or 'nothing'}. Ask a narrower question, or look yourself."
            )
        return ToolResult.of(result.text, details={"steps": steps, "turns": result.turns})

    api.register_tool(investigate)
