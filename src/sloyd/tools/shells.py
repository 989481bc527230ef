"""What every shell command needs: the program that runs it, and where its output goes."""

from __future__ import annotations

from sloyd.errors import ToolError
from sloyd.tools.environment import ToolEnvironment, ToolSettings
from sloyd.tools.output import OutputAccumulator
from sloyd.workspace.output_log import OutputLog, output_directory

__all__ = ["command_output", "find_shell"]


async def find_shell(environment: ToolEnvironment) -> str:
    """The path of the shell that is set, else of bash, else of sh.

    Raises `ToolError` when the setting names a program that is not there.
    """
    workspace = environment.workspace
    wanted = environment.settings.shell_path
    if wanted is not None:
        found = await workspace.which(wanted)
        if found is None:
            raise ToolError(
                f"Custom shell path not found: {wanted}\n"
                "No command can run until the setting shell.path names a program."
            )
        return found
    for program in ("/bin/bash", "bash", "sh"):
        found = await workspace.which(program)
        if found is not None:
            return found
    return "sh"


def command_output(settings: ToolSettings) -> OutputAccumulator:
    """Takes a command's output, with its full log in the directory of the settings."""

    def open_log() -> OutputLog:
        directory = output_directory(settings.output_directory)
        return OutputLog(directory, prefix="sloyd-bash", limit=settings.log_limit)

    return OutputAccumulator(open_log)
