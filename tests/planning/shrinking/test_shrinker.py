"""The search for the smallest problem, driven by agents that are nothing but a rule."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.outcome import ErrorKind, Judgement, Outcome, Transcript, Verdict
from misstep.core.results.diagnosis import Reduction
from misstep.core.rng import Dice, derive_seed
from misstep.core.run import Inquiry
from misstep.errors import UsageError
from misstep.planning.shrinking.shrinker import MOST_BROKEN, MOST_REPEATS, STEADY, shrink
from misstep.planning.synthesis.suite import Suite, make_case

# Says what becomes of the run with a number.
Rule = Callable[[Case, int], Judgement | ErrorKind]

CASE = make_case(Suite(3, 6, 6), 0)


def outcome_of(case: Case, told: Judgement | ErrorKind) -> Outcome:
    judgement: Judgement = told if told in ("passed", "inconclusive", "errored") else "failed"  # type: ignore[assignment]
    error: ErrorKind | None = None if judgement != "failed" else told  # type: ignore[assignment]
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, judgement, error))


def failure(case: Case = CASE, kind: ErrorKind = "order") -> Outcome:
    return outcome_of(case, kind)


def follow(inquiry: Inquiry[Reduction], rule: Rule) -> tuple[Reduction, list[Sequence[Case]]]:
    """What is found, and the batches that were asked for."""
    batches, sent = list[Sequence[Case]](), list[Outcome]()
    try:
        batch = next(inquiry)
        while True:
            batches.append(batch)
            sent = [outcome_of(case, rule(case, len(seen(batches[:-1])) + i)) for i, case in enumerate(batch)]
            batch = inquiry.send(sent)
    except StopIteration as end:
        return end.value, batches


def seen(batches: Sequence[Sequence[Case]]) -> list[Case]:
    return [case for batch in batches for case in batch]


def always(case: Case, _: int) -> ErrorKind:
    return "order"


def only(condition: Callable[[Case], bool]) -> Rule:
    return lambda case, _: "order" if condition(case) else "passed"


def coin(rate: float, condition: Callable[[Case], bool] = lambda _: True, noise: float = 0.0) -> Rule:
    """Fails at a rate, by the seed of the run."""

    def rule(case: Case, _: int) -> Judgement | ErrorKind:
        share = rate if condition(case) else noise
        return "order" if Dice(derive_seed(case.seed, case.id)).chance(share) else "passed"

    return rule


def test_what_always_fails_becomes_a_single_action() -> None:
    found, batches = follow(shrink(failure()), always)
    assert (found.after.actions, found.after.sentences, found.after.constraints) == (1, 1, 0)
    assert found.before.actions == 6
    assert found.minimal
    assert (found.failed, found.tried) == (STEADY, STEADY)
    assert found.agent_runs == len(seen(batches))
    assert found.outcome
    assert found.case == found.outcome.case
    assert found.case in seen(batches)


def test_no_two_runs_have_the_same_seed() -> None:
    _, batches = follow(shrink(failure()), coin(0.4))
    seeds = [case.seed for case in seen(batches)]
    assert len(set(seeds)) == len(seeds)
    assert CASE.seed not in seeds


def test_nothing_larger_than_what_is_needed_is_left() -> None:
    """An agent that can't do with one of its tools next to a list."""
    tool = CASE.actions[3].tool
    rule = only(lambda case: any(a.tool == tool for a in case.actions) and len(case.actions) > 2)
    found, _ = follow(shrink(failure()), rule)
    assert found.after.actions == 3
    assert tool in [action.tool for action in found.case.actions]
    assert found.minimal


@pytest.mark.parametrize("told", ["passed", "act", "errored", "inconclusive"])
def test_what_does_not_fail_like_that_again_is_left_alone(told: Judgement | ErrorKind) -> None:
    found, batches = follow(shrink(failure()), lambda case, _: told)
    assert found.outcome is None
    assert found.case == CASE
    assert (found.failed, found.steps, found.minimal) == (0, 0, False)
    assert found.before == found.after
    judged = told in ("passed", "act")
    assert found.tried == (MOST_REPEATS if judged else 0)
    assert len(seen(batches)) <= MOST_REPEATS


def test_a_failure_of_another_kind_is_none() -> None:
    def rule(case: Case, _: int) -> ErrorKind:
        return "lost" if len(case.actions) > 3 else "act"

    found, _ = follow(shrink(failure(kind="lost")), rule)
    assert found.kind == "lost"
    assert found.after.actions == 4


def test_runs_that_came_to_nothing_are_made_up_for() -> None:
    """Every third run breaks, which neither hides a failure nor makes one."""

    def rule(case: Case, number: int) -> Judgement | ErrorKind:
        return "errored" if number % 3 == 1 else ("order" if len(case.actions) > 2 else "passed")

    found, _ = follow(shrink(failure()), rule)
    assert found.after.actions == 3
    assert found.failed == found.tried >= STEADY - 1
    assert found.minimal


def test_candidates_that_can_t_be_run_are_given_up() -> None:
    runs = dict[str, int]()

    def rule(case: Case, _: int) -> Judgement | ErrorKind:
        runs[case.query] = runs.get(case.query, 0) + 1
        return "order" if case.query == CASE.query else "errored"

    found, _ = follow(shrink(failure()), rule)
    assert found.after == found.before
    assert found.steps == 0
    assert found.unjudged > 0
    assert not found.minimal
    del runs[CASE.query]
    assert set(runs.values()) == {MOST_BROKEN + 1}


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
def test_no_more_runs_than_allowed(most: int) -> None:
    found, batches = follow(shrink(failure(), most_runs=most), always)
    assert len(seen(batches)) == found.agent_runs == most
    assert not found.minimal
    assert found.outcome


def test_steps_that_lead_nowhere_are_not_tried_twice() -> None:
    rule = only(lambda case: len(case.actions) > 3)
    found, batches = follow(shrink(failure()), rule)
    asked = [msgspec.structs.replace(case, seed=0, id="") for case in seen(batches)]
    smallest = msgspec.structs.replace(found.case, seed=0, id="")
    original = msgspec.structs.replace(CASE, seed=0, id="")
    assert {asked.count(case) for case in asked if case not in (smallest, original)} == {1}


def test_an_agent_that_only_seemed_to_fail_always_is_found_out() -> None:
    """Three failures in a row, and then a coin: one failure of a smaller case must not be trusted."""

    def rule(case: Case, number: int) -> Judgement | ErrorKind:
        if number < STEADY:
            return "order"
        return coin(0.6, lambda case: len(case.actions) > 3)(case, number)

    found, _ = follow(shrink(failure()), rule)
    assert found.after.actions >= 4
    assert found.tried > STEADY
    assert 0.3 < found.failed / found.tried < 0.9


def test_noise_is_not_taken_for_the_failure() -> None:
    """What needs four actions fails at 70 %, everything else at 4 %."""
    found = [
        follow(
            shrink(failure(make_case(Suite(seed, 6, 6), 0))), coin(0.7, lambda c: len(c.actions) > 3, 0.04)
        )[0]
        for seed in range(25)
    ]
    assert sum(each.after.actions < 4 for each in found) <= 2
    assert sum(each.after.actions == 4 for each in found) >= 20


def test_batches_grow_while_nothing_fails() -> None:
    found, batches = follow(shrink(failure()), only(lambda case: case.query == CASE.query))
    sizes = [len(batch) for batch in batches]
    assert sizes[:5] == [STEADY, 1, 2, 4, 8]
    assert found.minimal


@pytest.mark.parametrize("told", ["passed", "errored", "inconclusive"])
def test_only_what_fails_can_be_shrunk(told: Judgement) -> None:
    with pytest.raises(UsageError, match="has not failed"):
        shrink(outcome_of(CASE, told))


def test_what_misstep_has_not_written_can_t_be_shrunk() -> None:
    foreign = msgspec.structs.replace(CASE, query="Do as you like.")
    with pytest.raises(UsageError, match="can't be taken apart"):
        shrink(failure(foreign))
