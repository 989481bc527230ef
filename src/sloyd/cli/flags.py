"""Every switch of the command line, declared once: names, meaning, type.

Help, the parser, shell completion and the reference page in ``docs/cli.md`` come from this table.
Names follow pi's where the meaning is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["COMMANDS", "FLAGS", "Command", "Flag", "FlagKind", "flag_names"]

FlagKind: TypeAlias = Literal["switch", "text", "integer", "number", "choice", "list"]


@dataclass(frozen=True, slots=True)
class Flag:
    """One switch.

    Attributes:
        names: long name first, then short ones.
        doc: one sentence, for ``--help`` and for the reference page.
        kind: ``switch`` takes no value; ``list`` may be given several times.
        metavar: how the value is called in help.
        choices: the values that ``choice`` takes.
        group: the heading under which help lists it.
    """

    names: tuple[str, ...]
    doc: str
    kind: FlagKind = "switch"
    metavar: str = ""
    choices: tuple[str, ...] = ()
    group: str = "General"

    @property
    def key(self) -> str:
        """The name in the parsed options: ``--base-url`` becomes ``base_url``."""
        return self.names[0].lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: ``sloyd NAME ...``."""

    name: str
    usage: str
    doc: str


COMMANDS: tuple[Command, ...] = (
    Command("demo", "demo [--keep DIR]", "Watch a scripted model mend a small project, offline"),
    Command(
        "tool",
        "tool NAME JSON | tool --jsonl",
        "Run one tool, or a stream of calls, without a model",
    ),
    Command("undo", "undo [ID]", "List and revert the file changes that tools made"),
)

_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")

FLAGS: tuple[Flag, ...] = (
    Flag(("--print", "-p"), "Answer the prompt, print the final text and exit", group="Mode"),
    Flag(
        ("--mode",),
        "What to write: the final text, or one JSON event a line",
        kind="choice",
        metavar="MODE",
        choices=("text", "json"),
        group="Mode",
    ),
    Flag(
        ("--provider",),
        "Whose API to speak: openai, anthropic, or another known provider",
        kind="text",
        metavar="NAME",
        group="Model",
    ),
    Flag(
        ("--model",),
        "Model id, provider/id, either with :LEVEL behind it, or scripted:FILE",
        kind="text",
        metavar="MODEL",
        group="Model",
    ),
    Flag(
        ("--base-url",),
        "Where the API lives, as the vendor's own SDK takes it",
        kind="text",
        metavar="URL",
        group="Model",
    ),
    Flag(("--api-key",), "Key for the provider", kind="text", metavar="KEY", group="Model"),
    Flag(
        ("--thinking",),
        "How much the model reasons before it answers",
        kind="choice",
        metavar="LEVEL",
        choices=_LEVELS,
        group="Model",
    ),
    Flag(
        ("--tools", "-t"),
        "Active tools: a list with * patterns, or only +NAME and -NAME changes",
        kind="text",
        metavar="LIST",
        group="Tools",
    ),
    Flag(("--no-tools", "-nt"), "Give the model no tools at all", group="Tools"),
    Flag(
        ("--system-prompt",),
        "Text, or a file with it, in the place of the system prompt",
        kind="text",
        metavar="TEXT",
        group="Prompt",
    ),
    Flag(
        ("--append-system-prompt",),
        "Text, or a file with it, behind the system prompt (repeatable)",
        kind="list",
        metavar="TEXT",
        group="Prompt",
    ),
    Flag(
        ("--max-turns",),
        "Most model requests of one run; then a clean stop",
        kind="integer",
        metavar="N",
        group="Limits",
    ),
    Flag(("--cwd",), "Directory to work in", kind="text", metavar="DIR"),
    Flag(("--version", "-v"), "Print the version and exit"),
    Flag(("--help", "-h"), "Print this help and exit"),
)


def flag_names() -> tuple[str, ...]:
    """Every spelling of every switch, for completion and for suggestions."""
    return tuple(name for flag in FLAGS for name in flag.names)
