"""Calls on the local workspace by a process with fewer rights; run as a program.

    python -m tests.workspace.restricted

Reads one JSON object from standard input: ``user`` (a user id to become, when root), ``file_size``
(most bytes that a file may get) and ``calls``, a list of ``[method, path, text]``. Prints a JSON
list with ``ok`` or the reason of the failure for each call.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

import anyio

from sloyd.errors import WorkspaceError
from sloyd.workspace.local import LocalWorkspace

__all__ = ["main"]


async def calls(requests: list[list[str]]) -> list[str]:
    workspace = LocalWorkspace("/")
    answers: list[str] = []
    for method, path, *rest in requests:
        arguments = [text.encode() for text in rest]
        try:
            await getattr(workspace, method)(path, *arguments)
        except WorkspaceError as error:
            answers.append(error.reason)
        else:
            answers.append("ok")
    return answers


def main(request: dict[str, Any]) -> None:
    if request.get("file_size"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"],) * 2)
    anyio.run(anyio.sleep, 0)  # what is imported late must be there before rights are given up
    if request.get("user") is not None and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(request["user"])
        os.setuid(request["user"])
    print(json.dumps(anyio.run(calls, request["calls"])))


if __name__ == "__main__":
    main(json.load(sys.stdin))
