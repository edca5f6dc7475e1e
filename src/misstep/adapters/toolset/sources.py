"""The code behind a tool: where it stands, and whether it has to be awaited."""

import functools
import inspect
from typing import Any

from misstep.core.tool import Source

LONGEST = 200_000  # characters of source that are kept


def unwrapped(function: Any) -> Any:
    """The function itself, under decorators, given arguments and the object that it is bound to."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function


def source_of(code: Any) -> Source | None:
    """The source of a function or class, or of the class of anything else that can be called."""
    plain = unwrapped(code)
    if not (inspect.isclass(plain) or inspect.isfunction(plain)):
        plain = type(plain)
    try:
        lines, first = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain)
    except Exception:  # there is none, or a module claims what is not so
        return None
    return Source(file, max(first, 1), "".join(lines)[:LONGEST]) if file else None


def is_async(code: Any) -> bool:
    """Whether what a call gives has to be awaited."""
    plain = unwrapped(code)
    called = plain if inspect.isfunction(plain) else vars(type(plain)).get("__call__")
    return any(
        test(each)
        for test in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (code, plain, called)
        if not inspect.isclass(each)
    )
