"""What the parts of the screen say to each other, and what its pickers give back.

The composer posts the messages below; the app acts on them. Pickers are modal screens: pushing one
with ``push_screen_wait`` gives its result, or None when the person left it.

    class Composer(Widget):
        Submitted, Interrupt, TakeBack, Changed = Submitted, Interrupt, TakeBack, Changed
        def __init__(self, agent: CodingAgent, keys: KeyMap, history_path: Path) -> None: ...
        text: str                                     # property: what is written, pastes unfolded
        def set_text(self, text: str) -> None: ...    # in the place of what is written
        def insert(self, text: str) -> None: ...      # at the cursor
        def set_queue(self, waiting: Sequence[str]) -> None: ...

    ModelPicker(agent, keys)     -> ModelPicked
    ThinkingPicker(agent, keys)  -> ThinkingLevel
    SessionPicker(agent, keys)   -> Path
    TreeScreen(agent, keys)      -> TreeAction
    SettingsScreen(agent, keys)  -> tuple of the dotted names that were changed
    FirstStart(settings)         -> ModelPicked

Keys: a widget gets Textual's key events, asks `KeyMap.action` for its own contexts, acts and stops
the event; what it does not know bubbles up to the app.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.message import Message

from sloyd.harness.model_choice import ModelChoice
from sloyd.llm.messages import Image

__all__ = [
    "Changed",
    "Interrupt",
    "ModelPicked",
    "Submitted",
    "TakeBack",
    "TreeAction",
]


class Submitted(Message):
    """A person sends what they wrote: words for the model, a ``/command``, or ``!shell``.

    Attributes:
        text: with pastes unfolded, not stripped of what means something (``!!``).
        images: in the order of their places in the text.
        follow_up: say it when the model would stop, not after the current turn.
    """

    def __init__(self, text: str, images: tuple[Image, ...] = (), follow_up: bool = False) -> None:
        super().__init__()
        self.text = text
        self.images = images
        self.follow_up = follow_up


class Interrupt(Message):
    """Escape, where no menu of the composer was open to take it."""


class TakeBack(Message):
    """The person wants the waiting messages back in the composer."""


class Changed(Message):
    """What is written, or its height, has changed."""


@dataclass(frozen=True, slots=True)
class ModelPicked:
    """A model was chosen; ``save`` makes it the default of the next start too."""

    choice: ModelChoice
    save: bool = False


@dataclass(frozen=True, slots=True)
class TreeAction:
    """What to do with an entry of the session's tree.

    ``entry_id`` None is the root, before the first message.
    """

    kind: Literal["navigate", "summarise", "fork", "rewind", "copy"]
    entry_id: str | None
