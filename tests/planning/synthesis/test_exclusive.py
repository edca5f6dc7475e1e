"""What is never carried out together is never said together, and whatever is said can be got wrong."""

import re
from collections.abc import Iterator
from itertools import combinations, permutations, product

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.constraint import (
    FAMILIES,
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Family,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.rng import Dice
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import assemble, take_apart
from misstep.planning.variation.mutations import rephrase
from misstep.planning.world.simulator import Deed, History
from tests.planning.judging import semantics
from tests.tiers import examples

MIXTURES: list[tuple[Family, ...]] = [
    ("choice",),
    ("budget",),
    ("dynamic",),
    ("adjacent",),
    ("repeat",),
    ("order", "choice"),
    ("order", "budget"),
    ("order", "dynamic"),
    ("order", "time", "choice"),
    ("data", "choice", "dynamic"),
    ("order", "choice", "repeat"),
    ("order", "adjacent", "repeat"),
    ("order", "choice", "budget", "dynamic"),
    FAMILIES,
]
EACH = 200
JOIN = re.compile(r"; |, (?:and|but|yet|while|whereas) ")
BOUND = Before | Adjacent | Place | Limit | Spend  # by more than what has to be carried out at all


def made(families: tuple[Family, ...], count: int = EACH, high: int = 6, **recipe: float) -> Iterator[Case]:
    low = least_actions(families)
    suite = Suite(23, low, max(low, high), families=families, recipe=Recipe(**recipe))  # type: ignore[arg-type]
    return (make_case(suite, index) for index in range(count))


def possible_sets(case: Case, paid: bool = True) -> list[tuple[dict[str, bool], frozenset[str]]]:
    """By brute force: what tasks may report, with each set of actions that is then permitted."""
    ids = [action.id for action in case.actions]
    asks = sorted({c.asks for c in case.constraints if isinstance(c, Condition)})
    found = list[tuple[dict[str, bool], frozenset[str]]]()
    for size in range(len(ids) + 1):
        for chosen in map(frozenset, combinations(ids, size)):
            for reported in product((True, False), repeat=len(asks)):
                findings = dict(zip(asks, reported, strict=True))
                if is_permitted(case, chosen, findings, paid):
                    found.append((findings, chosen))
    return found


def is_permitted(case: Case, chosen: frozenset[str], findings: dict[str, bool], paid: bool) -> bool:
    optional, costs = set[str](), case.world.costs
    times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
    for c in case.constraints:
        match c:
            case Choice(options):
                optional |= {*options}
                if len(chosen & {*options}) != 1:
                    return False
            case Condition(asked, _, then, otherwise):
                optional |= {then, otherwise}
                if (then in chosen) != findings[asked]:
                    return False
                if otherwise and (otherwise in chosen) == findings[asked]:
                    return False
            case StandIn(_, by):  # which is carried out as the action that it stands in for
                optional.add(by)
                if by in chosen:
                    return False
            case Spend(most):
                if paid and sum(costs[action] * times.get(action, 1) for action in chosen) > most:
                    return False
    return all(action.id in chosen or action.id in optional for action in case.actions)


def apart(case: Case) -> set[frozenset[str]]:
    """Pairs that are in no set together; who stands in for another goes with nothing."""
    together = {frozenset(pair) for _, chosen in possible_sets(case) for pair in combinations(chosen, 2)}
    pairs = map(frozenset, combinations([action.id for action in case.actions], 2))
    return {pair for pair in pairs if pair not in together}


def clauses(case: Case) -> Iterator[tuple[str, set[str]]]:
    """Each clause of the text, announcements too, but for those that say what is exclusive, with its actions."""
    ids = {action.name.lower(): action.id for action in case.actions}
    longest = sorted(ids, key=len, reverse=True)
    named = re.compile(rf"\bthe ({'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)
    exclusive = {c.sentence for c in case.constraints if isinstance(c, Choice | Condition | StandIn)}
    said = [text for number, text in enumerate(case.sentences) if number not in exclusive]
    for sentence in [*said, *case.world.announcements.values()]:
        for clause in JOIN.split(sentence):
            yield clause, {ids[name.lower()] for name in named.findall(clause)}


def pairs_of(constraint: Constraint) -> list[frozenset[str]]:
    """Actions that a constraint relates."""
    match constraint:
        case Before(first, then, _, announced):
            return [frozenset(pair) for pair in combinations({first, then, announced} - {""}, 2)]
        case Adjacent(first, then) | Handover(first, then):
            return [frozenset({first, then})]
        case _:
            return []


@pytest.mark.both
@pytest.mark.parametrize("families", MIXTURES)
def test_what_is_never_carried_out_together_is_never_said_together(families: tuple[Family, ...]) -> None:
    for case in made(families, examples(EACH), redundancy=0.3, relative=0.4):
        never = apart(case)
        for constraint in case.constraints:
            assert never.isdisjoint(pairs_of(constraint)), (case.id, constraint)
        for clause, actions in clauses(case):
            named = set(map(frozenset, combinations(actions, 2)))
            assert never.isdisjoint(named), (case.id, clause)


@pytest.mark.both
@pytest.mark.parametrize("families", MIXTURES)
def test_every_constraint_can_bind(families: tuple[Family, ...]) -> None:
    for case in made(families, examples(EACH), high=5):
        waiting = [c for c in case.constraints if isinstance(c, BOUND)]
        for broken in plans(case):
            waiting = [c for c in waiting if not broken_alone(c, broken)]
            if not waiting:
                break
        assert not waiting, (case.id, waiting)
        assert all(can_be_missed(case, c) for c in case.constraints if isinstance(c, Window))


def plans(case: Case) -> Iterator[list[Constraint]]:
    """What is broken by each order of everything that is due, however much that costs."""
    times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
    stands_in = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
    bound = [c for c in case.constraints if isinstance(c, BOUND)]
    for findings, chosen in possible_sets(case, paid=False):
        supposed = msgspec.structs.replace(case, world=msgspec.structs.replace(case.world, findings=findings))
        units = [action for action in sorted(chosen) for _ in range(times.get(action, 1))]
        for order in dict.fromkeys(permutations(units)):
            deeds = [
                Deed(action, step, by=stands_in.get(action, "") if action in case.world.broken else "")
                for step, action in enumerate(order, 1)
            ]
            history = History(tuple(deeds))
            yield [c for c in bound if not semantics.holds(c, history, supposed)]


def broken_alone(constraint: Constraint, broken: list[Constraint]) -> bool:
    """Whether nothing else is broken; of what is plainly ordered, one thing may follow from the others."""
    if is_plain(constraint):
        broken = [other for other in broken if other is constraint or not is_plain(other)]
    return broken == [constraint]


def is_plain(constraint: Constraint) -> bool:
    return isinstance(constraint, Before) and not constraint.announced


def can_be_missed(case: Case, window: Window) -> bool:
    """Whether there is a time within the day at which the action would not keep to it."""
    assert case.world.day
    stands_in = [c.by for c in case.constraints if isinstance(c, StandIn) and c.action in case.world.broken]
    tool = stands_in[0] if window.action in case.world.broken else window.action
    lasts, (dawn, dusk) = case.world.durations[tool], case.world.day
    moments = [start + (lasts if window.edge == "end" else 0) for start in range(dawn, dusk - lasts + 1)]
    return any(m < window.time if window.bound == "after" else m > window.time for m in moments)


@pytest.mark.parametrize("families", [("order", "choice"), ("order", "choice", "dynamic")])
def test_nor_where_a_request_is_told_in_other_sentences(families: tuple[Family, ...]) -> None:
    for case in made(families, 60):
        retold = assemble(rephrase(take_apart(case), Dice(case.seed)))
        assert retold is not None
        never = apart(retold)
        for clause, actions in clauses(retold):
            named = set(map(frozenset, combinations(actions, 2)))
            assert never.isdisjoint(named), (case.id, clause)


def test_what_is_repeated_on_purpose_follows_even_if_something_is_left_out() -> None:
    """A and C are not in order just because A comes before B and B before C: B may be left out."""
    repeated = 0
    for case in made(("order", "choice"), high=5, redundancy=1.0):
        again = [c for c in case.constraints if c.sentence in case.redundant]
        repeated += len(again)
        for broken in plans(case):
            assert len(broken) != 1 or broken[0] not in again, (case.id, broken)
    assert repeated > 50
