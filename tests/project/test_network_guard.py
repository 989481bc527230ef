"""The guard of the test run itself: loopback works, everything else is refused."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from tests.guard.sitecustomize import NetworkRefused, attempts


def test_a_connection_to_another_host_is_refused() -> None:
    with socket.socket() as connection, pytest.raises(NetworkRefused, match=r"192\.0\.2\.1"):
        connection.connect(("192.0.2.1", 80))
    assert attempts
    attempts.clear()


def test_a_name_of_another_host_is_not_looked_up() -> None:
    with pytest.raises(NetworkRefused, match="example"):
        socket.getaddrinfo("www.example.org", 443)
    attempts.clear()


def test_a_name_that_cannot_exist_is_unknown_as_ever() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("no-such-host.invalid", 443)
    assert not attempts


def test_loopback_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        with socket.create_connection((host, port)) as client:
            assert client.getpeername()[1] == port


def test_a_process_that_a_test_starts_is_guarded_too() -> None:
    code = "import socket; socket.socket().connect(('192.0.2.1', 80))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "NetworkRefused" in done.stderr


def test_nothing_of_the_user_is_in_reach() -> None:
    assert "sloyd-tests-" in os.path.expanduser("~")
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
