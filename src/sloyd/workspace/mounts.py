"""Which paths lie on disks of this machine, where looking something up takes microseconds.

Handing a `stat` to a thread costs fifty times the `stat`. It is worth that only where the answer
may stay away: on network mounts, FUSE and automounts, whose server can hang.
"""

from __future__ import annotations

import os
import sys
import time

__all__ = ["is_prompt"]

_PROMPT_TYPES = frozenset(
    {
        "bcachefs",
        "btrfs",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "erofs",
        "exfat",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "hugetlbfs",
        "iso9660",
        "jfs",
        "mqueue",
        "nilfs2",
        "ntfs3",
        "overlay",
        "proc",
        "ramfs",
        "reiserfs",
        "rootfs",
        "securityfs",
        "squashfs",
        "sysfs",
        "tmpfs",
        "tracefs",
        "ubifs",
        "udf",
        "vfat",
        "xfs",
        "zfs",
    }
)
_LONGEST_TRUST = 30.0  # seconds; someone may mount something


class _Table:
    """The slow mount points, as of some moment."""

    def __init__(self) -> None:
        self._mounts: tuple[str, ...] = ()
        self._read_at = -_LONGEST_TRUST

    def slow_mounts(self) -> tuple[str, ...]:
        now = time.monotonic()
        if now - self._read_at > _LONGEST_TRUST:
            self._mounts = _read_slow_mounts()
            self._read_at = now
        return self._mounts


_table = _Table()


def is_prompt(path: str) -> bool:
    """Whether ``path`` (absolute) is spelled below local mounts only.

    A symlink that leads from there to a network mount is not noticed. False where the mount table
    cannot be read, so on systems other than Linux.
    """
    if sys.platform != "linux":
        return False
    slow = _table.slow_mounts()
    return not slow or not path.startswith(slow)


def _read_slow_mounts() -> tuple[str, ...]:
    """The mount points, as prefixes of paths, that are not known to be local."""
    try:
        descriptor = os.open("/proc/self/mounts", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ("/",)
    try:
        table = b""
        while chunk := os.read(descriptor, 65_536):
            table += chunk
    finally:
        os.close(descriptor)
    mounts = set()
    for line in os.fsdecode(table).splitlines():
        fields = line.split(" ")
        if len(fields) > 2 and fields[2] not in _PROMPT_TYPES:
            mounts.add(_unescaped(fields[1]))
    return tuple(sorted(mounts))


def _unescaped(mount: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        mount = mount.replace(code, character)
    return mount
