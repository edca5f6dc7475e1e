"""Functions that fail in ways that have to be told apart; this file is the tool's own code."""

import copy
import json
import os
from collections.abc import Callable
from typing import Any, NoReturn


class CityUnknown(Exception):
    pass


def happens() -> int:
    return [1, 2][7]


def raises() -> NoReturn:
    raise ValueError("the limit must be positive")


def raises_from_own_helper() -> None:
    raises()


def asserts(number: int = 0) -> None:
    assert number > 0, "number must be positive" if number > -5 else "far too small"


def asserts_without_words(number: int = 0) -> None:
    assert number


def raises_assertion() -> NoReturn:
    raise AssertionError("this can't be")


def in_library() -> Any:
    return json.loads("{")


def deep_in_library() -> Any:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return copy.deepcopy(nested)


def raises_again() -> Any:
    try:
        return json.loads("{")
    except ValueError:
        raise


def raises_caught() -> Any:
    try:
        return json.loads("{")
    except ValueError as error:
        raise error


def wraps_with_words() -> Any:
    try:
        return json.loads("{")
    except ValueError as error:
        raise ValueError("the text is no JSON") from error


def wraps_without_words() -> Any:
    try:
        return json.loads("{")
    except ValueError as error:
        raise RuntimeError(str(error)) from error


def raises_own_type() -> NoReturn:
    raise CityUnknown


def reads_environment() -> str:
    return os.environ["MISSTEP_NO_SUCH_VARIABLE"]


def exits() -> NoReturn:
    import sys

    sys.exit(3)


def in_group() -> NoReturn:
    try:
        happens()
    except IndexError as error:
        raise ExceptionGroup(
            "tasks failed", [ExceptionGroup("inner", [error]), ValueError("later")]
        ) from None


def recurses(depth: int = 0) -> int:
    return 1 + helps(depth + 1)


def helps(depth: int) -> int:
    return recurses(depth) - 1


def calls(function: Callable[[], Any]) -> Any:
    return function()


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even a name")


class Sly(Exception):
    __traceback__ = property(lambda self: 7)  # type: ignore[assignment]
    __cause__ = property(lambda self: self)  # type: ignore[assignment]


def raises_hostile() -> NoReturn:
    raise Hostile


def raises_sly() -> NoReturn:
    raise Sly("sly")


def raises_endless() -> NoReturn:
    raise ValueError("no " * 1_000_000)


def raises_knot() -> NoReturn:
    one, other = ValueError("one"), ValueError("other")
    one.__context__ = other
    other.__context__ = one
    raise one


def raises_surrogate() -> NoReturn:
    raise ValueError("no \ud800 please")
