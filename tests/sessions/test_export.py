"""Export: a page that shows everything and can run nothing; Markdown; JSONL."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import SessionError
from sloyd.llm.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from sloyd.sessions.edits import drop
from sloyd.sessions.entries import (
    BashExecution,
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    ModelChangeEntry,
)
from sloyd.sessions.export import export_session, write_export
from sloyd.sessions.session import Session
from tests.sessions.builders import CASES, DATA, answer, call, result, user

_SCRIPT = Path(__file__).parents[2] / "src/sloyd/sessions/export/page.js"
_ELEMENTS = (
    "html head meta title style body nav form input output ol li a main header h1 h2 h3 "
    "h4 h5 h6 p button article span mark time div section b code small pre details "
    "summary img script strong em s ul blockquote hr br table thead tbody tr th td"
)
_ATTRIBUTES = (
    "lang charset http-equiv content name aria-label role type id placeholder "
    "autocomplete class data-before hidden href rel alt src start title open"
)


class _Page(HTMLParser):
    """Checks each element against what a page may have; collects text and pictures."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.policy = ""
        self.pictures: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self._inside = ""
        self.feed(page.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ELEMENTS.split(), tag
        values = dict(attrs)
        assert set(values) <= set(_ATTRIBUTES.split()), (tag, attrs)
        self._inside = tag
        if tag == "meta" and "http-equiv" in values:
            assert values["http-equiv"] == "Content-Security-Policy"
            self.policy += values["content"] or ""
        if tag == "img":
            source = values["src"] or ""
            assert source.startswith("data:image/")
            assert not source.startswith("data:image/svg")
            self.pictures.append(source)
        else:
            assert "src" not in values
        if "href" in values:
            href = values["href"] or ""
            assert href.startswith(("http://", "https://", "mailto:", "#")), href
            self.links.append(href)
        if values.get("id"):
            self.ids.append(str(values["id"]))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside == "style":
            self.styles.append(data)
        else:
            self.text += data


def _page(session: Session) -> _Page:
    page = _Page(export_session(session, "html"))
    assert page.scripts == [_SCRIPT.read_text()], "the one script is ours"
    assert len(page.styles) == 1
    for part, text in (("script-src", page.scripts[0]), ("style-src", page.styles[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{part} 'sha256-{digest}';" in page.policy
    assert page.policy.startswith("default-src 'none';")
    assert "unsafe" not in page.policy
    assert len(page.ids) == len(set(page.ids))
    return page


_HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</pre></article><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "[click](javascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](http://evil.example/track.png)",
    "![x](javascript:alert(1))",
    "<a href='javascript:alert(1)'>x</a>",
    '[x](https://a.example/"onmouseover=alert(1)//)',
    '```"><script>alert(1)</script>\n</pre><script>alert(2)</script>\n```',
    "`<img src=x onerror=alert(1)>`",
    "| a | b |\n|:-:|--:|\n| <b onclick=x> | y |",
    "<!-- --><!--",
    "<style>*{}</style><iframe src=//evil.example></iframe>",
    "\u202egpj.exe\x00\x1b[31m\ud800",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "{policy}{0}%s",
]


def _hostile_session(text: str) -> Session:
    session = Session.in_memory(text)
    session.set_name(text)
    entry = session.append_message(UserMessage(content=(Text(text), Image("QUJD", "image/png"))))
    session.append_message(
        AssistantMessage(
            content=(
                Text(text),
                Thinking(text),
                ToolCall(text, text, {text: text, "path": text, "content": text}),
                ToolCall("c2", "bash", {"command": f"{text}\n{text}"}),
                ToolCall("c3", "edit", {"path": text}, arguments_error=text),
            ),
            provider=text,
            model=text,
            stop_reason="error",
            error_message=text,
        )
    )
    session.append_message(
        ToolResultMessage(
            tool_call_id=text,
            tool_name=text,
            content=(Text(text), Image('x" onerror="alert(1)', "image/png"), Image("QUJD", text)),
            details={"diff": f"-1 {text}\n+1 {text}\n{text}"},
        )
    )
    session.append_message(result("orphan", text, name=text))
    session.append_message(BashExecution(command=text, output=text))
    session.append(CustomMessageEntry(custom_type=text, content=text, display=False))
    session.append(ModelChangeEntry(provider=text, model_id=text))
    session.append(BranchSummaryEntry(summary=text, from_id=text))
    session.append(CompactionEntry(summary=text, first_kept_entry_id=entry.id))
    session.set_label(entry.id, text)
    session.append(CustomMessageEntry(id=f'"><i {text}', custom_type="x", content=text))
    return session


@pytest.mark.parametrize("text", _HOSTILE)
def test_nothing_in_a_session_can_run(text: str) -> None:
    page = _page(_hostile_session(text))
    assert len(page.pictures) == 1, "only the picture that is one"


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_text_breaks_out(text: str) -> None:
    _page(_hostile_session(text))


def test_the_page_shows_what_happened() -> None:
    with Session.open(DATA / "pi_session.jsonl", on_conflict="read") as session:
        page = _page(session)
    for words in (
        "Fix the spelling in greet.py",
        "I will look at the file first.",
        "echo ran; exit 3",
        "Command exited with code 3",
        "print('Helo')",
        "You are welcome.",
        "2 requests, 3 tool calls",
    ):
        assert words in page.text, words


def test_markdown_code_and_tables_are_rendered() -> None:
    session = Session.in_memory("/w")
    session.append_message(user("*not* markdown here"))
    session.append_message(
        answer(
            "# Head\n\n**bold** `code`\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n```python\nx = 1\n```"
        )
    )
    html = export_session(session, "html").decode()
    assert "<strong>bold</strong>" in html
    assert '<td class="align-right">1</td>' in html
    assert '<span class="s-n">x</span>' in html
    assert "*not* markdown here" in html


def test_all_branches_are_there_and_the_active_one_is_shown() -> None:
    session = Session.in_memory("/w")
    first = session.append_message(user("root"))
    session.append_message(answer("left branch"))
    session.navigate(first.id)
    right = session.append_message(answer("right branch", call("c1")))
    dropped = session.append_message(result("c1", "a long story"))
    session.set_label(right.id, "the better way")
    drop(session, dropped.id)
    html = export_session(session, "html").decode()
    page = _page(session)
    assert html.count(" hidden>") == 1
    assert "the better way" in page.text
    assert "not in the context" in page.text
    assert "a long story" in page.text


def test_markdown_cannot_be_broken_by_fences() -> None:
    session = Session.in_memory("/w")
    session.append_message(user("show"))
    session.append_message(answer("ok", call("c", path="README.md")))
    session.append_message(result("c", "text\n````\nfenced\n````\nend"))
    text = export_session(session, "markdown").decode()
    assert "`````\ntext\n````\nfenced\n````\nend\n`````" in text


@pytest.mark.parametrize("name", ["bad_middle", "u2028", "lone_surrogate", "duplicate_ids"])
def test_jsonl_keeps_every_line(name: str, tmp_path: Path) -> None:
    source = CASES / "sessions" / f"{name}.jsonl"
    with Session.open(source, on_conflict="read") as session:
        write_export(session, tmp_path / "out.jsonl")
        write_export(session, tmp_path / "out.html")
        write_export(session, tmp_path / "out.md")
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()
    assert stat.S_IMODE((tmp_path / "out.html").stat().st_mode) == 0o600


def test_the_ending_tells_the_format(tmp_path: Path) -> None:
    session = Session.in_memory("/w")
    with pytest.raises(SessionError, match=r"use \.html"):
        write_export(session, tmp_path / "out.pdf")
    with pytest.raises(SessionError, match="cannot write"):
        write_export(session, tmp_path / "none" / "out.md")


@pytest.mark.parametrize("name", ["nul\0.html", "x" * 300 + ".html", "no/such/place.html"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    session = Session.in_memory("/tmp")
    with pytest.raises(SessionError, match="cannot write"):
        write_export(session, tmp_path / name)


def test_a_pipe_or_a_link_stays_what_it_is(tmp_path: Path) -> None:
    session = Session.in_memory(str(tmp_path))
    session.append_message(UserMessage(content="hello"))
    target = tmp_path / "real.jsonl"
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    write_export(session, link)
    assert link.is_symlink()
    assert b"hello" in target.read_bytes()
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_export(session, pipe)
        assert b"hello" in os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
