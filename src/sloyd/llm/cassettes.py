"""Files of recorded traffic with a provider, called cassettes: what stands in them.

A cassette is a JSONL file: a first line about the model, then one line an exchange, in the order in
which they ended. Nothing private is in it: of the headers only those that an answer depends on are
kept, and the values of all others, such as keys, are blotted out wherever else they occur.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from sloyd.errors import UsageError
from sloyd.llm.models import ModelInfo

__all__ = [
    "Blot",
    "Cassette",
    "Exchange",
    "Failure",
    "RecordedAnswer",
    "RecordedRequest",
    "decoded_chunk",
    "differences",
    "encoded_chunk",
    "lines_of",
    "read_cassette",
]

_VERSION = 1
_REQUEST_HEADERS = frozenset({"accept", "content-type", "anthropic-version", "anthropic-beta"})
_PUBLIC_HEADERS = frozenset({"accept-encoding", "user-agent", "x-title"})
"""Not kept, but no secrets either: their values are words that may stand anywhere."""
_ANSWER_HEADERS = frozenset(
    {"content-type", "location", "retry-after", "retry-after-ms", "x-should-retry"}
)
_PRIVATE_PARAMETERS = frozenset({"key", "api_key", "api-key", "access_token", "token"})
_VOLATILE = frozenset({"prompt_cache_key", "user", "metadata"})
"""Fields of a request that differ from run to run and change no answer."""
_ID_FIELDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
_SHORTEST_ID = 6
_SHORTEST_SECRET = 8
_BLOT = "<secret>"
_MOST_DIFFERENCES = 8
_SHOWN = 160


class RecordedRequest(msgspec.Struct, frozen=True):
    """What was sent. ``path`` is the URL without its host; ``body`` is JSON, or a text."""

    method: str
    path: str
    headers: dict[str, str] = {}
    body: Any = None


class Failure(msgspec.Struct, frozen=True):
    """How a connection failed: the fields of `sloyd.errors.ProviderError`."""

    message: str
    problem: str
    retryable: bool = False


class RecordedAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back.

    Attributes:
        head_ms: milliseconds from the request to the head of the answer.
        chunks: the pieces of the body: milliseconds from the head, and the text; bytes that are
            no text stand behind ``base64:``.
        failure: how the stream broke, if it did.
        whole: false when nobody waited for the end.
    """

    status: int
    headers: dict[str, str] = {}
    head_ms: float = 0.0
    chunks: tuple[tuple[float, str], ...] = ()
    failure: Failure | None = None
    whole: bool = True


class Exchange(msgspec.Struct, frozen=True, tag="exchange"):
    """One request and its answer, or how there came none."""

    request: RecordedRequest
    answer: RecordedAnswer | None = None
    failure: Failure | None = None


class Cassette(msgspec.Struct, frozen=True, tag="cassette", rename="camel"):
    """The first line: whose traffic it is, and names that stand for places in it."""

    model: ModelInfo
    version: int = _VERSION


class Blot:
    """Makes exchanges fit to be kept and compared.

    Args:
        places: directories whose own names do not count, and what stands for them.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        # The longest first: a directory lies in another.
        self._places = sorted(places.items(), key=lambda pair: -len(pair[0]))
        self._secrets: set[str] = set()

    def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> RecordedRequest:
        """The request without what is private or depends on the place."""
        kept = {}
        for name, value in headers.items():
            if name.lower() in _REQUEST_HEADERS:
                kept[name.lower()] = value
            elif name.lower() not in _PUBLIC_HEADERS:
                secret = value.removeprefix("Bearer ").strip()
                if len(secret) >= _SHORTEST_SECRET:
                    self._secrets.add(secret)
        parts = urlsplit(url)
        query = [pair for pair in parse_qsl(parts.query) if pair[0] not in _PRIVATE_PARAMETERS]
        path = f"{parts.path}?{urlencode(query)}" if query else parts.path
        return RecordedRequest(method, path, kept, _renamed(_decoded(body), self._names()))

    def _names(self) -> dict[str, str]:
        return {**dict.fromkeys(self._secrets, _BLOT), **dict(self._places)}

    def answer_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of an answer that mean something to us."""
        return {
            name.lower(): value
            for name, value in headers.items()
            if name.lower() in _ANSWER_HEADERS or name.lower().startswith("x-ratelimit-")
        }

    def text(self, text: str) -> str:
        """A text without the secrets that were seen so far."""
        for secret in self._secrets:
            text = text.replace(secret, _BLOT)
        return text


def _decoded(body: bytes) -> Any:
    if not body:
        return None
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")


def encoded_chunk(data: bytes) -> str:
    """A piece of a body as a text that JSON can hold."""
    with contextlib.suppress(UnicodeDecodeError):
        text = data.decode()
        if not text.startswith("base64:"):
            return text
    return f"base64:{base64.b64encode(data).decode()}"


def decoded_chunk(text: str) -> bytes:
    """The piece of a body that `encoded_chunk` was given."""
    if text.startswith("base64:"):
        return base64.b64decode(text.removeprefix("base64:"))
    return text.encode()


def read_cassette(path: str | Path) -> tuple[Cassette, list[Exchange]]:
    """All that a cassette holds. Raises `UsageError` for a file that is none."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read the cassette {path}: {error.strerror}") from error
    if not lines:
        raise UsageError(f"{path} is empty: nothing was recorded in it")
    first: Cassette | None = None
    exchanges: list[Exchange] = []
    for number, line in enumerate(lines, 1):
        try:
            if first is None:
                first = msgspec.json.decode(line, type=Cassette)
            elif line.strip():
                exchanges.append(msgspec.json.decode(line, type=Exchange))
        except msgspec.DecodeError as error:
            raise UsageError(f"{path}:{number} is no line of a cassette: {error}") from error
    assert first is not None
    if first.version != _VERSION:
        raise UsageError(f"{path} has the format {first.version}; this Sloyd reads {_VERSION}")
    return first, exchanges


def differences(recorded: RecordedRequest, sent: RecordedRequest) -> list[str]:
    """Where two requests differ, in words; empty when the recorded answer fits what was sent."""
    found = []
    if (recorded.method, recorded.path) != (sent.method, sent.path):
        found.append(f"recorded {recorded.method} {recorded.path}, sent {sent.method} {sent.path}")
    listed = list(_different(_counting(recorded.body), _counting(sent.body), ""))
    if len(listed) > _MOST_DIFFERENCES:
        more = len(listed) - _MOST_DIFFERENCES
        listed = [*listed[:_MOST_DIFFERENCES], f"... and {more} more places"]
    return found + listed


def _counting(body: Any) -> Any:
    """What of a request counts: ids are numbered, as those that we make ourselves are random."""
    if not isinstance(body, dict):
        return body
    kept = {key: value for key, value in body.items() if key not in _VOLATILE}
    ids = {value: f"<id {n}>" for n, value in enumerate(dict.fromkeys(_ids(kept)), 1)}
    return _renamed(kept, ids) if ids else kept


def _ids(value: Any) -> Iterator[str]:
    for key, item in value.items() if isinstance(value, dict) else ():
        if key in _ID_FIELDS and isinstance(item, str) and len(item) >= _SHORTEST_ID:
            yield item
        yield from _ids(item)
    for item in value if isinstance(value, list) else ():
        yield from _ids(item)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with these texts replaced wherever they stand."""
    if isinstance(value, str):
        for text, name in names.items():
            value = value.replace(text, name)
        return value
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    return value


def _different(old: Any, new: Any, place: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{place}.{key}" if place else key
            if key not in new:
                yield f"{inner}: recorded {_shown(old[key])}, not sent"
            elif key not in old:
                yield f"{inner}: not recorded, sent {_shown(new[key])}"
            else:
                yield from _different(old[key], new[key], inner)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(min(len(old), len(new))):
            yield from _different(old[index], new[index], f"{place}[{index}]")
        if len(old) != len(new):
            yield f"{place}: recorded {len(old)} items, sent {len(new)}"
    elif old != new or type(old) is not type(new):
        yield f"{place}: recorded {_around(old, new)}, sent {_around(new, old)}"


def _around(value: Any, other: Any) -> str:
    """A value; of two long texts only what surrounds the first difference."""
    if not isinstance(value, str) or not isinstance(other, str) or len(value) <= _SHOWN:
        return _shown(value)
    same = next(
        (i for i, pair in enumerate(zip(value, other, strict=False)) if len({*pair}) > 1), 0
    )
    start = max(0, same - _SHOWN // 3)
    before = "..." if start else ""
    return before + _shown(value[start : start + _SHOWN])


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN + 2 else f"{text[:_SHOWN]}..."


def lines_of(parts: Iterable[Cassette | Exchange]) -> bytes:
    """Lines of a cassette."""
    return b"".join(msgspec.json.encode(part) + b"\n" for part in parts)
