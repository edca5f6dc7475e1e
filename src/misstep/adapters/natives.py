"""The objects that a framework has for tools, in place of ours, where the agent is of that framework."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, TypeAlias

from misstep.core.agent import Assignment, Origin, Tool, Toolbox
from misstep.core.text import error_in_words
from misstep.errors import MisstepError

# Makes a tool of the framework out of what is known about it.
Make: TypeAlias = Callable[[Tool, Toolbox], Any]
# A copy of the framework's own object for a tool, whose calls go to the toolbox and nowhere else.
Reroute: TypeAlias = Callable[[Any, Tool, Toolbox], Any]
# Carries out a call of the tool that is named, with these arguments.
Call: TypeAlias = Callable[[str, Any], str]
_Loaded: TypeAlias = Mapping[str, tuple[Tool, Any]]

_loading = threading.Lock()  # code that is imported by two threads at once is found half ready by one


class Unroutable(Exception):
    """The calls of a tool can't be led elsewhere, and it says why."""


def furnish(assignment: Assignment, toolbox: Toolbox, kind: str, make: Make, reroute: Reroute) -> list[Any]:
    """The tools of a case for an agent of a framework, whose tools are of this kind.

    What is a tool of the framework stays the object that it is, but for the carrying out. Where that can't be
    done the user hears why, and the tool is made as all others are.
    """
    objects = _objects(assignment.origins, toolbox, kind)
    tools = list[Any]()
    for tool in toolbox.tools:
        native = _rerouted(tool, objects[tool.name], toolbox, reroute) if tool.name in objects else None
        tools.append(make(tool, toolbox) if native is None else native)
    return tools


def check_unchanged(native: Any, package: str, *methods: str) -> None:
    """Raise `Unroutable` if code that is not the framework's stands between a call and what we put there."""
    for name in methods:
        home = str(getattr(getattr(type(native), name, None), "__module__", ""))
        if not f"{home}.".startswith(f"{package}."):
            raise Unroutable(f"{type(native).__name__} has a way of its own to '{name}'")


def stand_in(function: Callable[..., Any], tool: Tool, call: Call, awaited: bool) -> Any:
    """A function that looks like a tool's own and leads elsewhere."""
    order = list(tool.parameters.get("properties", ()))

    def given(values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without what only the framework can have put there."""
        whole = {**dict(zip(order, values, strict=False)), **named}
        return {name: value for name, value in whole.items() if name in order}

    @wraps(function)
    async def later(*values: Any, **named: Any) -> str:
        return call(tool.name, given(values, named))

    @wraps(function)
    def now(*values: Any, **named: Any) -> str:
        return call(tool.name, given(values, named))

    return later if awaited else now


def _rerouted(tool: Tool, loaded: tuple[Tool, Any], toolbox: Toolbox, reroute: Reroute) -> Any:
    here, native = loaded
    try:
        if here != tool:
            raise Unroutable("it is another one when it is loaded again")
        return reroute(native, tool, toolbox)
    except Exception as error:
        toolbox.warn(f"the agent gets a tool like '{tool.name}' and not the object itself: {_told(error)}")
    return None


def _objects(origins: Mapping[str, Origin], toolbox: Toolbox, kind: str) -> _Loaded:
    """Objects of the kind by the names of their tools; no code is loaded where there can't be any."""
    mine = {tool.name: origins[tool.name] for tool in toolbox.tools if tool.name in origins}
    mine = {name: origin for name, origin in mine.items() if origin.kind == kind}
    objects = dict[str, tuple[Tool, Any]]()
    for spec in dict.fromkeys(origin.spec for origin in mine.values()):
        began = time.monotonic()
        with _loading:
            loaded = _load(spec)
        toolbox.wait(time.monotonic() - began)  # which is not the agent's time
        if isinstance(loaded, str):
            toolbox.warn(f"the agent gets tools like the user's and not the objects themselves: {loaded}")
        else:
            objects |= {name: loaded[name] for name in loaded if name in mine and mine[name].spec == spec}
    return objects


@cache
def _load(spec: str) -> _Loaded | str:
    """The tools of a spec with their objects, or why there are none."""
    from misstep.adapters.toolset.found import usable  # which nobody needs who has mocks alone
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
