"""Sums made by the database are those of adding outcomes one by one."""

import random

import msgspec
import pytest

from misstep.core.outcome import Usage
from misstep.core.results.summary import Tally
from misstep.core.spending import Spent
from misstep.store.runs import Store
from tests.store.samples import new_run, outcome, random_outcome


def assert_same(found: Tally, expected: Tally) -> None:
    assert (found.verdicts, found.errors) == (expected.verdicts, expected.errors)
    assert (found.calls, found.usage) == (expected.calls, expected.usage)
    assert found.seconds == pytest.approx(expected.seconds, rel=1e-12)
    assert found.chances == pytest.approx(expected.chances, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_tally_is_what_adding_one_by_one_gives(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    runs = {new_run(store): Tally() for _ in range(2)}
    for run, expected in runs.items():
        arrived = [random_outcome(dice, number) for number in range(dice.randrange(120))]
        for each in arrived:
            expected.add(each)
        with store.sit(run, 0.0) as writer:
            writer.keep(arrived, Spent())
    for run, expected in runs.items():
        assert_same(store.tally(run), expected)
        assert msgspec.structs.asdict(store.tally(run).summary(run, "a"))["errors"] == expected.errors


def test_a_run_without_outcomes_adds_up_to_nothing(store: Store) -> None:
    assert_same(store.tally(new_run(store)), Tally())


def test_no_claim_of_a_server_is_too_large_to_be_summed_up(store: Store) -> None:
    run = new_run(store)
    claims = (2**63, -(2**63), 2**62, 2**62, 2**62)
    with store.sit(run, 0.0) as writer:
        for number, tokens in enumerate(claims):
            sample = outcome(number)
            usage = Usage(tokens, tokens, tokens)
            transcript = msgspec.structs.replace(sample.transcript, usage=usage)
            writer.keep([msgspec.structs.replace(sample, transcript=transcript)], Spent())
    assert store.tally(run).usage.input == 3 * 2**40
    assert [found.transcript.usage.input for found in store.outcomes(run)] == list(claims)


def test_what_has_come_since_adds_up_to_all(store: Store) -> None:
    """However it came, with outcomes of another run in between."""
    dice = random.Random(7)
    run, other = new_run(store), new_run(store)
    expected, found, place = Tally(), Tally(), 0
    with store.sit(run, 0.0) as writer, store.sit(other, 0.0) as beside:
        for start in (0, 10, 20, 30):
            arrived = [random_outcome(dice, number) for number in range(start, start + dice.randrange(1, 10))]
            for each in arrived:
                expected.add(each)
            writer.keep(arrived, Spent())
            beside.keep([outcome(start)], Spent())
            news, place = store.tally_since(run, place)
            found += news
            nothing, same = store.tally_since(run, place)
            assert_same(nothing, Tally())
            assert same == place
    assert_same(found, expected)
    assert_same(found, store.tally(run))


def test_neighbours_by_verdict_and_arrival(store: Store) -> None:
    run, verdicts = new_run(store), ("passed", "failed", "passed", "failed")
    arrived = [outcome(number, verdict) for number, verdict in enumerate(verdicts)]
    with store.sit(run, 0.0) as writer:
        writer.keep(arrived, Spent())
    names = [each.case.id for each in arrived]
    order = [names[place] for place in (1, 3, 0, 2)]
    for place, name in enumerate(order):
        before, behind = [None, *order, None][place], [None, *order, None][place + 2]
        assert store.neighbours(run, name, ("failed", "inconclusive", "errored", "passed")) == (
            before,
            behind,
        )
