"""From the signature of a function to the parameters of a tool, and back to its arguments."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from sloyd.agent.tool import JsonSchema, ToolCallContext
from sloyd.errors import UsageError
from sloyd.tools.arguments import validation_error
from sloyd.tools.schema import plain_schema, schema_of

__all__ = ["Signature", "read_signature"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a tool needs to know of its function.

    Attributes:
        parameters: for `ToolDefinition.parameters`.
        context: the name of the parameter that gets the `ToolCallContext`, if there is one.
        arguments: turns validated parameters into keyword arguments of the function.
    """

    parameters: type[Any] | JsonSchema
    context: str | None
    arguments: Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    hint: Any
    default: Any
    description: str

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def plain(self) -> Any:
        """The type without `Annotated`, and without None where that leaves one type."""
        hint = self.hint.__origin__ if typing.get_origin(self.hint) is Annotated else self.hint
        if typing.get_origin(hint) in (typing.Union, types.UnionType):
            kinds = [each for each in typing.get_args(hint) if each is not type(None)]
            if len(kinds) == 1:
                return kinds[0]
        return hint


def read_signature(
    tool_name: str, function: Callable[..., Any], descriptions: Mapping[str, str]
) -> Signature:
    """Look at the parameters of ``function``. Raises `UsageError` for one that cannot be used."""
    context, parameters = _parameters(tool_name, function, descriptions)
    if len(parameters) == 1 and parameters[0].required:
        only = parameters[0]
        if _is_pydantic(only.plain):
            return _whole_pydantic(tool_name, only, context)
        if _is_record(only.plain):
            _described(tool_name, only.plain)
            return Signature(only.plain, context, lambda value: {only.name: value})
    models = {each.name: each.plain for each in parameters if _is_pydantic(each.plain)}
    others = [each for each in parameters if each.name not in models]
    struct = msgspec.defstruct(f"{tool_name}_parameters", [_field(each) for each in others])
    schema = _described(tool_name, struct)

    def plain_arguments(value: Any) -> dict[str, Any]:
        # Names that the model left out are left to the function's own defaults.
        pairs = ((each.name, getattr(value, each.name)) for each in others)
        return {name: given for name, given in pairs if given is not msgspec.UNSET}

    if not models:
        return Signature(struct, context, plain_arguments)

    def arguments(value: Mapping[str, Any]) -> dict[str, Any]:
        rest = {name: given for name, given in value.items() if name not in models}
        given = plain_arguments(msgspec.convert(rest, struct))
        for name, model in models.items():
            if name in value:
                given[name] = _pydantic(tool_name, model, value[name], value, (name,))
        return given

    return Signature(_merged(schema, parameters, models), context, arguments)


def _parameters(
    tool_name: str, function: Callable[..., Any], descriptions: Mapping[str, str]
) -> tuple[str | None, list[_Parameter]]:
    try:
        hints = typing.get_type_hints(_with_hints(function), include_extras=True)
    except NameError as error:
        raise UsageError(
            f"the tool {tool_name} uses a type that is not known in its module: {error}"
        ) from error
    context: str | None = None
    parameters: list[_Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(f"the tool {tool_name}: {parameter} cannot be a parameter of a tool")
        if name not in hints:
            raise UsageError(f"the tool {tool_name}: the parameter {name} needs a type")
        found = _Parameter(name, hints[name], parameter.default, descriptions.get(name, ""))
        if found.plain is ToolCallContext:
            context = name
        else:
            parameters.append(found)
    return context, parameters


def _with_hints(function: Callable[..., Any]) -> Any:
    """What carries the annotations: the function, or the ``__call__`` of an object."""
    if inspect.isroutine(function):
        return function
    return getattr(function, "__call__")  # noqa: B004, B009 - not a test for being callable


def _field(parameter: _Parameter) -> tuple[str, Any] | tuple[str, Any, Any]:
    hint = parameter.hint
    description = parameter.description
    if typing.get_origin(hint) is Annotated:
        texts = [each for each in hint.__metadata__ if isinstance(each, str)]
        metas = [each for each in hint.__metadata__ if isinstance(each, msgspec.Meta)]
        description = texts[0] if texts else description
        hint = parameter.plain
        for meta in metas:
            hint = Annotated[hint, meta]
        if _takes_none(parameter.hint.__origin__):
            hint = hint | None
    if description:
        hint = Annotated[hint, msgspec.Meta(description=description)]
    if parameter.required:
        return parameter.name, hint
    # A default that JSON can show is told to the model; any other stays the function's own affair.
    if parameter.default is None:
        return parameter.name, hint | None if hint is not Any else hint, None
    if isinstance(parameter.default, (str, int, float, bool)):
        return parameter.name, hint, parameter.default
    return parameter.name, hint | msgspec.UnsetType, msgspec.UNSET


def _takes_none(hint: Any) -> bool:
    return type(None) in typing.get_args(hint) and hint is not type(None)


def _described(tool_name: str, kind: type[Any]) -> JsonSchema:
    try:
        return schema_of(kind)
    except (TypeError, NameError) as error:
        raise UsageError(
            f"the tool {tool_name} has a parameter whose type cannot be described: {error}"
        ) from error


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (
        issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind)
    )


def _is_pydantic(kind: Any) -> bool:
    """Told by its methods, so that pydantic is never imported."""
    return (
        isinstance(kind, type)
        and hasattr(kind, "model_json_schema")
        and hasattr(kind, "model_validate")
    )


def _whole_pydantic(tool_name: str, parameter: _Parameter, context: str | None) -> Signature:
    model = parameter.plain
    schema = plain_schema(model.model_json_schema())
    schema.pop("description", None)

    def arguments(value: Any) -> dict[str, Any]:
        return {parameter.name: _pydantic(tool_name, model, value, value, ())}

    return Signature(schema, context, arguments)


def _pydantic(tool_name: str, model: Any, value: Any, received: Any, path: tuple[str, ...]) -> Any:
    try:
        return model.model_validate(value)
    except ValueError as error:
        details = getattr(error, "errors", None)
        if details is None:
            raise
        problems = [((*path, *each["loc"]), each["msg"]) for each in details()]
        raise validation_error(tool_name, received, problems) from None


def _merged(
    schema: JsonSchema, parameters: list[_Parameter], models: Mapping[str, Any]
) -> dict[str, Any]:
    """The schema of all parameters, in their order, those of pydantic among the others."""
    properties: dict[str, Any] = {}
    for each in parameters:
        if each.name in models:
            properties[each.name] = plain_schema(models[each.name].model_json_schema())
            if each.description:
                properties[each.name]["description"] = each.description
        else:
            properties[each.name] = schema["properties"][each.name]
    required = [each.name for each in parameters if each.required]
    return {"type": "object", "properties": properties, "required": required}
