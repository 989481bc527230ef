"""Recording what a model and its provider say to each other, and playing it again.

    async with record(HttpModel(info, api_key=key), "cassette.jsonl") as model: ...
    model = RecordedModel("cassette.jsonl")  # needs no key and no network

Played requests are held against the recorded ones: the first that has not been played and is equal
answers. When none is equal, the request fails and says where it differs. Names of the working
directory and of the home directory do not count, nor do ids of the conversation.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import cast

import anyio
import msgspec

from sloyd.errors import ProviderError, ProviderProblem, UsageError
from sloyd.llm.cassettes import (
    Blot,
    Cassette,
    Exchange,
    Failure,
    RecordedAnswer,
    RecordedRequest,
    decoded_chunk,
    differences,
    encoded_chunk,
    lines_of,
    read_cassette,
)
from sloyd.llm.http_model import HttpModel
from sloyd.llm.models import ModelInfo
from sloyd.llm.retry import RetryPolicy
from sloyd.llm.transport import Response, Transport

__all__ = ["RecordedModel", "record"]

_NO_KEY = "none"
"""What a player has in the place of a key, so that nobody asks for one."""
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def record(model: HttpModel, file: str | Path, *, cwd: str | Path | None = None) -> HttpModel:
    """The same model, its traffic kept in a new file that only this user can read.

    Args:
        model: what answers; closing the returned one does not close it.
        cwd: the directory that the conversation is about; by default the current one.

    Raises:
        UsageError: when the file exists or cannot be made.
    """
    path = Path(file)
    head = Cassette(model=_public(model.info))
    try:
        with open(os.open(path, _FLAGS, 0o600), "wb") as new:  # noqa: PTH123 - with a mode
            new.write(lines_of([head]))
    except FileExistsError as error:
        raise UsageError(f"{path} exists already; remove it to record again") from error
    except OSError as error:
        raise UsageError(f"cannot record to {path}: {error.strerror}") from error
    return model.through(_Recorder(path, Blot(_places(cwd))))


class RecordedModel(HttpModel):
    """A model that answers from a cassette, without key and network.

    Args:
        file: what `record` or ``sloyd --record`` made.
        cwd: the directory that the conversation is about; by default the current one.
        timing: keep the recorded pace; otherwise everything comes at once.

    Raises:
        UsageError: for a file that cannot be read or is no cassette.
    """

    def __init__(
        self, file: str | Path, *, cwd: str | Path | None = None, timing: bool = False
    ) -> None:
        head, exchanges = read_cassette(file)
        self._player = _Player(Path(file), exchanges, Blot(_places(cwd)), timing=timing)
        retries = RetryPolicy() if timing else _NoWait()
        super().__init__(head.model, api_key=_NO_KEY, transport=self._player, retries=retries)

    @property
    def remaining(self) -> int:
        """How many recorded exchanges have not been played."""
        return self._player.remaining


class _NoWait(RetryPolicy):
    """The recorded provider is ready at once."""

    def delay(self, error: ProviderError, attempt: int) -> float | None:
        return None if super().delay(error, attempt) is None else 0.0


def _places(cwd: str | Path | None) -> dict[str, str]:
    """Directories by name and by where links lead, and what stands for them."""
    places: dict[str, str] = {}
    for path, name in ((Path.home(), "<home>"), (Path(cwd or Path.cwd()).absolute(), "<cwd>")):
        for form in (path, path.resolve()):
            if len(form.parts) > 1:
                places[str(form)] = name
    return places


def _public(info: ModelInfo) -> ModelInfo:
    """The model without what may be private: headers, and a name and password in its URL."""
    scheme, separator, rest = info.base_url.partition("://")
    host, slash, path = rest.partition("/")
    url = f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}".partition("?")[0]
    return msgspec.structs.replace(info, headers={}, base_url=url)


def _failure(error: ProviderError) -> Failure:
    return Failure(str(error), error.problem, error.retryable)


def _error(failure: Failure) -> ProviderError:
    problem = cast(ProviderProblem, failure.problem)
    return ProviderError(failure.message, problem=problem, retryable=failure.retryable)


class _Recorder(Transport):
    """Sends requests, and keeps what was said."""

    def __init__(self, path: Path, blot: Blot) -> None:
        super().__init__()
        self._path = path
        self._blot = blot

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, idle_timeout: float
    ) -> Response:
        sent = self._blot.request(method, url, headers, body)
        began = time.monotonic()
        try:
            response = await super().request(method, url, headers, body, idle_timeout=idle_timeout)
        except ProviderError as error:
            self.keep(Exchange(sent, failure=_failure(error)))
            raise
        return _KeptResponse(response, self, sent, time.monotonic() - began)

    def keep(self, exchange: Exchange) -> None:
        """Append an exchange to the file."""
        line = self._blot.text(lines_of([exchange]).decode()).encode()
        try:
            with self._path.open("ab") as file:
                file.write(line)
        except OSError as error:
            raise UsageError(f"cannot record to {self._path}: {error.strerror}") from error

    def headers(self, response: Response) -> dict[str, str]:
        """What of an answer's headers is kept."""
        return self._blot.answer_headers(response.headers)


class _KeptResponse(Response):
    """An answer that is kept when it has been read."""

    def __init__(
        self, response: Response, recorder: _Recorder, sent: RecordedRequest, waited: float
    ) -> None:
        self.status = response.status
        self.headers = response.headers
        self._inner = response
        self._recorder = recorder
        self._sent = sent
        self._head_ms = round(waited * 1000, 1)
        self._began = time.monotonic()
        self._chunks: list[tuple[float, bytes]] = []
        self._failure: Failure | None = None
        self._whole = False
        self._kept = False

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in self._inner.chunks():
                self._chunks.append((time.monotonic() - self._began, chunk))
                yield chunk
        except ProviderError as error:
            self._failure = _failure(error)
            raise
        self._whole = True

    async def aclose(self) -> None:
        if not self._kept:
            self._kept = True
            self._recorder.keep(Exchange(self._sent, self._answer()))
        await self._inner.aclose()

    def _answer(self) -> RecordedAnswer:
        return RecordedAnswer(
            self.status,
            self._recorder.headers(self),
            self._head_ms,
            tuple((round(at * 1000, 1), encoded_chunk(data)) for at, data in self._chunks),
            self._failure,
            self._whole,
        )


class _Player(Transport):
    """Answers requests from a cassette."""

    def __init__(self, path: Path, exchanges: list[Exchange], blot: Blot, *, timing: bool) -> None:
        super().__init__()
        self._path = path
        self._waiting = list(enumerate(exchanges, 1))
        self._count = len(exchanges)
        self._blot = blot
        self._timing = timing

    @property
    def remaining(self) -> int:
        return len(self._waiting)

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, idle_timeout: float
    ) -> Response:
        exchange = self._taken(self._blot.request(method, url, headers, body))
        if exchange.answer is None:
            failure = exchange.failure or Failure("no answer was recorded", "script")
            raise _error(failure)
        if self._timing:
            await anyio.sleep(exchange.answer.head_ms / 1000)
        return _PlayedResponse(exchange.answer, timing=self._timing)

    def _taken(self, sent: RecordedRequest) -> Exchange:
        """The first exchange that waits and fits. Raises `ProviderError` when none does."""
        if not self._waiting:
            raise self._mismatch(
                f"all {self._count} recorded exchanges have been played, and one more was asked for"
            )
        for place, (_, exchange) in enumerate(self._waiting):
            if not differences(exchange.request, sent):
                del self._waiting[place]
                return exchange
        number, next_one = self._waiting[0]
        found = "\n  ".join(differences(next_one.request, sent))
        raise self._mismatch(f"the request differs from recorded exchange {number}:\n  {found}")

    def _mismatch(self, words: str) -> ProviderError:
        return ProviderError(f"{self._path}: {words}", problem="script")


class _PlayedResponse(Response):
    """A recorded answer as it comes."""

    def __init__(self, answer: RecordedAnswer, *, timing: bool) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._answer = answer
        self._timing = timing

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        passed = 0.0
        for at, text in self._answer.chunks:
            if self._timing and at > passed:
                await anyio.sleep((at - passed) / 1000)
                passed = at
            yield decoded_chunk(text)
        if self._answer.failure is not None:
            raise _error(self._answer.failure)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
