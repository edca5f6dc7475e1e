"""Texts for regular expressions match them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.fuzzing.branch_solver.regex import LONGEST, VERY_OFTEN, beginnings, example, examples

PATTERNS = [
    r"^\d{4}-\d{2}-\d{2}$",
    r"[A-Z]{2,3}-(?P<number>\d+)",
    r"(\w+)@(\w+)\.(com|org)",
    r"[^a-z\s]+",
    r"(?:a|b|c)*d?",
    r"(['\"])x\1",
    r"\S+\s+\S+",
    r"(?i)hello[ _]world",
    r"^/[^/]*(/\.\w+)?$",
    r"\bword\b",
    r"(?=a)\w",
    r"#[0-9a-fA-F]{6}",
    r"(?P<a>x)?(?(a)y|z)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_examples_match(pattern: str) -> None:
    found = examples(pattern)
    assert found
    assert all(re.search(pattern, text) for text in found)


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(st.text(r"ab1()[]{}|*+?.\d-^$,:=<P>", max_size=12))
def test_whatever_is_given_for_a_pattern(pattern: str) -> None:
    for text in examples(pattern):
        assert re.search(pattern, text)
    beginnings(pattern)


def test_there_are_several_and_the_first_is_plain() -> None:
    assert examples(r"\d+(px|em)")[:3] == ["1px", "1em", "111px"]


def test_beginnings_end_before_the_last_part() -> None:
    assert beginnings(r"^v(\d+)\.(\d+)$") == ["v1.", "v"]


def test_flags_are_heeded() -> None:
    assert example("a b # words", int(re.VERBOSE)) == "ab"


def test_patterns_that_may_take_for_ever_are_not_tried() -> None:
    assert all(len(text) < 60 for text in examples(r"(a+)+b(a+)+c(a|aa)+d"))


def test_parts_that_may_be_repeated_are_repeated_very_often_too() -> None:
    assert {"(" * VERY_OFTEN, ")" * VERY_OFTEN} <= {*examples(r"[()]*")}
    assert max(map(len, examples(r"x{2,50}"))) == 50
    assert max(map(len, examples(r"((((a*)*)*)*)*"))) <= LONGEST


def test_parts_are_as_short_and_as_long_as_can_be_side_by_side() -> None:
    assert {"9-9999", "9999-9", "0-0000", "0000-0"} <= {*examples(r"[0-9]{1,4}-([0-9]{1,4})")}
