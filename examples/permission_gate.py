"""Ask before a command that could do harm; where nobody can be asked, do not run it.

    sloyd -e examples/permission_gate.py
    sloyd -e examples/permission_gate.py --gate-allow "git push" -p "push the branch"

This is a seat belt, not a wall: a shell has more ways to delete a file than patterns can name. For
a wall, let the tools work in a sandbox or a container.
"""

from __future__ import annotations

import re

from sloyd import Block, ExtensionApi, PendingCall

HARMFUL = [
    r"\brm\s+(-\w*[rf]|--recursive|--force)",
    r"\bsudo\b",
    r"\b(mkfs|dd|shutdown|reboot)\b",
    r"\bgit\s+(push|reset\s+--hard|clean)\b",
    r"\bchmod\s+-R\b",
    r"(curl|wget)\b.*\|\s*(ba|z)?sh\b",
]


def setup(api: ExtensionApi) -> None:
    """Guard the bash tool."""
    allowed = api.flag("gate-allow", "text", "A command that needs no question", "")
    harmful = re.compile("|".join(HARMFUL))
    remembered: set[str] = set(commands_of(allowed))

    async def gate(pending: PendingCall) -> Block | None:
        command = str(pending.call.arguments.get("command", ""))
        if not harmful.search(command) or command in remembered:
            return None
        if not api.door.can_ask:
            return Block(
                f"Not run: `{command}` needs a person's permission, and nobody can be asked here."
                " Find a way without it, or say what you would have done."
            )
        if await api.confirm("Run this command?", command):
            remembered.add(command)
            return None
        return Block("The user does not want this command to run. Ask what they want instead.")

    api.before_tool_call(gate, tools=["bash"])


def commands_of(allowed: str) -> list[str]:
    """The commands of the switch, which may be several with ``;`` between them."""
    return [command.strip() for command in allowed.split(";") if command.strip()]
