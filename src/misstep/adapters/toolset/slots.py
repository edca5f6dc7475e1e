"""Where a framework's tool keeps the function of its own."""

import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, Protocol, TypeAlias

from misstep.core.tool import ToolKind

Function: TypeAlias = Callable[..., Any]


class Slot(Protocol):
    """A place for a function."""

    def get(self) -> Function: ...

    def set(self, function: Function) -> None: ...


class Attribute:
    """A function under a name in an object, where another can be put even if the object is picky."""

    def __init__(self, owner: Any, name: str) -> None:
        self._owner = owner
        self._name = name

    def get(self) -> Function:
        function: Function = getattr(self._owner, self._name)
        return function

    def set(self, function: Function) -> None:
        try:
            object.__setattr__(self._owner, self._name, function)
        except (AttributeError, TypeError):
            setattr(self._owner, self._name, function)


class Enclosed:
    """A function that another one knows from where it was defined."""

    def __init__(self, cell: CellType) -> None:
        self._cell = cell

    def get(self) -> Function:
        function: Function = self._cell.cell_contents
        return function

    def set(self, function: Function) -> None:
        self._cell.cell_contents = function


class Threaded(Attribute):
    """A plain function behind one that sends it into a thread; what is put here stays in the present one."""

    def get(self) -> Function:
        function: Function = inspect.unwrap(super().get())
        return function

    def set(self, function: Function) -> None:
        async def here(*arguments: Any, **named: Any) -> Any:
            return function(*arguments, **named)

        super().set(here)


# Where to look, in this order. Names with dots lead into what an object holds.
NAMES: dict[ToolKind, tuple[str, ...]] = {
    "adk": ("func", "run_async"),
    "agent-framework": ("func",),
    "autogen": ("_func", "run"),
    "composio": ("execute",),
    "crewai": ("func", "_run"),
    "langchain": ("func", "coroutine", "_run"),
    "pydantic-ai": ("function_schema.function",),
    "smolagents": ("forward",),
}


def slot_of(kind: ToolKind, value: Any) -> Slot | None:
    """The slot of a tool's own function, or None where there is none that can be found."""
    match kind:
        case "openai-agents":
            return _of_openai_agents(value)
        case "ag2":
            return _of_ag2(value)
        case "llama-index":
            return _of_llama_index(value)
        case _:
            return next((slot for name in NAMES.get(kind, ()) if (slot := _under(value, name))), None)


def _under(value: Any, name: str) -> Slot | None:
    *outer, last = name.split(".")
    for each in outer:
        value = getattr(value, each, None)
    return Attribute(value, last) if callable(getattr(value, last, None)) else None


def _of_openai_agents(value: Any) -> Slot | None:
    """The function that was decorated, which only the function that calls it knows."""
    invoke = getattr(value, "on_invoke_tool", None)
    inner = getattr(invoke, "_invoke_tool_impl", invoke)
    if isinstance(inner, FunctionType) and inner.__closure__ and "the_func" in inner.__code__.co_freevars:
        return Enclosed(inner.__closure__[inner.__code__.co_freevars.index("the_func")])
    return None


def _of_ag2(value: Any) -> Slot | None:
    model = getattr(value, "model", None)
    call = getattr(model, "call", None)
    if not callable(call):
        return None
    awaited = inspect.iscoroutinefunction(inspect.unwrap(call))
    return Attribute(model, "call") if awaited else Threaded(model, "call")


def _of_llama_index(value: Any) -> Slot | None:
    awaited = inspect.iscoroutinefunction(getattr(value, "_real_fn", None))
    return _under(value, "_async_fn" if awaited else "_fn") or _under(value, "call")
