"""The modal screens from which something is picked.

The modules:

    fuzzy_screen     A list in which one searches by typing and picks one row; every picker is
                     one.
    row_list         A list of rows of which one is chosen; only what is on the screen is drawn.
    model_picker     Choosing the model that answers, and the models that one cycles through.
    session_picker   Choosing a session to go on with.
    thinking_picker  Choosing how much the model reasons.
    history_picker   Searching in what was sent before.
    dialogs          Small questions: yes or no, a line of text, one of a few options.
"""

from __future__ import annotations

__all__: list[str] = []
