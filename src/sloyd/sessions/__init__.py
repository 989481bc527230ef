"""Floor 4: a conversation that lasts: its file, its tree, its context, and its uses.

`session.Session` is where to begin.

The file:

    entries          The entries of a session file: pi's session format version 3 as typed
                     structs.
    codec            Between a line of a session file and its typed entry.
    store            Where the lines of a session are kept: an append-only file, or memory.
    lease            The right to append to one session file, held by one process at a time.
    scan             Reading a session file: one pass that notes where each entry is, and decodes
                     nothing else.
    headers          The header of a new session.
    names            Names of sessions: their ids, their files and the directories of their
                     projects.
    migrate          Session files of version 1, a plain list of entries without ids, made into
                     version 3.
    mend             Messages of old, foreign or hand-made session files, brought into a shape
                     that can be read.

The tree and the context:

    session          A session: a conversation that lasts, and everything that was done beside it.
    tree             The tree that the entries of a session form, and the place in it where the
                     session stands.
    context          From a branch of the tree to the messages of a model request.
    edits            Taking messages and results out of the context, and bringing them back.
    traces           What is left of messages that were cut.
    usage            Adding up tokens and money.
    stats            What a session has used: messages, calls, tokens, money. All branches count;
                     all was paid for.
    estimate         How many tokens messages take, corrected by what a provider counted.

Making room:

    compaction       Making room: older messages become a summary, and stay findable.
    compacting       Compacting a session: plan the cut, ask for the summary, append the entry.
    cut              Where a context may be cut, so that its older part can be summarised.
    serialise        A conversation as one text, which a model reads as a record and not as a talk
                     to go on with.
    branch_summary   A summary of a branch that is left, so that the branch gone on with knows of
                     it.
    recall           Getting back what a compaction cut, or an edit took out.

All sessions:

    catalogue        All sessions of this user: finding one, and what can be done to one from
                     outside.
    summary_of       A session in a few facts, for lists of sessions.
    index            Full-text search over all sessions.
    fts              What the full-text index is made of, and how a person's words become a query.
    forks            New sessions from old ones: a branch is copied line by line, with every field
                     of its JSON.
    plain            What entries say, as plain text.
    export           A session as one file for people or programs: HTML, Markdown or JSONL.

Changed files:

    journal          The journal: the old content of every file that a tool changed, so that it
                     can be undone.
    journal_records  The lines of the journal: what is written about a change to a file, and when.
    journal_store    Where the journal keeps its lines and old contents on disk.
    rewind           Going back to an earlier message with the files as they were then.
"""

from __future__ import annotations

__all__: list[str] = []
