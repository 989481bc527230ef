"""Keeps a test run on this machine: no connection and no name lookup leaves loopback.

`install` hangs an audit hook into the interpreter, which sees what every library does, also below
`socket`. The directory of this file is on ``PYTHONPATH`` during a test run, and Python imports a
module of this name at start, so that the processes that tests start are guarded too.
"""

from __future__ import annotations

import socket
import sys

__all__ = ["NetworkRefused", "attempts", "install"]

attempts: list[str] = []
"""What was refused in this process; a test with an entry here fails even if it caught the error."""


class NetworkRefused(RuntimeError):
    """Raised where code under test tried to leave loopback. No `OSError`, which it might handle."""


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str):
        return host is None
    name = host.strip("[]").lower()
    return name in {"", "localhost", "::1", "0.0.0.0", "::"} or name.startswith("127.")


def _refuse(what: str) -> None:
    attempts.append(what)
    raise NetworkRefused(f"a test must not leave loopback: {what}")


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        # A path or an abstract name belongs to a Unix socket, which stays on the machine.
        if isinstance(address, tuple) and not _is_local(address[0]):
            _refuse(f"{event[7:]} {address!r}")
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
        if isinstance(host, str) and host.endswith(".invalid"):
            # RFC 6761: never resolves. Answered as a name server would, without asking one.
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not _is_local(host):
            _refuse(f"look up {host!r}")


def install() -> None:
    """Guard this process from now on. A second call does nothing."""
    if not getattr(sys, "_sloyd_network_guard", False):
        sys._sloyd_network_guard = True  # type: ignore[attr-defined]
        sys.addaudithook(_hook)


if __name__ == "sitecustomize":
    # The worker of a parallel test run is such a process; its tests are to meet this very module.
    sys.modules["tests.guard.sitecustomize"] = sys.modules[__name__]
    install()
