"""Floor 3: what a model may do. Reaches files and processes only through a `Workspace`.

A tool is a module with ``NAME_tool(environment)``; `builtin` lists them.

What a tool is:

    definition         What the product knows of a tool, and `wrap`, the only way from there to an
                       agent tool.
    environment        What a built-in tool acts in: a workspace, a queue for changes, a record of
                       them, and settings.
    registry           All known tools, and which of them the model may use.
    builtin            The seven built-in tools, in the order in which a model gets to know them.
    functions          A typed Python function with a docstring, made into a tool.
    signatures         From the signature of a function to the parameters of a tool, and back to
                       its arguments.
    docstrings         Takes a Google-style docstring apart.

Its parameters:

    schema             From a parameter class to the JSON Schema that a model reads.
    arguments          The check that stands between what a model sent and what a tool receives.
    coercion           Values against a JSON Schema: checked, and mended where that needs no
                       guess.
    foreign_names      What other agents' tools call the arguments that ours take, and how calls
                       are renamed.
    edit_arguments     What models send to `edit` and `write`, mended into what the tools take.

Reading:

    read               The read tool: lines of a text file, or an image.
    line_window        Some lines out of a stream of bytes, with the true number of all its lines,
                       in flat memory.
    page               What a model reads of a window of lines.
    visible            What cannot be seen in a text, made visible for a model.
    binary_kinds       Files that are no text: what they are, and how to look into them instead of
                       reading them.
    image_kinds        What kind of image some bytes begin like; the name of a file says nothing
                       about it.
    images             An image made fit for a model: decoded, turned upright, inside the box and
                       the payload limit.

Changing:

    edit               The tool `edit`: exact replacements in one file, all of them or none.
    editing            What a call of `edit` does: match, replace, and tell what was changed.
    edit_plan          From a file's bytes and a list of edits to its new bytes, or to a refusal
                       that helps.
    write              The tool `write`: a whole file, created or replaced in one step.
    writing            What a call of `write` does: replace the whole content, and say what that
                       changed.
    changing           The one way in which a tool changes a file: read, compute, record, replace.

Running commands:

    bash               The bash tool: one shell command, its output in true order, and a certain
                       end.
    output             Collecting a command's output: its end for the model, its counts, and the
                       full log.
    shells             What every shell command needs.
    shell_environment  The environment of a command: the user's own, without our secrets, and
                       nothing that can wait.

Searching:

    grep               The grep tool: lines of files that match a pattern.
    find               The find tool: names of files and directories that match a glob.
    ls                 The ls tool: the entries of one directory.
    search             Searching a tree of files.

For every tool:

    failures           What the model reads when a file operation failed.
    render             How the calls and results of tools look.
"""

from __future__ import annotations

__all__: list[str] = []
