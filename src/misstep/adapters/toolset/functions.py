"""Describes plain functions as tools by signature, type hints and docstring, without calling them."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from misstep.adapters.loading.registry import is_of_framework
from misstep.adapters.loading.source import unwrapped
from misstep.adapters.toolset.found import FoundTool
from misstep.adapters.toolset.hints import Definitions, Inexpressible, hints_of, marked, with_default
from misstep.adapters.toolset.outputs import output_of
from misstep.errors import UsageError
from misstep.schemas.source import Documented, parse_docstring


def read_docstring(function: object) -> Documented:
    """Parse a docstring in Google, NumPy, Sphinx or no particular style."""
    return parse_docstring(inspect.getdoc(function) or "")


OWNERS = ("self", "cls")  # of a method that was taken from its class


def is_function(value: Any) -> bool:
    """Whether it is a function, or a callable with a function's name."""
    if inspect.isclass(value) or not callable(value):
        return False
    return isinstance(value, functools.partial) or isinstance(getattr(value, "__name__", None), str)


def is_callable_object(value: Any) -> bool:
    """Whether it is an instance of a user's class that can be called, but has no name."""
    call = inspect.getattr_static(type(value), "__call__", None)
    return not inspect.isclass(value) and inspect.isfunction(call)


def tool_of_function(function: Callable[..., Any], where: str, name: str = "") -> FoundTool:
    """The function as a tool, under its own name unless another is given."""
    if is_callable_object(function):
        bound: Any = function
        function = bound.__call__
    plain = unwrapped(function)
    documented = read_docstring(plain)
    name = name or str(getattr(function, "__name__", plain.__name__))
    schema = _Reader(function, name, where).schema(documented.parameters)
    output = output_of(function)
    return FoundTool(where, name, documented.text, schema, "function", function, function, output)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def missing_parameters(function: Callable[..., Any], properties: Mapping[str, Any]) -> list[str]:
    """Required parameters of the function that its schema does not mention."""
    signature = signature_of(function)
    parameters = signature.parameters.values() if signature else ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        each.name
        for each in parameters
        if each.kind not in kinds and _is_required(each.default) and each.name not in properties
    ]


def injected_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of parameters that a framework has to provide, by name."""
    signature, hints = signature_of(function), readable_hints(function)
    parameters = signature.parameters.values() if signature else ()
    required = [each.name for each in parameters if _is_required(each.default)]
    return {name: hints[name] for name in required if name in hints and _is_injected(hints[name])}


def readable_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of all parameters, or none if one cannot be resolved."""
    try:
        return hints_of(function)
    except Exception:  # a name known only to type checkers, or code in a hint that fails
        return {}


class _Reader:
    def __init__(self, function: Callable[..., Any], name: str, where: str) -> None:
        self._function = function
        self._name = name
        self._where = where
        self._definitions = Definitions()

    def schema(self, texts: dict[str, str]) -> dict[str, Any]:
        """The JSON schema of the arguments; `texts` describe parameters without another description."""
        hints, required, others = self._hints(), list[str](), False
        properties = dict[str, Any]()
        for parameter in self._parameters():
            hint = hints.get(parameter.name, parameter.annotation)
            if parameter.kind is parameter.VAR_KEYWORD:
                others = True
            elif parameter.kind is not parameter.VAR_POSITIONAL and not _is_injected(hint):
                described = {"description": texts[parameter.name]} if parameter.name in texts else {}
                properties[parameter.name] = {**described, **self._property(parameter, hint)}
                required += [parameter.name] if _is_required(parameter.default) else []
        schema = {"type": "object", "properties": properties, "required": required}
        definitions = {"$defs": self._definitions.written} if self._definitions.written else {}
        return {**schema, "additionalProperties": others, **definitions}

    def _property(self, parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
        try:
            schema = self._definitions.schema(hint)
        except Inexpressible:
            kind = inspect.formatannotation(hint)
            message = f"'{parameter.name}' is of the type {kind}, which can't be written as JSON"
            hint = "change its type, or wrap the function in one that a model can call"
            raise UsageError(f"the tool '{self._name}': {message}", hint, where=self._where) from None
        default = parameter.default
        if _is_field(default):
            schema = marked(schema, [default])
            return schema if default.is_required() else with_default(schema, default.default)
        return schema if _is_required(default) else with_default(schema, default)

    def _parameters(self) -> list[inspect.Parameter]:
        signature = signature_of(self._function)
        if signature is None:
            message = f"the function '{self._name}' has no readable signature"
            raise UsageError(message, "wrap it in a function of your own", where=self._where)
        parameters = list(signature.parameters.values())
        return parameters[1:] if parameters and parameters[0].name in OWNERS else parameters

    def _hints(self) -> dict[str, Any]:
        try:
            return hints_of(self._function)
        except NameError as error:
            message = f"a type hint of the tool '{self._name}' can't be resolved: {error}"
            hint = "import it at run time, not only for type checking"
            raise UsageError(message, hint, where=self._where) from None


def _is_field(default: Any) -> bool:
    """Whether a default is a Pydantic field, which contains the real one."""
    return not inspect.isclass(default) and callable(getattr(default, "is_required", None))


def _is_required(default: Any) -> bool:
    return default is inspect.Parameter.empty or (_is_field(default) and default.is_required())


def _is_injected(hint: Any) -> bool:
    """Whether the framework provides the argument: its class or annotation belongs to the framework."""
    if typing.get_origin(hint) is typing.Annotated:
        marks = [mark if inspect.isclass(mark) else type(mark) for mark in hint.__metadata__]
        return any(_is_theirs(mark) for mark in marks) or _is_injected(hint.__origin__)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_injected(each) for each in typing.get_args(hint))
    kind = typing.get_origin(hint) or hint
    return inspect.isclass(kind) and _is_theirs(kind)


def _is_theirs(kind: type) -> bool:
    return is_of_framework(kind.__module__) or kind.__module__.partition(".")[0] == "mcp"
