"""What waits to be said to the model: steering between turns, follow-ups at the end."""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias

from sloyd.llm.messages import UserMessage, text_of

__all__ = ["MessageQueue", "QueueMode"]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]


class MessageQueue:
    """Messages in the order in which they were added.

    Attributes:
        mode: how many of them `take` hands over.
    """

    def __init__(self, mode: QueueMode = "one-at-a-time") -> None:
        self.mode: QueueMode = mode
        self._messages: deque[UserMessage] = deque()

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def texts(self) -> tuple[str, ...]:
        """What the messages say, for people."""
        return tuple(text_of(message.content) for message in self._messages)

    def add(self, message: UserMessage) -> None:
        """Put a message at the end."""
        self._messages.append(message)

    def take(self) -> list[UserMessage]:
        """Remove and return the next message, or all of them, by mode."""
        if self.mode == "all":
            return self.clear()
        return [self._messages.popleft()] if self._messages else []

    def clear(self) -> list[UserMessage]:
        """Remove and return all messages."""
        messages = list(self._messages)
        self._messages.clear()
        return messages
