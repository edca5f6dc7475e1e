"""Two runs on the same cases, held against a count by hand."""

import random
from fractions import Fraction
from math import comb
from pathlib import Path

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.compare import compare_runs
from tests.runs.stored import keep_run

CASES = [make_case(Suite(0, 3, 5), number) for number in range(60)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(agent="a", store=str(tmp_path / "store.db"))


def exact_p(first_only: int, second_only: int) -> float:
    """The two-sided McNemar test as it is defined: a fair coin for every case on which the two differ."""
    trials = first_only + second_only
    tail = sum(Fraction(comb(trials, k), 2**trials) for k in range(min(first_only, second_only) + 1))
    return float(min(Fraction(1), 2 * tail))


def some(dice: random.Random, share: float) -> dict[str, tuple[Case, Judgement]]:
    """Outcomes of some of the cases, in any order."""
    chosen = dice.sample(CASES, 50)
    return {
        case.id: (case, dice.choice(JUDGEMENTS[2:]) if dice.random() < 0.1 else verdict)
        for case in chosen
        for verdict in ("passed" if dice.random() < share else "failed",)
    }


@pytest.mark.parametrize("seed", range(6))
def test_it_counts_what_both_have_judged(settings: Settings, seed: int) -> None:
    dice = random.Random(seed)
    first, second = some(dice, 0.7), some(dice, 0.3 + 0.1 * seed)
    found = compare_runs(settings, keep_run(settings, first.values()), keep_run(settings, second.values()))
    common = [name for name in first if name in second]
    pairs = {name: (first[name][1], second[name][1]) for name in common}
    judged = {name: pair for name, pair in pairs.items() if set(pair) <= {"passed", "failed"}}
    lost = sorted(name for name, pair in judged.items() if pair == ("passed", "failed"))
    won = sorted(name for name, pair in judged.items() if pair == ("failed", "passed"))
    assert (list(found.lost), list(found.won)) == (lost, won)
    pairing = found.pairing
    assert pairing.cases == len(judged) == pairing.both + pairing.neither + len(lost) + len(won)
    assert (pairing.first_only, pairing.second_only) == (len(lost), len(won))
    assert pairing.both == sum(pair == ("passed", "passed") for pair in judged.values())
    rates = [sum(pair[run] == "passed" for pair in judged.values()) / len(judged) for run in (0, 1)]
    assert pairing.difference == pytest.approx(rates[1] - rates[0])
    assert pairing.interval[0] < pairing.difference < pairing.interval[1]
    assert pairing.p == pytest.approx(exact_p(len(lost), len(won)))
    assert found.significant == (exact_p(len(lost), len(won)) < 0.05)


def test_each_number_of_actions_is_compared_and_corrected_for(settings: Settings) -> None:
    first = [(case, "passed") for case in CASES]
    second = [
        (case, "failed" if len(case.actions) == 5 and number % 3 else "passed")
        for number, case in enumerate(CASES)
    ]
    found = compare_runs(settings, keep_run(settings, first), keep_run(settings, second))
    assert [step.actions for step in found.steps] == [3, 4, 5]
    assert sum(step.pairing.cases for step in found.steps) == found.pairing.cases == 60
    three, four, five = found.steps
    assert (three.pairing.p, four.pairing.p, three.p, four.p) == (1, 1, 1, 1)
    lost = sum(verdict == "failed" for _, verdict in second)
    assert five.pairing.p == pytest.approx(exact_p(lost, 0))
    assert five.p == pytest.approx(min(1, 3 * exact_p(lost, 0)))


def test_the_smallest_p_is_multiplied_by_all_the_next_by_one_less(settings: Settings) -> None:
    """As Holm has it, and none falls below one that was smaller before."""
    worse = {3: 6, 4: 8, 5: 7}  # how many of each size only the first passes
    second = list[tuple[Case, Judgement]]()
    for case in CASES:
        worse[len(case.actions)] -= 1
        second.append((case, "failed" if worse[len(case.actions)] >= 0 else "passed"))
    first: list[tuple[Case, Judgement]] = [(case, "passed") for case in CASES]
    found = compare_runs(settings, keep_run(settings, first), keep_run(settings, second))
    raw = {size: exact_p(lost, 0) for size, lost in ((3, 6), (4, 8), (5, 7))}
    corrected = {4: 3 * raw[4], 5: 2 * raw[5]}
    corrected[3] = max(raw[3], corrected[5])
    assert {step.actions: step.p for step in found.steps} == pytest.approx(corrected)


def test_one_size_has_no_steps(settings: Settings) -> None:
    cases = [case for case in CASES if len(case.actions) == 3]
    runs = [keep_run(settings, [(case, "passed") for case in cases]) for _ in range(2)]
    found = compare_runs(settings, *runs)
    assert (found.steps, found.significant, found.pairing.p) == ((), False, 1)


def test_a_case_that_only_has_the_same_name_is_another(settings: Settings) -> None:
    other = msgspec.structs.replace(CASES[1], query="Something else.")
    first = keep_run(settings, [(CASES[0], "passed"), (CASES[1], "passed")])
    second = keep_run(settings, [(CASES[0], "failed"), (other, "failed")])
    found = compare_runs(settings, first, second)
    assert (found.pairing.cases, found.lost) == (1, (CASES[0].id,))


def test_runs_are_found_by_the_beginning_of_their_name(settings: Settings) -> None:
    first, second = (keep_run(settings, [(CASES[0], "passed")]) for _ in range(2))
    found = compare_runs(settings, first[:5], "last")
    assert (found.first, found.second) == (first, second)


@pytest.mark.parametrize("verdict", ["inconclusive", "errored"])
def test_runs_with_no_judged_case_in_common(settings: Settings, verdict: Judgement) -> None:
    first = keep_run(settings, [(CASES[0], "passed"), (CASES[1], verdict)])
    second = keep_run(settings, [(CASES[1], "passed"), (CASES[2], "passed")])
    with pytest.raises(UsageError, match="have no judged case in common") as caught:
        compare_runs(settings, first, second)
    assert caught.value.hints == ("run both with the same seed and settings, or on the same --cases file",)


def test_a_run_is_not_compared_with_itself(settings: Settings) -> None:
    run = keep_run(settings, [(CASES[0], "passed")])
    with pytest.raises(UsageError, match=f"both are run {run}"):
        compare_runs(settings, run, "last")
