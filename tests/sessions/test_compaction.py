"""Compaction: what is cut, what the summary is made from, and how what was cut is found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import ProviderError, SessionError
from sloyd.llm.messages import (
    AssistantMessage,
    Message,
    ToolResultMessage,
    Usage,
    UserMessage,
    text_of,
)
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.llm.wires.scripted import ScriptedModel
from sloyd.sessions.branch_summary import summarise_branch
from sloyd.sessions.compacting import compact_session
from sloyd.sessions.context import ContextItem, SessionContext
from sloyd.sessions.cut import CompactionSettings, plan_cut, should_compact
from sloyd.sessions.estimate import context_tokens, estimate_message, estimate_text
from sloyd.sessions.recall import recall
from sloyd.sessions.session import Session
from tests.sessions.builders import answer, call, result, texts, user

_INFO = ModelInfo(id="m", provider="scripted", api="scripted", context_window=200_000)


class _Recorder(ScriptedModel):
    """A scripted model that keeps what it was asked."""

    def __init__(self, *turns: dict[str, Any], info: ModelInfo = _INFO) -> None:
        super().__init__(turns, info=info)
        self.asked: list[Context] = []

    def stream(self, context: Context, options: StreamOptions = StreamOptions()) -> Any:  # noqa: B008
        self.asked.append(context)
        return super().stream(context, options)

    def prompt(self, number: int = -1) -> str:
        message = self.asked[number].messages[0]
        assert isinstance(message, UserMessage)
        return text_of(message.content)


def _turns(session: Session, count: int, size: int = 4_000) -> None:
    for number in range(count):
        session.append_message(user(f"request {number}"))
        session.append_message(answer("", call(f"c{number}", path=f"src/file{number}.py")))
        session.append_message(result(f"c{number}", f"content {number} " + "word " * (size // 5)))
        session.append_message(answer(f"did {number}"))


async def test_the_older_part_becomes_a_summary_and_stays_findable(tmp_path: Path) -> None:
    with Session.create(tmp_path, "/w") as session:
        _turns(session, 10)
        first = next(session.branch())
        model = _Recorder({"text": "## Goal\nall is well"})
        settings = CompactionSettings(keep_recent_tokens=3_000)
        entry = await compact_session(session, model, settings=settings)
        assert entry is not None
        shown = texts(session)
        assert "all is well" in shown[0]
        assert shown[-1] == "did 9"
        assert "request 9" in shown
        assert first.id in entry.summary, "the summary names what it stands for"
        assert entry.details["readFiles"][:2] == ["src/file0.py", "src/file1.py"]
        assert "request 0" in recall(session, [first.id])
        assert "content 0" in recall(session, query='"content 0 word"')
        path = session.path
    assert path is not None
    with Session.open(path) as session:
        assert texts(session) == shown


async def test_the_request_is_made_of_text_with_results_cut_short() -> None:
    session = Session.in_memory("/w")
    session.append_message(user("look"))
    session.append_message(answer("", call("c", "read", path="big")))
    session.append_message(result("c", "x" * 10_000))
    session.append_message(answer("seen"))
    session.append_message(user("next"))
    model = _Recorder({"text": "short"})
    await compact_session(session, model, instructions="mind the colour")
    prompt = model.prompt()
    assert "x" * 2_000 in prompt
    assert "x" * 2_001 not in prompt
    assert "8000 more characters" in prompt
    assert 'read(path="big")' in prompt
    assert "mind the colour" in prompt
    assert model.asked[0].tools == ()
    assert "## Goal" in model.asked[0].system_prompt


async def test_a_second_compaction_updates_the_first() -> None:
    session = Session.in_memory("/w")
    _turns(session, 4)
    settings = CompactionSettings(keep_recent_tokens=1_500)
    model = _Recorder({"text": "first record"}, {"text": "second record"})
    first = await compact_session(session, model, settings=settings)
    session.append_message(answer("", call("w", "edit", path="src/file0.py")))
    session.append_message(result("w", "edited", name="edit"))
    _turns(session, 4)
    second = await compact_session(session, model, settings=settings)
    assert first is not None
    assert second is not None
    assert "<record>\nfirst record\n</record>" in model.prompt()
    assert "second record" in texts(session)[0]
    assert "first record" not in texts(session)[0]
    assert "src/file0.py" in second.details["modifiedFiles"]
    assert "src/file0.py" not in second.details["readFiles"]
    assert second.details["cutEntries"] > first.details["cutEntries"]
    assert first.details["entries"][0] in second.summary


async def test_a_split_turn_quotes_its_request() -> None:
    session = Session.in_memory("/w")
    request = session.append_message(user("the one long request"))
    for number in range(20):
        session.append_message(answer("", call(f"c{number}", path="p")))
        session.append_message(result(f"c{number}", "word " * 800))
    model = _Recorder({"text": "half way"})
    entry = await compact_session(
        session, model, settings=CompactionSettings(keep_recent_tokens=3_000)
    )
    assert entry is not None
    shown = texts(session)
    assert "the one long request" in shown[0]
    assert request.id in shown[0]
    assert "In Progress" in model.prompt()
    _no_call_is_parted(session.context().messages)


async def test_a_request_is_quoted_until_its_turn_ends() -> None:
    """A turn that works for hours is compacted often; it must not forget what it is for."""
    session = Session.in_memory("/w")
    request = session.append_message(user("the one </request> long request"))
    settings = CompactionSettings(keep_recent_tokens=3_000)
    for _ in range(3):
        for number in range(20):
            session.append_message(answer("", call(f"c{number}", path="p")))
            session.append_message(result(f"c{number}", "word " * 800))
        model = _Recorder({"text": "half way"})
        await compact_session(session, model, settings=settings)
        assert texts(session)[0].count("the one </request> long request\n</request>") == 1
        assert f"Under way, entry {request.id}" in texts(session)[0]
        assert "In Progress" in model.prompt()
    session.append_message(answer("done"))
    _turns(session, 4)
    await compact_session(session, _Recorder({"text": "all"}), settings=settings)
    assert f"Under way, entry {request.id}" not in texts(session)[0]


async def test_a_long_conversation_is_summarised_in_parts() -> None:
    session = Session.in_memory("/w")
    for number in range(12):
        session.append_message(user(f"n{number} " + "word " * 2_000))
    small = ModelInfo(id="m", provider="scripted", api="scripted", context_window=16_000)
    model = _Recorder(*({"text": f"part {number}"} for number in range(9)), info=small)
    entry = await compact_session(session, model)
    assert entry is not None
    assert len(model.asked) > 1
    assert "part 0" in model.prompt(1)
    assert entry.summary.startswith(f"part {len(model.asked) - 1}")
    assert all(
        estimate_message(asked.messages[0]) + estimate_text(asked.system_prompt) < 16_000
        for asked in model.asked
    )
    assert entry.usage is not None
    assert entry.usage.output > 0


@pytest.mark.parametrize(
    ("turn", "kind", "words"),
    [
        ({"text": "cut off", "stopReason": "length"}, SessionError, "output limit"),
        ({"text": "  "}, SessionError, "empty"),
        ({"error": "overloaded"}, ProviderError, "overloaded"),
    ],
)
async def test_a_bad_summary_is_not_stored(
    turn: dict[str, Any], kind: type[Exception], words: str
) -> None:
    session = Session.in_memory("/w")
    _turns(session, 2)
    before = session.leaf_id
    with pytest.raises(kind, match=words):
        await compact_session(session, _Recorder(turn))
    assert session.leaf_id == before


async def test_nothing_to_compact() -> None:
    session = Session.in_memory("/w")
    assert await compact_session(session, _Recorder()) is None
    session.append_message(user("one"))
    assert await compact_session(session, _Recorder()) is None


async def test_leaving_a_branch_gives_a_summary_of_it() -> None:
    session = Session.in_memory("/w")
    _turns(session, 1)
    here = session.leaf_id
    session.append_message(user("try it this way"))
    left = session.append_message(answer("it failed"))
    entry = await summarise_branch(session, here, model := _Recorder({"text": "this way fails"}))
    assert entry is not None
    assert "try it this way" in model.prompt()
    assert "request 0" not in model.prompt()
    session.append_at(entry, here)
    assert "this way fails" in texts(session)[-1]
    assert left.id in texts(session)[-1]
    assert "it failed" not in texts(session)
    assert await summarise_branch(session, session.leaf_id, _Recorder()) is None


def _no_call_is_parted(messages: tuple[Message, ...]) -> None:
    open_calls: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            open_calls |= {c.id for c in message.tool_calls}
        elif isinstance(message, ToolResultMessage):
            assert message.tool_call_id in open_calls
            open_calls.discard(message.tool_call_id)


_steps = st.lists(
    st.tuples(st.sampled_from(["user", "answer", "calls"]), st.integers(0, 3), st.integers(0, 900)),
    min_size=1,
    max_size=15,
)


@given(_steps, st.integers(0, 3_000), st.booleans())
def test_a_cut_never_parts_a_call_from_its_result(
    steps: list[tuple[str, int, int]], keep: int, force: bool
) -> None:
    messages: list[Message] = []
    for number, (kind, calls, size) in enumerate(steps):
        text = "word " * size
        if kind == "user":
            messages.append(user(text))
        elif kind == "answer":
            messages.append(answer(text or "x"))
        else:
            ids = [f"{number}.{place}" for place in range(calls + 1)]
            messages.append(answer(text, *(call(call_id) for call_id in ids)))
            messages += [result(call_id, text) for call_id in ids]
    items = tuple(ContextItem(f"{n:08x}", message) for n, message in enumerate(messages))
    context = SessionContext(items=items)
    plan = plan_cut(context, CompactionSettings(keep_recent_tokens=keep), force=force)
    if plan is None:
        return
    assert plan.cut + plan.kept == items
    assert plan.cut
    assert plan.kept
    assert plan.kept[0].entry_id == plan.first_kept_entry_id
    _no_call_is_parted(tuple(item.message for item in plan.kept))
    users = [item for item in items if isinstance(item.message, UserMessage)]
    if users:
        assert users[-1] in plan.kept or users[-1] == plan.request


def test_the_estimate_knows_scripts() -> None:
    english = estimate_text("The quick brown fox jumps over the lazy dog. " * 20)
    assert 150 < english < 300  # about 200 with the tokenizers of the large vendors
    chinese = "敏捷的棕色狐狸跳过了懒狗。" * 20
    assert estimate_text(chinese) > len(chinese) * 0.6
    code = "if (a[i] != b[j]) { return f(x, y); }\n" * 20
    assert estimate_text(code) > len(code) / 4
    assert estimate_text("") == 0
    assert estimate_text("\ud800") > 0


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    assert estimate_text(one + other) >= estimate_text(one)


def test_real_usage_counts_and_corrects_the_guess() -> None:
    long = "word " * 4_000
    items = [
        ContextItem("1", user(long)),
        ContextItem("2", answer("ok", usage=Usage(input=9_000, output=1_000, total_tokens=10_000))),
        ContextItem("3", user(long)),
    ]
    guess = estimate_message(items[2].message)
    total = context_tokens(items)
    assert 10_000 + guess < total <= 10_000 + 2 * guess
    stale = [items[0], ContextItem("2", items[1].message, measured=False), items[2]]
    assert context_tokens(stale) < 12_000
    zero = [items[0], ContextItem("2", answer("ok"))]
    assert context_tokens(zero, overhead=77) == 77 + sum(
        estimate_message(item.message) for item in zero
    )


async def test_old_usage_does_not_start_another_compaction() -> None:
    session = Session.in_memory("/w")
    _turns(session, 6)
    session.append_message(answer("big", usage=Usage(input=190_000, total_tokens=190_000)))
    settings = CompactionSettings()
    assert should_compact(context_tokens(session.context().items), 200_000, settings)
    await compact_session(session, _Recorder({"text": "s"}), settings=settings)
    assert not should_compact(context_tokens(session.context().items), 200_000, settings)


def test_recall_names_what_it_cannot_find() -> None:
    session = Session.in_memory("/w")
    entry = session.append_message(user("the needle is here"))
    assert "needle" in recall(session, [entry.id[:5]])
    assert "No entry" in recall(session, query="haystack")
    assert entry.id in recall(session, query="NEEDLE here")
    with pytest.raises(SessionError, match="no entry zzz"):
        recall(session, ["zzz"])
    with pytest.raises(SessionError, match="give the ids"):
        recall(session)
    assert "more characters; ask for fewer" in recall(session, [entry.id], max_characters=5)
