"""The same defect has one signature; different ones have different ones."""

import json
from typing import Any

import pytest

from misstep.core.tool import Raised
from misstep.fuzzing.judging.echoes import decisive_frame, finding_id, signature_of
from misstep.fuzzing.judging.exceptions import describe_exception
from misstep.fuzzing.judging.wording import normalise
from tests.fuzzing.judging import planted


def raised_by(function: Any, *arguments: Any) -> Raised:
    try:
        function(*arguments)
    except BaseException as error:
        return describe_exception(error, lambda file: file in (__file__, planted.__file__))
    raise AssertionError("nothing was raised")


def parse(text: Any) -> Any:
    return json.loads(text)


def look_up(key: str, second: bool) -> int:
    known: dict[str, int] = {}
    if second:
        return known[key]
    return known[key + "x"]


def test_ways_through_a_library_that_start_in_one_place_are_one_defect() -> None:
    assert signature_of(raised_by(parse, "{")) == signature_of(raised_by(parse, "[1,"))


def test_another_type_from_the_same_line_is_another_defect() -> None:
    assert signature_of(raised_by(parse, "{")) != signature_of(raised_by(parse, 3))


def test_another_place_is_another_defect_and_another_message_is_not() -> None:
    first, again = raised_by(look_up, "a", False), raised_by(look_up, "b", False)
    assert signature_of(first) == signature_of(again)
    assert signature_of(first) != signature_of(raised_by(look_up, "a", True))


def test_a_recursion_has_one_signature_wherever_it_ends() -> None:
    signatures = {signature_of(raised_by(planted.recurses)), signature_of(raised_by(planted.helps, 0))}
    assert len(signatures) == 1


def test_without_frames_the_message_decides() -> None:
    assert decisive_frame(Raised("KeyError", "'a'")) is None
    assert signature_of(Raised("KeyError", "'a'")) == signature_of(Raised("KeyError", "'b'"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no user 17", "no user 4,211"),
        ("'abc' is not in list", "'x y z' is not in list"),
        ('bad key "k"', 'bad key "another key"'),
        ("at 0x7f3a90", "at 0xdeadbeef"),
        ("open /tmp/a/b.txt failed", "open /var/c failed"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-0000-0000-0000-000000000000"),
        ("since 2026-01-02", "since 1999-12-31T23:59:59Z"),
        ("bad word " + "x" * 30, "bad word " + "y" * 300),
        ("GET http://a.b/c?d failed", "GET https://x.y/ failed"),
        ("a  b\n c", "a b c"),
    ],
)
def test_what_changes_from_call_to_call_is_left_out_of_messages(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("list index out of range", "tuple index out of range"),
        ("'x' is not in list", "'x' is not in range"),
        ("can't read it", "can't write it"),
        ("no user 17", "no group 17"),
    ],
)
def test_what_tells_defects_apart_stays(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_normalising_is_quick_and_bounded_whatever_it_is_given() -> None:
    for text in ("'" * 50_000, '"a' * 30_000, "9" * 90_000, "/" * 90_000, "0x" * 40_000, "a-" * 40_000):
        assert len(normalise(text)) <= 200


def test_ids_are_short_stable_and_differ_with_every_part() -> None:
    assert finding_id("t", "crash", "s") == "e166e52768"
    ids = {finding_id(*parts) for parts in (("t", "crash", "s"), ("u", "crash", "s"), ("t", "hang", "s"))}  # type: ignore[arg-type]
    assert len({*ids, finding_id("t", "crash", "z")}) == 4
