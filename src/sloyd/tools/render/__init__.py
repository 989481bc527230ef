"""How the calls and results of tools look: rich renderables, one file a tool.

Loaded only when something is drawn. Nothing in here is seen by a model.
"""

from __future__ import annotations

__all__: list[str] = []
