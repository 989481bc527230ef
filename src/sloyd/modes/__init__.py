"""Floor 6: the doors, through which people and programs reach the coding agent.

Doors to a conversation:

    print            The print door: run the prompts, print the final answer, tell by the exit
                     code how it went.
    jsonl            The JSON door: every event of the run as one line, for programs that only
                     listen.
    plain            The plain conversation: a line in, an answer out, for any terminal and for
                     screen readers.
    plain_door       How the plain conversation tells and asks: lines out, a line in.
    plain_view       What the plain conversation writes.
    tui              The screen: a conversation drawn with Textual.

The RPC door:

    rpc              The RPC door: commands as lines of JSON on standard input, responses and
                     events on standard output.
    rpc_protocol     The records of the RPC protocol beside commands and events, and how a line
                     becomes a command.
    rpc_commands     The commands that a client may send: one struct each, told apart by ``type``.
    rpc_results      What the responses to commands carry as ``data``.
    rpc_context      What the handlers of RPC commands share.
    rpc_door         How commands and extensions tell and ask the person at an RPC client.
    rpc_prompting    RPC commands that talk to the model, and those that stop or shape its runs.
    rpc_models       RPC commands about what answers and with what.
    rpc_sessions     RPC commands about the session.
    rpc_shell        The RPC command that runs a shell command, and its output on the way.

Commands of the shell:

    config           ``sloyd config``: see and change settings without opening the file.
    demo             ``sloyd demo``: a scripted model mends a small project with real tools,
                     offline.
    export           A session written to a file for people or programs, from the command line.
    list_models      ``sloyd --list-models``: print the models that are known.
    sessions         ``sloyd sessions``: list, search, show, rename, move, delete and export
                     sessions.
    tool             The tool door: run one tool, or a stream of calls, without a model.
    undo             ``sloyd undo``: list the file changes that tools made, and take them back.

What doors share:

    output           Standard output and error as every door uses them.
    protocol_output  Standard output as a line protocol.
    byte_lines       Standard input as lines of bytes, split at LF and nowhere else, while the
                     event loop goes on.
    line_reader      Lines from standard input, read without blocking the event loop or the way
                     out.
    piped_input      Text piped into the process: read to its end, but never waited for without
                     end.
    signals          How a door without a screen reacts to signals.
    summary          A tool call in one line of plain text, for doors that draw nothing richer.
    session_picker   ``--resume`` where there is no screen.
    session_rows     Sessions as rows of a list: id, time, size, title, and where.
    session_remarks  What a person should know about a session that was just opened.
"""

from __future__ import annotations

__all__: list[str] = []
