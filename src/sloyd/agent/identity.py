"""Makes the calls of an answer fit for use: names without stray characters, ids used only once.

Some servers send no ids, or ``call_0`` in every turn; two calls with one id would get each other's
results. A name that is surrounded by blanks would grow turn by turn if it were sent back so.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sloyd.llm.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    ToolCall,
    ToolResultMessage,
)

__all__ = ["CallNames", "call_ids", "clean_name"]

_NAMELESS = "unnamed"


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls and results in ``messages``."""
    ids: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            ids.update(call.id for call in message.tool_calls)
        elif isinstance(message, ToolResultMessage):
            ids.add(message.tool_call_id)
    return ids


def clean_name(name: str) -> str:
    """A tool's name without the blanks around it; never empty, which could not be sent back.

    Nothing else is guessed: a name that there is not gets an answer that tells the names.
    """
    return name.strip() or _NAMELESS


class CallNames:
    """Gives the calls of one answer their ids, while it streams and when it is complete.

    Args:
        taken: the ids of the conversation so far; new ones are added.
    """

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._by_index: dict[int, str] = {}

    def id_at(self, index: int, given: str) -> str:
        """The id for the call at ``index`` of the message's content; the same every time."""
        known = self._by_index.get(index)
        if known is None:
            known = self._by_index[index] = self._unused(given.strip() or "call")
            self._taken.add(known)
        return known

    def applied(self, message: AssistantMessage) -> AssistantMessage:
        """The message with its calls named; the same object when nothing had to change."""
        content: list[AssistantContent] = []
        changed = False
        for index, block in enumerate(message.content):
            if isinstance(block, ToolCall):
                call_id, name = self.id_at(index, block.id), clean_name(block.name)
                if (call_id, name) != (block.id, block.name):
                    block = msgspec.structs.replace(block, id=call_id, name=name)
                    changed = True
            content.append(block)
        return msgspec.structs.replace(message, content=tuple(content)) if changed else message

    def _unused(self, wanted: str) -> str:
        unused, number = wanted, 2
        while unused in self._taken:
            unused, number = f"{wanted}_{number}", number + 1
        return unused
