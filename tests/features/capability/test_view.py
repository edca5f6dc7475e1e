"""What is said of a capability curve, and what is not said where nothing is known."""

import msgspec
import pytest

from misstep.core.results.capability import Capability, Half, Point
from misstep.features.capability.view import (
    how_far,
    how_far_table,
    in_words,
    limit_in_words,
    plans_up_to,
    published_levels,
)
from misstep.planning.capability import capability_limit
from misstep.rendering.words import told_apart
from tests.features.capability.curves import point
from tests.rendering.screens import shown


def curve(*points: Point, half: Half | None = None, model: str | None = None) -> Capability:
    """A curve whose limit is what the planning room finds."""
    limit, reached = capability_limit(points, 0.2)
    return Capability("r1", "react", model, points, 0.2, limit, reached, half, None, {})


ERRORED = (point(2, 0, 0), point(3, 0, 0))
HIGH = (point(2, 10, 10), point(5, 9, 10), point(9, 6, 10))
LOW = (point(2, 4, 10), point(3, 3, 10), point(4, 1, 10))
HARDLY = (point(2, 0, 0), point(3, 1, 10))
MIXED = (point(2, 10, 10), point(3, 5, 10), point(4, 1, 10))
WAVERING = (point(2, 4, 10), point(3, 6, 10))


@pytest.mark.parametrize(
    ("points", "far", "limit"),
    [
        ((), "no case was judged", ""),
        (ERRORED, "no case was judged", ""),
        (HIGH, "above 50 % up to n = 9", "at least 9 actions: never under 20 %"),
        (LOW, "below 50 % from n = 2 on", "3 actions: under 20 % beyond"),
        (HARDLY, "below 50 % from n = 3 on", "not even 3 actions: under 20 % from the start"),
        (MIXED, "under 20 % after 3 actions", "3 actions: under 20 % beyond"),
        (WAVERING, "60 % at 3 actions", "at least 3 actions: never under 20 %"),
    ],
)
def test_how_far_it_gets(points: tuple[Point, ...], far: str, limit: str) -> None:
    assert how_far(curve(*points)) == far
    assert limit_in_words(curve(*points)) == limit


@pytest.mark.parametrize(
    ("points", "half", "told"),
    [
        ((), None, "Nothing judged"),
        (ERRORED, None, "Nothing judged"),
        (HIGH, None, "Plans at least 9 actions"),
        (HIGH, Half(8.9, (7.25, None)), "Plans up to 8 actions"),
        (LOW, None, "Does not plan 2 actions"),
        (LOW, Half(1.9, (1.0, 2.5)), "Does not plan 2 actions"),
        (MIXED, None, "Plans up to 3 actions"),
        (WAVERING, None, "Plans up to 3 actions"),
    ],
)
def test_the_page_begins_with_what_it_plans(points: tuple[Point, ...], half: Half | None, told: str) -> None:
    assert plans_up_to(curve(*points, half=half)) == told


def test_where_success_passes_half_is_said_first() -> None:
    assert how_far(curve(*HIGH, half=Half(8.5, (7.25, None)))) == "50 % at n = 8.5 [7.2, –]"


def test_nothing_is_claimed_of_an_agent_that_never_got_to_its_cases() -> None:
    assert shown(how_far_table([curve(*ERRORED)])) == "react  no case was judged"


def test_those_who_don_t_see_the_picture_are_told_the_same_name() -> None:
    assert in_words([curve(*WAVERING, model="gpt")]) == (
        "react, gpt: 40 % of 10 cases with 2 actions; 60 % of 10 cases with 3 actions; 60 % at 3 actions."
    )


def test_and_what_others_have_published() -> None:
    assert in_words([curve(*WAVERING)], published_levels()).split(". ")[1:] == [
        "GPT-3.5 in the PDoctor paper: 46 % with 3–5 actions (OT), under 20 % at 4",
        "GPT-4 in the PDoctor paper: 78 % with 3–5 actions (OT), under 20 % at 8",
        "PDoctor paper: other problems than these.",
    ]


def test_curves_of_one_agent_are_told_apart_by_their_runs() -> None:
    one, two, three = curve(*HIGH), curve(*LOW), curve(*LOW, model="gpt")
    one, two = (msgspec.structs.replace(each, run=run) for each, run in ((one, "abc234"), (two, "def567")))
    named = [each.agent for each in told_apart([one, two, three])]
    assert named == ["react (abc234)", "react (def567)", "react"]
