"""What is put back into a value is what the code sees next time."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.fuzzing.branch_solver.inverses import MISSING, replaced, seen
from tests.fuzzing.taint.test_observations import DERIVED

WORDS = st.text("abc", min_size=1, max_size=4)
TEXTS = st.text("abc,:/=. ", max_size=10)


def steps(*given: list[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, json.dumps(operands)) for name, *operands in given)


WAYS: list[tuple[Any, ...]] = [
    steps(["split", ",", -1], ["at", 2]),
    steps(["split", ",", 1], ["at", 0]),
    steps(["rsplit", "=", 1], ["at", 1]),
    steps(["partition", ":", 0]),
    steps(["partition", ":", 2]),
    steps(["rpartition", ":", 2]),
    steps(["strip"], ["lower"]),
    steps(["slice", 2, 50, 1], ["split", "-", -1], ["at", 1]),
    steps(["removeprefix", "q:"]),
    steps(["append", "!"], ["removesuffix", "!"]),
    steps(["json"], ["at", "a"], ["at", 1], ["at", "b"]),
    steps(["literal"], ["at", "a"]),
    steps(["base64"], ["decode"], ["json"], ["at", "a"]),
    steps(["url", "netloc"]),
    steps(["url", "query"], ["query"], ["at", "a"], ["at", 0]),
    steps(["words"], ["at", 1]),
    steps(["basename"]),
    steps(["path splitext", 0]),
    steps(["group", "fullmatch", "x-([a-c]+)-(\\d+)", 0, 1]),
]


@pytest.mark.parametrize("via", WAYS)
@settings(max_examples=12, deadline=None, database=None, derandomize=True)
@given(whole=TEXTS, part=WORDS)
def test_what_is_put_in_is_seen(via: tuple[tuple[str, str], ...], whole: str, part: str) -> None:
    made = replaced(whole, via, part)
    assert made is not MISSING
    assert seen(made, via) == part


NUMBERS = [
    steps(["add", 3]),
    steps(["rsub", 10], ["neg"]),
    steps(["mul", 2], ["sub", 1]),
    steps(["mod", 97]),
    steps(["floordiv", 5]),
    steps(["abs"]),
]


@pytest.mark.parametrize("via", NUMBERS)
@settings(max_examples=12, deadline=None, database=None, derandomize=True)
@given(whole=st.integers(-1000, 1000), part=st.integers(0, 90))
def test_numbers_are_calculated_backwards(via: tuple[tuple[str, str], ...], whole: int, part: int) -> None:
    assert seen(replaced(whole, via, part), via) == part


@pytest.mark.parametrize(("action", "value", "via"), DERIVED)
def test_steps_are_what_the_code_does(action: Callable[[Any], Any], value: Any, via: list[list[Any]]) -> None:
    part: Any = 5 if isinstance(value, int | float) else "b"
    assert seen(value, steps(*via)) == action(value)
    if not any(step[0] in ("group", "path splitext") for step in via):  # which can't be just anything
        assert seen(replaced(value, steps(*via), part), steps(*via)) in (part, "bb")
        assert action(replaced(value, steps(*via), part)) in (part, "bb")


def test_what_makes_no_sense_is_missing() -> None:
    assert seen("no json", steps(["json"])) is MISSING
    assert seen(5, steps(["split", ",", -1])) is MISSING
    assert replaced("a", steps(["group", "match", "(", 0, 1]), "b") is MISSING
    assert replaced(5, steps(["removeprefix", "a"]), 7) is MISSING
