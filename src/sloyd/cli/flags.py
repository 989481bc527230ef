"""Every switch of the command line, declared once: names, meaning, type.

Help, the parser, shell completion and the reference page in ``docs/cli.md`` come from this table.
Names follow pi's where the meaning is the same.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = ["COMMANDS", "FLAGS", "Command", "Flag", "FlagKind", "flag_names"]

FlagKind: TypeAlias = Literal["switch", "text", "optional", "integer", "number", "choice", "list"]


class Flag(msgspec.Struct, frozen=True):
    """One switch.

    Attributes:
        names: long name first, then short ones.
        doc: one sentence, for ``--help`` and for the reference page.
        kind: ``switch`` takes no value, ``optional`` may be given one; ``list`` may be given
            several times.
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
        """The name in the parsed options: ``--base-url`` becomes ``base_url``.

        A word of Python's own gets an underscore behind it: ``--continue`` becomes ``continue_``.
        """
        import keyword

        name = self.names[0].lstrip("-").replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) else name


class Command(msgspec.Struct, frozen=True):
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
    Command(
        "sessions",
        "sessions [search WORDS]",
        "List, search, show, rename, delete and export sessions",
    ),
    Command("config", "config [set NAME VALUE]", "See and change settings"),
)

_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")

FLAGS: tuple[Flag, ...] = (
    Flag(("--print", "-p"), "Answer the prompt, print the final text and exit", group="Mode"),
    Flag(("--plain",), "Talk in plain lines, without a screen that is redrawn", group="Mode"),
    Flag(
        ("--mode",),
        "What to write: the final text, one JSON event a line, or answers to commands on stdin",
        kind="choice",
        metavar="MODE",
        choices=("text", "json", "rpc"),
        group="Mode",
    ),
    Flag(
        ("--export",),
        "Write a session (a file, an id or a name) as a page, to OUT or beside you, and exit",
        kind="text",
        metavar="SESSION [OUT]",
        group="Mode",
    ),
    Flag(("--continue", "-c"), "Go on in the newest session of this directory", group="Session"),
    Flag(("--resume", "-r"), "Choose the session to go on in from a list", group="Session"),
    Flag(
        ("--session",),
        "Go on in this session: a path, an id, the beginning of one, or a name",
        kind="text",
        metavar="SESSION",
        group="Session",
    ),
    Flag(
        ("--session-id",),
        "Go on in the session of exactly this id, or begin one with it",
        kind="text",
        metavar="ID",
        group="Session",
    ),
    Flag(
        ("--fork",),
        "Go on in a copy of this session, in this directory",
        kind="text",
        metavar="SESSION",
        group="Session",
    ),
    Flag(
        ("--session-dir",),
        "Directory for session files, in the place of the usual one",
        kind="text",
        metavar="DIR",
        group="Session",
    ),
    Flag(("--no-session",), "Keep the session in memory only", group="Session"),
    Flag(
        ("--name", "-n"),
        "Name to give the session",
        kind="text",
        metavar="NAME",
        group="Session",
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
        "Model id, provider/id or part of a name, with :LEVEL behind it if wanted; scripted:FILE",
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
        ("--list-models",),
        "List the known models, those that hold these words, and exit",
        kind="optional",
        metavar="[WORDS]",
        group="Model",
    ),
    Flag(
        ("--record",),
        "Keep the traffic with the provider in a new file, without keys",
        kind="text",
        metavar="FILE",
        group="Model",
    ),
    Flag(
        ("--replay",),
        "Answer from recorded traffic; a request that differs is an error",
        kind="text",
        metavar="FILE",
        group="Model",
    ),
    Flag(
        ("--tools", "-t"),
        "Active tools: a list with * patterns, or only +NAME and -NAME changes",
        kind="text",
        metavar="LIST",
        group="Tools",
    ),
    Flag(
        ("--exclude-tools", "-xt"),
        "Tools to take away: a list with * patterns",
        kind="text",
        metavar="LIST",
        group="Tools",
    ),
    Flag(
        ("--no-builtin-tools", "-nbt"),
        "Leave out the built-in tools unless --tools names them",
        group="Tools",
    ),
    Flag(("--no-tools", "-nt"), "Give the model no tools at all", group="Tools"),
    Flag(
        ("--extension", "-e"),
        "Load this extension, a file or a directory (repeatable)",
        kind="list",
        metavar="PATH",
        group="Resources",
    ),
    Flag(("--no-extensions", "-ne"), "Load only the extensions named here", group="Resources"),
    Flag(
        ("--skill",),
        "Use this skill, a file or a directory (repeatable)",
        kind="list",
        metavar="PATH",
        group="Resources",
    ),
    Flag(("--no-skills", "-ns"), "Use only the skills named here", group="Resources"),
    Flag(
        ("--prompt-template",),
        "Use this prompt template, a file or a directory (repeatable)",
        kind="list",
        metavar="PATH",
        group="Resources",
    ),
    Flag(
        ("--no-prompt-templates", "-np"),
        "Use only the prompt templates named here",
        group="Resources",
    ),
    Flag(("--no-context-files", "-nc"), "Do not read AGENTS.md and its like", group="Resources"),
    Flag(
        ("--approve", "-a"),
        "Trust this project's own settings and extensions, for this run",
        group="Resources",
    ),
    Flag(
        ("--no-approve", "-na"),
        "Ignore this project's own settings and extensions, for this run",
        group="Resources",
    ),
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
    Flag(
        ("--max-time",),
        "Most time of one run: seconds, or such as 90s, 10m, 1h30m",
        kind="text",
        metavar="TIME",
        group="Limits",
    ),
    Flag(
        ("--max-cost",),
        "Most US dollars of one run, by the known prices",
        kind="number",
        metavar="DOLLARS",
        group="Limits",
    ),
    Flag(("--cwd",), "Directory to work in", kind="text", metavar="DIR"),
    Flag(
        ("--offline",),
        "Look for no servers; only the model's own requests use the network (SLOYD_OFFLINE=1)",
    ),
    Flag(("--verbose",), "Tell on standard error what happens inside"),
    Flag(("--version", "-v"), "Print the version and exit"),
    Flag(("--help", "-h"), "Print this help and exit"),
)


def flag_names() -> tuple[str, ...]:
    """Every spelling of every switch, for completion and for suggestions."""
    return tuple(name for flag in FLAGS for name in flag.names)
