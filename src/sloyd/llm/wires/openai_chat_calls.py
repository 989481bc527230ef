"""Which call a piece of a chat completion belongs to: by index, by id, by name, or by none of them.

The API means it like this: the first piece of a call has an index, an id and a name, the others
have the index. Servers leave out each of them, give every call the same, or change them on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from sloyd.llm.building import CallBlock, MessageBuilder
from sloyd.llm.events import StreamEvent
from sloyd.llm.surrogates import clean_text
from sloyd.llm.wires.decoding import json_text

__all__ = ["ChatCalls"]


@dataclass(slots=True, eq=False)
class _Slot:
    """A call, and what the server knows it by; our id may be another.

    ``next_name`` is a name that came once the arguments were whole: the head of another call, or
    only the name again.
    """

    block: CallBlock
    given_id: str
    index: int | None
    next_name: str = ""


@dataclass(slots=True, eq=False)
class _Piece:
    index: int | None
    call_id: str
    name: str
    text: str
    given: dict[str, Any] | None

    @property
    def has_arguments(self) -> bool:
        return self.given is not None or bool(self.text.strip())


class ChatCalls:
    """Reads the entries of ``tool_calls`` and fills the calls of ``builder``."""

    def __init__(self, builder: MessageBuilder) -> None:
        self._builder = builder
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}

    def read(self, call: dict[str, Any]) -> list[StreamEvent]:
        """The events of one entry."""
        piece = _piece(call)
        slot = self._find(piece)
        if slot is not None and self._begins_another(slot, piece):
            piece = _named(piece, slot.next_name)
            slot = None
        if slot is None:
            block, events = self._builder.open_call(piece.call_id, piece.name)
            slot = _Slot(block, piece.call_id, piece.index)
            self._slots.append(slot)
        elif self._is_repeated(slot, piece):
            return []
        else:
            events = self._builder.name_call(slot.block, piece.call_id, piece.name)
            slot.given_id = slot.given_id or piece.call_id
        self._remember(slot, piece)
        return events + self._add(slot.block, piece)

    def finish(self) -> None:
        """Put the calls into the order of their numbers, should they have begun in another."""
        numbered = [slot for slot in self._slots if slot.index is not None]
        if len(numbered) == len(self._slots):
            ordered = sorted(self._slots, key=lambda slot: slot.index or 0)
            if ordered != self._slots:
                self._builder.order_calls([slot.block for slot in ordered])

    def _add(self, block: CallBlock, piece: _Piece) -> list[StreamEvent]:
        if piece.given is not None and not block.pieces.parts:
            block.given = piece.given
            return []
        text = piece.text
        if piece.given is not None:
            text = json_text(piece.given)
        if piece.has_arguments and _is_placeholder(block):
            # Some servers begin with an empty object and then send the true one.
            block.given = None
            block.pieces.parts.clear()
        return self._builder.add_arguments(block, text)

    def _remember(self, slot: _Slot, piece: _Piece) -> None:
        if piece.index is not None:
            self._by_index[piece.index] = slot
            slot.index = piece.index if slot.index is None else slot.index
        if slot.given_id:
            self._by_id[slot.given_id] = slot

    def _find(self, piece: _Piece) -> _Slot | None:
        """The call that the piece would continue, or None when it cannot continue any."""
        known = self._by_id.get(piece.call_id) if piece.call_id else None
        if piece.index is None:
            return known or (self._slots[-1] if self._slots else None)
        if piece.index in self._by_index:
            return known or self._by_index[piece.index]
        if known is not None and (not piece.name or known.index is None):
            return known
        if piece.call_id or piece.name:
            return None
        # The heads came without an index, and the arguments come with one.
        return next((slot for slot in self._slots if slot.index is None), None)

    def _begins_another(self, slot: _Slot, piece: _Piece) -> bool:
        """Whether the piece is the head of a call of its own, under the index of another one.

        Servers there are that give every call the index 0, and gateways that change an id in
        mid-stream. So another id alone tells nothing; once the arguments are one whole object,
        further arguments are another call's.
        """
        name = slot.block.name
        other_id = bool(piece.call_id and slot.given_id and piece.call_id != slot.given_id)
        if piece.name and name and piece.name != name:
            return other_id or not piece.call_id or not slot.given_id
        if other_id and piece.name:
            untouched = not slot.block.pieces.parts and slot.block.given is None
            fresh = piece.index is None or (untouched and not piece.has_arguments)
            return fresh or _is_whole(slot.block)
        if not (other_id or piece.name or slot.next_name) or not _is_whole(slot.block):
            return False
        if not piece.has_arguments:
            if piece.name and not piece.call_id:
                slot.next_name = piece.name
            return False
        if piece.call_id == slot.given_id and piece.call_id:
            growing = piece.given is not None and slot.block.given is not None
            return not (growing or _is_placeholder(slot.block) or self._is_repeated(slot, piece))
        return piece.given is not None or piece.text.lstrip().startswith("{")

    def _is_repeated(self, slot: _Slot, piece: _Piece) -> bool:
        """Whether the whole call comes once more, as some servers end it."""
        if not piece.name or not piece.call_id or piece.call_id != slot.given_id:
            return False
        parts = slot.block.pieces.parts
        return bool(parts) and len(piece.text) > 2 and piece.text == slot.block.pieces.joined()


def _piece(call: dict[str, Any]) -> _Piece:
    function = call.get("function")
    if not isinstance(function, dict):
        function = call
    name = function.get("name")
    name = clean_text(name).strip() if isinstance(name, str) else ""
    if name.lower() in {"null", "none"}:
        name = ""
    call_id = call.get("id")
    call_id = str(call_id).strip() if isinstance(call_id, (str, int)) else ""
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        return _Piece(_index(call.get("index")), call_id, name, "", arguments)
    if arguments is None:
        text = ""
    else:
        text = arguments if isinstance(arguments, str) else json_text(arguments)
    return _Piece(_index(call.get("index")), call_id, name, text, None)


def _named(piece: _Piece, name: str) -> _Piece:
    if piece.name or not name:
        return piece
    return _Piece(piece.index, piece.call_id, name, piece.text, piece.given)


def _is_placeholder(block: CallBlock) -> bool:
    if block.given is not None:
        return not block.given
    parts = block.pieces.parts
    return len(parts) == 1 and parts[0].strip() == "{}"


def _is_whole(block: CallBlock) -> bool:
    """Whether the arguments so far are one whole JSON object."""
    if block.given is not None:
        return True
    parts = block.pieces.parts
    if not parts or not parts[-1].rstrip().endswith("}"):
        return False
    try:
        msgspec.json.decode(block.pieces.joined())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value if value >= 0 else None
    return int(value) if isinstance(value, str) and value.isdecimal() else None
