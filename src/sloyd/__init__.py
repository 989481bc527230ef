"""Sloyd: a coding agent for the terminal, and a typed toolkit for building agents.

Names are imported when they are first used, so that ``import sloyd`` costs almost nothing. The list
below is the whole public interface; everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sloyd.agent.agent import Agent
    from sloyd.agent.events import AgentEvent
    from sloyd.agent.hooks import (
        Block,
        ChangeArguments,
        FinishedCall,
        Hooks,
        PendingCall,
        Request,
    )
    from sloyd.agent.limits import Limits
    from sloyd.agent.result import RunResult
    from sloyd.agent.tool import AgentTool, ToolCallContext, ToolResult
    from sloyd.errors import (
        AgentBusy,
        AgentError,
        ContextOverflow,
        EncodingError,
        FileChanged,
        LimitReached,
        ProviderError,
        RpcError,
        SessionError,
        SettingsError,
        SloydError,
        ToolError,
        UsageError,
        WorkspaceError,
    )
    from sloyd.harness.coding_agent import AgentOptions, CodingAgent
    from sloyd.harness.door import Door
    from sloyd.harness.extension_api import ExtensionApi
    from sloyd.harness.model_choice import ModelChoice
    from sloyd.harness.session_choice import SessionChoice
    from sloyd.llm.http_model import HttpModel
    from sloyd.llm.messages import (
        AssistantMessage,
        Image,
        Message,
        Text,
        Thinking,
        ToolCall,
        ToolResultMessage,
        Usage,
        UserMessage,
    )
    from sloyd.llm.models import Context, Model, ModelInfo, StreamOptions
    from sloyd.llm.providers import Provider
    from sloyd.llm.recorded import RecordedModel, record
    from sloyd.llm.wires.scripted import ScriptedModel
    from sloyd.rpc_client import RpcClient
    from sloyd.tools.builtin import builtin_tools
    from sloyd.tools.definition import RenderState, ToolDefinition, wrap
    from sloyd.tools.environment import ToolEnvironment, ToolSettings
    from sloyd.tools.functions import tool
    from sloyd.tools.registry import ToolRegistry
    from sloyd.workspace.base import Workspace
    from sloyd.workspace.local import LocalWorkspace
    from sloyd.workspace.memory import MemoryWorkspace

# Which module each name comes from: the twin of the imports above (a test compares them).
_MODULES: dict[str, str] = {
    "Agent": "agent.agent",
    "AgentBusy": "errors",
    "AgentError": "errors",
    "AgentEvent": "agent.events",
    "AgentOptions": "harness.coding_agent",
    "AgentTool": "agent.tool",
    "AssistantMessage": "llm.messages",
    "Block": "agent.hooks",
    "ChangeArguments": "agent.hooks",
    "CodingAgent": "harness.coding_agent",
    "Context": "llm.models",
    "ContextOverflow": "errors",
    "Door": "harness.door",
    "EncodingError": "errors",
    "ExtensionApi": "harness.extension_api",
    "FileChanged": "errors",
    "FinishedCall": "agent.hooks",
    "Hooks": "agent.hooks",
    "HttpModel": "llm.http_model",
    "Image": "llm.messages",
    "LimitReached": "errors",
    "Limits": "agent.limits",
    "LocalWorkspace": "workspace.local",
    "MemoryWorkspace": "workspace.memory",
    "Message": "llm.messages",
    "Model": "llm.models",
    "ModelChoice": "harness.model_choice",
    "ModelInfo": "llm.models",
    "PendingCall": "agent.hooks",
    "Provider": "llm.providers",
    "ProviderError": "errors",
    "RecordedModel": "llm.recorded",
    "RenderState": "tools.definition",
    "Request": "agent.hooks",
    "RpcClient": "rpc_client",
    "RpcError": "errors",
    "RunResult": "agent.result",
    "ScriptedModel": "llm.wires.scripted",
    "SessionChoice": "harness.session_choice",
    "SessionError": "errors",
    "SettingsError": "errors",
    "SloydError": "errors",
    "StreamOptions": "llm.models",
    "Text": "llm.messages",
    "Thinking": "llm.messages",
    "ToolCall": "llm.messages",
    "ToolCallContext": "agent.tool",
    "ToolDefinition": "tools.definition",
    "ToolEnvironment": "tools.environment",
    "ToolError": "errors",
    "ToolRegistry": "tools.registry",
    "ToolResult": "agent.tool",
    "ToolResultMessage": "llm.messages",
    "ToolSettings": "tools.environment",
    "Usage": "llm.messages",
    "UsageError": "errors",
    "UserMessage": "llm.messages",
    "Workspace": "workspace.base",
    "WorkspaceError": "errors",
    "builtin_tools": "tools.builtin",
    "record": "llm.recorded",
    "tool": "tools.functions",
    "wrap": "tools.definition",
}

__all__ = [
    "Agent",
    "AgentBusy",
    "AgentError",
    "AgentEvent",
    "AgentOptions",
    "AgentTool",
    "AssistantMessage",
    "Block",
    "ChangeArguments",
    "CodingAgent",
    "Context",
    "ContextOverflow",
    "Door",
    "EncodingError",
    "ExtensionApi",
    "FileChanged",
    "FinishedCall",
    "Hooks",
    "HttpModel",
    "Image",
    "LimitReached",
    "Limits",
    "LocalWorkspace",
    "MemoryWorkspace",
    "Message",
    "Model",
    "ModelChoice",
    "ModelInfo",
    "PendingCall",
    "Provider",
    "ProviderError",
    "RecordedModel",
    "RenderState",
    "Request",
    "RpcClient",
    "RpcError",
    "RunResult",
    "ScriptedModel",
    "SessionChoice",
    "SessionError",
    "SettingsError",
    "SloydError",
    "StreamOptions",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolCallContext",
    "ToolDefinition",
    "ToolEnvironment",
    "ToolError",
    "ToolRegistry",
    "ToolResult",
    "ToolResultMessage",
    "ToolSettings",
    "Usage",
    "UsageError",
    "UserMessage",
    "Workspace",
    "WorkspaceError",
    "__version__",
    "builtin_tools",
    "record",
    "tool",
    "wrap",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'sloyd' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"sloyd.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
