"""Functions as tools: their schema, their validation, their results."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
import msgspec
import pydantic
import pytest

from sloyd.agent.agent import Agent
from sloyd.agent.tool import ToolCallContext, ToolResult
from sloyd.errors import ToolError, UsageError
from sloyd.llm.messages import Image, Text, ToolResultMessage, text_of
from sloyd.tools.definition import ToolDefinition, wrap
from sloyd.tools.functions import tool
from tests.agent.models import PlayedModel, answer, call


class Place(msgspec.Struct):
    """Where."""

    city: Annotated[str, msgspec.Meta(description="as people say it")]
    country: str = "NO"


@dataclass
class Span:
    first: int
    last: int = 9


class Person(pydantic.BaseModel):
    """Who."""

    name: str
    age: int = pydantic.Field(ge=0, description="in years")


async def result_of(definition: ToolDefinition[Any], raw: object) -> ToolResult:
    """Call a definition as the loop does."""
    wrapped = wrap(definition)
    arguments = wrapped.validate(wrapped.prepare(raw))
    return await wrapped.execute(ToolCallContext("id"), arguments)


async def said(definition: ToolDefinition[Any], raw: object) -> str:
    return text_of((await result_of(definition, raw)).content)


@tool
async def weather(
    call: ToolCallContext,
    city: str,
    days: Annotated[int, "how far ahead", msgspec.Meta(ge=1)] = 1,
    *,
    unit: Literal["c", "f"] = "c",
    tags: list[str] = ["plain"],  # noqa: B006 - what is tested is that it stays the function's own
    note: str | None = None,
    least: Annotated[int | None, msgspec.Meta(ge=0)] = None,
) -> str:
    """Tell the weather.

    It is seldom right.

    Args:
        city: where, as people
            say it: Oslo.
        tags (list of str): what to
            look for

    Returns:
        One line.
    """
    return f"{call.id} {city} {days} {unit} {tags} {note} {least}"


def test_signature_and_docstring_make_the_definition() -> None:
    assert weather.name == weather.label == "weather"
    assert (
        weather.description == "Tell the weather.\n\nIt is seldom right.\n\nReturns:\n    One line."
    )
    assert weather.source.kind == "sdk"
    assert weather.source.origin == __name__
    assert wrap(weather).parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where, as people say it: Oslo."},
            "days": {"type": "integer", "minimum": 1, "default": 1, "description": "how far ahead"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "what to look for",
            },
            "note": {"type": "string"},
            "least": {"type": "integer", "minimum": 0},
        },
        "required": ["city"],
    }


async def test_arguments_are_mended_and_defaults_are_the_functions() -> None:
    assert await said(weather, {"city": "Oslo"}) == "id Oslo 1 c ['plain'] None None"
    raw = {"city": "Oslo", "days": "3", "unit": "f", "tags": "x", "note": None, "least": 2}
    assert await said(weather, raw) == "id Oslo 3 f ['x'] None 2"
    with pytest.raises(ToolError, match="days: expected >= 1, got 0"):
        await said(weather, {"city": "Oslo", "days": 0})


def test_the_decorator_takes_what_a_definition_takes() -> None:
    @tool(
        name="look_up",
        label="Look up",
        description="Looks.",
        prompt_snippet="look things up",
        prompt_guidelines=("Look first",),
        mode="sequential",
        read_only=True,
        default_active=False,
    )
    def anything() -> None: ...

    assert (anything.name, anything.label, anything.description) == ("look_up", "Look up", "Looks.")
    assert (anything.mode, anything.read_only, anything.default_active) == (
        "sequential",
        True,
        False,
    )
    assert anything.prompt_guidelines == ("Look first",)
    assert wrap(anything).parameters == {"type": "object", "properties": {}, "required": []}


async def test_a_plain_function_runs_beside_the_event_loop() -> None:
    go_on = threading.Event()

    @tool
    def slow() -> bool:
        """Waits for the event loop, which it must not block."""
        return go_on.wait(5)

    async with anyio.create_task_group() as group:

        async def later() -> None:
            await anyio.sleep(0.01)
            go_on.set()

        group.start_soon(later)
        assert await said(slow, None) == "true"


async def test_results_of_every_kind() -> None:
    image = Image("aGk=", "image/png")
    returns: dict[str, Any] = {
        "text": "text",
        "none": None,
        "list": [1, {"a": None}],
        "struct": Place("Oslo"),
        "dataclass": Span(1),
        "pydantic": [Person(name="Kari", age=3)],
        "ready": ToolResult((Text("see"), image), details=5),
    }

    @tool
    def give(kind: str) -> Any:
        """Gives."""
        return returns[kind]

    assert [await said(give, {"kind": kind}) for kind in returns] == [
        "text",
        "(no output)",
        '[1,{"a":null}]',
        '{"city":"Oslo","country":"NO"}',
        '{"first":1,"last":9}',
        '[{"name":"Kari","age":3}]',
        "see",
    ]
    assert (await result_of(give, {"kind": "ready"})).content[1] is image


@pytest.mark.parametrize("thing", [object(), {object(): 1}])
async def test_what_cannot_be_written_as_json_is_an_error(thing: object) -> None:
    @tool
    def give() -> Any:
        """Gives."""
        return thing

    with pytest.raises(TypeError):
        await said(give, {})


async def test_a_struct_as_the_only_parameter_is_the_parameters() -> None:
    @tool
    def go(place: Place, call: ToolCallContext) -> str:
        """Goes."""
        return f"{place.city} {place.country} {call.id}"

    @tool
    def count(span: Span) -> int:
        """Counts."""
        return span.last - span.first

    assert wrap(go).parameters["required"] == ["city"]
    assert await said(go, {"city": "Oslo"}) == "Oslo NO id"
    assert await said(count, {"first": "2"}) == "7"


async def test_structs_beside_other_parameters_are_nested() -> None:
    @tool
    def go(place: Place, span: Span | None = None) -> str:
        """Goes."""
        return f"{place} {span}"

    assert wrap(go).parameters["properties"]["place"]["required"] == ["city"]
    text = await said(go, {"place": {"city": "Oslo"}, "span": '{"first": 1}'})
    assert "city='Oslo'" in text
    assert "first=1" in text
    with pytest.raises(ToolError, match=r"place\.city: missing"):
        await said(go, {"place": {}})


async def test_pydantic_models_alone_and_beside_others() -> None:
    @tool
    def greet(person: Person) -> str:
        """Greets."""
        assert isinstance(person, Person)
        return f"hello {person.name} {person.age}"

    @tool
    async def meet(person: Person, times: int = 1, other: Person | None = None) -> str:
        """Meets.

        Args:
            person: the first
        """
        return f"{person.name} {times} {other and other.name}"

    assert wrap(greet).parameters["properties"]["age"] == {
        "type": "integer",
        "minimum": 0,
        "description": "in years",
    }
    assert await said(greet, {"name": "Kari", "age": "7"}) == "hello Kari 7"
    with pytest.raises(ToolError, match="age: expected >= 0"):
        await said(greet, {"name": "Kari", "age": -1})
    schema = wrap(meet).parameters
    assert list(schema["properties"]) == ["person", "times", "other"]
    assert schema["required"] == ["person"]
    assert schema["properties"]["person"]["description"] == "the first"
    kari = {"name": "Kari", "age": 7}
    assert await said(meet, {"person": kari}) == "Kari 1 None"
    assert await said(meet, {"person": kari, "times": "2", "other": kari}) == "Kari 2 Kari"


async def test_what_only_pydantic_can_check_is_told_like_the_rest() -> None:
    class Even(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def check(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even")
            return value

    def halve(even: Even) -> float:
        """Halves."""
        return even.number / 2

    halve.__annotations__["even"] = Even
    with pytest.raises(
        ToolError, match=r"(?s)Validation failed for tool \"halve\":\n  - number: .*even"
    ):
        await said(tool(halve), {"number": 3})
    assert await said(tool(halve), {"number": 4}) == "2.0"


async def test_methods_and_callable_objects() -> None:
    class Counter:
        """Counts what it is given."""

        def __init__(self) -> None:
            self.total = 0

        async def __call__(self, number: int) -> str:
            self.total += number
            return str(self.total)

        def add(self, number: int) -> str:
            """Adds."""
            self.total += number
            return str(self.total)

    counter = Counter()
    assert await said(tool(counter.add), {"number": 2}) == "2"
    assert await said(tool(name="count")(counter), {"number": 3}) == "5"


def no_docstring(x: int) -> int:
    return x


def untyped(x) -> int:  # type: ignore[no-untyped-def]
    """Has no type."""
    return 1


def star(*numbers: int) -> int:
    """Takes any number."""
    return sum(numbers)


def odd(x: threading.Lock) -> int:
    """Takes a lock."""
    return 1


def unresolved(x: NoSuchType) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Takes what is not there."""
    return 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_docstring, "needs a docstring"),
        (untyped, "x needs a type"),
        (star, r"\*numbers: .* cannot be a parameter"),
        (odd, "cannot be described"),
        (unresolved, "NoSuchType"),
    ],
)
def test_functions_that_cannot_be_tools(function: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tool(function)


def test_a_bad_name_is_refused() -> None:
    with pytest.raises(UsageError, match="name of a tool"):
        tool(name="a b")(star)


async def test_a_function_tool_in_a_run() -> None:
    @tool
    def divide(a: int, b: int) -> float:
        """Divides."""
        if b == 0:
            raise ToolError("b must not be 0; try another")
        return a / b

    calls = [
        call("divide", "1", a="6", b=3),
        call("divide", "2", a=1, b=0),
        call("divide", "3", a=1),
    ]
    agent = Agent(PlayedModel(answer("", *calls), answer("ok")), tools=[wrap(divide)])
    await agent.prompt("go")
    texts = [
        text_of(each.content) for each in agent.messages if isinstance(each, ToolResultMessage)
    ]
    assert texts[:2] == ["2.0", "b must not be 0; try another"]
    assert "b: missing" in texts[2]


async def test_an_abort_does_not_claim_that_a_thread_has_stopped() -> None:
    release = threading.Event()

    @tool
    def stubborn() -> str:
        """Does not stop."""
        release.wait(5)
        return "late"

    agent = Agent(
        PlayedModel(answer("", call("stubborn"))), tools=[wrap(stubborn)], abort_grace=0.05
    )
    async with anyio.create_task_group() as group:

        async def later() -> None:
            await anyio.sleep(0.02)
            agent.abort()

        group.start_soon(later)
        result = await agent.prompt("go")
    (text,) = (
        text_of(each.content) for each in result.messages if isinstance(each, ToolResultMessage)
    )
    assert "still running" in text
    release.set()
