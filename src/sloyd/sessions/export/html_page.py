"""The page: one self-contained HTML file with all branches of a session.

Its content security policy allows one script and one style sheet, both by their hashes, and images
that are inside the page. Nothing is loaded from anywhere, and nothing that a session contains can
run, even if an escape were wrong.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from sloyd.llm.messages import AssistantMessage, ToolResultMessage
from sloyd.sessions.codec import ms_from_iso
from sloyd.sessions.entries import CompactionEntry, Entry, MessageEntry
from sloyd.sessions.export.html_entries import Surroundings, badges_html, entry_html
from sloyd.sessions.export.html_text import code_styles, text_html
from sloyd.sessions.plain import entry_role, entry_text, first_line
from sloyd.sessions.session import Session

__all__ = ["html_page"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<nav aria-label="Session">
<form role="search"><input type="search" id="search" placeholder="Search" autocomplete="off"
 aria-label="Search in this session"><output id="found"></output></form>
<ol id="tree">{tree}</ol>
</nav>
<main>
<header><h1>{title}</h1><p class="facts">{facts}</p>
<p class="actions"><button type="button" id="unfold">Unfold all</button></p></header>
{articles}
</main>
<script>{script}</script>
</body>
</html>
"""


def html_page(session: Session) -> str:
    """The whole page."""
    here = Path(__file__).parent
    style = (here / "page.css").read_text(encoding="utf-8") + code_styles()
    script = (here / "page.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    entries = list(session.entries())
    around = _surroundings(session, entries)
    shown = _with_content(entries, around)
    active = {node.id for node in session.tree.branch()}
    title = session.name or _first_words(entries) or "A session"
    return _PAGE.format(
        policy=policy,
        title=text_html(title),
        style=style,
        script=script,
        facts=_facts(session, entries),
        tree=_tree(shown, around, active),
        articles="\n".join(_article(shown_entry, around, active) for shown_entry in shown),
    )


class _Shown:
    """An entry with content, and the nearest one before it that has some, too."""

    __slots__ = ("before", "body", "entry")

    def __init__(self, entry: Entry, before: str | None, body: str) -> None:
        self.entry = entry
        self.before = before
        self.body = body


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _surroundings(session: Session, entries: list[Entry]) -> Surroundings:
    from sloyd.sessions.edits import dropped

    callers: dict[str, str] = {}
    results: dict[tuple[str, str], MessageEntry] = {}
    for entry in entries:
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage):
            callers |= {call.id: entry.id for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage) and isinstance(entry, MessageEntry):
            caller = callers.get(message.tool_call_id)
            if caller is not None:
                results.setdefault((caller, message.tool_call_id), entry)
    return Surroundings(results, session.labels, frozenset(dropped(session)))


def _with_content(entries: list[Entry], around: Surroundings) -> list[_Shown]:
    placed = {entry.id for entry in around.results.values()}
    nearest: dict[str, str | None] = {}
    shown = []
    for entry in entries:
        before = nearest.get(entry.parent_id) if entry.parent_id is not None else None
        body = "" if entry.id in placed else entry_html(entry, around)
        if body:
            shown.append(_Shown(entry, before, body))
        nearest[entry.id] = entry.id if body else before
    return shown


def _article(shown: _Shown, around: Surroundings, active: set[str]) -> str:
    entry = shown.entry
    role = entry_role(entry) or "change"
    kind = "user" if role == "user" else "assistant" if role == "assistant" else "other"
    hidden = "" if entry.id in active else " hidden"
    parent = f' data-before="{_anchor(shown.before)}"' if shown.before else ""
    time = entry.timestamp[:16].replace("T", " ")
    head = f"<span>{text_html(role)}</span>" if kind != "other" or role != "change" else ""
    return (
        f'<article id="{_anchor(entry.id)}" class="{kind}"{parent}{hidden}>'
        f'<header>{head}{badges_html(entry.id, around)}<a href="#{_anchor(entry.id)}">'
        f"<time>{text_html(time)}</time></a></header>{shown.body}</article>"
    )


def _tree(shown: list[_Shown], around: Surroundings, active: set[str]) -> str:
    """Requests, branch points and labelled entries, indented by how deep their branch is."""
    followers: dict[str | None, int] = {}
    for item in shown:
        followers[item.before] = followers.get(item.before, 0) + 1
    depths: dict[str | None, int] = {None: 0}
    lines = []
    for item in shown:
        entry = item.entry
        forked = followers[item.before] > 1
        depths[entry.id] = depth = depths[item.before] + forked
        role = entry_role(entry)
        milestone = isinstance(entry, CompactionEntry) or entry.id in around.labels
        if role != "user" and not milestone and not forked:
            continue
        label = around.labels.get(entry.id)
        text = first_line(label or entry_text(entry) or role, 60)
        state = "on" if entry.id in active else "off"
        lines.append(
            f'<li class="d{min(depth, 8)} {state}"><a href="#{_anchor(entry.id)}">'
            f"{text_html(text)}</a></li>"
        )
    return "".join(lines)


def _facts(session: Session, entries: list[Entry]) -> str:
    from sloyd.sessions.stats import session_stats

    stats = session_stats(session)
    models = dict.fromkeys(
        entry.message.model
        for entry in entries
        if isinstance(entry, MessageEntry)
        and isinstance(entry.message, AssistantMessage)
        and entry.message.model
    )
    facts = [session.cwd, ", ".join(models), session.header.timestamp[:16].replace("T", " ")]
    facts.append(f"{stats.user_messages} requests, {stats.tool_calls} tool calls")
    if stats.usage.total_tokens:
        facts.append(f"{stats.usage.total_tokens:,} tokens")
    if stats.usage.cost.total:
        facts.append(f"${stats.usage.cost.total:.4f}")
    first, last = _span(entries)
    if last - first >= 60_000:
        facts.append(f"{(last - first) // 60_000} minutes")
    return " · ".join(text_html(fact) for fact in facts if fact)


def _span(entries: list[Entry]) -> tuple[int, int]:
    times = [ms_from_iso(entry.timestamp) for entry in entries if entry.timestamp]
    return (min(times), max(times)) if times else (0, 0)


def _first_words(entries: list[Entry]) -> str:
    for entry in entries:
        if entry_role(entry) == "user":
            return first_line(entry_text(entry), 80)
    return ""


def _anchor(entry_id: str | None) -> str:
    """An id that is safe in an attribute and an address, whatever the file says."""
    return "e-" + "".join(
        c if c.isascii() and c.isalnum() else f".{ord(c):x}." for c in entry_id or ""
    )
