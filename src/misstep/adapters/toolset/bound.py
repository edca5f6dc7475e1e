"""Loads tools so that they can be called, wherever they come from."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import msgspec

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.plain.tools import PlainCall
from misstep.adapters.toolset.call_interceptor import CallInterceptor, slot_of
from misstep.adapters.toolset.calling import Loop, Returned, structure, told
from misstep.adapters.toolset.found import FoundTool, usable
from misstep.adapters.toolset.functions import missing_parameters
from misstep.adapters.toolset.spec import find, servers_meant
from misstep.core.tool import Described
from misstep.errors import UsageError

__all__ = ["BoundTool", "Returned", "ToolFunction", "Toolset", "bind"]


class ToolFunction(Protocol):
    """The tool's own innermost function, which can be replaced."""

    def get(self) -> Callable[..., Any]: ...

    def set(self, function: Callable[..., Any]) -> None: ...


class BoundTool(Protocol):
    """A tool that can be called. Its entry is None if its own function cannot be replaced."""

    @property
    def described(self) -> Described: ...

    @property
    def entry(self) -> ToolFunction | None: ...

    def call(self, arguments: dict[str, Any]) -> Returned:
        """Call the tool as an agent's framework would.

        Its exceptions are not changed. `ArgumentsRefused` means that the arguments did not reach the tool;
        `ServerGone`, `Garbled` and `ServerError` are for servers.
        """
        ...


class Toolset(Protocol):
    """Tools that share state. `forkable` if a forked process has a copy of that state."""

    @property
    def bounds(self) -> Sequence[BoundTool]: ...

    @property
    def forkable(self) -> bool: ...

    @property
    def skipped(self) -> Sequence[str]:
        """Why tools were left out."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Other oddities."""
        ...

    def close(self) -> None: ...


def bind(spec: str) -> Toolset:
    """The tools of a spec, ready to be called.

    Tools without a usable schema are left out. Raises `UsageError` if there are no others, or if one of them
    cannot be called.
    """
    if (servers := servers_meant(spec)) is not None:
        return _served(servers, spec)
    skipped, loop = list[str](), Loop()
    pairs = usable(find(spec), spec, skipped)
    return InProcess([_bound(tool, found, loop) for tool, found in pairs], loop, skipped)


def _served(servers: Sequence[McpServer], spec: str) -> Toolset:
    from misstep.adapters.mcp.tools import Servers  # needed for servers only

    return Servers(servers, spec)


class InProcess:
    """Tools whose code this process has loaded."""

    forkable = True
    notes = ()

    def __init__(self, bounds: Sequence[BoundTool], loop: Loop, skipped: Sequence[str]) -> None:
        self.bounds = bounds
        self.skipped = skipped
        self._loop = loop

    def close(self) -> None:
        self._loop.close()


def _bound(tool: Described, found: FoundTool, loop: Loop) -> BoundTool:
    if tool.kind == "definition" or found.value is None:
        message = f"'{tool.name}' is only the definition of a tool: there is nothing to call"
        hint = "for an MCP server, give the command that starts it: mcp:…"
        raise UsageError(message, hint, where=tool.where)
    if tool.kind == "function":
        return _plain(tool, found.value, loop)
    slot = slot_of(tool.kind, found.value)
    module = import_module(f"misstep.adapters.frameworks.{tool.kind.replace('-', '_')}")
    # The framework may inspect the function it is to call, so this comes after the replacement.
    interceptor = CallInterceptor(slot) if slot else None
    return FrameworkTool(tool, interceptor, module.invoker(found.value, tool.is_async, loop))


def _plain(tool: Described, function: Callable[..., Any], loop: Loop) -> BoundTool:
    if missing := missing_parameters(function, tool.tool.parameters["properties"]):
        message = f"'{tool.name}' can't be called without {missing[0]!r}, which no model gives"
        hint = "name a method of an object, or a function that makes the tool"
        raise UsageError(message, hint, where=tool.where)
    return FunctionTool(tool, PlainCall(function, loop))


class FunctionTool:
    """A plain function."""

    def __init__(self, tool: Described, call: PlainCall) -> None:
        self.described = tool
        self.entry: ToolFunction | None = call
        self._call = call
        self._promised = str if tool.output == {"type": "string"} else None  # frequent; results may be long

    def call(self, arguments: dict[str, Any]) -> Returned:
        result = self._call(arguments)
        plainly_kept = self.described.output is None or type(result) is self._promised
        return told(result, None if plainly_kept else structure(result))


class FrameworkTool:
    """A tool of a framework, called through everything the framework does around it."""

    def __init__(
        self, tool: Described, interceptor: CallInterceptor | None, invoke: Callable[[dict[str, Any]], Any]
    ) -> None:
        self.described = tool
        self.entry: ToolFunction | None = interceptor
        self._interceptor = interceptor
        self._invoke = invoke

    def call(self, arguments: dict[str, Any]) -> Returned:
        interceptor = self._interceptor
        if interceptor is None:
            return _answered(self._invoke(arguments))
        interceptor.shut()
        result, failure = None, None
        try:
            result = self._invoke(arguments)
        except BaseException as error:
            failure = interceptor.blame(error)
        if failure is not None:  # raised here, so that it gets no additional context
            raise failure
        answer = _answered(result)
        interceptor.check(answer.text)
        if self.described.output is None:
            return answer
        return msgspec.structs.replace(answer, structured=structure(interceptor.result))


def _answered(result: Any) -> Returned:
    return result if isinstance(result, Returned) else told(result)
