"""The tool with which the model looks up what a compaction, or an edit, took out of its context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import SessionError, ToolError
from sloyd.sessions.session import Session
from sloyd.tools.definition import ToolDefinition

__all__ = ["RECALL", "RecallParameters", "has_cut", "recall_tool"]

RECALL = "recall"


class RecallParameters(msgspec.Struct, frozen=True, kw_only=True):
    """What to look up."""

    ids: Annotated[
        tuple[str, ...], Meta(description="Ids of entries whose whole text to give")
    ] = ()
    query: Annotated[
        str | None,
        Meta(description='Words to look for in the whole session; "quoted words" stay together'),
    ] = None


def recall_tool(session: Callable[[], Session]) -> ToolDefinition[RecallParameters]:
    """The tool, on the session that is spoken in when it is called."""

    async def execute(_call: ToolCallContext, parameters: RecallParameters) -> ToolResult:
        from sloyd.sessions.recall import recall

        try:
            # Here and not in a thread: a session is for the event loop's own.
            text = recall(session(), parameters.ids, query=parameters.query)
        except SessionError as error:
            raise ToolError(f"{error}. Look for words with query to find the ids.") from error
        return ToolResult.of(text)

    return ToolDefinition(
        name=RECALL,
        label="recall",
        description=(
            "Look up earlier parts of this conversation that a summary stands for. Give the ids of"
            " entries (the summary names them) to get their whole text, or query to find entries"
            " that contain all of its words."
        ),
        parameters=RecallParameters,
        execute=execute,
        prompt_snippet="Look up what was said before the summary",
        read_only=True,
        default_active=False,
    )


def has_cut(session: Session) -> bool:
    """Whether something of the active branch is in its context only as a summary."""
    return any(node.type == "compaction" for node in session.tree.branch())
