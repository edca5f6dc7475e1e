"""Describes in words what was found out about a failure: guilty elements, evidence, places in the text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import comb
from typing import assert_never

import msgspec

from misstep.core.constraint import Before
from misstep.core.outcome import Outcome
from misstep.core.results.diagnosis import Cause
from misstep.planning.dissection.hypotheses import (
    CHANCE,
    SAME_DEMANDS,
    AllDemands,
    Condition,
    ConstantRate,
    ElementHistory,
    Fragile,
    Guilty,
    Hopeless,
    Hypothesis,
    Several,
    expected,
)
from misstep.planning.language.requests import listed
from misstep.planning.plans.order import Order
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.elements import Element, where
from misstep.planning.variation.positions import TOOL_LIST
from misstep.planning.variation.shapes import SHAPES, told_order


def name_shape(shape: str, anatomy: Anatomy, failures: Iterable[Outcome]) -> str:
    """A shape with the actions of one occurrence: the one that was broken most in these failures."""
    numbers = {action.id: number for number, action in enumerate(anatomy.actions)}
    broken = Counter[frozenset[int]]()
    for outcome in failures:
        for said in [outcome.case.constraints[index] for index in outcome.verdict.violated]:
            if isinstance(said, Before):
                broken[frozenset([numbers[said.first], numbers[said.then]])] += 1
    triple = max(
        occurrences(shape, told_order(anatomy.paragraph, len(anatomy.actions))),
        key=lambda triple: sum([broken[frozenset(pair)] for pair in combinations(triple, 2)]),
    )
    one, two, three = [f"the {anatomy.names[number]}" for number in triple]
    told = {
        "chain": f"{one} before {two} before {three}",
        "join": f"{one} and {two} before {three}",
        "fork": f"{three} before {one} and {two}",
    }
    return f"{shape}: {told[shape]}"


def occurrences(shape: str, order: Order) -> Iterator[tuple[int, int, int]]:
    """Every chain, first to last; for joins and forks, two unordered actions and the one they share."""
    if shape == "chain":
        for i, j, k in permutations(range(order.size), 3):
            if order.implies(i, j) and order.implies(j, k):
                yield i, j, k
        return
    for i, j in combinations(range(order.size), 2):
        shared = order.after[i] & order.after[j] if shape == "join" else order.before[i] & order.before[j]
        if not order.implies(i, j) and not order.implies(j, i):
            yield from ((i, j, k) for k in range(order.size) if shared >> k & 1)


_SHOWS = 0.9  # how often a misread element leads to a violation of the sentence it is in


def weigh_places(anatomy: Anatomy, suspects: Iterable[Element], outcome: Outcome) -> dict[Element, float]:
    """How much more likely each suspect makes it that exactly these sentences were broken.

    Without the suspect, every set of that many sentences of the same kind is equally likely; if the suspect
    caused the failure, it most probably broke a sentence that it is in. If all are broken, or it is in all or
    in none, that says nothing.
    """
    constraints = outcome.case.constraints
    breaches = [constraints[index] for index in outcome.verdict.violated]
    kinds = {type(breach) for breach in breaches}  # breaking an order does not imply a near miss of a window
    demanding = {constraint.sentence for constraint in constraints if type(constraint) in kinds} - {None}
    broken = {breach.sentence for breach in breaches} - {None}
    found = dict[Element, float]()
    for element in suspects:
        if element.cause == "topic" or element == SAME_DEMANDS:
            continue
        places = demanding.intersection(where(anatomy, element))
        missed = comb(len(demanding) - len(places), len(broken)) / comb(len(demanding), len(broken))
        if 0 < missed < 1:
            found[element] = _SHOWS / (1 - missed) if places & broken else (1 - _SHOWS) / missed
    return found


_MOST_NAMES = 3
_WORTH_TELLING = 0.05


class VariantRun(msgspec.Struct, frozen=True):
    """A run that passed or failed, the elements of the failed case in it, and those that were avoided."""

    condition: Condition
    outcome: Outcome
    avoid: frozenset[Element] = frozenset()

    @property
    def failed(self) -> bool:
        return self.outcome.verdict.verdict == "failed"


def name_guilty(accused: Sequence[Hypothesis], anatomy: Anatomy, runs: Sequence[VariantRun]) -> str:
    """What is at fault; several names if they could not be told apart."""
    names = [_name(hypothesis, anatomy, runs) for hypothesis in accused[:_MOST_NAMES]]
    return " or ".join([*names, "something else"] if len(accused) > _MOST_NAMES else names)


def find_sentences(accused: Sequence[Hypothesis], anatomy: Anatomy) -> tuple[int, ...]:
    if AllDemands() in accused:
        return tuple(range(len(anatomy.paragraph)))
    elements = [hypothesis.element for hypothesis in accused if isinstance(hypothesis, Guilty)]
    return tuple(sorted({number for element in elements for number in where(anatomy, element)}))


def give_evidence(
    hypothesis: Hypothesis,
    runs: Sequence[VariantRun],
    original: Condition,
    history: ElementHistory | None = None,
) -> str:
    """The evidence for a hypothesis; `original` is what the failed case contains, `history` its run."""
    match hypothesis:
        case Guilty(element):
            inside, outside = _parted(runs, lambda run: element in run.condition)
            within, without = _sides(element)
            seen = f"failed {_count(inside)} runs {within}, {_count(outside)} {without}"
            failed, passed = history.record(element) if history else (0, 0)
            if failed + passed:
                seen += f"; in the run itself {failed} of {failed + passed} other cases with it"
            return seen
        case AllDemands():
            same, other = _parted(runs, lambda run: SAME_DEMANDS in run.condition)
            return f"failed {_count(same)} runs with the same constraints, {_count(other)} with others"
        case Hopeless():
            return f"failed {_count(runs)} runs, whatever was changed"
        case ConstantRate() | Several() | Fragile():
            same, changed = _parted(runs, lambda run: run.condition == original)
            return f"failed {_count(same)} runs of the same case, {_count(changed)} with something changed"
        case _:
            assert_never(hypothesis)


def give_contradiction(hypothesis: Hypothesis, fails: bool, about: str, runs: Sequence[VariantRun]) -> str:
    """Why a cause that fits everything else is not named: `runs` are those that should have confirmed it."""
    suspect: str = hypothesis.cause
    if isinstance(hypothesis, Guilty):
        suspect = f"{hypothesis.element.cause} {hypothesis.element.name!r}"
    if not runs:
        return f"{suspect} fits, but it was not tried {about}"
    passed = sum([not run.failed for run in runs])
    seen = f"passed {passed} of {len(runs)}" if fails else f"failed {_count(runs)}"
    return f"{suspect} fits, but it {seen} runs {about}: something else contributes"


def give_odds(causes: Mapping[Cause, float], runs: int) -> str:
    """How far an undecided cause has been narrowed down."""
    likely = sorted(causes.items(), key=lambda item: -item[1])
    told = [f"{cause} {100 * share:.0f} %" for cause, share in likely if share >= _WORTH_TELLING]
    return f"after {runs} runs: {', '.join(told)}"


def _name(hypothesis: Hypothesis, anatomy: Anatomy, runs: Sequence[VariantRun]) -> str:
    match hypothesis:
        case AllDemands():
            return "all constraints together"
        case Hopeless():
            return "any request"
        case ConstantRate():
            failed = sum(run.failed for run in runs)
            rate = expected(CHANCE, failed + 1, len(runs) - failed)  # with the first failure
            return f"fails {100 * rate:.0f} % of the time, whatever changes"
        case Several() | Fragile():
            return ""
        case Guilty(Element("terminal", phrase)):
            return f"'{phrase}'"
        case Guilty(Element("topic", topic)):
            return f"topic {topic}"
        case Guilty(Element("constraint", shape)) if shape in SHAPES:
            same = [run.outcome for run in runs if run.failed and SAME_DEMANDS in run.condition]
            return name_shape(shape, anatomy, same)
        case Guilty(Element("name", activity)):
            return f"the activity '{activity}'"
        case Guilty(Element("size" | "position", name)):
            return name
        case Guilty(element):
            numbers = [str(number + 1) for number in where(anatomy, element)]
            noun = "sentence" if len(numbers) == 1 else "sentences"
            return f"{element.name} ({noun} {listed(numbers)})" if numbers else element.name
        case _:
            assert_never(hypothesis)


def _sides(element: Element) -> tuple[str, str]:
    match element:
        case Element("topic", name):
            return f"on topic {name}", "on others"
        case Element("terminal" | "name", name):
            return f"with '{name}'", "without it"
        case Element("size", name):
            return f"with {name}", "with fewer"
        case Element("position", name) if name == TOOL_LIST:
            return "with tools that are not listed as a plan", "with tools that are"
        case Element("position", name):
            return f"with a demand in {name}", "with none there"
        case _:
            return f"with {element.name}", "without it"


def _parted(
    runs: Sequence[VariantRun], holds: Callable[[VariantRun], bool]
) -> tuple[list[VariantRun], list[VariantRun]]:
    return [run for run in runs if holds(run)], [run for run in runs if not holds(run)]


def _count(runs: Sequence[VariantRun]) -> str:
    return f"{sum(run.failed for run in runs)} of {len(runs)}"
