"""Recognises what kind of agent an object in the user's code is, and wraps it."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from misstep.adapters.loading.registry import FRAMEWORKS, Framework, framework_of
from misstep.adapters.loading.source import blaming, load_object
from misstep.adapters.threads import ThreadedAgent, in_thread
from misstep.core.agent import Agent, Answer, Assignment, Tool, Toolbox
from misstep.core.text import in_words
from misstep.errors import UsageError

KINDS = (
    "an agent of a supported framework",
    "def agent(request, tools)",
    "def make_agent(tools), which returns an agent of a framework or a function of the request",
    "an object with a name and async def run(assignment, toolbox)",
)
WORDS_FOR_A_REQUEST = ("request", "prompt", "query", "question", "message", "input", "task", "text")


class PlainTool:
    """A tool to call: `tool()` or `tool(key=value)` returns the result as text."""

    def __init__(self, described: Tool, toolbox: Toolbox) -> None:
        self.name = described.name
        self.description = described.description
        self.parameters = copy.deepcopy(described.parameters)
        self.__name__ = described.name
        self.__doc__ = described.description
        self._toolbox = toolbox

    def __call__(self, /, **arguments: Any) -> str:
        return self._toolbox.call(self.name, arguments)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


class PlainAgent:
    """Calls a function with the request and the tools for every case, in a thread if it is not async."""

    def __init__(self, function: Callable[[str, list[PlainTool]], Any], name: str) -> None:
        self.name = name
        self._function = function

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        tools = [PlainTool(described, toolbox) for described in toolbox.tools]

        def call() -> Any:
            result = self._function(assignment.request, tools)
            return result if inspect.isawaitable(result) else _said(result)

        is_async = inspect.iscoroutinefunction(self._function)
        result = call() if is_async else await in_thread(call, breakable=True)
        return Answer(_said(await result) if inspect.isawaitable(result) else result)


def _said(result: object) -> str:
    return "" if result is None else in_words(result)


class LoadedAgent(msgspec.Struct, frozen=True):
    agent: Agent
    framework: Framework | None = None


def load(spec: str, name: str) -> LoadedAgent:
    """The agent of a spec, ready to run beside whatever else this process does."""
    found = _find(spec, name)
    return LoadedAgent(ThreadedAgent(found.agent), found.framework)


def recognise(value: Any, name: str, spec: str = "") -> LoadedAgent:
    """The same for an existing object; its name is the spec, if there is one."""
    known = spec or name
    with blaming(known):
        found = _recognise(value, known, known)
    return LoadedAgent(ThreadedAgent(found.agent, spec), found.framework)


def load_agent(spec: str, name: str) -> Agent:
    """The agent itself, for a process that does nothing else."""
    return _find(spec, name).agent


def _find(spec: str, name: str) -> LoadedAgent:
    """The agent of `[framework:]file.py:name` or `[framework:]package.module:name`."""
    word, _, rest = spec.partition(":")
    if word in FRAMEWORKS and ":" in rest:
        return _of_framework(FRAMEWORKS[word], load_object(rest), name)
    value = load_object(spec)
    with blaming(spec.rpartition(":")[0]):  # inspecting an object may run its code
        return _recognise(value, name, spec)


def _of_framework(framework: Framework, value: Any, name: str) -> LoadedAgent:
    """An agent of the framework, or a function that builds one, as stated by the user."""
    is_agent = framework.made(value) or not callable(value)
    build = framework.adapter.retool(value) if is_agent else value
    return LoadedAgent(framework.agent(build, name), framework)


def _recognise(value: Any, name: str, spec: str) -> LoadedAgent:
    framework = framework_of(value)
    if framework:
        return _of_framework(framework, value, name)
    # Our own protocol.
    has_name, run = isinstance(getattr(value, "name", None), str), getattr(value, "run", None)
    if not inspect.isclass(value) and has_name and inspect.iscoroutinefunction(run):
        return LoadedAgent(value)
    if inspect.isgeneratorfunction(value) or inspect.isasyncgenfunction(value):
        raise UsageError(f"'{spec}' yields instead of returning an answer", *expected())
    if not callable(value):
        raise UsageError(f"'{spec}' is a {type(value).__name__}, which is not an agent", *expected())
    if (order := request_and_tools(value)) is not None:
        return LoadedAgent(PlainAgent(order, name))
    match required_parameters(value):
        case []:
            return _recognise_made(value, name, spec)
        case [only] if only in WORDS_FOR_A_REQUEST:
            raise UsageError(f"'{spec}' takes a {only} but no tools", *expected())
        case [_]:
            return _from_maker(value, name, spec)
        case [_, _]:
            return LoadedAgent(PlainAgent(value, name))
        case more:
            raise UsageError(f"'{spec}' wants {len(more)} things: {', '.join(more)}", *expected())


def _recognise_made(make: Callable[[], Any], name: str, spec: str) -> LoadedAgent:
    """Call a function without parameters, or a class, once; the result has to be an agent."""
    if inspect.isfunction(make) and inspect.signature(make).parameters:
        raise UsageError(f"'{spec}' must take a request and tools", *expected())
    made = make()
    if callable(made) and framework_of(made) is None and not required_parameters(made):
        raise UsageError(f"'{spec}' takes neither a request nor tools", *expected())
    return _recognise(made, name, spec)


def request_and_tools(function: Callable[..., Any]) -> Callable[[str, list[Any]], Any] | None:
    """The function with parameters in the order request, tools, if they have such names; else None.

    They may be in either order, and have defaults.
    """
    names = _positional(function)[:2]
    others = [name for name in required_parameters(function) if name not in names]
    if len(names) < 2 or others or "tools" not in names:
        return None
    if names[1] == "tools":
        return function
    if inspect.iscoroutinefunction(function):

        async def turned(request: str, tools: list[Any]) -> Any:
            return await function(tools, request)

        return turned
    return lambda request, tools: function(tools, request)


def _from_maker(make: Callable[[list[Any]], Any], name: str, spec: str) -> LoadedAgent:
    """Call a function of the tools once without any, to see what it builds."""
    with blaming(spec.rpartition(":")[0]):
        made = make([])
    if inspect.iscoroutine(made):
        made.close()
        hint = "a function that creates an agent must be synchronous and return it"
        raise UsageError(f"'{spec}' is async", hint)
    framework = framework_of(made)
    if framework:
        return LoadedAgent(framework.agent(make, name), framework)
    if callable(made) and len(required_parameters(made)) == 1:
        return LoadedAgent(PlainAgent(lambda request, tools: make(tools)(request), name))
    raise UsageError(f"'{spec}' returns a {type(made).__name__}, which is not an agent", *expected())


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """The names of positional parameters without a default."""
    return _positional(function, required=True)


def _positional(function: Callable[..., Any], required: bool = False) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [parameter for parameter in parameters if parameter.kind in kinds]
    return [p.name for p in found if not required or p.default is inspect.Parameter.empty]


def expected() -> list[str]:
    return ["expected one of:", *(f"  {kind}" for kind in KINDS)]
