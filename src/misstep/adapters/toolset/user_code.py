"""Runs and inspects the user's code: redirects its output, awaits its results, finds its source."""

import asyncio
import functools
import inspect
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

from misstep.core.tool import Source

OUTPUT, ERROR = 1, 2


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error meanwhile, for this process and its children."""
    with suppress(AttributeError, OSError, ValueError):  # missing or closed
        sys.stdout.flush()
    ours = _diverted()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if ours is not None:
            os.dup2(ours, OUTPUT)
            os.close(ours)


def _diverted() -> int | None:
    """A duplicate of the previous standard output; None if it could not be redirected."""
    try:
        ours = os.dup(OUTPUT)
    except OSError:
        return None
    try:
        os.dup2(ERROR, OUTPUT)
    except OSError:
        os.close(ours)
        return None
    return ours


def settled(value: Any) -> Any:
    """The value, or its awaited result, even while an event loop is running."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as beside_the_loop:
        return beside_the_loop.submit(asyncio.run, wait()).result()


LONGEST = 200_000  # characters of source that are kept


def unwrapped(function: Any) -> Any:
    """The function itself, without decorators, partial arguments and the object it is bound to."""
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
    """The source of a function or class, or of the class of another callable."""
    plain = unwrapped(code)
    if not (inspect.isclass(plain) or inspect.isfunction(plain)):
        plain = type(plain)
    try:
        lines, first = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain)
    except Exception:  # there is no source, or a module gives a wrong file
        return None
    return Source(file, max(first, 1), "".join(lines)[:LONGEST]) if file else None


def is_async(code: Any) -> bool:
    """Whether the result of a call has to be awaited."""
    plain = unwrapped(code)
    called = plain if inspect.isfunction(plain) else vars(type(plain)).get("__call__")
    return any(
        test(each)
        for test in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (code, plain, called)
        if not inspect.isclass(each)
    )
