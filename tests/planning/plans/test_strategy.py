"""The strategist on problems made by hand, and on all that can be drawn: what can be solved, it solves."""

import pytest

from misstep.core.case import World
from misstep.core.constraint import (
    FAMILIES,
    Before,
    Choice,
    Condition,
    Constraint,
    Family,
    Handover,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.rng import Dice
from misstep.planning.plans.search import survey
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.plot import IDS, Plot
from misstep.planning.synthesis.problems import draft_plot, least_actions, rehearse

DAY = (540, 1080)


def calls(size: int, *constraints: Constraint, **world: object) -> list[str] | None:
    """What the strategist calls, with the times that it says."""
    solution = rehearse(IDS[:size], constraints, World(**world))  # type: ignore[arg-type]
    if solution is None:
        return None
    return [" ".join([call.tool, *map(str, call.arguments.values())]) for call in solution]


def test_it_notices_its_own_overrun_and_starts_over() -> None:
    windows = Window("a1", "start", "before", 545), Window("a2", "end", "before", 600)
    durations = {"a1": 30, "a2": 60}
    late = calls(2, *windows, day=DAY, durations=durations, attempts=3)
    assert late is None  # whatever comes first, the other is late
    windows = Window("a1", "start", "before", 600), Window("a2", "end", "before", 610)
    assert calls(2, *windows, day=DAY, durations={"a1": 60, "a2": 60}, attempts=2) == [
        "a1 09:00",
        "a2 10:00",
        "start_over",
        "a2 09:00",
        "a1 10:00",
    ]
    assert calls(2, *windows, day=DAY, durations={"a1": 60, "a2": 60}, attempts=1) is None


def test_it_waits_for_a_window() -> None:
    assert calls(1, Window("a1", "start", "after", 600), day=DAY, durations={"a1": 15}) == ["a1 10:00"]


def test_it_hands_on_what_was_returned_last() -> None:
    handed = Handover("a1", "a2", "code")
    values = {"a1": {"code": ("X", "Y")}}
    assert calls(2, handed, values=values) == ["a1", "a2 X"]
    assert calls(2, handed, Repeat("a1", 2), Before("a1", "a2"), values=values) == ["a1", "a1", "a2 Y"]


def test_it_asks_for_prices_and_chooses_what_can_be_paid_for() -> None:
    costs = {"a1": 50, "a2": 20, "a3": 5}
    assert calls(3, Choice(("a1", "a2")), Spend(30), costs=costs) == [
        "ask_price a1",
        "ask_price a2",
        "ask_price a3",
        "a2",
        "a3",
    ]


@pytest.mark.parametrize(("found", "expected"), [(True, ["a1", "a2"]), (False, ["a1", "a3"])])
def test_it_takes_the_branch_that_a_report_calls_for(found: bool, expected: list[str]) -> None:
    assert calls(3, Condition("a1", "a gap", "a2", "a3"), findings={"a1": found}) == expected


def test_it_is_ready_for_a_branch_that_something_waits_for() -> None:
    asked = Condition("a2", "a gap", "a3"), Before("a3", "a1")
    assert calls(3, *asked, findings={"a2": True}) == ["a2", "a3", "a1"]


def test_it_tries_again_and_takes_a_substitute() -> None:
    assert calls(2, failures={"a1": 2}, retries=3) == ["a1", "a1", "a1", "a2"]
    replaced = StandIn("a1", "a3"), Before("a1", "a2")
    assert calls(3, *replaced, broken=("a1",)) == ["a1", "a3", "a2"]


def test_a_substitute_reports_in_the_place_of_another() -> None:
    asked = Condition("a1", "a gap", "a2"), StandIn("a1", "a3")
    assert calls(3, *asked, broken=("a1",), findings={"a1": True}) == ["a1", "a3", "a2"]


def test_it_heeds_what_is_announced() -> None:
    announced = Before("a3", "a2", announced="a1")
    assert calls(3, announced, announcements={"a1": "…"}) == ["a1", "a3", "a2"]


MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES),
    ("order", "adjacent", "repeat"),
    ("order", "choice", "budget", "dynamic"),
    tuple(family for family in FAMILIES if family != "time"),
]


def plots(families: tuple[Family, ...], count: int) -> list[Plot]:
    """Whatever is drawn, solvable or not."""
    dice, drawn = Dice(3), list[Plot]()
    while len(drawn) < count:
        plot = Plot(least_actions(families) + dice.below(3), Recipe(), dice)
        if draft_plot(plot, families):
            drawn.append(plot)
    return drawn


@pytest.mark.parametrize("families", [m for m in MIXTURES if "time" not in m])
def test_what_can_be_solved_is_solved(families: tuple[Family, ...]) -> None:
    for plot in plots(families, 150):
        actions, constraints = IDS[: plot.size], plot.constraints()
        solvable = bool(survey(actions, constraints, plot.world).witness)
        assert (rehearse(actions, constraints, plot.world) is not None) == solvable


@pytest.mark.parametrize("families", [("time",), ("order", "time"), FAMILIES])
def test_few_timed_problems_take_more_attempts_than_there_are(families: tuple[Family, ...]) -> None:
    drawn = plots(families, 150)
    solvable = [p for p in drawn if survey(IDS[: p.size], p.constraints(), p.world).witness]
    solved = [p for p in solvable if rehearse(IDS[: p.size], p.constraints(), p.world) is not None]
    assert len(solved) >= 0.9 * len(solvable) > 100
