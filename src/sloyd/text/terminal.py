"""What a terminal would show of a program's output, as plain text.

Escape sequences are gone, progress lines that were overwritten are collapsed to their last state,
and no control character is left but LF and TAB. What the model reads goes through here; a log
keeps the raw bytes.

The rules, where terminals leave a choice:

- Lines are independent: nothing reaches across a LF. A control string (OSC, DCS, ...) whose end is
  missing ends with its line, so a broken title never swallows the output behind it.
- CR, backspace and the cursor movements within a line move the place of the next character, which
  replaces what is there. Movements to other lines are dropped.
- An erased part of a line disappears once something is written after the erasure. A progress bar
  that is wiped at the end therefore leaves its last state.
- Single C1 characters (U+0080 to U+009F) are dropped and start no sequence: in UTF-8 output they
  are broken text far more often than commands.
- Every character takes one column. A line wraps after `ROW_WIDTH` characters: like on a terminal,
  CR then returns to the start of the last row. This bounds what is kept of an endless line.

Everything takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["ROW_WIDTH", "TerminalText", "plain_text"]

ROW_WIDTH: Final = 4096
"""Characters after which a line wraps; far beyond any real terminal, and any progress bar."""

_FARTHEST_JUMP: Final = 255
"""The last column that a cursor movement reaches beyond the text of its row."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DROPPED: Final = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_MOVEMENT: Final = re.compile(r"[\x08\r\x1b]")

# Parameters and intermediates are bounded, so that an unfinished sequence can be held back.
_PARAMETERS: Final = r"[0-?]{0,64}+[ -/]{0,8}+"
_STRING_END: Final = re.compile(r"[\x07\x18\x1a\x1b\n]")
_STRING_OPEN: Final = re.compile(r"\x1b[\]PX^_][^\x07\x18\x1a\n]*\Z")
_EFFECTLESS: Final = re.compile(
    r"\x1b(?:"
    rf"\[{_PARAMETERS}(?:[ABEFHIL-~@]|(?![@-~]))"  # CSI, save for C, D, G, J, K
    r"|[\]PX^_][^\x07\x18\x1a\x1b\n]*[\x07\x18\x1a]?"  # OSC, DCS, SOS, PM, APC; ESC \ may follow
    r"|(?!\[)[ -/]{0,8}+[0-~]?"  # anything else
    r")"
)
_ACTION: Final = re.compile(rf"[\r\x08]|\x1b\[({_PARAMETERS})([CDGJK])")
_MANY_RETURNS: Final = 16
_ERASURE: Final = re.compile(r"(?:\r\x1b\[(?:[02]?K|0?J)|\x1b\[2K\r)(?=[^\x00-\x1f\x7f-\x9f])")
_JUMP: Final = re.compile(rf"\x1b\[{_PARAMETERS}[CG]")
_UNFINISHED: Final = re.compile(rf"\x1b(?:\[{_PARAMETERS}|[ -/]{{0,8}}+)?\Z")
_UNFINISHED_LENGTH: Final = 80


def plain_text(text: str) -> str:
    """What a terminal would show of a whole output; see the rules of the module."""
    if _CONTROL.search(text) is None:
        return text
    terminal = TerminalText()
    return terminal.feed(text) + terminal.finish()


class TerminalText:
    """The streaming form of `plain_text`: gives the same text for any division into chunks.

    `feed` gives back what can no longer change; `pending` is what the unfinished row shows now.
    At most one row is kept.
    """

    def __init__(self) -> None:
        self._held = ""
        self._in_string = False
        self._row = _Row()

    def feed(self, text: str) -> str:
        """Take the next part of the output; returns the text that is now settled."""
        text = self._held + text
        self._held = ""
        if self._in_string:
            end = _STRING_END.search(text)
            if end is None:
                return ""
            self._in_string = False
            # BEL, CAN and SUB belong to the string; ESC and LF begin what comes next.
            text = text[end.start() if end.group() in "\x1b\n" else end.end() :]
        if _CONTROL.search(text) is None:
            return self._write_lines(text)
        text = self._without_sequences(text).replace("\r\n", "\n")
        if _MOVEMENT.search(text) is None:
            return self._write_lines(_DROPPED.sub("", text))
        first, *others = text.split("\n")
        settled = [self._apply(first)]
        for line in others:
            settled.append(self._row.end())
            settled.append(self._apply(line))
        return "".join(settled)

    def pending(self) -> str:
        """What the unfinished row shows at this moment."""
        return self._row.text

    def finish(self) -> str:
        """End the output; returns the rest of the text and starts afresh."""
        rest = self._row.text
        self._held, self._in_string, self._row = "", False, _Row()
        return rest

    def _without_sequences(self, text: str) -> str:
        """Drop what has no effect on a line; hold back a sequence that is not complete."""
        unfinished = _UNFINISHED.search(text, max(len(text) - _UNFINISHED_LENGTH, 0))
        if unfinished is not None:
            self._held = text[unfinished.start() :]
            text = text[: unfinished.start()]

        last = text.rfind("\x1b")
        if last < 0:
            return text
        # A held back ESC ends a string, as does any other; so only the last one can be open.
        self._in_string = not self._held and _STRING_OPEN.match(text, last) is not None
        return _EFFECTLESS.sub("", text)

    def _write_lines(self, text: str) -> str:
        """Write text that has no controls but LF and TAB; returns ended and wrapped rows."""
        first, line_feed, rest = text.partition("\n")
        settled = self._row.write(first)
        if not line_feed:
            return settled
        # Whole lines need no row: nothing in them can be overwritten any more.
        whole, line_feed, last = rest.rpartition("\n")
        return f"{settled}{self._row.end()}{whole}{line_feed}{self._row.write(last)}"

    def _apply(self, line: str) -> str:
        """Write a part of one line with movements in it; returns rows that wrapped."""
        row = self._row
        if _MOVEMENT.search(line) is None:
            return row.write(_DROPPED.sub("", line))
        if line.count("\r") >= _MANY_RETURNS:
            line = self._without_overwritten(line)
        settled = []
        position = 0
        for match in _ACTION.finditer(line):
            if match.start() > position:
                settled.append(row.write(_DROPPED.sub("", line[position : match.start()])))
            position = match.end()
            if match.group() == "\r":
                row.column = 0
            elif match.group() == "\x08":
                row.column = max(row.column - 1, 0)
            else:
                row.command(match.group(2), match.group(1))
        settled.append(row.write(_DROPPED.sub("", line[position:])))
        return "".join(settled)

    def _without_overwritten(self, line: str) -> str:
        """A shorter line with the same effect: without what its own progress wipes or covers.

        A flood of progress is then as fast as other output. Nothing that could fill a row goes.
        """
        erasure = _last_erasure(line)
        if erasure is not None:
            before = line[: erasure.start()]
            if _JUMP.search(before) is None and self._row.column + _longest(before) < ROW_WIDTH:
                self._row.clear()
                line = line[erasure.end() :]
        if "\x1b" in line or "\x08" in line or "\r" not in line:
            return line
        first, *others = line.split("\r")
        lengths = list(map(len, others))
        longest = max(lengths)
        if longest >= ROW_WIDTH or _DROPPED.search(line) is not None:
            return line
        # What stands before the last of the longest parts is covered by it.
        others = others[len(others) - 1 - lengths[::-1].index(longest) :]
        kept: list[str] = []
        covered = 0
        for part in reversed(others):
            if len(part) > covered:
                kept.append(part)
                covered = len(part)
        if not others[-1]:
            kept.insert(0, "")  # the cursor stays at the start of the row
        return "\r".join((first, *reversed(kept)))


def _last_erasure(line: str) -> re.Match[str] | None:
    """The last place where the whole row is wiped and written anew."""
    end = len(line)
    for _ in range(4):
        start = line.rfind("\r", 0, end)
        if start < 0:
            return None
        for position in (max(start - 4, 0), start):
            found = _ERASURE.match(line, position)
            if found is not None:
                return found
        end = start
    return None


def _longest(line: str) -> int:
    return max(map(len, line.split("\r")))


class _Row:
    """One row of the screen: its text, the cursor's column, and an erasure not yet in effect."""

    __slots__ = ("_erase_from", "_erase_to", "column", "text")

    def __init__(self) -> None:
        self.text = ""
        self.column = 0
        self._erase_from = ROW_WIDTH
        self._erase_to = 0

    def write(self, text: str) -> str:
        """Put text at the cursor; returns the rows that became full."""
        if not text:
            return ""
        self._erase()
        room = ROW_WIDTH - self.column
        if len(text) < room:
            self._put(text)
            return ""
        self._put(text[:room])
        settled = self.text
        full = room + (len(text) - room) // ROW_WIDTH * ROW_WIDTH
        self.text = text[full:]
        self.column = len(self.text)
        return settled + text[room:full]

    def end(self) -> str:
        """End the line; returns its last row with the LF, and starts a new row."""
        text = self.text
        self.clear()
        return f"{text}\n"

    def clear(self) -> None:
        """Start a new row."""
        self.text, self.column = "", 0
        self._erase_from, self._erase_to = ROW_WIDTH, 0

    def command(self, final: str, parameters: str) -> None:
        """Obey a CSI command that acts within the row."""
        number = int(parameters) if parameters.isdecimal() and len(parameters) < 6 else 0
        if final in "JK":
            self._plan_erasure(number, whole_line=final == "K")
        elif final == "C":
            self._move(self.column + max(number, 1))
        elif final == "D":
            self._move(self.column - max(number, 1))
        else:
            self._move(max(number, 1) - 1)

    def _move(self, column: int) -> None:
        self.column = max(0, min(column, max(len(self.text), _FARTHEST_JUMP, self.column)))

    def _plan_erasure(self, mode: int, *, whole_line: bool) -> None:
        if mode == 0:
            self._erase_from = min(self._erase_from, self.column)
        elif whole_line and mode == 1:
            self._erase_to = max(self._erase_to, self.column + 1)
        elif whole_line and mode == 2:
            self._erase_from = 0

    def _erase(self) -> None:
        if self._erase_from < ROW_WIDTH:
            self.text = self.text[: self._erase_from]
        if self._erase_to:
            self.text = " " * min(self._erase_to, len(self.text)) + self.text[self._erase_to :]
        self._erase_from, self._erase_to = ROW_WIDTH, 0

    def _put(self, text: str) -> None:
        if self.column == len(self.text):
            self.text += text
        else:
            before = self.text[: self.column].ljust(self.column)
            self.text = before + text + self.text[self.column + len(text) :]
        self.column += len(text)
