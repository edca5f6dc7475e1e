"""Which of several correct plans an example shows."""

from itertools import permutations

import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import FAMILIES, Family, Window
from misstep.core.transcript import Call, Transcript
from misstep.planning.admission.wall import admit
from misstep.planning.judging.check import judge
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.training.examples import demonstrate_case
from misstep.planning.training.solutions import solve_case
from misstep.planning.world.mock import MockWorld

TOLD_BEFOREHAND: tuple[tuple[Family, ...], ...] = (("order",), ("adjacent",), ("order", "adjacent"))


@pytest.mark.parametrize("distractors", [0, 2])
@pytest.mark.parametrize("families", TOLD_BEFOREHAND, ids="-".join)
def test_the_plan_is_the_first_of_all_correct_ones_as_tools_are_listed(
    families: tuple[Family, ...], distractors: int
) -> None:
    for index in range(25):
        case = make_case(Suite(3, 3, 5, families=families, distractors=distractors), index)
        needed = {action.tool for action in case.actions}
        listed = [tool.name for tool in MockWorld(case).tools if tool.name in needed]
        first = next(order for order in permutations(listed) if _is_correct(case, order))
        assert tuple(call.tool for call in solve_case(case) or ()) == first


def _is_correct(case: Case, order: tuple[str, ...]) -> bool:
    transcript = Transcript(case.id, tuple(Call(tool) for tool in order))
    return judge(case, transcript).verdict == "passed"


def test_a_witness_of_somebody_else_is_not_what_is_shown() -> None:
    case = make_case(Suite(0, 4, 4), 0)
    bare = Case(case.version, "x", 0, "", case.query, case.actions, case.constraints)
    assert solve_case(admit(bare)) == solve_case(case)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_plan_is_that_of_the_case_itself(family: Family) -> None:
    for index in range(10):
        case = make_case(Suite(1, 4, 6, families=(family,)), index)
        if case.solution:
            calls = solve_case(case) or ()
            assert [(call.tool, call.arguments) for call in calls] == [
                (planned.tool, planned.arguments) for planned in case.solution
            ]


def test_a_case_that_takes_luck_has_no_example() -> None:
    """Nobody is told that the first action takes too long for the second to start in time."""
    actions = tuple(Action(name, name, name) for name in ("a1", "a2"))
    windows = tuple(Window(action.id, "start", "before", 600) for action in actions)
    world = World(day=(540, 1080), durations={"a1": 90, "a2": 30})
    case = admit(Case(CASE_VERSION, "x", 0, "", "", actions, windows, world=world))
    assert solve_case(case) is None
    assert demonstrate_case(case, "") is None
