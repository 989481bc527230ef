"""The one declared table of settings: name, type, default and meaning, in the classes below.

The loader (`sloyd.harness.settings_files`), ``sloyd config``, the reference page and completion
all read this table. A dotted name such as ``shell.path`` is the section and the key of a TOML file.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from sloyd.llm.models import ThinkingLevel

__all__ = [
    "CompactionSettings",
    "Count",
    "DisplaySettings",
    "LimitSettings",
    "ModelSettings",
    "Positive",
    "QueueMode",
    "RetrySettings",
    "SessionSettings",
    "Setting",
    "Settings",
    "ShellSettings",
    "ToolsSettings",
    "TrustDefault",
    "declared_settings",
    "type_name",
]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]
TrustDefault: TypeAlias = Literal["ask", "always", "never"]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]


def _doc(text: str) -> Meta:
    return Meta(description=text)


class _Section(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the sections."""


class ModelSettings(_Section, frozen=True, kw_only=True):
    """``[model]``: which model answers, and how."""

    default: Annotated[str | None, _doc("Model to use: an id, or provider/id")] = None
    provider: Annotated[str | None, _doc("Provider to use when the model names none")] = None
    thinking: Annotated[ThinkingLevel, _doc("How much the model reasons")] = "medium"
    favourites: Annotated[
        tuple[str, ...], _doc("Models to cycle through, as patterns such as anthropic/*")
    ] = ()


class ToolsSettings(_Section, frozen=True, kw_only=True):
    """``[tools]``: what the model may use."""

    active: Annotated[
        tuple[str, ...] | None, _doc("Active tools; None means read, bash, edit, write")
    ] = None
    journal_bytes: Annotated[
        int, Meta(ge=0, description="Most bytes of old file contents kept for undo")
    ] = 512 * 1024 * 1024
    image_side: Annotated[int, Meta(ge=16, description="Most pixels of an image's longer side")] = (
        2000
    )
    search_program: Annotated[
        str | None, _doc("An rg to search with, or python for Sloyd's own search")
    ] = None


class ShellSettings(_Section, frozen=True, kw_only=True):
    """``[shell]``: how commands run."""

    path: Annotated[str | None, _doc("Shell to use; None means bash, else sh")] = None
    prefix: Annotated[
        str | None, _doc("Shell text put on a line of its own before every command")
    ] = None
    timeout: Annotated[Positive | None, _doc("Seconds for commands that name no timeout")] = None
    log_bytes: Annotated[
        int, Meta(ge=102400, description="Most bytes of one command's full log")
    ] = 256 * 1024 * 1024
    hide: Annotated[tuple[str, ...], _doc("More variables (or * patterns) kept from commands")] = ()
    let_through: Annotated[
        tuple[str, ...], _doc("Variables given to commands although they hold a known key")
    ] = ()


class LimitSettings(_Section, frozen=True, kw_only=True):
    """``[limits]``: where a run stops."""

    turns: Annotated[Count | None, _doc("Most model requests of one run")] = None
    seconds: Annotated[Positive | None, _doc("Most wall time of one run")] = None
    dollars: Annotated[Positive | None, _doc("Most money of one run")] = None


class RetrySettings(_Section, frozen=True, kw_only=True):
    """``[retry]``: what happens when a request fails."""

    attempts: Annotated[int, Meta(ge=0, description="How often a request is sent again")] = 3
    idle_seconds: Annotated[
        float, Meta(gt=0, description="Silence after which a stream counts as dead")
    ] = 300.0
    wait_for_quota: Annotated[
        bool, _doc("Wait for a quota's reset when the provider names the time")
    ] = False


class CompactionSettings(_Section, frozen=True, kw_only=True):
    """``[compaction]``: what happens when a conversation outgrows the window."""

    enabled: Annotated[bool, _doc("Summarise old messages before the window is full")] = True
    reserve_tokens: Annotated[
        int, Meta(ge=0, description="Tokens kept free for the next answer")
    ] = 16_384
    keep_recent_tokens: Annotated[
        int, Meta(ge=0, description="Tokens of the newest messages that stay as they are")
    ] = 20_000


class SessionSettings(_Section, frozen=True, kw_only=True):
    """``[sessions]``: how conversations are kept and led."""

    directory: Annotated[
        str | None, _doc("Where sessions are kept; None means sessions in Sloyd's home")
    ] = None
    steering: Annotated[QueueMode, _doc("How many waiting messages enter after a turn")] = (
        "one-at-a-time"
    )
    follow_up: Annotated[
        QueueMode, _doc("How many waiting follow-ups enter when a run would stop")
    ] = "one-at-a-time"
    project_trust: Annotated[
        TrustDefault, _doc("What to do with a project that configures Sloyd; user file only")
    ] = "ask"


class DisplaySettings(_Section, frozen=True, kw_only=True):
    """``[display]``: how things look."""

    theme: Annotated[str, _doc("dark, light, terminal, or the name of a theme file")] = "dark"
    hide_thinking: Annotated[bool, _doc("Show only that the model reasons")] = False
    reduced_motion: Annotated[bool, _doc("No spinner and no animation")] = False
    images: Annotated[bool, _doc("Draw images where the terminal has true colour")] = True
    editor: Annotated[str | None, _doc("External editor; None means VISUAL, EDITOR")] = None
    notify: Annotated[bool, _doc("Notify when a long run ends")] = True


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings, by section."""

    model: ModelSettings = ModelSettings()
    tools: ToolsSettings = ToolsSettings()
    shell: ShellSettings = ShellSettings()
    limits: LimitSettings = LimitSettings()
    retry: RetrySettings = RetrySettings()
    compaction: CompactionSettings = CompactionSettings()
    sessions: SessionSettings = SessionSettings()
    display: DisplaySettings = DisplaySettings()


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. ``type`` is what `msgspec.convert` takes, constraints included."""

    section: str
    key: str
    type: Any
    default: object
    doc: str

    @property
    def name(self) -> str:
        """The dotted name: ``section.key``."""
        return f"{self.section}.{self.key}"


def declared_settings() -> Iterator[Setting]:
    """Every setting, in the order of the table."""
    for section, struct in get_type_hints(Settings).items():
        hints = get_type_hints(struct, include_extras=True)
        for field in msgspec.structs.fields(struct):
            annotated = hints[field.name]
            meta = next(part for part in get_args(annotated) if isinstance(part, Meta))
            yield Setting(section, field.name, annotated, field.default, meta.description or "")


def type_name(declared: Any) -> str:
    """A setting's type in words that fit a TOML file."""
    if get_origin(declared) is Annotated:
        return type_name(get_args(declared)[0])
    if get_origin(declared) in (Union, types.UnionType):
        parts = [part for part in get_args(declared) if part is not types.NoneType]
        return " or ".join(type_name(part) for part in parts)
    if get_origin(declared) is Literal:
        return " | ".join(f'"{value}"' for value in get_args(declared))
    if get_origin(declared) is tuple:
        return "list of strings"
    names = {str: "string", int: "whole number", float: "number", bool: "true or false"}
    return names.get(declared, str(declared))
