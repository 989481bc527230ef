"""How the calls and results of tools look: rich renderables.

Loaded only when something is drawn. Nothing in here is seen by a model.

The modules:

    parts     Pieces that the renderers of all tools are put together from.
    files     How ``read``, ``write`` and ``edit`` look.
    commands  How ``bash``, ``grep``, ``find`` and ``ls`` look.
    diff      The numbered diff of an edit, coloured, with the words that changed marked inside
              the lines.
"""

from __future__ import annotations

__all__: list[str] = []
