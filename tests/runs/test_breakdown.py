"""A run by topic, size and family, held against a count by hand."""

import random
from fractions import Fraction
from math import comb
from pathlib import Path

import msgspec
import pytest

from misstep.core.case import Case, World, families_of
from misstep.core.outcome import Judgement
from misstep.core.results.comparison import FACETS, Facet
from misstep.core.settings import Settings
from misstep.core.stats import wilson
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.compare import break_down
from tests.runs.stored import keep_run

CASES = [
    make_case(Suite(0, 3, 5, topics=("baker", "florist", "librarian", "news editor")), n) for n in range(120)
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(agent="a", store=str(tmp_path / "store.db"))


def values(case: Case, facet: Facet) -> list[str]:
    by_facet = {"topic": [case.topic], "actions": [str(len(case.actions))], "family": families_of(case)}
    return list(by_facet[facet])


def exact_p(failed: int, cases: int, all_failed: int, all_cases: int) -> float:
    """How often that many failures or more fall on some cases if failures are dealt out blindly."""
    ways = comb(all_cases, all_failed)
    dealt = range(failed, min(cases, all_failed) + 1)
    return float(sum(Fraction(comb(cases, k) * comb(all_cases - cases, all_failed - k), ways) for k in dealt))


@pytest.mark.parametrize("facet", FACETS)
@pytest.mark.parametrize("seed", range(3))
def test_it_counts_what_was_judged(settings: Settings, facet: Facet, seed: int) -> None:
    dice = random.Random(seed)
    cases = [with_outage(case) if dice.random() < 0.4 else case for case in CASES]
    weights = {"baker": 0.9, "florist": 0.4, "librarian": 0.3, "news editor": 0.2}
    verdicts: list[Judgement] = [
        "errored" if dice.random() < 0.1 else "failed" if dice.random() < weights[case.topic] else "passed"
        for case in cases
    ]
    run = keep_run(settings, zip(cases, verdicts, strict=True))
    found = break_down(settings, "last", facet)
    assert (found.run, found.by) == (run, facet)
    judged = [
        (case, verdict == "failed")
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict != "errored"
    ]
    names = {value for case, _ in judged for value in values(case, facet)}
    assert {portion.value for portion in found.portions} == names
    raw = dict[str, float]()
    for portion in found.portions:
        outcomes = [failed for case, failed in judged if portion.value in values(case, facet)]
        assert (portion.cases, portion.failed) == (len(outcomes), sum(outcomes))
        assert portion.success == pytest.approx(1 - sum(outcomes) / len(outcomes))
        assert portion.interval == wilson(len(outcomes) - sum(outcomes), len(outcomes))
        totals = sum(failed for _, failed in judged), len(judged)
        raw[portion.value] = exact_p(sum(outcomes), len(outcomes), *totals)
    least = 0.0
    for rank, value in enumerate(sorted(raw, key=raw.__getitem__)):
        least = max(least, min(1.0, raw[value] * (len(raw) - rank)))
        (portion,) = [each for each in found.portions if each.value == value]
        assert portion.p == pytest.approx(least)
        assert portion.significant == (least < 0.05)


def with_outage(case: Case) -> Case:
    """The same case, with a tool that is out of service for a while: one more family."""
    world = World(failures={case.actions[0].id: 1}, retries=2)
    return msgspec.structs.replace(case, world=world)


def test_a_topic_that_fails_more_than_the_others_stands_out(settings: Settings) -> None:
    keep_run(settings, [(case, "failed" if case.topic == "baker" else "passed") for case in CASES])
    found = break_down(settings, "last", "topic")
    assert [portion.value for portion in found.portions if portion.significant] == ["baker"]
    assert found.portions[0].value == "baker"


def test_one_that_fails_less_does_not(settings: Settings) -> None:
    keep_run(settings, [(case, "passed" if case.topic == "baker" else "failed") for case in CASES])
    assert not break_down(settings, "last", "topic").portions[-1].significant


def test_chance_alone_seldom_makes_anything_stand_out(tmp_path: Path) -> None:
    """Fifty topics that fail alike: without correction two or three would stand out each time."""
    topics = [
        msgspec.structs.replace(CASES[0], topic=f"topic {number % 50}", id=str(number))
        for number in range(300)
    ]
    striking = 0
    for seed in range(20):
        dice = random.Random(seed)
        settings = Settings(agent="a", store=str(tmp_path / f"{seed}.db"))
        keep_run(settings, [(case, dice.choice(("passed", "failed"))) for case in topics])
        striking += any(portion.significant for portion in break_down(settings, "last", "topic").portions)
    assert striking <= 3


def test_the_worst_come_first_and_sizes_in_their_own_order(settings: Settings) -> None:
    dice = random.Random(1)
    keep_run(settings, [(case, dice.choice(("passed", "failed"))) for case in CASES])
    ranks = [
        (each.success, -each.cases, each.value) for each in break_down(settings, "last", "topic").portions
    ]
    assert ranks == sorted(ranks)
    assert [each.value for each in break_down(settings, "last", "actions").portions] == ["3", "4", "5"]
    large = [
        msgspec.structs.replace(CASES[0], id=str(n), actions=CASES[0].actions[:1] * n) for n in (10, 9, 2)
    ]
    keep_run(settings, [(case, "passed") for case in large])
    assert [each.value for each in break_down(settings, "last", "actions").portions] == ["2", "9", "10"]


def test_a_run_in_which_nothing_was_judged(settings: Settings) -> None:
    keep_run(settings, [(CASES[0], "errored")])
    assert break_down(settings, "last", "topic").portions == ()
