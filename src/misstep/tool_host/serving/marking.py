"""Hands marked arguments to the tool's own function, behind whatever would take the marks off them."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from misstep.adapters.toolset.bound import Bound
from misstep.tooling.taint import Marks, plain


@contextmanager
def marking(bound: Bound, marks: Marks, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments to call with. They are marked on the way, or at once where there is no way in."""
    entry = bound.entry
    if entry is None:
        yield marks.arguments(arguments)
        return
    function = entry.get()
    entry.set(_marked(function, marks))
    try:
        yield arguments
    finally:
        entry.set(function)


def _marked(function: Callable[..., Any], marks: Marks) -> Callable[..., Any]:
    """The function with its arguments marked. Its result is not: what we do with that is our business."""
    names = _names(function)

    def call(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        places = [(names[place],) if place < len(names) else ("*", place) for place in range(len(given))]
        inner = [marks.mark(value, place) for value, place in zip(given, places, strict=True)]
        return function(*inner, **{name: marks.mark(value, (name,)) for name, value in named.items()})

    async def wait(*given: Any, **named: Any) -> Any:
        return plain(await call(given, named))

    def enter(*given: Any, **named: Any) -> Any:
        return plain(call(given, named))

    return functools.wraps(function)(wait if inspect.iscoroutinefunction(function) else enter)


def _names(function: Callable[..., Any]) -> list[str]:
    """The names of those parameters that can be given by their place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in by_place]
