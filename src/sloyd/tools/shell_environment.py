"""The environment of a command: the user's own, without our secrets, and nothing that can wait.

Nobody sits at a command's terminal, so whatever would wait for a person is told not to: editors do
nothing, pagers print, credentials are not asked for. What the user has set himself stays, save for
``TERM``: the output goes into a pipe, whatever terminal Sloyd runs in.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from sloyd.tools.environment import ToolSettings

__all__ = ["HIDDEN_VARIABLES", "PATIENT_VARIABLES", "command_environment"]

HIDDEN_VARIABLES: Final = (
    "AI_GATEWAY_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CEREBRAS_API_KEY",
    "COHERE_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "KIMI_API_KEY",
    "MINIMAX_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "NVIDIA_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
)
"""Keys of model providers: Sloyd's to use, not a command's to read. The settings name more, or let
some through."""

PATIENT_VARIABLES: Final[Mapping[str, str]] = {
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "AI_AGENT": "sloyd",
}
"""Set unless the user has set them. A new session alone does not stop an editor from waiting."""

_LAUNCHER: Final = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT")


def command_environment(environment: Mapping[str, str], settings: ToolSettings) -> dict[str, str]:
    """The variables for a command, made of those that Sloyd itself has.

    Removed are `HIDDEN_VARIABLES` and ``settings.hidden_variables`` (``*`` patterns), save for
    ``settings.passed_variables``, and what Sloyd's launcher added. ``settings.extra_environment``
    has the last word.
    """
    hidden = (*HIDDEN_VARIABLES, *settings.hidden_variables)
    dropped = _from_launcher(environment)
    variables = {
        name: value
        for name, value in environment.items()
        if name not in dropped
        and (_matches(name, settings.passed_variables) or not _matches(name, hidden))
    }
    for name, value in PATIENT_VARIABLES.items():
        variables.setdefault(name, value)
    variables["TERM"] = "dumb"
    variables.update(settings.extra_environment)
    return variables


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return name in patterns or any(
        fnmatchcase(name, pattern) for pattern in patterns if "*" in pattern
    )


def _from_launcher(environment: Mapping[str, str]) -> set[str]:
    """Variables that describe Sloyd's own Python environment and not one the user activated.

    A wrapper that starts Sloyd from its own environment names it; an activation puts its programs
    on the PATH too, and is the user's.
    """
    dropped = {"__PYVENV_LAUNCHER__"}
    own = sys.prefix != sys.base_prefix and environment.get("VIRTUAL_ENV") == sys.prefix
    separator = ";" if sys.platform == "win32" else ":"
    search_path = environment.get("PATH", "").split(separator)
    if own and not any(entry.startswith(sys.prefix) for entry in search_path):
        dropped.update(_LAUNCHER)
    return dropped
