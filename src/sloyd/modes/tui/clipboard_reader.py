"""What is on the system's clipboard, read with the tools of the desktop: an image, or a text.

A terminal can be written to (OSC 52) and, nearly everywhere, not be read from. Over SSH the tools
see the other machine's clipboard, or none; then there is nothing to paste.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

__all__ = ["dropped_images", "read_clipboard"]

_SECONDS: Final = 3.0
_IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp")
_IMAGE_NAMES: Final = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
_MOST_PATHS: Final = 20


def read_clipboard(variables: Mapping[str, str]) -> bytes | str | None:
    """The bytes of an image, or a text, or None when there is neither. Blocks: for a thread."""
    search = variables.get("PATH")
    if variables.get("WAYLAND_DISPLAY") and shutil.which("wl-paste", path=search):
        return _offered(
            ["wl-paste", "--list-types"],
            ["wl-paste", "--no-newline", "--type"],
            ["wl-paste", "--no-newline"],
            variables,
        )
    if variables.get("DISPLAY") and shutil.which("xclip", path=search):
        base = ["xclip", "-selection", "clipboard", "-out"]
        return _offered([*base, "-target", "TARGETS"], [*base, "-target"], base, variables)
    if shutil.which("pngpaste", path=search):
        image = _output(["pngpaste", "-"], variables)
        if image:
            return image
    if shutil.which("pbpaste", path=search):
        return _text(_output(["pbpaste"], variables))
    return None


def _offered(
    list_types: Sequence[str],
    get_type: Sequence[str],
    get_text: Sequence[str],
    variables: Mapping[str, str],
) -> bytes | str | None:
    offered = (_output(list_types, variables) or b"").decode("utf-8", "replace").split()
    for kind in _IMAGE_TYPES:
        if kind in offered:
            image = _output([*get_type, kind], variables)
            if image:
                return image
    return _text(_output(get_text, variables))


def _output(argv: Sequence[str], variables: Mapping[str, str]) -> bytes | None:
    program = shutil.which(argv[0], path=variables.get("PATH"))
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env=dict(variables),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _text(data: bytes | None) -> str | None:
    return data.decode("utf-8", "replace") if data else None


def dropped_images(text: str, cwd: str, home: str) -> list[Path]:
    """The image files that a pasted text names; empty when it is anything else.

    Terminals paste the paths of dropped files: bare, quoted, with backslashes, or as URLs.
    """
    import shlex

    line = text.strip()
    if not line or len(line) > 8_192 or "\n" in line:
        return []
    whole = _image_file(line, cwd, home)
    if whole is not None:
        return [whole]
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    if len(words) > _MOST_PATHS:
        return []
    paths = [_image_file(word, cwd, home) for word in words]
    found = [path for path in paths if path is not None]
    return found if len(found) == len(paths) else []


def _image_file(word: str, cwd: str, home: str) -> Path | None:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    elif word.startswith("~/"):
        word = home + word[1:]
    path = Path(cwd, word)
    # A bare name is more likely a word of a sentence than a dropped file.
    if "/" not in word or path.suffix.lower() not in _IMAGE_NAMES:
        return None
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None
