"""The loop of a run."""

import asyncio
from collections.abc import Sequence

import pytest

from misstep.core.campaign import FixedSuite
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict
from misstep.engine.drive import drive
from misstep.planning.suite import Suite, make_case

CASES = [make_case(Suite(0, 3, 4), index) for index in range(40)]


def outcome(case: Case) -> Outcome:
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, "passed"))


@pytest.mark.parametrize("jobs", [1, 3, 100])
def test_every_case_is_run_once_with_no_more_in_flight_than_allowed(jobs: int) -> None:
    flying, peak, reported = 0, 0, list[str]()

    async def execute(case: Case) -> Outcome:
        nonlocal flying, peak
        flying += 1
        peak = max(peak, flying)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        flying -= 1
        return outcome(case)

    asyncio.run(drive(FixedSuite(iter(CASES)), execute, lambda done: reported.append(done.case.id), jobs))
    assert sorted(reported) == sorted(case.id for case in CASES)
    assert peak == min(jobs, len(CASES))


def test_finished_cases_are_left_out() -> None:
    finished = {case.id for case in CASES[::2]}
    reported = list[str]()

    async def execute(case: Case) -> Outcome:
        return outcome(case)

    asyncio.run(
        drive(FixedSuite(iter(CASES), finished), execute, lambda done: reported.append(done.case.id), 2)
    )
    assert sorted(reported) == sorted(case.id for case in CASES[1::2])


class Ladder:
    """A campaign whose every step depends on the outcome before it."""

    def __init__(self) -> None:
        self.asked = 0
        self.told = list[str]()

    def ask(self, most: int) -> Sequence[Case]:
        if self.asked > len(self.told) or self.asked == 5:
            return []
        self.asked += 1
        return [CASES[self.asked]]

    def tell(self, outcome: Outcome) -> None:
        self.told.append(outcome.case.id)


def test_a_campaign_may_wait_for_outcomes() -> None:
    ladder = Ladder()

    async def execute(case: Case) -> Outcome:
        await asyncio.sleep(0)
        return outcome(case)

    asyncio.run(asyncio.wait_for(drive(ladder, execute, lambda _: None, 4), 30))
    assert ladder.told == [case.id for case in CASES[1:6]]


def test_what_is_raised_by_the_harness_ends_the_run_as_itself() -> None:
    async def execute(case: Case) -> Outcome:
        await asyncio.sleep(0)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(drive(FixedSuite(iter(CASES)), execute, lambda _: None, 4))
