"""Makes ``docs/demo.svg`` of a real run of ``sloyd demo``, as a terminal would have shown it.

usage: python scripts/make_picture.py [OUTPUT.svg]
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main", "terminal_output"]

WIDTH = 96
_CONTROL = re.compile(r"\x1b\[\?[0-9;]*[a-z]|\x1b\[[0-9;]*[A-HJKfsu]|\x1b\][^\x07]*\x07|\r")


def terminal_output(arguments: list[str]) -> str:
    """What a program writes to a terminal of ``WIDTH`` columns, its colours included."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "60"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break  # Linux reports a terminal without writers this way
            if not piece:
                break
            pieces.append(piece)
        os.close(ours)
    if process.returncode != 0:
        raise SystemExit(b"".join(pieces).decode(errors="replace"))
    return b"".join(pieces).decode("utf-8")


def main() -> None:
    """Run the demo and draw it."""
    from rich.console import Console
    from rich.text import Text

    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/demo.svg")
    with tempfile.TemporaryDirectory(prefix="sloyd-") as parent:
        directory = Path(parent) / "demo"
        output = terminal_output(["sloyd", "demo", "--keep", str(directory)])
        shown = output.replace(str(directory), "/tmp/sloyd-demo")
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text("$ sloyd demo\n") + Text.from_ansi(_CONTROL.sub("", shown)))
    target.write_text(console.export_svg(title="sloyd demo", unique_id="sloyd"), encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
