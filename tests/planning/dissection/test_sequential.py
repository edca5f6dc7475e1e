"""The sequential method with agents that fail just where one element is, or by a rule of another kind."""

import hashlib
import re
from collections import Counter
from typing import Literal

import msgspec
import pytest

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.dissection.experiments import Laboratory
from misstep.planning.dissection.sequential import investigate
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of, where
from tests.planning.dissection.conftest import Rule, hold, some_case


def elements(case: Case) -> frozenset[Element]:
    return elements_of(take_apart(case))


def fails_on(element: Element) -> Rule:
    return lambda case: "failed" if element in elements(case) else "passed"


def shown(element: Element) -> str:
    """How a diagnosis calls it, at its beginning."""
    shown = {"terminal": "'{}'", "topic": "topic {}", "name": "the activity '{}'"}
    return shown.get(element.cause, "{}").format(element.name)


def suspects(case: Case) -> list[Element]:
    """The elements that the case can be made to lack."""
    return sorted(Laboratory(case, take_apart(case)).elements, key=str)


@pytest.mark.full
@pytest.mark.parametrize("index", range(4))
def test_whatever_is_at_fault_is_named(index: int) -> None:
    case = some_case(index)
    for element in suspects(case):
        found, _ = hold(investigate(case, 0.95, 60), fails_on(element))
        assert found.cause == element.cause
        assert shown(element) in found.guilty  # or among several that no variant tells apart
        assert {*where(take_apart(case), element)} <= {*found.sentences}


@pytest.mark.full
def test_evidence_counts_the_runs() -> None:
    case = some_case(2)
    for element in suspects(case)[::3]:
        found, asked = hold(investigate(case, 0.95, 60), fails_on(element))
        inside = sum(element in elements(each) for each in asked)
        counts = [f"{inside} of {inside}", f"0 of {len(asked) - inside}"]
        assert re.findall(r"\d+ of \d+", found.evidence) == counts


def test_who_always_fails_is_asked_too_much() -> None:
    found, asked = hold(investigate(some_case(), 0.95, 60), lambda _: "failed")
    assert (found.cause, found.guilty) == ("constraint", "any request")
    assert found.evidence == f"failed {len(asked)} of {len(asked)} runs, whatever was changed"


def test_demands_that_are_too_much_only_together() -> None:
    case = some_case(3)
    demanded = order_in(case)
    found, asked = hold(
        investigate(case, 0.95, 60), lambda each: "failed" if order_in(each) == demanded else "passed"
    )
    assert found.cause == "constraint"
    assert {order_in(each) == demanded for each in asked} == {True, False}


def order_in(case: Case) -> list[tuple[int, int]]:
    """How many actions come before and after each, whatever it is called and wherever its tool is listed."""
    pairs = {(c.first, c.then) for c in case.constraints}
    for middle in [action.id for action in case.actions]:
        pairs |= {(a, d) for a, b in pairs for c, d in pairs if b == c == middle}
    before, after = Counter(then for _, then in pairs), Counter(first for first, _ in pairs)
    return sorted((before[action.id], after[action.id]) for action in case.actions)


def test_too_many_actions_are_named_with_their_number() -> None:
    case = make_case(Suite(44, 7, 7), 1)
    found, _ = hold(
        investigate(case, 0.95, 60), lambda each: "failed" if len(each.actions) >= 6 else "passed"
    )
    assert (found.cause, found.guilty) == ("size", "6 actions or more")


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_a_coin_is_a_coin(rate: float) -> None:
    dice = Dice(8)
    found, asked = hold(
        investigate(some_case(), 0.95, 200), lambda _: "failed" if dice.chance(rate) else "passed"
    )
    assert found.cause == "probability"
    said = re.fullmatch(r"fails (\d+) % of the time, whatever changes", found.guilty)
    assert said
    assert abs(int(said[1]) / 100 - rate) < 0.2
    assert found.sentences == ()
    assert len(asked) == found.agent_runs


def test_a_word_and_a_topic_together_are_not_blamed_on_one() -> None:
    """Only where both are changed it passes: no single element does that."""
    case = some_case()
    word = Element("terminal", take_apart(case).words[0][0].one)
    topic = Element("topic", case.topic)
    found, _ = hold(
        investigate(case, 0.95, 60), lambda each: "failed" if {word, topic} & elements(each) else "passed"
    )
    assert found.cause == "undetermined"


def test_it_is_as_sure_as_it_was_asked_to_be() -> None:
    case = some_case()
    for confidence in (0.6, 0.9, 0.99):
        found, asked = hold(investigate(case, confidence, 100), fails_on(Element("topic", case.topic)))
        assert found.cause == "topic"
        assert found.confidence is not None
        assert found.confidence >= confidence
        assert found.posterior[found.cause] == found.confidence
        assert sum(found.posterior.values()) == pytest.approx(1)
        assert found.agent_runs == len(asked)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_it_never_asks_for_more_runs_than_allowed(most: int) -> None:
    case = some_case()
    for rule in (fails_on(Element("topic", case.topic)), lambda _: "errored"):
        found, asked = hold(investigate(case, 0.999, most), rule)
        assert (found.cause, found.confidence, found.agent_runs) == ("undetermined", None, len(asked))
        assert len(asked) == most


def test_what_is_left_open_comes_with_its_odds() -> None:
    case = some_case()
    found, _ = hold(investigate(case, 0.999, 4), fails_on(Element("topic", case.topic)))
    assert re.fullmatch(r"after 4 runs: topic \d+ %(, \w+ \d+ %)*", found.evidence)
    assert max(found.posterior, key=found.posterior.__getitem__) == "topic"


def test_without_any_verdict_nothing_is_determined() -> None:
    found, asked = hold(investigate(some_case(), 0.95, 60), lambda _: "inconclusive")
    assert (found.cause, found.agent_runs, len(asked)) == ("undetermined", 3, 3)
    assert found.evidence == "inconclusive three times running: For a reason."


def test_nothing_is_asked_twice_and_the_same_is_asked_again() -> None:
    case = some_case(3)
    rule = fails_on(Element("topic", case.topic))
    found, asked = hold(investigate(case, 0.99, 60), rule)
    assert len({each.id for each in asked}) == len({each.seed for each in asked}) == len(asked)
    assert hold(investigate(case, 0.99, 60), rule) == (found, asked)


def test_tools_of_one_s_own_have_no_topic_to_blame() -> None:
    tools = tuple(
        Tool(name, f"Does {name}.", {"type": "object"}) for name in ("scan", "sort", "send", "file")
    )
    case = make_case(Suite(2, 4, 4, tools=tools), 0)
    word = Element("terminal", take_apart(case).words[0][0].one)
    found, _ = hold(investigate(case, 0.95, 60), fails_on(word))
    assert (found.cause, found.posterior["topic"]) == ("terminal", 0.0)


def test_a_case_in_other_words_is_refused_at_once() -> None:
    foreign = msgspec.structs.replace(some_case(), query="Do as you like.")
    with pytest.raises(UsageError, match="can't be taken apart"):
        investigate(foreign, 0.95, 60)


@pytest.mark.full(after=2)
@pytest.mark.parametrize("index", range(6))
def test_an_agent_that_never_passes_the_same_request_does_not_fail_by_chance(index: int) -> None:
    """It fails on about half of all requests, by a rule that nobody suspects: deterministic, like a coin."""
    case = some_case(index)

    def rule(each: Case) -> Literal["passed", "failed"]:
        digest = hashlib.sha256(each.query.encode()).digest()
        return "failed" if each.query == case.query or digest[0] % 2 else "passed"

    found, asked = hold(investigate(case, 0.95, 60), rule)
    assert found.cause != "probability"
    assert all(rule(each) == "failed" for each in asked if each.query == case.query)


@pytest.mark.full
def test_chance_is_named_only_after_the_same_case_has_passed() -> None:
    named = [chance_was_named(seed) for seed in range(10)]
    assert sum(named) >= 8  # now and then a coin looks like something else


def chance_was_named(seed: int) -> bool:
    case, dice, passed = some_case(seed), Dice(seed), set[bool]()

    def coin(each: Case) -> Literal["passed", "failed"]:
        fails = dice.chance(0.5)
        if each.query == case.query:
            passed.add(not fails)
        return "failed" if fails else "passed"

    found, _ = hold(investigate(case, 0.95, 200), coin)
    assert found.cause != "probability" or True in passed
    return found.cause == "probability"
