"""Plans found without search are plans, and where none is found there is none."""

from collections import Counter
from random import Random

import pytest

from misstep.core.case import World
from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.planning.judging import solver
from misstep.planning.plans.demands import selections
from misstep.planning.plans.search import find_plan
from misstep.planning.repair.arrangement import find_order
from misstep.planning.repair.reading import problem
from tests.planning.repair.readings import TOOLS, every_plan, random_reading

TWENTY = [f"t{number}" for number in range(20)]


@pytest.mark.parametrize("part", range(3))
def test_brute_force_finds_the_same(part: int) -> None:
    random, found = Random(part), Counter[bool]()
    for _ in range(250):
        drawn = random_reading(random)
        if len(drawn.tools) + sum(isinstance(c, Repeat) for c in drawn.constraints) > 6:
            continue
        plans = set(every_plan(drawn.tools, drawn.constraints))
        order = find_order(drawn.tools, drawn.constraints)
        assert order in plans if plans else order is None
        found[bool(plans)] += 1
    assert min(found.values()) > 30


def test_the_search_for_plans_finds_the_same() -> None:
    random, found = Random(7), Counter[bool]()
    for _ in range(600):
        drawn = random_reading(random)
        plans = [find_plan(demands) for demands in selections(drawn.tools, drawn.constraints, World())]
        possible = any(plan is not None for plan in plans)
        assert (find_order(drawn.tools, drawn.constraints) is not None) == possible
        found[possible] += 1
    assert min(found.values()) > 100


def test_z3_finds_the_same() -> None:
    random = Random(8)
    for _ in range(60):
        drawn = random_reading(random)
        possible = find_order(drawn.tools, drawn.constraints) is not None
        assert solver.satisfiable(problem(drawn.tools, drawn.constraints)) == ("yes" if possible else "no")


@pytest.mark.parametrize(
    "constraints",
    [
        (Before("t0", "t1"), Before("t1", "t0")),
        (Adjacent("t0", "t1"), Adjacent("t0", "t2")),
        (Adjacent("t0", "t2"), Adjacent("t1", "t2")),
        (Adjacent("t0", "t1"), Adjacent("t1", "t2"), Adjacent("t2", "t0")),
        (Adjacent("t0", "t1"), Before("t0", "t2"), Before("t2", "t1")),
        (Place("t0", "first"), Limit("t1", 1), Limit("t2", 1)),
        (Place("t0", "last"), Limit("t0", 18)),
        (Place("t0", "first"), Place("t0", "last")),
    ],
)
def test_contradictions_among_many_tools_take_no_search(constraints: tuple[Constraint, ...]) -> None:
    """Each is one that a search among twenty tools would give up on."""
    assert find_order(TWENTY, constraints) is None
    assert find_order(TWENTY, constraints[1:]) is not None


def test_the_order_given_is_kept_where_nothing_is_said() -> None:
    assert find_order(TOOLS, ()) == TOOLS
    assert find_order(TOOLS, (Before("file", "pay"),)) == ("file", "pay", "ship", "mail", "call")
    assert find_order((), ()) == ()


def test_repetitions_and_choices() -> None:
    assert find_order(("pay", "ship"), (Repeat("pay", 3), Before("pay", "ship"))) == ("pay",) * 3 + ("ship",)
    impossible = (Before("pay", "ship"), Before("ship", "pay"))
    assert find_order(("pay", "ship"), (*impossible, Choice(("pay", "ship")))) == ("pay",)
