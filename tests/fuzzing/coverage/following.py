"""A program that follows the walks by one of the two means, in whatever interpreter it is run."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

from misstep.fuzzing.coverage.code import BITS, FunctionLines, ReachedLines
from misstep.fuzzing.coverage.coverage import Monitoring, Tracing, free_tool
from tests.fuzzing.coverage import walks

Watch = Monitoring | Tracing
Walk = list[tuple[str, str, int]]  # from where to where, how often


def watch_by(means: str) -> Watch:
    if means == "tracing":
        return Tracing(_is_walk, ReachedLines())
    tool = free_tool()
    assert tool is not None
    return Monitoring(_is_walk, ReachedLines(), tool)


def follow(watch: Watch) -> list[tuple[str, Walk]]:
    """The edges of each call."""
    names = dict(_names())
    followed = []
    for function, argument in walks.CALLS:
        watch.start()
        _call(function, argument)
        edges = watch.stop().items()
        walk = sorted((names[edge >> BITS], names[edge & (1 << BITS) - 1], count) for edge, count in edges)
        followed.append((f"{function.__name__}({argument!r})", walk))
    return followed


def rounds(means: str) -> Iterator[list[tuple[str, Walk]]]:
    """The same calls: at first, again, and by another watch that has met all functions without counting."""
    watch = watch_by(means)
    yield follow(watch)
    yield follow(watch)
    watch.close()
    watch = watch_by(means)
    for function, argument in walks.CALLS:
        _call(function, argument)
    yield follow(watch)
    watch.close()


def _call(function: Callable[[Any], Any], argument: Any) -> None:
    with suppress(ValueError):
        function(argument)


def _is_walk(filename: str) -> bool:
    return filename == walks.__file__


def _names() -> Iterator[tuple[int, str]]:
    """What the numbers of places mean."""
    yield 0, "outside"
    codes = [compile(Path(walks.__file__).read_text(encoding="utf-8"), walks.__file__, "exec")]
    for code in codes:
        lines = FunctionLines(code)
        yield from ((lines[line], f"{code.co_qualname}:{line}") for *_, line in code.co_lines() if line)
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]


if __name__ == "__main__":
    json.dump(list(rounds(sys.argv[1])), sys.stdout)
