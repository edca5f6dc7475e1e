"""Loads tools so that they can be called as an agent's framework would, wherever they come from."""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import msgspec

from misstep.adapters.mcp.tools import bind_servers
from misstep.adapters.toolset.call_interceptor import CallInterceptor, refused, slot_of, takes
from misstep.adapters.toolset.calling import BoundTool, Loop, Returned, Toolset, spent, structure, told
from misstep.adapters.toolset.found import usable
from misstep.adapters.toolset.functions import missing_parameters, signature_of
from misstep.adapters.toolset.hints import hints_of
from misstep.adapters.toolset.spec import find, servers_to_start
from misstep.core.tool import Described
from misstep.errors import UsageError


def bind(spec: str, beside: bool = False) -> Toolset:
    """The tools of a spec, ready to be called; with `beside`, also what servers offer besides tools.

    Tools without a usable schema are left out. Raises `UsageError` if there are no others, or if one of them
    cannot be called.
    """
    if (servers := servers_to_start(spec)) is not None:
        return bind_servers(servers, spec, beside)
    skipped, notes, loop = list[str](), list[str](), Loop()
    pairs = usable(find(spec), spec, skipped, notes)
    return Toolset(
        [_bound(tool, found.value, loop) for tool, found in pairs], True, loop.close, skipped, notes
    )


def _bound(tool: Described, value: Any, loop: Loop) -> BoundTool:
    if tool.kind == "definition" or value is None:
        message = f"'{tool.name}' is only a tool definition: there is nothing to call"
        hint = "for an MCP server, give the command that starts it: mcp:…"
        raise UsageError(message, hint, where=tool.where)
    if tool.kind != "function":
        return _framework_tool(tool, value, loop)
    if missing := missing_parameters(value, tool.tool.parameters["properties"]):
        message = f"'{tool.name}' can't be called without {missing[0]!r}, which a model does not provide"
        hint = "name a bound method, or a function that creates the tool"
        raise UsageError(message, hint, where=tool.where)
    return function_tool(tool, PlainCall(value, loop))


def _framework_tool(tool: Described, value: Any, loop: Loop) -> BoundTool:
    slot = slot_of(tool.kind, value)
    module = import_module(f"misstep.adapters.frameworks.{tool.kind.replace('-', '_')}")
    # The framework may inspect the function it is to call, so this comes after the replacement.
    interceptor = CallInterceptor(slot) if slot else None
    invoke = module.invoker(value, tool.is_async, loop)

    def call(arguments: dict[str, Any]) -> Returned:
        if interceptor is None:
            return _answered(invoke(arguments))
        interceptor.shut()
        result, failure = None, None
        try:
            result = invoke(arguments)
        except BaseException as error:
            failure = interceptor.blame(error)
        if failure is not None:  # raised here, so that it gets no additional context
            raise failure
        answer = _answered(result)
        interceptor.check(answer.text)
        if tool.output is None:
            return answer
        return msgspec.structs.replace(answer, structured=structure(interceptor.result))

    return BoundTool(tool, call, interceptor)


def _answered(result: Any) -> Returned:
    return result if isinstance(result, Returned) else told(result)


def function_tool(tool: Described, function: "PlainCall") -> BoundTool:
    promised = str if tool.output == {"type": "string"} else None  # frequent; results may be long

    def call(arguments: dict[str, Any]) -> Returned:
        result = function(arguments)
        plainly_kept = tool.output is None or type(result) is promised
        return told(result, None if plainly_kept else structure(result))

    return BoundTool(tool, call, function)


AS_THEY_ARE = (Any, object, inspect.Parameter.empty, None, type(None), str, int, float, bool, list, dict)


class PlainCall:
    """Calls one `function`, which can be replaced.

    Texts, numbers, lists and dicts are passed unchanged, whatever the type hints say. If a hint asks for
    something that JSON does not have, such as a date or a class with fields, the value is converted.
    """

    def __init__(self, function: Callable[..., Any], loop: Loop) -> None:
        self.function = function
        self._loop = loop
        self._signature = signature_of(function)
        parameters = self._signature.parameters.values() if self._signature else ()
        self._nameless = [each for each in parameters if each.kind is each.POSITIONAL_ONLY]
        # Converters for parameters whose types JSON does not have.
        self._makers = {name: _maker(hint) for name, hint in hints_of(function).items() if not is_json(hint)}

    def __call__(self, arguments: dict[str, Any]) -> Any:
        if self._makers:
            arguments = {name: self._made(name, value) for name, value in arguments.items()}
        places, arguments = self._placed(arguments) if self._nameless else ((), arguments)
        try:
            return spent(self._loop.settle(self.function(*places, **arguments)))
        except TypeError as error:
            if takes(self._signature, places, arguments):
                raise
            raise refused(error) from error

    def _placed(self, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Split into positional arguments, up to the last one given, and keyword arguments."""
        named = dict(arguments)
        last = max((place for place, each in enumerate(self._nameless) if each.name in named), default=-1)
        places = list[Any]()
        for each in self._nameless[: last + 1]:
            value = named.pop(each.name, each.default)
            if value is inspect.Parameter.empty:
                break  # the function will raise for this one
            places.append(value)
        return tuple(places), named

    def _made(self, name: str, value: Any) -> Any:
        make = self._makers.get(name)
        if make is None:
            return value
        try:
            return make(value)
        except (ValueError, TypeError) as error:  # includes the errors of Pydantic and msgspec
            raise refused(error) from error


def is_json(hint: Any) -> bool:
    """Whether a hint asks for the JSON value itself."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return is_json(arguments[0])
    if origin is typing.Literal:
        return all(isinstance(each, str | int | bool | None) for each in arguments)
    if origin in (typing.Union, types.UnionType):
        return all(is_json(each) for each in arguments)
    if typing.is_typeddict(hint):
        return all(is_json(each) for each in typing.get_type_hints(hint).values())
    kind = origin or hint
    if inspect.isclass(kind) and kind.__module__ in ("collections.abc", "typing"):
        is_list_or_dict = issubclass(list, kind) or (issubclass(kind, Mapping) and issubclass(dict, kind))
        return is_list_or_dict and all(is_json(each) for each in arguments)
    return kind in AS_THEY_ARE and all(is_json(each) for each in arguments)


def _maker(hint: Any) -> Callable[[Any], Any]:
    """A converter for a hint: Pydantic's, if it is installed, because it handles its own models."""
    if (pydantic := sys.modules.get("pydantic")) is not None and hasattr(pydantic, "TypeAdapter"):
        try:
            adapter = pydantic.TypeAdapter(hint)
        except Exception:  # an unsupported type
            pass
        else:
            make: Callable[[Any], Any] = adapter.validate_python
            return make
    return lambda value: msgspec.convert(value, hint, strict=False, dec_hook=lambda kind, each: kind(each))
