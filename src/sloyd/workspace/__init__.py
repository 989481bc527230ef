"""Floor 1: files and processes, wherever they are. Knows nothing of models.

Tools see `base.Workspace` and nothing else of the machine.

The contract, and who keeps it:

    base          The contract between tools and the place where they act.
    local         This machine as a workspace: its files and processes.
    memory        A workspace in memory: for tests, for dry runs, and as proof that the contract
                  is enough.
    memory_tree   The tree of files behind `sloyd.workspace.memory`.

Paths and names:

    paths         What a path argument means: one rule for all tools.
    names         File names that are hard to write down.
    nearness      Names near one that does not exist, to suggest them. Bounded in names looked at.
    mounts        Which paths lie on disks of this machine, where looking something up takes
                  microseconds.

Changing files:

    mutations     The queue for changes to one file.
    atomic        Replacing a file in one step: whoever looks, or kills, sees the old or the new
                  content.
    in_place      Writing a file in place, where a new file cannot take its place.
    attributes    Giving a new file what the old one had: owner, group, extended attributes, mode.
    interrupted   Writes in place that a kill interrupted.
    guard         Keeping processes out of each other's way while a file is replaced.
    descriptors   Writing to file descriptors, and the flags to open them with, on every system.

Running processes:

    processes     Running a process on this machine to its end, and being sure of that end.
    spawning      Starting a process without a terminal.
    pump          Reading a pipe on the event loop, as fast as its reader keeps up and no faster.
    output_log    The full output of a command on disk: private, bounded, and cleaned up by age.
    process_tree  Everything that a command started.
    left_behind   Jobs that a command leaves behind.
    signal_names  Names of signals, for people and models.

From the operating system to our records:

    facts         From a `stat` result of the operating system to the records of
                  `sloyd.workspace.base`.
    problems      From an error of the operating system to a `WorkspaceError` with a reason to
                  decide on.
"""

from __future__ import annotations

__all__: list[str] = []
