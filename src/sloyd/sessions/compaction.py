"""Making room: older messages become a summary, and stay findable.

The summary is written by a model from the conversation as text, and updated each time. Behind it
stand facts that need no model: which files were read and changed, the request under way when a turn
had to be split, and the ids of the entries that were cut, which `sloyd.sessions.recall` gives back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sloyd.errors import SessionError
from sloyd.llm.messages import AssistantMessage, Usage, UserMessage
from sloyd.llm.models import Context, Model, StreamOptions, ThinkingLevel
from sloyd.sessions.cut import CutPlan
from sloyd.sessions.entries import CompactionEntry
from sloyd.sessions.estimate import estimate_text
from sloyd.sessions.plain import clip, content_text
from sloyd.sessions.serialise import conversation_parts
from sloyd.sessions.traces import FileLists, entry_lines, file_lists
from sloyd.sessions.usage import sum_usage

__all__ = ["Summary", "compact", "summarise"]

_BLOCKS = ("\n\n<request>", "\n\n<read-files>", "\n\n<modified-files>", "\n\n<earlier-entries>")
_REQUEST_LIMIT = 8_000
"""Characters of a split turn's request that are quoted; its entry is named for the rest."""
_SUMMARY_TOKENS = 8_192
"""Most tokens of a summary. More would not be one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A text that a model wrote, and what it cost."""

    text: str
    usage: Usage


async def compact(
    plan: CutPlan,
    model: Model,
    *,
    previous: CompactionEntry | None = None,
    instructions: str | None = None,
    thinking: ThinkingLevel = "off",
) -> CompactionEntry:
    """The entry that puts a summary in the place of what the plan cuts; the caller appends it.

    ``previous`` is the entry of ``plan.previous_id``: its summary is updated, its lists go on.
    ``instructions`` are a person's, about what matters. Raises `ProviderError` when the model
    fails, and `SessionError` when its summary is empty or was cut off; nothing is changed then.
    """
    old = "" if previous is None else _without_blocks(previous.summary)
    details = previous.details if previous is not None and not previous.from_hook else None
    before = details if isinstance(details, dict) else {}
    request = _request(plan, "" if previous is None else previous.summary)
    summary = await summarise(
        list(conversation_parts(plan.cut)),
        model,
        previous=old,
        instructions=instructions,
        unfinished=bool(request),
        thinking=thinking,
    )
    files = file_lists(plan.cut, before)
    lines = entry_lines(plan.cut, before.get("entries"))
    count = before.get("cutEntries")
    cut_entries = len(plan.cut) + (count if isinstance(count, int) else 0)
    return CompactionEntry(
        summary=summary.text + request + _blocks(files, lines, cut_entries),
        first_kept_entry_id=plan.first_kept_entry_id,
        tokens_before=plan.tokens_before,
        usage=summary.usage,
        details={
            "readFiles": list(files.read),
            "modifiedFiles": list(files.modified),
            "cutEntries": cut_entries,
            "entries": lines,
        },
    )


async def summarise(
    parts: Sequence[str],
    model: Model,
    *,
    previous: str = "",
    instructions: str | None = None,
    unfinished: bool = False,
    thinking: ThinkingLevel = "off",
) -> Summary:
    """A summary of a conversation, given as texts in order; in several requests if it is long.

    ``previous`` is an older summary to bring up to date. Raises as `compact` does.
    """
    system = Path(__file__).with_name("summary.md").read_text(encoding="utf-8")
    limit = min(_SUMMARY_TOKENS, model.info.max_output, max(model.info.context_window // 4, 256))
    room = model.info.context_window - limit - estimate_text(system) - 1_000
    text = previous
    usage = Usage()
    waiting = list(parts)
    if not waiting:
        raise SessionError("there is nothing in the older messages to summarise")
    while waiting:
        # The estimate may be wrong, so a fifth of the room stays free.
        chunk = _take(waiting, max(int(room * 0.8) - estimate_text(text), 500))
        prompt = _prompt(chunk, text, instructions, unfinished=unfinished and not waiting)
        message = await _ask(model, system, prompt, limit, thinking)
        text = message.text.strip()
        usage = sum_usage(usage, message.usage)
    return Summary(text, usage)


async def _ask(
    model: Model, system: str, prompt: str, limit: int, thinking: ThinkingLevel
) -> AssistantMessage:
    from sloyd.llm.events import Done, Failed

    context = Context(system_prompt=system, messages=(UserMessage(content=prompt),))
    options = StreamOptions(thinking=thinking, max_output=limit if thinking == "off" else None)
    message: AssistantMessage | None = None
    async with model.stream(context, options) as stream:
        async for event in stream:
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, Done):
                message = event.message
    if message is None:
        raise SessionError("the model gave no summary")
    if message.stop_reason == "length":
        raise SessionError(
            "the summary reached the model's output limit and was rejected; nothing was compacted"
        )
    if not message.text.strip():
        raise SessionError("the model gave an empty summary; nothing was compacted")
    return message


def _prompt(chunk: str, previous: str, instructions: str | None, *, unfinished: bool) -> str:
    parts = []
    if previous:
        parts.append(
            "This is the record so far. Bring it up to date with the conversation below: keep what "
            "still holds, correct what changed, add what is new."
            f"\n\n<record>\n{previous}\n</record>"
        )
    parts.append(f"<conversation>\n{chunk}\n</conversation>")
    if unfinished:
        parts.append(
            "The conversation stops in the middle of the work on the last request. Say under "
            '"In Progress" exactly how far it came.'
        )
    if instructions and instructions.strip():
        parts.append(f"The user asks you to mind this above all: {instructions.strip()}")
    parts.append("Now write the record.")
    return "\n\n".join(parts)


def _take(waiting: list[str], tokens: int) -> str:
    """As many of the first texts as fit into ``tokens``, taken out of the list; one at least."""
    first = waiting.pop(0)
    size = estimate_text(first)
    if size > tokens:
        return clip(first, max(len(first) * tokens // size, 200))
    taken = [first]
    while waiting:
        size += estimate_text(waiting[0])
        if size > tokens:
            break
        taken.append(waiting.pop(0))
    return "\n\n".join(taken)


def _without_blocks(summary: str) -> str:
    ends = [place for block in _BLOCKS if (place := summary.find(block)) >= 0]
    return summary[: min(ends)] if ends else summary


def _request(plan: CutPlan, previous: str) -> str:
    """The block that quotes the request which the kept messages still work on, or nothing.

    A long turn is compacted more than once; its request then stands in the ``previous`` summary.
    """
    if plan.request is not None and isinstance(plan.request.message, UserMessage):
        quoted = clip(content_text(plan.request.message.content), _REQUEST_LIMIT)
        return f"\n\n<request>\nUnder way, entry {plan.request.entry_id}:\n{quoted}\n</request>"
    if isinstance(plan.kept[0].message, UserMessage):
        return ""
    blocks = previous[len(_without_blocks(previous)) :]
    begin, end = blocks.find(_BLOCKS[0]), blocks.rfind("\n</request>")
    return blocks[begin : end + len("\n</request>")] if 0 <= begin < end else ""


def _blocks(files: FileLists, lines: Sequence[str], count: int) -> str:
    text = ""
    if files.read:
        text += "\n\n<read-files>\n" + "\n".join(files.read) + "\n</read-files>"
    if files.modified:
        text += "\n\n<modified-files>\n" + "\n".join(files.modified) + "\n</modified-files>"
    text += (
        f"\n\n<earlier-entries>\n{count} entries are summarised here; they can be read again by "
        "their id:\n" + "\n".join(lines) + "\n</earlier-entries>"
    )
    return text
