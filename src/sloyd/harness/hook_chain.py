"""The hooks of an agent, composed of those of Sloyd, of extensions and of the settings.

The order is the same everywhere: Sloyd's own first, then extensions as they were loaded, then the
commands of the settings. Each sees what those before it made; of those that may stop a call, the
first that does has the last word.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sloyd.agent.hooks import (
    AfterToolCall,
    BeforeToolCall,
    Block,
    CallDecision,
    ChangeArguments,
    FinishedCall,
    Hooks,
    PendingCall,
    PrepareRequest,
    Request,
    TransformContext,
)
from sloyd.agent.tool import ToolResult
from sloyd.llm.models import Context

__all__ = ["HookChain"]


class HookChain(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Hooks of each kind, in the order in which they run."""

    prepare_request: Sequence[PrepareRequest] = ()
    transform_context: Sequence[TransformContext] = ()
    before_tool_call: Sequence[BeforeToolCall] = ()
    after_tool_call: Sequence[AfterToolCall] = ()

    def hooks(self) -> Hooks:
        """As an agent takes them; what nobody hooks into costs nothing."""
        return Hooks(
            prepare_request=self._prepare if self.prepare_request else None,
            transform_context=self._transform if self.transform_context else None,
            before_tool_call=self._before if self.before_tool_call else None,
            after_tool_call=self._after if self.after_tool_call else None,
        )

    @classmethod
    def joined(cls, chains: Sequence[HookChain]) -> HookChain:
        """One chain of several, in their order."""
        return cls(
            prepare_request=[hook for chain in chains for hook in chain.prepare_request],
            transform_context=[hook for chain in chains for hook in chain.transform_context],
            before_tool_call=[hook for chain in chains for hook in chain.before_tool_call],
            after_tool_call=[hook for chain in chains for hook in chain.after_tool_call],
        )

    async def _prepare(self, request: Request) -> Request:
        for hook in self.prepare_request:
            request = await hook(request) or request
        return request

    async def _transform(self, context: Context) -> Context:
        for hook in self.transform_context:
            context = await hook(context)
        return context

    async def _before(self, pending: PendingCall) -> CallDecision:
        changed: ChangeArguments | None = None
        for hook in self.before_tool_call:
            decision = await hook(pending)
            if isinstance(decision, Block):
                return decision
            if isinstance(decision, ChangeArguments):
                changed = decision
                raw = dict(decision.arguments)
                try:
                    arguments = pending.tool.validate(pending.tool.prepare(raw))
                except Exception:  # noqa: BLE001 - the loop checks again, and tells the model why
                    return changed
                call = msgspec.structs.replace(pending.call, arguments=raw)
                pending = msgspec.structs.replace(pending, call=call, arguments=arguments)
        return changed

    async def _after(self, finished: FinishedCall) -> ToolResult | None:
        for hook in self.after_tool_call:
            result = await hook(finished)
            if result is not None:
                finished = msgspec.structs.replace(finished, result=result)
        return finished.result
