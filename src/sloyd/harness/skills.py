"""Agent Skills: directories with a ``SKILL.md`` that tells a model how to do one kind of work.

Loading is progressive, as the public standard has it: the system prompt lists name, description and
place; the model reads the file when the work calls for it; ``/skill:name`` puts it into a prompt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sloyd.harness.frontmatter import Document, DocumentProblem, read_document
from sloyd.text.markup import attribute, escape

__all__ = ["Skill", "find_skills", "skill_list", "skill_prompt"]

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_DEEPEST = 8
_SKIPPED = {"node_modules", "__pycache__"}


class Skill(msgspec.Struct, frozen=True):
    """One skill. ``hidden`` keeps it out of the model's list; people can still call it."""

    name: str
    description: str
    path: Path
    hidden: bool = False


def find_skills(roots: Sequence[Path]) -> tuple[list[Skill], list[DocumentProblem]]:
    """The skills below each root, or in a file; an earlier one wins where names are the same."""
    skills: dict[str, Skill] = {}
    problems: list[DocumentProblem] = []
    seen: set[Path] = set()
    for root in roots:
        for path in _files(root, 0, set()):
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
            found = _skill(path)
            if isinstance(found, DocumentProblem):
                problems.append(found)
            elif found.name in skills:
                first = skills[found.name].path
                problems.append(DocumentProblem(path, f"skill {found.name} is already at {first}"))
            else:
                skills[found.name] = found
    return list(skills.values()), problems


def _files(directory: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    """SKILL.md files, depth first; below a skill nothing is looked for. A file is a skill.

    ``seen`` are the real directories that were looked into: links may lead in circles.
    """
    if depth == 0 and os.path.isfile(directory):
        yield directory
        return
    real = os.path.realpath(directory)
    if real in seen:
        return
    seen.add(real)
    own = directory / "SKILL.md"
    if os.path.isfile(own):
        yield own
        return
    if depth == 0:
        yield from sorted(path for path in _children(directory) if path.suffix == ".md")
    if depth < _DEEPEST:
        for child in _children(directory):
            skipped = child.name in _SKIPPED or child.name.startswith(".")
            if not skipped and os.path.isdir(child):
                yield from _files(child, depth + 1, seen)


def _children(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _skill(path: Path) -> Skill | DocumentProblem:
    document = read_document(path)
    if isinstance(document, DocumentProblem):
        return document
    fallback = path.parent.name if path.name == "SKILL.md" else path.stem
    name = document.text("name") or fallback
    description = document.text("description")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        return DocumentProblem(
            path, f"the name {name!r} must be a-z, 0-9 and single dashes, at most 64 characters", 1
        )
    if not description:
        return DocumentProblem(path, "a skill needs a description in its header", 1)
    if len(description) > _LONGEST_DESCRIPTION:
        return DocumentProblem(path, "the description is longer than 1024 characters", 1)
    hidden = document.header.get("disable-model-invocation") is True
    return Skill(name, description, path.absolute(), hidden)


def skill_list(skills: Sequence[Skill]) -> str:
    """The part of the system prompt that lists the skills, or nothing."""
    shown = [skill for skill in skills if not skill.hidden]
    if not shown:
        return ""
    rows = "\n".join(
        f"<skill><name>{escape(skill.name)}</name>"
        f"<description>{escape(skill.description)}</description>"
        f"<location>{escape(str(skill.path))}</location></skill>"
        for skill in shown
    )
    return (
        "<skills>\nRead a skill's file before work that its description fits; paths in it are "
        f"relative to its directory.\n{rows}\n</skills>"
    )


def skill_prompt(skill: Skill, arguments: str) -> str | DocumentProblem:
    """What ``/skill:name arguments`` says to the model."""
    document = read_document(skill.path)
    if not isinstance(document, Document):
        return document
    opening = f"<skill name={attribute(skill.name)} location={attribute(str(skill.path))}>"
    block = f"{opening}\n{document.body.strip()}\n</skill>"
    return f"{block}\n\n{arguments}" if arguments.strip() else block
