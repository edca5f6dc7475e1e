"""What the adapters of all frameworks share: imports, errors, and tools whose calls are redirected."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from misstep.core.agent import Assignment, Origin, Tool, Toolbox
from misstep.core.text import error_in_words
from misstep.errors import MissingExtra, MisstepError, UsageError

# Makes a tool of the framework from its description.
Make: TypeAlias = Callable[[Tool, Toolbox], Any]
# A copy of the framework's own tool object whose calls go only to the toolbox.
Reroute: TypeAlias = Callable[[Any, Tool, Toolbox], Any]
# Makes a call of the named tool with these arguments.
Call: TypeAlias = Callable[[str, Any], str]
_Loaded: TypeAlias = Mapping[str, tuple[Tool, Any]]

_loading = threading.Lock()  # a module imported by two threads at once may be seen half initialised


# A hint for frameworks that rarely fit into the environment of other programs.
ELSEWHERE = "in an environment of its own: name its interpreter with --python"


def imported(framework: str, extra: str, package: str, *modules: str, hint: str = "") -> Any:
    """The package, with these modules of it loaded. Raises `MissingExtra` if it is not installed."""
    try:
        for module in modules:
            import_module(f"{package}.{module}")
        return import_module(package)
    except ImportError as error:
        raise MissingExtra(framework, extra, hint) from error


def not_exchangeable(value: Any, factory: str, what: str = "") -> UsageError:
    what = what or f"a {type(value).__name__}"
    hint = f"write a function that creates it: {factory}"
    return UsageError(f"the tools of {what} can't be replaced", hint)


def unclear_holder(agents: int, factory: str) -> UsageError:
    message = f"can't tell which of the {agents} agents gets the tools"
    return UsageError(message, f"write a function that creates it: {factory}")


class Unroutable(Exception):
    """The calls of a tool cannot be redirected; the message says why."""


def tools_for_framework(
    assignment: Assignment, toolbox: Toolbox, kind: str, make: Make, reroute: Reroute
) -> list[Any]:
    """The tools of a case for an agent of a framework, whose tools are of this kind.

    Tools of that framework keep their own object, except that calls are redirected. If that is impossible,
    the user gets a warning, and the tool is made like all others.
    """
    objects = _objects(assignment.origins, toolbox, kind)
    tools = list[Any]()
    for tool in toolbox.tools:
        native = _rerouted(tool, *objects[tool.name], toolbox, reroute) if tool.name in objects else None
        tools.append(make(tool, toolbox) if native is None else native)
    return tools


def check_unchanged(native: Any, package: str, *methods: str) -> None:
    """Raise `Unroutable` if one of these methods is not the framework's own."""
    for name in methods:
        home = str(getattr(getattr(type(native), name, None), "__module__", ""))
        if not f"{home}.".startswith(f"{package}."):
            raise Unroutable(f"{type(native).__name__} overrides '{name}'")


def stand_in(function: Callable[..., Any], tool: Tool, call: Call, awaited: bool | None) -> Any:
    """A function that looks like the tool's own, async as it is unless told, but makes the call elsewhere."""
    order = list(tool.parameters.get("properties", ()))
    awaited = iscoroutinefunction(function) if awaited is None else awaited

    @wraps(function)
    def now(*values: Any, **named: Any) -> str:
        whole = {**dict(zip(order, values, strict=False)), **named}
        # Without arguments that only the framework can have added.
        return call(tool.name, {name: value for name, value in whole.items() if name in order})

    @wraps(function)
    async def later(*values: Any, **named: Any) -> str:
        return now(*values, **named)

    return later if awaited else now


def stand_ins(native: Any, tool: Tool, call: Call, **awaited: bool | None) -> dict[str, Any]:
    """Functions that stand in for those of these attributes that the tool has."""
    own: dict[str, Any] = {name: getattr(native, name, None) for name in awaited}
    return {name: stand_in(own[name], tool, call, awaited[name]) for name in awaited if callable(own[name])}


def _rerouted(tool: Tool, here: Tool, native: Any, toolbox: Toolbox, reroute: Reroute) -> Any:
    try:
        if here != tool:
            raise Unroutable("loading it again gives another object")
        return reroute(native, tool, toolbox)
    except Exception as error:
        toolbox.warn(f"the agent gets a copy of '{tool.name}' instead of the object itself: {_told(error)}")
    return None


def _objects(origins: Mapping[str, Origin], toolbox: Toolbox, kind: str) -> _Loaded:
    """Objects of this kind by tool name; code is loaded only if there can be any."""
    names = [tool.name for tool in toolbox.tools if tool.name in origins]
    mine = {name: origins[name] for name in names if origins[name].kind == kind}
    objects = dict[str, tuple[Tool, Any]]()
    for spec in dict.fromkeys(origin.spec for origin in mine.values()):
        began = time.monotonic()
        with _loading:
            loaded = _load(spec)
        toolbox.wait(time.monotonic() - began)  # not the agent's time
        if isinstance(loaded, str):
            toolbox.warn(f"the agent gets copies of the tools instead of the objects themselves: {loaded}")
        else:
            objects |= {name: loaded[name] for name in loaded if name in mine and mine[name].spec == spec}
    return objects


@cache
def _load(spec: str) -> _Loaded | str:
    """The tools of a spec with their objects, or the reason why there are none."""
    from misstep.adapters.toolset.found import usable  # not needed with mock tools only
    from misstep.adapters.toolset.spec import find

    try:
        pairs = usable(find(spec), spec, [])
    except Exception as error:
        return _told(error)
    return {described.name: (described.tool, found.value) for described, found in pairs}


def _told(error: Exception) -> str:
    if isinstance(error, MisstepError):
        return f"{error.where}  {error.message}".strip()
    return str(error) if isinstance(error, Unroutable) else error_in_words(error)
