"""Keep the file tools inside the project and away from secrets.

    sloyd -e examples/path_guard.py
    sloyd -e examples/path_guard.py --guard "*.pem,vault/*"

Nothing outside the working directory is read or changed, and files that match a pattern are not
either. The shell is not looked at: combine this with `--tools read,edit,write,grep,find,ls`, or
with permission_gate.py.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from sloyd import Block, ExtensionApi, PendingCall
from sloyd.workspace.paths import relative_to, resolve

SECRET = [".env", ".env.*", "*.key", "*.pem", "id_rsa*", ".git/*", ".ssh/*", ".aws/*"]
FILE_TOOLS = ["read", "edit", "write", "grep", "find", "ls"]


def setup(api: ExtensionApi) -> None:
    """Guard the tools that take a path."""
    more = api.flag("guard", "text", "More patterns of files to keep away from", "")
    patterns = [*SECRET, *(part.strip() for part in more.split(",") if part.strip())]

    async def guard(pending: PendingCall) -> Block | None:
        named = str(pending.call.arguments.get("path") or ".")
        workspace = api.agent.workspace
        # What the path means and where it leads in the end, through links and `..`.
        found = await resolve(workspace, named)
        real = await workspace.realpath(found.path)
        root = await workspace.realpath(workspace.cwd)
        inside = relative_to(real, root)
        if inside.startswith(("..", "/")):
            return Block(f"Not done: {named} is outside of the project. Stay below {root}.")
        parts = inside.split("/")
        tails = ["/".join(parts[start:]) for start in range(len(parts))]
        for pattern in patterns:
            if any(fnmatchcase(tail, pattern) for tail in tails):
                return Block(
                    f"Not done: {named} is kept from you (pattern {pattern}). Work without it, or"
                    " ask the user for what you need from it."
                )
        return None

    api.before_tool_call(guard, tools=FILE_TOOLS)
