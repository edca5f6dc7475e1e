"""Finds all the tools in an object out of the user's code."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.toolset.definitions import tool_defined
from misstep.adapters.toolset.found import Found
from misstep.adapters.toolset.functions import is_callable_object, is_function, tool_of_function
from misstep.adapters.toolset.objects import is_tool_class, model_schema, tool_of_object
from misstep.adapters.toolset.waiting import settled
from misstep.errors import UsageError

KINDS = (
    "a function, or a tool of a framework that misstep knows",
    "a definition of a tool as OpenAI, Anthropic or MCP write it",
    "a list, tuple or dict of those, or a toolkit",
    "def make_tools() -> list[Tool], or any function with () after its name",
)
LISTING = ("get_tools", "to_tool_list", "list_tools", "actions")  # methods of toolkits, which take nothing
DEEPEST = 8  # lists in lists


def collect(value: Any, where: str, deep: int = 0) -> Iterator[Found]:
    """All tools in the value; a `UsageError` names the first thing in it that is none."""
    if deep > DEEPEST:
        raise UsageError("lists within lists, without end", where=where)
    if isinstance(value, Mapping):
        yield from _in_mapping(value, where, deep)
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from collect(each, f"{where}[{place}]", deep + 1)
    elif isinstance(value, set | frozenset):
        unsorted = [tool for each in value for tool in collect(each, where, deep + 1)]
        yield from sorted(unsorted, key=lambda tool: tool.name)  # sets have another order every time
    elif inspect.isclass(value):
        yield from _in_class(value, where, deep)
    elif found := tool_of_object(value, where):
        yield found
    elif is_function(value):
        yield _function(value, where)
    elif (members := _members(value)) is not None:
        yield from collect(members, where, deep + 1)
    elif is_callable_object(value):
        yield _function(value, where, type(value).__name__)
    else:
        raise _no_tool(value, where)


def _function(value: Any, where: str, name: str = "") -> Found:
    """The function as a tool, or as what is no tool for a reason."""
    try:
        return tool_of_function(value, where, name)
    except UsageError as problem:
        name = name or str(getattr(value, "__name__", type(value).__name__))
        return Found(where, name, None, None, "function", problem=problem)


def _in_mapping(value: Mapping[Any, Any], where: str, deep: int) -> Iterator[Found]:
    """The one tool that it defines, or those that it has under names; functions are then called by these."""
    if found := tool_defined(value, where):
        yield found
        return
    for name, each in value.items():
        place = f"{where}[{name!r}]"
        if isinstance(name, str) and (is_function(each) or is_callable_object(each)):
            yield _function(each, place, name)
        else:
            yield from collect(each, place, deep + 1)


def _in_class(value: type, where: str, deep: int) -> Iterator[Found]:
    """What an object of the class is or holds, or the tool whose arguments a model describes."""
    if is_tool_class(value) or any(hasattr(value, name) for name in LISTING):
        if required_parameters(value):
            raise UsageError(f"{value.__name__} is a class", "give an object of it", where=where)
        yield from collect(value(), where, deep + 1)
    elif (schema := model_schema(value)) is not None:
        yield Found(where, value.__name__, value.__doc__, schema)
    else:
        raise UsageError(f"{value.__name__} is a class, which is no tool", *_expected(), where=where)


def _members(value: Any) -> Iterable[Any] | None:
    """The tools of a toolkit."""
    for name in LISTING:
        listing = getattr(value, name, None)
        if callable(listing) and not required_parameters(listing):
            return _held(settled(listing()))
    return _held(getattr(value, "tools", None))


def _held(value: Any) -> Iterable[Any] | None:
    return value if isinstance(value, Mapping | list | tuple) else None


def _no_tool(value: Any, where: str) -> UsageError:
    return UsageError(
        f"something of the type {type(value).__name__} is no tool that has a schema",
        *_expected(),
        where=where,
    )


def _expected() -> list[str]:
    return ["expected one of:", *(f"  {kind}" for kind in KINDS)]
