"""The providers that are known by name: which wire, where, which key, which model by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sloyd.llm.models import ModelInfo

__all__ = ["PROVIDERS", "Endpoint", "Provider", "find_provider", "is_own_url", "model_info"]


class Endpoint(msgspec.Struct, frozen=True):
    """Where a provider speaks a further API, and its quirks there."""

    base_url: str
    quirks: Mapping[str, Any] = {}


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One provider.

    Attributes:
        name: what people write for ``--provider``.
        api: the wire, also at other servers that are reached under this name.
        base_url: as the vendor's own SDK takes it; empty where every customer has one.
        own_api: the wire at ``base_url`` for models that name none, where it is another.
        endpoints: further APIs that some of its models speak.
        key_variables: environment variables that may hold the key, the first one preferred.
        base_url_variable: the environment variable that moves the base URL.
        path: what is appended to a base URL that is only a host.
        keys_url: where a person gets a key.
        needs_key: False for servers that people run themselves.
        is_automatic: False where the key is often set for something else, so that the provider
            answers only when it is named.
        models_of: the provider whose part of the catalogue counts here, where it is another.
        quirks: what this server does differently on ``api``; see the wire for the keys.
        headers: sent with each request.
    """

    name: str
    title: str
    api: str
    base_url: str
    own_api: str = ""
    endpoints: Mapping[str, Endpoint] = {}
    key_variables: tuple[str, ...] = ()
    base_url_variable: str | None = None
    path: str = ""
    default_model: str = ""
    keys_url: str = ""
    needs_key: bool = True
    is_automatic: bool = True
    models_of: str = ""
    quirks: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}


def _openai_like(name: str, title: str, base_url: str, **facts: Any) -> Provider:
    """A host that speaks chat completions, with the variables that such hosts usually have."""
    prefix = facts.pop("prefix", name.upper())
    return Provider(
        name=name,
        title=title,
        api=facts.pop("api", "openai-chat"),
        base_url=base_url,
        key_variables=facts.pop("key_variables", (f"{prefix}_API_KEY",)),
        base_url_variable=facts.pop("base_url_variable", f"{prefix}_BASE_URL"),
        **facts,
    )


_OPENAI = Provider(
    name="openai",
    title="OpenAI",
    # Who imitates OpenAI imitates chat completions; at OpenAI itself, the newer models reason
    # between tool calls only on the responses API.
    api="openai-chat",
    own_api="openai-responses",
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    base_url_variable="OPENAI_BASE_URL",
    default_model="gpt-6.2-sol",
    keys_url="https://platform.openai.com/api-keys",
)

_MAKERS = (
    _OPENAI,
    Provider(
        name="openai-responses",
        title="OpenAI (responses)",
        api="openai-responses",
        base_url=_OPENAI.base_url,
        key_variables=_OPENAI.key_variables,
        base_url_variable=_OPENAI.base_url_variable,
        default_model=_OPENAI.default_model,
        keys_url=_OPENAI.keys_url,
        models_of="openai",
    ),
    Provider(
        name="anthropic",
        title="Anthropic",
        api="anthropic-messages",
        base_url="https://api.anthropic.com",
        key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        base_url_variable="ANTHROPIC_BASE_URL",
        default_model="claude-sonnet-5-5",
        keys_url="https://console.anthropic.com/settings/keys",
    ),
    Provider(
        name="google",
        title="Google Gemini",
        api="google-generate",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        default_model="gemini-4-argon",
        keys_url="https://aistudio.google.com/apikey",
    ),
    _openai_like(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        own_api="openai-responses",
        default_model="grok-4.7",
        keys_url="https://console.x.ai",
    ),
    _openai_like(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        default_model="devstral-medium-latest",
        keys_url="https://console.mistral.ai/api-keys",
        # It refuses fields that it does not know, and counts tokens without being asked.
        quirks={
            "id_rule": "mistral",
            "assistant_after_tool": True,
            "stream_usage": False,
            "replay_reasoning": False,
        },
    ),
    _openai_like(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        default_model="deepseek-v4-pro",
        keys_url="https://platform.deepseek.com/api_keys",
        quirks={"thinking_format": "thinking-type"},
    ),
    _openai_like(
        "moonshotai",
        "Moonshot AI",
        "https://api.moonshot.ai/v1",
        key_variables=("MOONSHOT_API_KEY",),
        default_model="kimi-k3",
        keys_url="https://platform.moonshot.ai/console/api-keys",
        prefix="MOONSHOT",
    ),
    _openai_like(
        "zai",
        "Z.ai",
        "https://api.z.ai/api/paas/v4",
        default_model="glm-5.3",
        keys_url="https://z.ai/manage-apikey/apikey-list",
        quirks={"thinking_format": "thinking-type"},
    ),
    _openai_like(
        "minimax",
        "MiniMax",
        "https://api.minimax.io/anthropic",
        api="anthropic-messages",
        default_model="MiniMax-M3",
        keys_url="https://platform.minimax.io/user-center/basic-information/interface-key",
    ),
)

_HOSTS = (
    _openai_like(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        # Only this API takes the marks by which Anthropic caches a prompt.
        endpoints={
            "anthropic-messages": Endpoint("https://openrouter.ai/api", {"bearer": True}),
        },
        default_model="moonshotai/kimi-k3",
        keys_url="https://openrouter.ai/settings/keys",
        quirks={"thinking_format": "openrouter"},
        headers={"x-title": "Sloyd"},
    ),
    _openai_like(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        default_model="openai/gpt-oss-120b",
        keys_url="https://console.groq.com/keys",
    ),
    _openai_like(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        default_model="gpt-oss-120b",
        keys_url="https://cloud.cerebras.ai",
        quirks={"max_tokens_field": "max_completion_tokens"},
    ),
    _openai_like(
        "together",
        "Together AI",
        "https://api.together.ai/v1",
        default_model="moonshotai/Kimi-K3",
        keys_url="https://api.together.ai/settings/api-keys",
        # Which models take an effort differs; they reason without being asked.
        quirks={"thinking_format": "reasoning-enabled"},
    ),
    _openai_like(
        "fireworks",
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        endpoints={"anthropic-messages": Endpoint("https://api.fireworks.ai/inference")},
        default_model="accounts/fireworks/models/kimi-k3",
        keys_url="https://app.fireworks.ai/settings/users/api-keys",
        # Left alone it stops after 2,048 tokens with some models.
        quirks={"send_max_tokens": True},
    ),
    _openai_like(
        "huggingface",
        "Hugging Face",
        "https://router.huggingface.co/v1",
        key_variables=("HF_TOKEN", "HUGGINGFACE_API_KEY"),
        default_model="moonshotai/Kimi-K3",
        keys_url="https://huggingface.co/settings/tokens",
        is_automatic=False,
    ),
    _openai_like(
        "nvidia",
        "NVIDIA NIM",
        "https://integrate.api.nvidia.com/v1",
        default_model="nvidia/nemotron-3.5-super-vl-120b-a12b",
        keys_url="https://build.nvidia.com/settings/api-keys",
        quirks={"thinking_format": "none", "send_max_tokens": True},
    ),
    Provider(
        name="azure",
        title="Azure OpenAI",
        api="openai-responses",
        base_url="",
        key_variables=("AZURE_OPENAI_API_KEY",),
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        path="/openai/v1",
        default_model=_OPENAI.default_model,
        keys_url="https://portal.azure.com",
        models_of="openai",
    ),
)

# A server of one's own says itself whether its model reasons (see sloyd.llm.local_servers).
_LOCAL = (
    _openai_like(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        base_url_variable="OLLAMA_HOST",
        path="/v1",
        needs_key=False,
        # It refuses an effort for a model that cannot reason.
        quirks={"thinking_format": "none"},
    ),
    _openai_like(
        "llamacpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        key_variables=("LLAMA_API_KEY",),
        path="/v1",
        needs_key=False,
        quirks={"thinking_format": "chat-template"},
    ),
    _openai_like(
        "lmstudio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        path="/v1",
        needs_key=False,
        quirks={"thinking_format": "none"},
    ),
    _openai_like(
        "vllm",
        "vLLM",
        "http://127.0.0.1:8000/v1",
        path="/v1",
        needs_key=False,
        quirks={"thinking_format": "chat-template"},
    ),
)

PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider for provider in (*_MAKERS, *_HOSTS, *_LOCAL)
}
"""By name, in the order in which they are preferred: makers of models, hosts, one's own servers."""

_OTHER_NAMES = {
    "gemini": "google",
    "claude": "anthropic",
    "grok": "xai",
    "kimi": "moonshotai",
    "moonshot": "moonshotai",
    "llama.cpp": "llamacpp",
    "llama-cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "hf": "huggingface",
    "azure-openai": "azure",
}


def find_provider(name: str) -> Provider | None:
    """The provider of that name, in any case, or None."""
    key = name.strip().lower()
    return PROVIDERS.get(_OTHER_NAMES.get(key, key))


def is_own_url(provider: Provider, base_url: str | None) -> bool:
    """Whether requests go to the provider itself, and not to another server under its name."""
    if not base_url:
        return True
    return base_url.strip().rstrip("/") == provider.base_url


def model_info(provider: Provider, model_id: str, *, base_url: str | None = None) -> ModelInfo:
    """What is assumed of a model that no catalogue knows, at the provider or at any other server.

    The window is a careful guess; nothing is sent that a server is known to refuse.
    """
    own = is_own_url(provider, base_url)
    api = provider.own_api if own and provider.own_api else provider.api
    return ModelInfo(
        id=model_id,
        provider=provider.name,
        api=api,
        base_url=(base_url or provider.base_url).strip(),
        headers=provider.headers,
        quirks=provider.quirks if api == provider.api else {},
    )
