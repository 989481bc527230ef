"""Searching a tree of files: patterns for names, ignore rules, the walk, and two engines.

Loaded when something is searched for the first time.

The calls:

    parameters  What a call of grep or find takes, and its default limits, apart from the search
                itself.
    grep_call   One call of grep: what it means, which engine does it, and what the model reads of
                it.
    find_call   One call of find: what the pattern means, the walk, and what the model reads of
                it.
    results     The text of a result that is a list of lines, with notices about what was left
                out.

The engines of grep:

    request     What a search in files asks for and what it gives, whichever engine does it.
    patterns    What a search pattern means, in the words of ripgrep and of Python's ``re``.
    ripgrep     Search with ripgrep.
    events      The JSON lines that ripgrep writes, read as they come and within bounded memory.
    in_python   Search without ripgrep: slower, and the same in what it finds.
    collector   Takes matches in the order of paths up to a limit, as pi shows them.
    shown       A line of a file as a search shows it: no control characters, and not too long.

Which files:

    walk        Everything below a directory, in the order of paths, without what ignore rules
                hide.
    scope       Which ignore rules hold where: the same inside and outside of repositories.
    ignore      The rules of one ignore file, as git and ripgrep read them.
    globs       Patterns for file names, in the dialect of ripgrep and gitignore, as regular
                expressions.
"""

from __future__ import annotations

__all__: list[str] = []
