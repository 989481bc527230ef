"""Everything that a command started: finding it, and stopping it from TERM to KILL.

A command gets a session and a process group of its own, and a marker in its environment. What it
starts is found by any of: the group, the session, the chain of parents, the marker. A job that
called ``setsid`` and lost its parent still carries the marker; only one that does all that with an
emptied environment is out of reach.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import psutil

__all__ = ["MARKER", "STOP_GRACE", "ProcessTree", "group_is_alive"]

MARKER: Final = "SLOYD_COMMAND_ID"
"""The environment variable that names the commands, outermost first, that a process belongs to.
Ids are joined by ``:``; a Sloyd inside a command of another one adds its own."""

STOP_GRACE: Final = 1.0
"""Seconds between TERM and KILL. Enough to remove a lock file; a program that needs longer, or
ignores TERM, must not keep the user waiting."""

_MOMENT: Final = 0.016
_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.05
_KILL_ROUNDS: Final = 20


def group_is_alive(group: int) -> bool:
    """Whether the process group has members (zombies count). One system call."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """A command's processes: ``root`` is the shell's id, its group and its session."""

    root: int
    marker: str

    def members(self) -> list[psutil.Process]:
        """The living processes that belong to the command, the shell included. Takes 10 ms."""
        import psutil

        own = os.getpid()
        processes: dict[int, psutil.Process] = {}
        parents: dict[int, int] = {}
        for process in psutil.process_iter(["ppid", "status"]):
            if process.pid == own or process.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            processes[process.pid] = process
            parents[process.pid] = process.info["ppid"] or 0
        found = {pid for pid, process in processes.items() if self._is_marked(process)}
        if self.root in processes:
            found.add(self.root)
        grown = True
        while grown:
            children = {pid for pid, parent in parents.items() if parent in found} - found
            found |= children
            grown = bool(children)
        return [processes[pid] for pid in sorted(found)]

    def _is_marked(self, process: psutil.Process) -> bool:
        import psutil

        with suppress(OSError):
            if self.root in (os.getpgid(process.pid), os.getsid(process.pid)):
                return True
        with suppress(psutil.Error, OSError):
            return self.marker in process.environ().get(MARKER, "").split(":")
        return False

    def _in_group(self, process: psutil.Process) -> bool:
        with suppress(OSError):
            return os.getpgid(process.pid) == self.root
        return False

    def signal_group(self, number: int) -> None:
        """Send a signal to the command's own process group; no members is no error."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.root, number)

    def stop(self, reap: Callable[[], object], grace: float = STOP_GRACE) -> None:
        """Stop every process of the command and return when none is left. Blocks up to the grace.

        First TERM to all, then ``grace`` seconds of patience, then KILL, repeated while new
        processes appear. ``reap`` is called now and then and must collect the shell's exit status
        if it has one; it returns that, or None.
        """
        self.outlast(self.terminate(reap), reap, grace)

    def terminate(self, reap: Callable[[], object] | None = None) -> list[psutil.Process]:
        """Send TERM to every process, and CONT, so that a stopped job hears it.

        Returns those that are alive. With ``reap``, the command gets a moment to end first: mostly
        it does, and then one look at the system's processes is enough.
        """
        self.signal_group(signal.SIGTERM)
        self.signal_group(signal.SIGCONT)
        deadline = time.monotonic() + _MOMENT
        while reap is not None and reap() is None and time.monotonic() < deadline:
            time.sleep(_MOMENT / 16)
        members = self.members()
        # Once each: many programs take a second TERM for impatience and skip their clean-up.
        _send((member for member in members if not self._in_group(member)), signal.SIGTERM)
        _send(members, signal.SIGCONT)
        return members

    def outlast(
        self, members: list[psutil.Process], reap: Callable[[], object], grace: float
    ) -> None:
        """Wait until the terminated ``members`` have gone, and kill what has not in time."""
        deadline = time.monotonic() + grace
        pause = _FIRST_PAUSE
        while True:
            reap()
            if not members or (not _alive(members) and not (members := self.members())):
                return
            if time.monotonic() > deadline:
                break
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        for _ in range(_KILL_ROUNDS):
            self.signal_group(signal.SIGKILL)
            _send(members, signal.SIGKILL)
            time.sleep(_FIRST_PAUSE)
            reap()
            if not (members := self.members()):
                return


def _send(processes: Iterable[psutil.Process], number: int) -> None:
    import psutil

    for process in processes:
        # psutil compares start times first, so a recycled id is never hit.
        with suppress(psutil.Error, OSError):
            process.send_signal(number)


def _alive(processes: Iterable[psutil.Process]) -> bool:
    import psutil

    for process in processes:
        with suppress(psutil.Error, OSError):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False
