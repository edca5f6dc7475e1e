"""The loop of a run."""

import asyncio
from collections.abc import Sequence

import pytest

from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.run import FixedSuite
from misstep.core.spending import Budget, Cost, Spent
from misstep.engine.budget import CaseAccount, CaseBudget
from misstep.engine.drive import drive
from misstep.planning.synthesis.suite import Suite, make_case

CASES = [make_case(Suite(0, 3, 4), index) for index in range(40)]


def outcome(case: Case) -> Outcome:
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, "passed"))


class Flight:
    """Runs cases that take a few turns of the loop, and counts how many do so at a time."""

    def __init__(self) -> None:
        self.flying = self.peak = 0
        self.landed = list[str]()

    async def start(self, case: Case, account: CaseAccount) -> Outcome:
        self.flying += 1
        self.peak = max(self.peak, self.flying)
        for _ in range(100 + case.seed % 3):
            await asyncio.sleep(0)
        self.flying -= 1
        self.landed.append(case.id)
        return outcome(case)


def case_budget(budget: Budget | None = None) -> CaseBudget:
    return CaseBudget(budget or Budget(), lambda role, usage: 0.0, Spent(), Cost(calls=1))


def fly(flight: Flight, jobs: int) -> bool:
    return asyncio.run(asyncio.wait_for(drive(FixedSuite(CASES), flight.start, jobs, case_budget()), 30))


@pytest.mark.parametrize("jobs", [1, 3, 100])
def test_every_case_is_run_once_with_no_more_in_flight_than_allowed(jobs: int) -> None:
    flight = Flight()
    assert fly(flight, jobs)
    assert sorted(flight.landed) == sorted(case.id for case in CASES)
    assert flight.peak == min(jobs, len(CASES))


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
    assert asyncio.run(asyncio.wait_for(drive(ladder, Flight().start, 4, case_budget()), 30))
    assert ladder.told == [case.id for case in CASES[1:6]]


class Watched(FixedSuite):
    asked = 0

    def ask(self, most: int) -> Sequence[Case]:
        found = super().ask(most)
        self.asked += len(found)
        return found


@pytest.mark.parametrize("jobs", [1, 4, 30])
def test_nothing_is_asked_for_that_there_is_no_means_to_run(jobs: int) -> None:
    campaign = Watched(CASES)

    async def start(case: Case, account: CaseAccount) -> Outcome:
        await asyncio.sleep(0)
        account.call()
        account.close(finished=True)
        return outcome(case)

    assert not asyncio.run(drive(campaign, start, jobs, case_budget(Budget(calls=7))))
    assert campaign.asked == 7


def test_means_held_back_are_used_once_it_turns_out_that_less_was_needed() -> None:
    needs = iter([3, 1, 1, 1, 1, 1, 1, 1, 1])
    campaign = Watched(CASES)

    async def start(case: Case, account: CaseAccount) -> Outcome:
        await asyncio.sleep(0)
        for _ in range(next(needs)):
            account.call()
        account.close(finished=True)
        return outcome(case)

    assert not asyncio.run(drive(campaign, start, 5, case_budget(Budget(calls=10))))
    assert campaign.asked == 6  # 3 + 5 × 1 = 8 calls, and another case might take 3


def test_what_is_raised_by_the_harness_ends_the_run_as_itself() -> None:
    async def start(case: Case, _: CaseAccount) -> Outcome:
        await asyncio.sleep(0)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(drive(FixedSuite(CASES), start, 4, case_budget()))


def test_a_cancelled_run_cancels_what_is_in_flight() -> None:
    cancelled = list[str]()

    async def start(case: Case, _: CaseAccount) -> Outcome:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.append(case.id)
            raise
        return outcome(case)

    async def run() -> None:
        task = asyncio.create_task(drive(FixedSuite(CASES), start, 5, case_budget()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert len(cancelled) == 5
