"""Which of several correct plans an example shows."""

from itertools import count, islice, permutations, product

import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    FAMILIES,
    Before,
    Choice,
    Condition,
    Family,
    Handover,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Transcript
from misstep.planning.admission.validation import validate_case
from misstep.planning.judging.check import judge
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.training import demonstrate_case, is_foreseeable, solve_case
from misstep.planning.world.mock import MockWorld

TOLD_BEFOREHAND: tuple[tuple[Family, ...], ...] = (
    ("order",),
    ("adjacent",),
    ("repeat",),
    ("choice",),
    ("order", "adjacent"),
    ("order", "choice", "repeat"),
)


@pytest.mark.full(after=5)
@pytest.mark.parametrize("distractors", [0, 2])
@pytest.mark.parametrize("families", TOLD_BEFOREHAND, ids="-".join)
def test_the_plan_is_the_first_of_all_correct_ones_as_tools_are_listed(
    families: tuple[Family, ...], distractors: int
) -> None:
    """With the options that are named first, as far as there is a plan with them."""
    suite = Suite(3, 3, 4, families=families, distractors=distractors)
    made = (make_case(suite, index) for index in count())
    for case in islice(filter(is_foreseeable, made), 20):
        tools = {action.id: action.tool for action in case.actions}
        listed = [tool.name for tool in MockWorld(case).tools]
        choices = [c.options for c in case.constraints if isinstance(c, Choice)]
        times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
        first = next(
            order
            for chosen in product(*choices)
            for order in permutations(
                sorted(
                    [
                        tools[action]
                        for action in tools
                        if not any(action in options and action not in chosen for options in choices)
                        for _ in range(times.get(action, 1))
                    ],
                    key=listed.index,
                )
            )
            if _is_correct(case, order)
        )
        assert tuple(call.tool for call in solve_case(case) or ()) == first


def _is_correct(case: Case, order: tuple[str, ...]) -> bool:
    transcript = Transcript(case.id, tuple(Call(tool) for tool in order))
    return judge(case, transcript).verdict == "passed"


def test_a_witness_of_somebody_else_is_not_what_is_shown() -> None:
    case = make_case(Suite(0, 4, 4), 0)
    bare = Case(case.version, "x", 0, "", case.query, case.actions, case.constraints)
    assert solve_case(validate_case(bare)) == solve_case(case)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_plan_is_that_of_the_case_itself(family: Family) -> None:
    for index in range(10):
        case = make_case(Suite(1, 4, 6, families=(family,)), index)
        if case.solution:
            calls = solve_case(case) or ()
            assert [(call.tool, call.arguments) for call in calls] == [
                (planned.tool, planned.arguments) for planned in case.solution
            ]


def test_what_can_be_planned_before_the_first_call() -> None:
    actions = tuple(Action(name, name, name) for name in ("a1", "a2", "a3"))
    plain = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, (Before("a1", "a2"), Repeat("a3", 2))))
    assert is_foreseeable(plain)
    for constraint, world in (
        (StandIn("a1", "a3"), World()),  # whether it is out of service shows only in its result
        (Handover("a1", "a2", "code"), World(values={"a1": {"code": ("x",)}})),
        (Condition("a1", "a gap", "a2"), World(findings={"a1": True})),
        (Spend(90), World(costs={"a1": 10, "a2": 20, "a3": 30})),
        (Before("a1", "a2", announced="a3"), World(announcements={"a3": "Do it."})),
        (Before("a1", "a2"), World(failures={"a1": 1}, retries=3)),
        (Before("a1", "a2"), World(retries=3)),  # it might fail
        (Before("a1", "a2"), World(day=(480, 1200), durations={"a1": 10, "a2": 10, "a3": 10})),
    ):
        case = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, (constraint,), world=world))
        assert not is_foreseeable(case), constraint
        assert demonstrate_case(case, "", one_shot=True) is None
        assert demonstrate_case(case, "") is not None


def test_a_case_that_takes_luck_has_no_example() -> None:
    """Nobody is told that the first action takes too long for the second to start in time."""
    actions = tuple(Action(name, name, name) for name in ("a1", "a2"))
    windows = tuple(Window(action.id, "start", "before", 600) for action in actions)
    world = World(day=(540, 1080), durations={"a1": 90, "a2": 30})
    case = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, windows, world=world))
    assert solve_case(case) is None
    assert demonstrate_case(case, "") is None
