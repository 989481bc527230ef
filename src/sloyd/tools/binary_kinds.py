"""Files that are no text: what they are, and how to look into them instead of reading them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

from sloyd.text.encoding import looks_binary, looks_like_bare_utf16
from sloyd.text.truncate import format_size

__all__ = ["SNIFFED_BYTES", "describe_binary"]

SNIFFED_BYTES: Final = 8192
"""Bytes of a file's beginning that decide whether it is text; later NULs are only shown."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """``commands`` look into a file of this kind; ``{}`` in them is its path, quoted."""

    name: str
    commands: tuple[str, ...]


_ANYTHING: Final = ("file {}", "strings {} | head -n 100", "xxd {} | head -n 40")
_EXECUTABLE: Final = ("file {}", "nm -D {}", "strings {} | head -n 100")
_MEDIA: Final = ("ffprobe -hide_banner {}", "file {}")

_ZIP: Final = _Kind("ZIP archive", ("unzip -l {}",))
_ZIP_BY_SUFFIX: Final = {
    "docx": _Kind("Word document", ("pandoc -t markdown {}",)),
    "xlsx": _Kind("Excel workbook", ("python3 with openpyxl", "unzip -l {}")),
    "pptx": _Kind("PowerPoint document", ("python3 with python-pptx", "unzip -l {}")),
    "odt": _Kind("OpenDocument text", ("pandoc -t markdown {}",)),
    "epub": _Kind("EPUB book", ("pandoc -t markdown {}", "unzip -l {}")),
    "jar": _Kind("Java archive", ("unzip -l {}",)),
    "whl": _Kind("Python wheel", ("unzip -l {}",)),
}
_TAR: Final = _Kind("tar archive", ("tar -tf {}",))
_PDF: Final = _Kind("PDF document", ("pdftotext -layout {} - | head -n 300",))
_SQLITE: Final = _Kind("SQLite database", ("sqlite3 {} .schema",))

_SIGNATURES: Final[tuple[tuple[bytes, _Kind], ...]] = (
    (b"\x7fELF", _Kind("ELF executable or library", _EXECUTABLE)),
    (b"\xcf\xfa\xed\xfe", _Kind("Mach-O executable or library", _EXECUTABLE)),
    (b"\xce\xfa\xed\xfe", _Kind("Mach-O executable or library", _EXECUTABLE)),
    (b"\xca\xfe\xba\xbe", _Kind("Java class or universal Mach-O file", ("file {}", "javap -c {}"))),
    (b"MZ", _Kind("Windows executable", _ANYTHING)),
    (b"\x00asm", _Kind("WebAssembly module", ("wasm-objdump -x {}", "file {}"))),
    (b"PK\x03\x04", _ZIP),
    (b"PK\x05\x06", _ZIP),
    (b"\x1f\x8b", _Kind("gzip data", ("zcat {} | head -n 100", "tar -tzf {}"))),
    (b"BZh", _Kind("bzip2 data", ("bzcat {} | head -n 100", "tar -tjf {}"))),
    (b"\xfd7zXZ\x00", _Kind("xz data", ("xzcat {} | head -n 100", "tar -tJf {}"))),
    (b"\x28\xb5\x2f\xfd", _Kind("Zstandard data", ("zstdcat {} | head -n 100",))),
    (b"7z\xbc\xaf\x27\x1c", _Kind("7-Zip archive", ("7z l {}",))),
    (b"Rar!\x1a\x07", _Kind("RAR archive", ("unrar l {}",))),
    (b"SQLite format 3\x00", _SQLITE),
    (b"PAR1", _Kind("Parquet table", ("python3 with pyarrow or pandas",))),
    (b"\x89HDF\r\n\x1a\n", _Kind("HDF5 data", ("h5dump -H {}",))),
    (b"\x93NUMPY", _Kind("NumPy array", ("python3 with numpy",))),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _Kind("old Microsoft Office document", ("file {}",))),
    (b"wOFF", _Kind("web font", ("file {}",))),
    (b"wOF2", _Kind("web font", ("file {}",))),
    (b"\x00\x01\x00\x00\x00", _Kind("TrueType font", ("file {}",))),
    (b"OTTO", _Kind("OpenType font", ("file {}",))),
    (b"ID3", _Kind("MP3 audio", _MEDIA)),
    (b"OggS", _Kind("Ogg media", _MEDIA)),
    (b"fLaC", _Kind("FLAC audio", _MEDIA)),
    (b"RIFF", _Kind("RIFF media (WAV, AVI)", _MEDIA)),
    (b"\x1a\x45\xdf\xa3", _Kind("Matroska or WebM video", _MEDIA)),
    (b"DIRC", _Kind("git index", ("git ls-files --stage",))),
    (b"PACK", _Kind("git pack", ("git verify-pack -v {} | head -n 40",))),
)


def describe_binary(head: bytes, path: str, size: int, *, wants_raw: bool) -> str | None:
    """One line about a file that is not to be shown as text, or None for text.

    Args:
        head: its first `SNIFFED_BYTES` bytes, or all of them.
        path: its path, for the commands.
        size: its size in bytes.
        wants_raw: the caller asks for lines explicitly; what can be read as text then is text.
    """
    head = head[:SNIFFED_BYTES]
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    if not looks_binary(head):
        return None if wants_raw else _describe_textual(head, path, suffix, size)
    if looks_like_bare_utf16(head):
        encoding = "UTF-16LE" if head[1::2].count(0) > head[::2].count(0) else "UTF-16BE"
        return _line(
            f"Binary file by its NUL bytes, {format_size(size)}, which looks like {encoding} text "
            "without a byte order mark",
            (f"iconv -f {encoding} -t UTF-8 {{}} | head -n 300",),
            path,
        )
    kind = _kind(head, suffix)
    name = f"Binary file ({kind.name})" if kind is not None else "Binary file"
    commands = kind.commands if kind is not None else _ANYTHING
    return _line(f"{name}, {format_size(size)}, not shown as text", commands, path)


def _kind(head: bytes, suffix: str) -> _Kind | None:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return _ZIP_BY_SUFFIX.get(suffix, kind) if kind is _ZIP else kind
    if head.startswith(b"%PDF-"):
        return _PDF
    if head[257:262] == b"ustar":
        return _TAR
    if head[4:8] == b"ftyp":
        return _Kind("MP4 or QuickTime media", _MEDIA)
    return None


def _describe_textual(head: bytes, path: str, suffix: str, size: int) -> str | None:
    """Formats that are text, and of which the raw form is the wrong thing to read."""
    if head.startswith(b"%PDF-") and suffix == "pdf":
        return _line(f"PDF document, {format_size(size)}, not shown as text", _PDF.commands, path)
    if suffix == "ipynb" and head.lstrip()[:1] == b"{" and b'"' in head:
        script = (
            "import json,sys;[print('#',n,c['cell_type'],chr(10)+''.join(c['source'])) "
            "for n,c in enumerate(json.load(open(sys.argv[1]))['cells'])]"
        )
        return _line(
            f"Jupyter notebook, {format_size(size)} of JSON, not shown in its raw form. "
            "Read it with offset=1 to see the JSON, as an edit needs it",
            ("jupyter nbconvert --to markdown --stdout {}", f'python3 -c "{script}" {{}}'),
            path,
        )
    return None


def _line(what: str, commands: tuple[str, ...], path: str) -> str:
    quoted = shlex.quote(path)
    shown = " or ".join(
        f"`{command.replace('{}', quoted)}`" if "{}" in command else command for command in commands
    )
    return f"[{what}. To look into it, use bash: {shown}]"
