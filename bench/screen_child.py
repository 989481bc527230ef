"""What `bench.screen` measures from inside: the app with a model that streams steadily, and with a
conversation of 10,000 messages. The figures are written when the screen is gone."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from sloyd.harness.coding_agent import CodingAgent
from sloyd.harness.session_choice import SessionChoice
from sloyd.llm.building import MessageBuilder
from sloyd.llm.events import StreamEvent
from sloyd.llm.messages import AssistantMessage, Text, UserMessage
from sloyd.llm.models import Context, ModelInfo, StreamOptions
from sloyd.modes.tui.app import SloydApp
from sloyd.modes.tui.keys import KeyMap
from sloyd.sessions.session import Session

__all__ = ["BEGIN", "END"]

BEGIN, END = b"<<figures>>", b"<<end of figures>>"
_RATE = 200
_SECONDS = 12
_MESSAGES = 10_000
_PAGES = 200
_INFO = ModelInfo(id="steady", provider="bench", api="bench", context_window=10_000_000)
_PARAGRAPH = """\
## Part {number}

Some words about **what was found** in `src/part_{number}.py`, and a [link](https://example.com).
The paragraph goes on for a while, so that it has to be broken into lines more than once here.

- the first point, which is short
- the second point, with `code` in it

```python
def part_{number}(value: int) -> int:
    # a comment in the code
    return value * {number} + sum(range(value))
```

"""


class SteadyModel:
    """Streams Markdown at a steady rate."""

    info = _INFO

    def stream(self, context: Context, options: StreamOptions | None = None) -> _Steady:
        return _Steady()

    async def aclose(self) -> None:
        return


class _Steady:
    def __init__(self) -> None:
        self._builder = MessageBuilder(_INFO, ())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return

    @property
    def message(self) -> AssistantMessage:
        return self._builder.message

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        text = "".join(_PARAGRAPH.format(number=number) for number in range(200))
        pieces = [text[at : at + 12] for at in range(0, len(text), 12)][: _RATE * _SECONDS]
        for event in self._builder.start():
            yield event
        began = time.perf_counter()
        for number, piece in enumerate(pieces):
            wait = began + number / _RATE - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            for event in self._builder.text(piece):
                yield event
        for event in self._builder.done("stop"):
            yield event


class _MeasuredApp(SloydApp):
    """Begins its work once it is drawn."""

    work: Callable[[], Coroutine[Any, Any, None]]

    def on_ready(self) -> None:
        self.start(self.work())


async def _stream() -> list[str]:
    async with CodingAgent.open(model=SteadyModel(), context_files=False, tools=()) as agent:
        app = _MeasuredApp(agent, KeyMap())
        shares: list[float] = []

        async def measure() -> None:
            await asyncio.sleep(1)
            wall, cpu = time.perf_counter(), time.process_time()
            await agent.prompt(UserMessage(content="write"))
            shares.append((time.process_time() - cpu) / (time.perf_counter() - wall))
            app.exit(0)

        app.work = measure
        await app.run_async()
    return [f"processor at {_RATE} deltas a second, cores|{shares[0]}|core|0.5"]


def _long_session(sessions: Path) -> str:
    """The path of a session with so many messages."""
    answer = _PARAGRAPH.format(number=7)
    session = Session.create(sessions, str(Path.cwd()))
    for number in range(_MESSAGES // 2):
        session.append_message(UserMessage(content=f"question {number}"))
        session.append_message(AssistantMessage(content=(Text(answer),), model="steady"))
    session.close()
    return str(session.path)


async def _long(sessions: Path, path: str) -> list[str]:
    choice = SessionChoice(kind="open", reference=path)
    figures: list[str] = []
    async with CodingAgent.open(
        model=SteadyModel(),
        context_files=False,
        tools=(),
        session=choice,
        sessions_directory=sessions,
    ) as agent:
        app = _MeasuredApp(agent, KeyMap())
        process = psutil.Process()

        async def measure() -> None:
            while not app.transcript.blocks:  # noqa: ASYNC110 - nothing tells when they are there
                await asyncio.sleep(0.02)
            figures.append(f"start to {_MESSAGES} messages shown|{time.perf_counter() - began}|s|2")
            await asyncio.sleep(1)
            before = process.memory_info().rss
            worst = 0.0
            cpu = time.process_time()
            for page in range(_PAGES):
                at = time.perf_counter()
                app.transcript.page(-1 if page < _PAGES // 2 else 1)
                await asyncio.sleep(0)
                worst = max(worst, time.perf_counter() - at)
                await asyncio.sleep(0.02)
            spent = (time.process_time() - cpu) / _PAGES
            app.transcript.go_top()
            await asyncio.sleep(0.5)
            grown = (process.memory_info().rss - before) / 1e6
            figures.append(f"one page of scrolling, processor|{spent * 1000}|ms|40")
            figures.append(f"one page of scrolling, the longest wait|{worst * 1000}|ms|100")
            figures.append(f"memory for {_PAGES} pages of scrolling|{grown}|MB|20")
            app.exit(0)

        began = time.perf_counter()
        app.work = measure
        await app.run_async()
    return figures


def main() -> None:
    """Run a case and write its figures."""
    if sys.argv[1] == "stream":
        figures = asyncio.run(_stream())
    else:
        sessions = Path("sessions").absolute()
        figures = asyncio.run(_long(sessions, _long_session(sessions)))
    os.write(1, BEGIN + "\n".join(figures).encode() + END)


if __name__ == "__main__":
    main()
