"""Giving a new file what the old one had: owner, group, extended attributes, mode."""

from __future__ import annotations

import os
import stat
import sys

__all__ = ["keep_attributes"]

_ACCESS_LIST = "system.posix_acl_access"


def keep_attributes(descriptor: int, path: str, old: os.stat_result) -> bool:
    """Give the open file the attributes of the file at ``path``, as far as this user may.

    Returns false when what decides over access (owner, group, access list) cannot be kept, so that
    the caller does not put the file in the old one's place. Other extended attributes are copied
    where possible; a security label or a capability is the system's business.
    """
    if sys.platform == "win32":
        return True
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            return False
    if not _keep_extended(descriptor, path):
        return False
    # Last: a change of owner takes the set-user-id bit away, an access list changes group bits.
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    return True


if sys.platform == "linux":

    def _keep_extended(descriptor: int, path: str) -> bool:
        try:
            wanted = os.listxattr(path)
            inherited = os.listxattr(descriptor)
        except OSError:
            return True  # a file system without extended attributes
        for name in wanted:
            try:
                os.setxattr(descriptor, name, os.getxattr(path, name))
            except OSError:
                if name == _ACCESS_LIST:
                    return False
        if _ACCESS_LIST in inherited and _ACCESS_LIST not in wanted:
            os.removexattr(descriptor, _ACCESS_LIST)  # the directory's default, which it had not
        return True

else:

    def _keep_extended(descriptor: int, path: str) -> bool:
        return True
