"""The screen: a conversation in the terminal, drawn with Textual.

`door` is how it is opened, `app` the screen itself. Loaded by nothing else.

Beginning and end:

    door              ``sloyd`` on a terminal: the screen from its first frame to the terminal as
                      it was before.
    app               The app: the screen, what it hears from the agent, and how it begins and
                      ends.
    early_frame       The first frame, drawn before anything large is loaded.
    first_start       The first start: there is no model to talk to, so one is chosen here and
                      kept in the settings.
    first_start_app   The screen of the first start, by itself.
    farewell          What stays on the terminal when the screen is gone.

The transcript:

    transcript        The conversation on the screen.
    stack             The blocks of a transcript above each other.
    heights           The heights of many blocks above each other.
    image_cells       An image in the cells of a terminal: two pixels a cell.
    block             A part of the transcript: it knows what it says and draws itself when it is
                      looked at.
    blocks            Parts of the transcript that do not grow.
    answer_blocks     What a model says: its text as Markdown, and its reasoning, folded to a
                      line.
    tool_block        A tool call as a card: the call, its state, and its result as the tool's
                      renderer draws it.
    canvas            What a block is drawn on: a width, a theme, and how things are to be shown
                      at the moment.
    feed              From the events of a run to blocks of the transcript that come and grow.
    from_session      The blocks of a conversation that is there already, from the entries of its
                      branch.
    selecting         What a selection in the transcript covers.
    search_bar        The line in which one searches in the transcript; it takes the composer's
                      place meanwhile.
    strip_text        Restyling a part of a drawn line: for what is selected and what was found.

Text that is drawn:

    markdown_stream   Markdown that grows: what is finished is laid out once, only the end is laid
                      out again.
    markdown_layout   Markdown laid out to a width: one styled text a line, and no line too wide.
    markdown_inline   The inside of a Markdown paragraph: emphasis, code, links, as styled text.
    markdown_table    A Markdown table in the width there is.
    code_text         Code in colour: lines of styled text, broken where they are too long.
    safe_text         Text of models and files without what a terminal would obey.
    graphemes         Grapheme clusters: what a person sees, moves over and deletes as one
                      character.
    words             Where words begin and end, for motions and deletions; scripts without spaces
                      included.
    theme             How the screen is coloured: dark, light, the terminal's own palette, and
                      themes from files.

The composer:

    composer          Where a person writes: the edited text, its menu of completions, and the
                      messages that wait.
    composer_area     The composer's text on the screen.
    composer_layout   Where each cluster of the edited text stands on the screen.
    composer_menu     The menu of completions above the composer.
    completion        What the cursor stands in that can be completed, and how an accepted choice
                      changes the text.
    completion_files  The files that can be completed.
    editing           A text under edit: the text, the place in it, undo, and what was cut. No
                      screen, no keys.
    draft             The text that is being written, kept in a file until it is sent.
    history           What was sent before, in all sessions.
    paste             What stands behind the atoms of the composer.
    clipboard_reader  What is on the system's clipboard, read with the tools of the desktop.
    external_editor   Writing in the person's own editor, in the place of the screen.
    fuzzy             Fuzzy matching: which texts contain the letters of a query in order, and how
                      well they fit.

Keys and what they do:

    key_table         Every action that a key can start, declared once.
    keys              Which key does what: the declared actions, and what ``keybindings.toml``
                      makes of them.
    controls          What the keys of the app and of the transcript do, by the names of the key
                      table.
    talk              What happens with what a person sends.
    messages          What the parts of the screen say to each other, and what its pickers give
                      back.

Around it:

    footer            The two lines at the bottom: where we are, what answers, and what it has
                      cost so far.
    status            Keeps the footer's facts: adds up what answers cost, and looks where we are.
    git_branch        The branch of the git work tree that a directory lies in, read from its
                      files.
    activity          The line over the composer while something happens.

Screens over it:

    screens           The pickers and what follows from a choice in them; each is loaded when it
                      is first opened.
    screen_door       The screen as commands and extensions see it.
    pickers           The screens from which something is picked.
    settings_screen   All settings of the declared table: to be searched, read and changed.
    tree_screen       The session as a tree: going to another place in it, with or without a
                      summary or the files.
    tree_rows         The entries of a session as rows of a tree.
    key_store         Where a key that a person has typed is kept.

The terminal:

    driver            The way to the terminal: standard output, where Textual takes standard
                      error.
    literal_paste     Pasted text as it is. Textual's parser takes escape sequences in a paste for
                      keys.
    terminal_keys     Key sequences that Textual does not know, or knows by another name.
    terminal_signs    What is told to the terminal around the screen.
"""

from __future__ import annotations

__all__: list[str] = []
