"""Prompt templates: a Markdown file whose name is a slash command and whose text is the prompt.

``$1`` to ``$9`` and ``${1:-default}`` are the words behind the command; ``$@`` and ``$ARGUMENTS``
are all of them; ``${@:N}`` are those from the Nth on, ``${@:N:L}`` the L from there. What is put in
is never looked at again, so an argument that contains ``$1`` stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sloyd.harness.frontmatter import DocumentProblem, read_document

__all__ = ["Template", "expand", "find_templates", "split_arguments"]

_PLACE = re.compile(
    r"\$\{(?P<named>\d+|@)(?::-(?P<default>[^}]*)|:(?P<start>\d+)(?::(?P<count>\d+))?)?\}"
    r"|\$(?P<number>\d+)|\$(?P<all>@|ARGUMENTS)"
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Template(msgspec.Struct, frozen=True):
    """One template. ``hint`` shows which arguments it takes."""

    name: str
    text: str
    path: Path
    description: str = ""
    hint: str = ""


def find_templates(roots: Sequence[Path]) -> tuple[list[Template], list[DocumentProblem]]:
    """The templates in each directory, or of a file; an earlier one wins where names are alike."""
    templates: dict[str, Template] = {}
    problems: list[DocumentProblem] = []
    for root in roots:
        try:
            single = [root] if os.path.isfile(root) else None
            paths = single or sorted(path for path in root.iterdir() if path.suffix == ".md")
        except OSError:
            continue
        for path in paths:
            document = read_document(path)
            if isinstance(document, DocumentProblem):
                problems.append(document)
            elif not _NAME.fullmatch(path.stem):
                problems.append(DocumentProblem(path, "the file's name is no command name"))
            else:
                first_line = document.body.strip().split("\n", 1)[0][:80]
                template = Template(
                    path.stem,
                    document.body,
                    path.absolute(),
                    document.text("description") or first_line,
                    document.text("argument-hint"),
                )
                templates.setdefault(template.name, template)
    return list(templates.values()), problems


def split_arguments(text: str) -> list[str]:
    """Words, where a quote at the beginning of a word holds it together.

    A quote inside a word is an apostrophe; a quote that is never closed is a character.
    """
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        quote = text[at]
        close = text.find(quote, at + 1) if quote in "\"'" else -1
        if close != -1:
            words.append(text[at + 1 : close])
            at = close + 1
            continue
        end = at
        while end < len(text) and not text[end].isspace():
            end += 1
        words.append(text[at:end])
        at = end
    return words


def expand(template: Template, arguments: str) -> str:
    """The template's text with the arguments put in."""
    words = split_arguments(arguments)

    def value(found: re.Match[str]) -> str:
        if found.group("all") or found.group("named") == "@":
            start = int(found.group("start") or 1)
            count = found.group("count")
            chosen = words[max(start, 1) - 1 :]
            chosen = chosen[: int(count)] if count is not None else chosen
            return " ".join(chosen) or (found.group("default") or "")
        number = int(found.group("named") or found.group("number"))
        word = words[number - 1] if 0 < number <= len(words) else ""
        return word or (found.group("default") or "")

    return _PLACE.sub(value, template.text)
