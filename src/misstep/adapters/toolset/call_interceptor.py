"""Intercepts calls between a framework and the tool's own function, whose place is called its slot."""

import functools
import inspect
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

from misstep.adapters.loading.source import is_async, source_of
from misstep.adapters.toolset.calling import ArgumentsRefused, FunctionSlot, drained, no_loop_running, spent
from misstep.adapters.toolset.functions import signature_of
from misstep.core.text import in_words
from misstep.core.tool import ToolKind

Function: TypeAlias = Callable[..., Any]


class Attribute:
    """A function in an attribute, which can be replaced even if the object forbids it.

    A `threaded` one is behind a function that runs it in a thread; a replacement runs in the current thread.
    """

    def __init__(self, owner: Any, name: str, threaded: bool = False) -> None:
        self._owner = owner
        self._name = name
        self._threaded = threaded

    @property
    def function(self) -> Function:
        function: Function = getattr(self._owner, self._name)
        return inspect.unwrap(function) if self._threaded else function

    @function.setter
    def function(self, function: Function) -> None:
        async def here(*arguments: Any, **named: Any) -> Any:
            return function(*arguments, **named)

        placed = here if self._threaded else function
        try:
            object.__setattr__(self._owner, self._name, placed)
        except (AttributeError, TypeError):
            setattr(self._owner, self._name, placed)


# Where to look, in this order. Dotted names are nested attributes.
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


def slot_of(kind: ToolKind, value: Any) -> FunctionSlot | None:
    """The slot of a tool's own function, or None if it cannot be found."""
    match kind:
        case "openai-agents":
            return _of_openai_agents(value)
        case "ag2":
            return _of_ag2(value)
        case "llama-index":
            return _of_llama_index(value)
        case _:
            return next((slot for name in NAMES.get(kind, ()) if (slot := _under(value, name))), None)


def _under(value: Any, name: str) -> FunctionSlot | None:
    *outer, last = name.split(".")
    for each in outer:
        value = getattr(value, each, None)
    return Attribute(value, last) if callable(getattr(value, last, None)) else None


def _of_openai_agents(value: Any) -> FunctionSlot | None:
    """The decorated function, which is only in the closure of its caller."""
    invoke = getattr(value, "on_invoke_tool", None)
    inner = getattr(invoke, "_invoke_tool_impl", invoke)
    if isinstance(inner, FunctionType) and inner.__closure__ and "the_func" in inner.__code__.co_freevars:
        cell = inner.__closure__[inner.__code__.co_freevars.index("the_func")]
        return Attribute(cell, "cell_contents")
    return None


def _of_ag2(value: Any) -> FunctionSlot | None:
    model = getattr(value, "model", None)
    call = getattr(model, "call", None)
    if not callable(call):
        return None
    return Attribute(model, "call", threaded=not inspect.iscoroutinefunction(inspect.unwrap(call)))


def _of_llama_index(value: Any) -> FunctionSlot | None:
    awaited = inspect.iscoroutinefunction(getattr(value, "_real_fn", None))
    return _under(value, "_async_fn" if awaited else "_fn") or _under(value, "call")


class CallInterceptor:
    """Replaces a tool's own function and calls it.

    Frameworks validate arguments before it, and some turn exceptions into texts after it. Both can be
    detected here: a call that did not arrive was refused, and exceptions are kept. `function` is the one to
    call, and can be changed, for example to one that observes it.
    """

    def __init__(self, slot: FunctionSlot) -> None:
        self.function: Function = slot.function
        self._signature = signature_of(self.function)
        source = source_of(self.function)
        self._home = source.file if source else ""
        self.reached = False
        self.raised: BaseException | None = None
        self.result: Any = None
        slot.function = self._awaiting() if is_async(self.function) else self._plain()

    def shut(self) -> None:
        """Forget the previous call."""
        self.reached, self.raised, self.result = False, None, None

    def blame(self, error: BaseException) -> BaseException:
        """What to raise for a call that ended with this error: the tool's exception, a refusal, or itself."""
        if self.raised is not None:
            return self.raised
        if self.reached or not isinstance(error, Exception) or self._is_at_home(error):
            return error
        return refused(error)

    def check(self, answer: str) -> None:
        """Raise what the framework turned into a text: the tool's own exception, or a refusal."""
        if self.raised is not None:
            raise self.raised
        if not self.reached:
            raise ArgumentsRefused(answer)

    def _plain(self) -> Function:
        @functools.wraps(self.function)
        def enter(*arguments: Any, **named: Any) -> Any:
            self.reached = True
            try:
                with no_loop_running():
                    self.result = spent(self.function(*arguments, **named))
            except BaseException as error:
                self._note(error, arguments, named)
                raise
            self.raised = None
            return self.result

        return enter

    def _awaiting(self) -> Function:
        @functools.wraps(self.function)
        async def enter(*arguments: Any, **named: Any) -> Any:
            self.reached = True
            try:
                value = self.function(*arguments, **named)
                self.result = await (drained(value) if inspect.isasyncgen(value) else value)
            except BaseException as error:
                self._note(error, arguments, named)
                raise
            self.raised = None
            return self.result

        return enter

    def _note(self, error: BaseException, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.raised = error
        if isinstance(error, TypeError) and not takes(self._signature, arguments, named):
            self.raised = refused(error)

    def _is_at_home(self, error: Exception) -> bool:
        """Whether code in the tool's own file contributed to an error, such as a validator.

        Pydantic raises its own error for those, whose traceback no longer shows it.
        """
        frames = traceback.walk_tb(error.__traceback__)
        return bool(self._home) and any(frame.f_code.co_filename == self._home for frame, _ in frames)


def refused(error: BaseException) -> ArgumentsRefused:
    """The refusal for an error raised by argument validation."""
    refusal = ArgumentsRefused(in_words(error))
    refusal.__cause__ = error
    return refusal


def takes(signature: inspect.Signature | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether a function accepts these arguments; True if its signature is unknown."""
    try:
        if signature is not None:
            signature.bind(*arguments, **named)
    except TypeError:
        return False
    return True
