"""A typed Python function with a docstring, made into a tool.

    @tool
    async def weather(city: str, days: Annotated[int, "how far ahead"] = 1) -> str:
        '''Tell the weather.

        Args:
            city: where, as people say it.
        '''

The signature gives the schema and the validation, the docstring the description. A parameter
annotated `ToolCallContext` gets the context of the call and is not shown to the model. Structs,
dataclasses and pydantic models may be parameters; a function whose only parameter is one takes its
fields as the tool's parameters. A plain function runs in a worker thread.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, overload

import msgspec

from sloyd.agent.tool import ExecutionMode, ToolCallContext, ToolResult
from sloyd.errors import UsageError
from sloyd.tools.definition import ToolDefinition, ToolSource
from sloyd.tools.docstrings import take_apart
from sloyd.tools.registry import check_name
from sloyd.tools.signatures import Signature, read_signature

__all__ = ["tool"]


@overload
def tool(function: Callable[..., Any], /) -> ToolDefinition[Any]: ...


@overload
def tool(
    *,
    name: str | None = None,
    label: str | None = None,
    description: str | None = None,
    prompt_snippet: str = "",
    prompt_guidelines: tuple[str, ...] = (),
    mode: ExecutionMode = "parallel",
    read_only: bool = False,
    default_active: bool = True,
) -> Callable[[Callable[..., Any]], ToolDefinition[Any]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    label: str | None = None,
    description: str | None = None,
    prompt_snippet: str = "",
    prompt_guidelines: tuple[str, ...] = (),
    mode: ExecutionMode = "parallel",
    read_only: bool = False,
    default_active: bool = True,
) -> ToolDefinition[Any] | Callable[[Callable[..., Any]], ToolDefinition[Any]]:
    """Make a `ToolDefinition` of a function; with or without arguments, see there for them.

    The function returns text, a `ToolResult`, or anything that can be written as JSON. It fails by
    raising `ToolError`.

    Raises:
        UsageError: when the function has no docstring, or a parameter that has no type, or a type
            that JSON Schema cannot describe.
    """

    def define(function: Callable[..., Any]) -> ToolDefinition[Any]:
        given_name = check_name(str(name or getattr(function, "__name__", type(function).__name__)))
        text, descriptions = take_apart(inspect.getdoc(function) or "")
        manual = description or text
        if not manual:
            raise UsageError(
                f"the tool {given_name} needs a docstring: the model reads it to know what it does"
            )
        signature = read_signature(given_name, function, descriptions)
        return ToolDefinition(
            name=given_name,
            label=label or given_name.replace("_", " "),
            description=manual,
            parameters=signature.parameters,
            execute=_execution(function, signature),
            prompt_snippet=prompt_snippet,
            prompt_guidelines=prompt_guidelines,
            mode=mode,
            read_only=read_only,
            default_active=default_active,
            source=ToolSource("sdk", getattr(function, "__module__", "") or ""),
        )

    return define if function is None else define(function)


def _execution(function: Callable[..., Any], signature: Signature) -> Any:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )

    async def execute(call: ToolCallContext, parameters: Any) -> ToolResult:
        arguments = signature.arguments(parameters)
        if signature.context is not None:
            arguments[signature.context] = call
        if is_async:
            returned = await function(**arguments)
        else:
            returned = await _in_thread(function, arguments)
        return _result(returned)

    return execute


async def _in_thread(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Run a plain function beside the event loop.

    An abort waits for it, within the agent's grace time: a thread cannot be stopped, and a result
    that says "aborted" while it goes on would not be true.
    """
    from anyio import to_thread

    returned = await to_thread.run_sync(lambda: function(**arguments))
    return await returned if inspect.isawaitable(returned) else returned


def _result(returned: Any) -> ToolResult:
    if isinstance(returned, ToolResult):
        return returned
    if isinstance(returned, str):
        return ToolResult.of(returned)
    if returned is None:
        return ToolResult.of("(no output)")
    return ToolResult.of(msgspec.json.encode(returned, enc_hook=_encodable).decode())


def _encodable(value: Any) -> Any:
    """A pydantic model, told by its method, as data."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"a result of type {type(value).__name__} cannot be written as JSON")
    return dump(mode="json")
