"""A conversation mended for one provider, just before it is sent; what is stored stays as it was.

Every API demands that each call has exactly one result right behind it, that ids are unique and of
a certain spelling, and that nothing is empty. Histories break all of these: runs are aborted,
models are changed in mid-conversation, sessions come from other programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from sloyd.llm.api_names import is_own
from sloyd.llm.messages import (
    AssistantContent,
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from sloyd.llm.models import ModelInfo

__all__ = ["ANY_ID", "NO_OUTPUT", "NO_RESULT", "IdRule", "Turn", "mend"]

NO_RESULT = "No result provided"
"""The text of the result of a call that has none."""
NO_OUTPUT = "(no tool output)"
"""The text of a result that is empty: every API refuses, or misreads, an empty one."""
_LONGEST_NAME = 64
_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{_LONGEST_NAME}}}")
_USER_IMAGE = "(image omitted: the model does not take images)"
_TOOL_IMAGE = "(tool image omitted: the model does not take images)"


@dataclass(frozen=True, slots=True)
class IdRule:
    """How an API wants the ids of calls spelt.

    Attributes:
        allowed: a regular expression for one allowed character.
        longest: most characters.
        exact: whether an id must have exactly ``longest`` characters (Mistral).
    """

    allowed: str = ""
    longest: int = 0
    exact: bool = False

    def spell(self, call_id: str, taken: set[str]) -> str:
        """The id in this spelling: the same for the same id, and not one of ``taken``."""
        # pi joins the two ids of the Responses API by a bar; the first is the call's.
        wanted = call_id.partition("|")[0] or call_id
        if self._fits(wanted) and wanted not in taken:
            return wanted
        salt = 0
        while True:
            spelt = self._hashed(call_id, salt)
            if spelt not in taken:
                return spelt
            salt += 1

    def _fits(self, call_id: str) -> bool:
        if not call_id:
            return False
        if self.longest and len(call_id) > self.longest:
            return False
        if self.exact and len(call_id) != self.longest:
            return False
        return not self.allowed or re.fullmatch(f"(?:{self.allowed})+", call_id) is not None

    def _hashed(self, call_id: str, salt: int) -> str:
        import hashlib

        source = f"{call_id}#{salt}" if salt else call_id
        digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
        if self.exact:
            return digest[: self.longest]
        kept = re.sub(f"(?!{self.allowed}).", "_", call_id, flags=re.DOTALL)
        room = (self.longest or 64) - 13
        return f"{kept[:room]}_{digest[:12]}"


ANY_ID = IdRule()


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message and the results of its calls, one each, in the order of the calls."""

    answer: AssistantMessage
    results: tuple[ToolResultMessage, ...] = ()


def mend(
    messages: Sequence[Message], info: ModelInfo, ids: IdRule = ANY_ID
) -> list[UserMessage | Turn]:
    """The conversation as ``info`` may get it.

    - Failed and aborted answers are dropped with their calls and results; so are results without a
      call. A call without a result gets an error result. Results stand right behind their answer;
      what stood between comes after.
    - Reasoning, and signatures, of another model are dropped.
    - Images become a text for a model that does not take them.
    - Blank texts are dropped, and messages without content or with reasoning alone; user messages
      in a row become one.
    - Ids are spelt by ``ids``, unique in the conversation, and the same from request to request.
      Names of tools, which may be invented, are spelt as every API takes them.
    """
    sees = "image" in info.inputs
    results = _Results(messages)
    taken: set[str] = set()
    mended: list[UserMessage | Turn] = []
    for position, message in enumerate(messages):
        if isinstance(message, UserMessage):
            blocks = _user_blocks(message.content, _USER_IMAGE, sees=sees)
            if not blocks:
                continue
            last = mended[-1] if mended else None
            if isinstance(last, UserMessage) and not isinstance(last.content, str):
                mended[-1] = UserMessage(content=(*last.content, *blocks), timestamp=last.timestamp)
            else:
                mended.append(UserMessage(content=blocks, timestamp=message.timestamp))
        elif isinstance(message, AssistantMessage):
            if message.stop_reason in {"error", "aborted"}:
                continue
            turn = _turn(message, info, position, results, ids, taken, sees=sees)
            # Reasoning that led to nothing is refused by most.
            if not all(isinstance(block, Thinking) for block in turn.answer.content):
                mended.append(turn)
    return mended


class _Results:
    """Finds the result of a call: the first with its id that stands behind it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._results: dict[str, list[tuple[int, ToolResultMessage]]] = {}
        self._calls: dict[str, list[int]] = {}
        for position, message in enumerate(messages):
            if isinstance(message, ToolResultMessage):
                self._results.setdefault(message.tool_call_id, []).append((position, message))
            elif isinstance(message, AssistantMessage):
                for call in message.content:
                    if isinstance(call, ToolCall):
                        self._calls.setdefault(call.id, []).append(position)

    def take(self, call: ToolCall, position: int) -> ToolResultMessage | None:
        """The result of the call in the message at ``position``; each is given once."""
        waiting = self._results.get(call.id)
        # A later message may use the id again; what stands behind that one is its own.
        limit = next((place for place in self._calls[call.id] if place > position), None)
        while waiting:
            place, result = waiting[0]
            if place < position:
                waiting.pop(0)
                continue
            if limit is not None and place > limit:
                return None
            waiting.pop(0)
            return result
        return None


def _turn(
    message: AssistantMessage,
    info: ModelInfo,
    position: int,
    found: _Results,
    ids: IdRule,
    taken: set[str],
    *,
    sees: bool,
) -> Turn:
    own = is_own(message, info)
    content: list[AssistantContent] = []
    results: list[ToolResultMessage] = []
    for block in message.content:
        match block:
            case Text():
                if block.text.strip() or (own and block.text_signature):
                    content.append(block if own or not block.text_signature else Text(block.text))
            case Thinking():
                if own and (block.thinking.strip() or block.thinking_signature):
                    content.append(block)
            case ToolCall():
                call, result = _call(block, found.take(block, position), ids, taken, own=own)
                content.append(call)
                results.append(_result(result, sees=sees))
    answer = message
    if len(content) != len(message.content) or any(
        new is not old for new, old in zip(content, message.content, strict=False)
    ):
        answer = msgspec.structs.replace(message, content=tuple(content))
    return Turn(answer, tuple(results))


def _call(
    call: ToolCall, result: ToolResultMessage | None, ids: IdRule, taken: set[str], *, own: bool
) -> tuple[ToolCall, ToolResultMessage]:
    spelt, name = ids.spell(call.id, taken), _spelt_name(call.name)
    taken.add(spelt)
    signature = call.thought_signature if own else None
    if spelt != call.id or name != call.name or signature is not call.thought_signature:
        call = msgspec.structs.replace(call, id=spelt, name=name, thought_signature=signature)
    if result is None:
        result = ToolResultMessage(
            tool_call_id=spelt,
            tool_name=call.name,
            content=(Text(NO_RESULT),),
            is_error=True,
            timestamp=0,
        )
    elif result.tool_call_id != spelt or result.tool_name != name:
        result = msgspec.structs.replace(result, tool_call_id=spelt, tool_name=name)
    return call, result


def _spelt_name(name: str) -> str:
    """The name in the spelling that every API takes: models call tools that there are not."""
    if _NAME.fullmatch(name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name.strip())[:_LONGEST_NAME] or "unnamed"


def _result(result: ToolResultMessage, *, sees: bool) -> ToolResultMessage:
    blocks = _user_blocks(result.content, _TOOL_IMAGE, sees=sees) or (Text(NO_OUTPUT),)
    if blocks is result.content:
        return result
    return msgspec.structs.replace(result, content=blocks)


def _user_blocks(
    content: str | tuple[UserContent, ...], omitted: str, *, sees: bool
) -> tuple[UserContent, ...]:
    if isinstance(content, str):
        return (Text(content),) if content.strip() else ()
    kept: list[UserContent] = []
    for block in content:
        if isinstance(block, Image) and not sees:
            # Several images in a row need no more than one note.
            if not (kept and isinstance(kept[-1], Text) and kept[-1].text == omitted):
                kept.append(Text(omitted))
        elif isinstance(block, Image) or block.text.strip():
            kept.append(block)
    return content if len(kept) == len(content) and sees else tuple(kept)
