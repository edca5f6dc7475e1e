"""Measures of difficulty against what they are defined to be, found by brute force."""

from itertools import combinations, permutations

import pytest

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import FAMILIES, Adjacent, Before, Condition, Constraint, Family, Handover
from misstep.core.outcome import Call, Transcript
from misstep.errors import UsageError
from misstep.planning.difficulty import measure, parse_bounds
from misstep.planning.judging.check import judge
from misstep.planning.synthesis.suite import Suite, make_case

NAMES = ("audit", "briefing", "count", "drill")


def case(text: str, *constraints: Constraint) -> Case:
    actions = tuple(Action(name[0], name, name) for name in NAMES)
    return Case(CASE_VERSION, "x", 0, "t", text, actions, constraints, sentences=(text,))


def test_by_hand() -> None:
    text = "The drill follows the count, the briefing follows the audit."
    hard = measure(case(text, Before("c", "d"), Before("a", "b")))
    assert (hard.actions, hard.constraints, hard.chain, hard.reading) == (4, 2, 2, 2)
    assert hard.tokens == len(text) / 4
    straight = measure(case("The audit, the briefing, the count, the drill.", Before("a", "d")))
    assert (straight.chain, straight.reading) == (2, 0)
    assert measure(case("The audit.", Before("a", "b"), Before("b", "c"), Before("c", "d"))).chain == 4


@pytest.mark.parametrize(
    "families", [("order",), ("order", "data"), ("order", "adjacent"), ("order", "repeat")]
)
def test_reading_is_the_fewest_pairs_that_have_to_be_swapped(families: tuple[Family, ...]) -> None:
    for index in range(40):
        made = make_case(Suite(9, 4, 4, families=families), index)
        text = " ".join(made.sentences).lower()
        mentioned = sorted(made.actions, key=lambda action: text.index(f"the {action.name}"))
        places = {action.id: place for place, action in enumerate(mentioned)}
        firsts = [tuple(dict.fromkeys(plan)) for plan in correct_plans(made)]
        best = min(sum(places[a] > places[b] for a, b in combinations(plan, 2)) for plan in firsts)
        assert measure(made).reading == best, made.id


def correct_plans(made: Case) -> list[tuple[str, ...]]:
    """Every order of the calls of a correct plan that is correct as well; values are handed on as they come."""
    tools = {action.id: action.tool for action in made.actions}
    found = []
    for plan in sorted(set(permutations(made.witness))):
        calls = tuple(
            Call(tools[action], arguments(made, plan[:place], action)) for place, action in enumerate(plan)
        )
        if judge(made, Transcript(made.id, calls)).verdict == "passed":
            found.append(plan)
    return found


def arguments(made: Case, done: tuple[str, ...], action: str) -> dict[str, object]:
    handed = [c for c in made.constraints if isinstance(c, Handover) and c.taker == action]
    series = {c.parameter: made.world.values[c.giver][c.parameter] for c in handed}
    times = {c.parameter: done.count(c.giver) for c in handed}
    return {name: values[max(0, min(times[name], len(values)) - 1)] for name, values in series.items()}


def longest_chain(made: Case) -> int:
    """The longest list of actions of which each has to come before the next."""
    pairs = set[tuple[str, str]]()
    for constraint in made.constraints:
        match constraint:
            case Before(first, then) | Adjacent(first, then) | Handover(first, then):
                pairs.add((first, then))
            case Condition(asks, _, then, otherwise):
                pairs |= {(asks, then), (asks, otherwise)}
    ids = [action.id for action in made.actions]

    def from_(action: str) -> int:
        return 1 + max((from_(then) for first, then in pairs if first == action and then in ids), default=0)

    return max(map(from_, ids))


@pytest.mark.parametrize("families", [("order",), ("time",), ("data", "choice"), FAMILIES])
def test_the_chain_is_the_longest_there_is(families: tuple[Family, ...]) -> None:
    for index in range(40):
        made = make_case(Suite(4, 6, 8, families=families), index)
        assert measure(made).chain == longest_chain(made)
        assert measure(made).chance == made.chance


def test_bounds() -> None:
    hard = measure(case("The audit.", Before("a", "b")))
    assert all(
        bound.admits(hard) for bound in parse_bounds(["chain=2", "actions >= 4", "chance<0.1", "tokens<=3"])
    )
    assert not any(bound.admits(hard) for bound in parse_bounds(["chain>2", "actions<4", "constraints=0.5"]))


@pytest.mark.parametrize(
    "text", ["", "chain", "chain>=", ">=3", "chain=>3", "chain>=three", "chain>=-1", "chain>=1e3"]
)
def test_what_is_no_bound(text: str) -> None:
    with pytest.raises(UsageError, match="invalid"):
        parse_bounds([text])
