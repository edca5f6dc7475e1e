"""Python code read by several threads."""

import ast
import gc
import threading
import time
from collections.abc import Iterator

import pytest

from misstep.schemas.source import parse_expression, parse_module

LONG = "x = [" + ", ".join(f"f({number}, [{number}])" for number in range(300)) + "]\n"


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns whenever memory is tidied up, which happens while trees are made."""

    def give_way(_: str, __: object) -> None:
        time.sleep(0)

    gc.callbacks.append(give_way)
    yield
    gc.callbacks.remove(give_way)


@pytest.mark.usefixtures("hasty")
def test_threads_do_not_disturb_each_other() -> None:
    wrong = list[object]()

    def nested(depth: int) -> None:
        if depth:
            nested(depth - 1)
            return
        for _ in range(8):
            try:
                assert parse_module(LONG) is not None
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=nested, args=(depth,)) for depth in (0, 30, 90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("code", ["def", "\0", "(" * 1000, "x = '\ud800'"])
def test_what_is_no_code(code: str) -> None:
    assert parse_module(code) is None
    assert parse_expression(code) is None


def test_expressions_and_odd_code() -> None:
    assert isinstance(parse_expression("f(1)"), ast.Call)
    assert parse_expression("x = 1") is None
    assert parse_module("x = '\\d'") is not None  # and no warning
