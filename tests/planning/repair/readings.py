"""Readings drawn at random, and by brute force every plan for them: the definition that the rest is held against."""

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from random import Random

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.planning.repair.reading import Need, ReadingRule, RequestReading, problem, why_senseless
from misstep.planning.world.simulator import Deed, History
from tests.planning.judging import semantics

TOOLS = ("pay", "ship", "mail", "call", "file")


def reading(tools: Sequence[str], *constraints: Constraint) -> RequestReading:
    needs = tuple(Need(tool, f"words about {tool}") for tool in tools)
    return RequestReading(needs, tuple(ReadingRule(each, f"rule {i}") for i, each in enumerate(constraints)))


def random_reading(random: Random, most: int = 5) -> RequestReading:
    """Sense is all that it makes: most readings of several constraints contradict themselves."""
    while True:
        tools = random.sample(TOOLS, random.randint(2, most))
        drawn = [_constraint(tools, random) for _ in range(random.randint(0, 6))]
        constraints = list(dict.fromkeys(drawn))
        if not why_senseless(tools, constraints):
            return reading(tools, *constraints)


def _constraint(tools: list[str], random: Random) -> Constraint:
    one, other = random.sample(tools, 2)
    kinds: list[Constraint] = [
        *[Before(one, other)] * 4,
        Adjacent(one, other),
        Place(one, random.choice(("first", "last"))),
        Choice(tuple(sorted(random.sample(tools, random.randint(2, min(3, len(tools))))))),
        Repeat(one, 2),
        Limit(one, random.randint(1, 3)),
    ]
    return random.choice(kinds)


def every_plan(tools: Sequence[str], constraints: Sequence[Constraint]) -> Iterator[tuple[str, ...]]:
    """All plans, by what constraints mean."""
    case = problem(tools, constraints)
    times = {c.action: c.times for c in constraints if isinstance(c, Repeat)}
    choices = [c.options for c in constraints if isinstance(c, Choice)]
    for chosen in product(*choices):
        dropped = {option for options in choices for option in options} - {*chosen}
        due = [tool for tool in tools if tool not in dropped for _ in range(times.get(tool, 1))]
        for order in sorted(set(permutations(due))):
            history = history_of(order)
            if not semantics.lost(case, history) and all(
                semantics.holds(c, history, case) for c in constraints
            ):
                yield order


def history_of(order: Sequence[str]) -> History:
    deeds = tuple(Deed(tool, step) for step, tool in enumerate(order, 1))
    return History(deeds, calls_of={tool: order.count(tool) for tool in order})
