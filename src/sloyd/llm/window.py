"""How much room a request leaves for its answer."""

from __future__ import annotations

from sloyd.llm.messages import AssistantMessage, Image, Text, Thinking, ToolCall, UserContent
from sloyd.llm.models import Context, ModelInfo, StreamOptions

__all__ = ["estimate_tokens", "output_limit"]

_CHARACTERS_PER_TOKEN = 3.5
"""On the careful side: English is about 4, code and JSON about 3.5."""
_IMAGE_CHARACTERS = 4800
_LEAST_OUTPUT = 1024
_SAFETY = 1024


def output_limit(info: ModelInfo, context: Context, options: StreamOptions) -> int:
    """Most tokens to ask for: the model's limit or less, fitted to what the window has left."""
    wanted = min(options.max_output or info.max_output, info.max_output)
    if info.context_window <= 0:
        return wanted
    # Counting is only worth it when the answer could be too large at all.
    left = info.context_window - estimate_tokens(context) - _SAFETY
    return max(min(wanted, left), min(wanted, _LEAST_OUTPUT))


def estimate_tokens(context: Context) -> int:
    """Tokens of a request, roughly: characters by 3.5, an image as 4800 characters."""
    characters = len(context.system_prompt)
    for tool in context.tools:
        characters += len(tool.description) + 400
    for message in context.messages:
        if isinstance(message, AssistantMessage):
            characters += sum(map(_answer_size, message.content))
        elif isinstance(message.content, str):
            characters += len(message.content)
        else:
            characters += sum(map(_user_size, message.content))
    return int(characters / _CHARACTERS_PER_TOKEN)


def _user_size(block: UserContent) -> int:
    return _IMAGE_CHARACTERS if isinstance(block, Image) else len(block.text)


def _answer_size(block: Text | Thinking | ToolCall) -> int:
    match block:
        case Text():
            return len(block.text)
        case Thinking():
            return len(block.thinking) + len(block.thinking_signature or "")
        case ToolCall():
            return 40 + sum(
                len(value) if isinstance(value, str) else len(repr(value))
                for value in block.arguments.values()
            )
