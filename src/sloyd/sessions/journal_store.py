"""Where the journal keeps its lines and old contents on disk.

    DIRECTORY/            0700
      journal.jsonl       0600, one record a line, the oldest first
      contents/SHA256     0600, an old content that is too big for a line, kept once

Several processes write at once. An append happens under a lock on the log, which the system frees
when its holder is killed; a line that was torn by a kill is closed by the next append and skipped
by readers. When everything together has outgrown its bound, the oldest lines are cut off, by a
rename, and with them the contents that no line names any more.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sloyd.errors import SessionError
from sloyd.sessions.journal_records import Begun, Content, Record, decode, digest_of, encode
from sloyd.workspace.descriptors import PRIVATE, write_all
from sloyd.workspace.mounts import is_prompt

if sys.platform != "win32":
    import fcntl

__all__ = ["IN_LINE", "JournalStore"]

IN_LINE = 16 * 1024
"""Bytes up to which an old content goes into its line; a file of its own would cost more."""

_KEEP_AFTER_CUT = 0.75  # of the bound, so that not every change has to cut
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | PRIVATE
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PRIVATE
_UNKNOWN = -1


class JournalStore:
    """The journal's directory; made when something is first written. Blocks; safe in threads."""

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self._directory = directory
        self._log_path = os.path.join(directory, "journal.jsonl")
        self._contents = os.path.join(directory, "contents")
        self._max_bytes = max_bytes
        self._here = threading.Lock()
        self._descriptor = _UNKNOWN
        self._total = _UNKNOWN

    def append(self, record: Record, content: bytes | None = None) -> None:
        """Add a line, and before it the content that it names. Raises `SessionError`."""
        self._append(record, content, wait=True)

    def append_promptly(self, record: Record) -> bool:
        """Add a line if that needs no waiting, so that an event loop may do it; else do nothing."""
        return is_prompt(self._log_path) and self._append(record, None, wait=False)

    def _append(self, record: Record, content: bytes | None, *, wait: bool) -> bool:
        if not self._here.acquire(blocking=wait):
            return False
        try:
            with self._locked(wait) as descriptor:
                if descriptor is None or (not wait and self._total > self._max_bytes):
                    return False
                if content is not None and isinstance(record, Begun):
                    self._keep(record, content)
                line = encode(record)
                self._write_line(descriptor, line)
                self._total += len(line) + 1
                if wait and self._total > self._max_bytes:
                    self._cut(descriptor)
                return True
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise SessionError(f"cannot write the journal {self._log_path}: {reason}") from error
        finally:
            self._here.release()

    def describe(self, data: bytes) -> tuple[Content, bytes | None]:
        """How a line names this content, and the bytes that have to be kept beside the line."""
        sha256, size = digest_of((data,))
        if size > self._max_bytes * _KEEP_AFTER_CUT:
            return Content(sha256, size), None
        if size <= IN_LINE:
            return Content(sha256, size, data, kept=True), None
        return Content(sha256, size, kept=True), data

    def records(self) -> Iterator[Record]:
        """All readable records, the oldest first."""
        try:
            with Path(self._log_path).open("rb") as log:
                for line in log:
                    record = decode(line)
                    if record is not None:
                        yield record
        except FileNotFoundError:
            return
        except OSError as error:
            raise SessionError(f"cannot read the journal {self._log_path}: {error}") from error

    def load(self, content: Content) -> bytes:
        """The bytes of a kept content. Raises `SessionError` when they are gone or damaged."""
        if content.data is not None:
            data = content.data
        else:
            try:
                data = Path(self._contents, content.sha256).read_bytes()
            except OSError as error:
                raise SessionError(
                    f"the old content {content.sha256} is no longer in the journal: {error}"
                ) from error
        if digest_of((data,)) != (content.sha256, content.size):
            raise SessionError(f"the old content {content.sha256} is damaged in the journal")
        return data

    def close(self) -> None:
        """Close the log. The store opens it again when it is used again."""
        with self._here:
            if self._descriptor != _UNKNOWN:
                os.close(self._descriptor)
                self._descriptor = _UNKNOWN

    @contextmanager
    def _locked(self, wait: bool) -> Iterator[int | None]:
        """The log, open and locked against other processes; None where that needs waiting."""
        while True:
            descriptor = self._open()
            if not _lock(descriptor, wait):
                yield None
                return
            if os.fstat(descriptor).st_nlink:
                break
            os.close(descriptor)  # another process has cut the log: take the new one
            self._descriptor = _UNKNOWN
            self._total = _UNKNOWN
        try:
            if self._total == _UNKNOWN:
                self._total = self._measure()
            yield descriptor
        finally:
            _unlock(descriptor)

    def _open(self) -> int:
        if self._descriptor == _UNKNOWN:
            try:
                self._descriptor = os.open(self._log_path, _APPEND, 0o600)
            except FileNotFoundError:
                os.makedirs(self._contents, mode=0o700, exist_ok=True)
                os.chmod(self._directory, 0o700)
                self._descriptor = os.open(self._log_path, _APPEND, 0o600)
        return self._descriptor

    def _measure(self) -> int:
        total = os.stat(self._log_path).st_size
        with suppress(FileNotFoundError), os.scandir(self._contents) as entries:
            total += sum(entry.stat().st_size for entry in entries)
        return total

    def _write_line(self, descriptor: int, line: bytes) -> None:
        size = os.fstat(descriptor).st_size
        is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        try:
            write_all(descriptor, ((b"\n" if is_torn else b"") + line + b"\n",))
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, size)  # nobody else appends: we hold the lock
            raise

    def _keep(self, record: Begun, content: bytes) -> None:
        if record.before is None:
            return
        path = os.path.join(self._contents, record.before.sha256)
        if os.path.exists(path):
            return
        temporary = os.path.join(self._contents, f"new-{os.urandom(8).hex()}")
        descriptor = os.open(temporary, _NEW, 0o600)
        try:
            write_all(descriptor, (content,))
        except BaseException:
            os.unlink(temporary)
            raise
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
        self._total += len(content)

    def _cut(self, descriptor: int) -> None:
        """Drop the oldest lines, so far that what is left takes three quarters of the bound.

        Goes through the log twice, a line at a time: memory holds digests and sizes only.
        """
        self._total = self._measure()  # other processes have written too
        if self._total <= self._max_bytes:
            return
        target = self._max_bytes * _KEEP_AFTER_CUT
        offset = self._where_to_cut(target)
        temporary = f"{self._log_path}.{os.urandom(8).hex()}"
        copy = os.open(temporary, _NEW, 0o600)
        try:
            _lock(
                copy, wait=True
            )  # nobody adds to the new log before the unnamed contents are gone
            while chunk := os.pread(descriptor, 1 << 20, offset):
                offset += write_all(copy, (chunk,))
            os.rename(temporary, self._log_path)
            self._remove_unnamed()
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        finally:
            os.close(copy)
        self._total = _UNKNOWN  # the next append finds that this log is gone, and measures anew

    def _where_to_cut(self, target: float) -> int:
        """The offset of the first line to keep; the newest ``Begun`` line is always kept."""
        weights: list[tuple[int, int, str | None, int]] = []
        offset = 0
        with Path(self._log_path).open("rb") as log:
            for line in log:
                named, size = _named(decode(line))
                weights.append((offset, len(line), named, size))
                offset += len(line)
        left = 0.0
        seen: set[str] = set()
        for start, length, named, size in reversed(weights):
            left += length
            if named is not None and named not in seen:
                seen.add(named)
                left += size
            if left > target and offset != start + length:
                return start + length
        return 0

    def _remove_unnamed(self) -> None:
        named = {name for name, _ in map(_named, self.records()) if name is not None}
        for name in os.listdir(self._contents):
            if name not in named:
                with suppress(OSError):
                    os.unlink(os.path.join(self._contents, name))


def _named(record: Record | None) -> tuple[str | None, int]:
    """The file under ``contents`` that a record names, and its size."""
    if isinstance(record, Begun) and record.before is not None:
        before = record.before
        if before.kept and before.data is None:
            return before.sha256, before.size
    return None, 0


def _lock(descriptor: int, wait: bool) -> bool:
    """Lock the log. Returns false, instead of waiting, when another process has it."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
    return True


def _unlock(descriptor: int) -> None:
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_UN)
