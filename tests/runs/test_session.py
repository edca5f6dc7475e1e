"""Any campaign runs through a sitting: one that decides on the way, too."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.core.case import Case
from misstep.core.event import Event, RunFinished, RunStarted
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.spending import Account
from misstep.errors import BudgetExceeded
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.execution import execute
from misstep.runs.lifecycle import estimate_run
from misstep.runs.session import RunSession
from misstep.store.runs import Run, Store


class UntilItFails:
    """One size after another, three cases of each, as long as the agent passes them all."""

    def __init__(self) -> None:
        self._size = 2
        self._asked = 0
        self._told = list[Outcome]()
        self.sizes = list[int]()

    def ask(self, most: int) -> Sequence[Case]:
        if self._asked == 3:
            if len(self._told) < 3 or any(each.verdict.verdict != "passed" for each in self._told):
                return []
            self._size, self._asked, self._told = self._size + 1, 0, []
        self._asked += 1
        self.sizes.append(self._size)
        return [make_case(Suite(7, self._size, self._size), self._asked)]

    def tell(self, outcome: Outcome) -> None:
        self._told.append(outcome)


def hold(store: Store, run: Run, campaign: UntilItFails, events: list[Event]) -> None:
    agent = simulated_agent("greedy", {})

    async def carry_out(case: Case, account: Account) -> Outcome:
        return await execute(agent, run.settings, case, account)

    estimate = estimate_run(run.settings, 0, [], [])
    asyncio.run(RunSession(store, run, estimate, [events.append]).hold(campaign, carry_out))


def test_a_campaign_that_decides_on_the_way(tmp_path: Path) -> None:
    campaign, events = UntilItFails(), list[Event]()
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent="sim:greedy", jobs=4), 0, 0.0)
        hold(store, run, campaign, events)
        outcomes = list(store.outcomes(run.id))
        finished = store.find_run(run.id)
    sizes = [len(outcome.case.actions) for outcome in outcomes]
    assert sizes == campaign.sizes == sorted(sizes)
    assert len(sizes) == 3 * len(set(sizes))
    assert any(outcome.verdict.verdict == "failed" for outcome in outcomes[-3:])
    assert all(outcome.verdict.verdict == "passed" for outcome in outcomes[:-3])
    assert finished.summary is not None
    assert finished.summary.cases == finished.done == len(sizes)
    assert isinstance(events[0], RunStarted)
    assert events[0].total == 0
    assert isinstance(events[-1], RunFinished)


def test_a_campaign_without_a_known_end_that_gets_nowhere_has_not_finished(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent="sim:greedy", budget_time=1e-9), 0, 0.0)
        with pytest.raises(BudgetExceeded, match="after 0 cases"):
            hold(store, run, UntilItFails(), [])
        assert store.find_run(run.id).summary is None
