"""The text of a result that is a list of lines, with notices about what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sloyd.agent.tool import ToolResult
from sloyd.errors import WorkspaceError
from sloyd.text.truncate import MAX_BYTES, byte_length, format_size
from sloyd.workspace.paths import quote_name

__all__ = ["LineList", "named", "reason_of"]

_MOST_NAMED = 5


@dataclass(slots=True)
class LineList:
    """Lines up to the byte limit of a result; those beyond it are counted and not kept.

    Attributes:
        lines: what is shown; the byte limit holds for them and the line breaks between them.
        total_lines: all lines that were added.
        total_bytes: the bytes of all lines, and of the line breaks between them.
        notices: what the model must know, one sentence each, without a full stop.
        details: for people and programs.
    """

    lines: list[str] = field(default_factory=list)
    total_lines: int = 0
    total_bytes: int = 0
    notices: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    _shown_bytes: int = 0

    def add(self, line: str) -> None:
        """Add a line behind the others."""
        self.total_bytes += byte_length(line) + (self.total_lines > 0)
        self.total_lines += 1
        if self.total_bytes <= MAX_BYTES:
            self.lines.append(line)
            self._shown_bytes = self.total_bytes

    @property
    def is_truncated(self) -> bool:
        """Whether the byte limit left lines out."""
        return len(self.lines) < self.total_lines

    def notice_truncation(self) -> None:
        """Say so when the byte limit left lines out."""
        if self.is_truncated:
            self.notices.append(f"{format_size(MAX_BYTES)} limit reached")
            self.details["truncation"] = {
                "truncated": True,
                "truncatedBy": "bytes",
                "totalLines": self.total_lines,
                "totalBytes": self.total_bytes,
                "outputLines": len(self.lines),
                "outputBytes": self._shown_bytes,
                "maxBytes": MAX_BYTES,
            }

    def notice_unreadable(self, problems: Sequence[tuple[str, str]]) -> None:
        """Name what could not be looked at, and why."""
        if problems:
            shown = [f"{quote_name(path)} ({reason})" for path, reason in problems]
            self.notices.append(f"Could not be read: {named(shown)}")
            self.details["unreadable"] = shown

    def result(self, otherwise: str) -> ToolResult:
        """The result; its text is ``otherwise`` when there are no lines."""
        text = "\n".join(self.lines) if self.total_lines else otherwise
        if self.notices:
            text = f"{text}\n\n[{'. '.join(self.notices)}]".lstrip("\n")
        details: Mapping[str, Any] | None = self.details or None
        return ToolResult.of(text, details=details)


def reason_of(error: WorkspaceError) -> str:
    """Why something could not be looked at, in a few words."""
    return "Permission denied" if error.reason == "permission" else str(error)


def named(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
