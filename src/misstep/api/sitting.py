"""One stretch of a planning run, from its start or resumption to its end or interruption."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from misstep.api.execution import at_work, execute
from misstep.api.models import name_model, price_agent
from misstep.core.agent import Agent
from misstep.core.campaign import FixedSuite, WithinBudget
from misstep.core.case import Case
from misstep.core.event import CaseFinished, Event, Listener, RunFinished, RunStarted
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary, Tally
from misstep.engine.drive import drive
from misstep.errors import BudgetExceeded, InternalError, Interrupted, StoreError, UsageError
from misstep.store.runs import Run, Store


def hold_sitting(
    store: Store,
    agent: Agent,
    listeners: Sequence[Listener],
    open_run: Callable[[], Run],
    cases: Iterator[Case],
) -> Summary:
    """Run the cases that have no outcome yet. The run is opened once the agent is known to work."""

    async def sit() -> Summary:
        async with at_work(agent):
            return await Sitting(store, open_run(), agent, listeners).hold(cases)

    return asyncio.run(sit())


def summarise(tally: Tally, run: str, settings: Settings) -> Summary:
    model = name_model(settings)
    return tally.summary(run, settings.agent, str(model) if model else None, _cost(tally, settings))


def _cost(tally: Tally, settings: Settings) -> float | None:
    """What the tokens cost; None where they, or their price, are not known."""
    try:
        price = price_agent(settings)
    except UsageError:
        return None  # the list of prices has gone since
    return None if price is None or _hides_tokens(tally, settings) else round(price.of(tally.usage), 6)


def _hides_tokens(tally: Tally, settings: Settings) -> bool:
    """Whether an agent that is not ours has done something without a token to show for it."""
    theirs = ":" in settings.agent and not settings.agent.startswith("sim:")
    return theirs and not tally.usage.output


class Sitting:
    def __init__(self, store: Store, run: Run, agent: Agent, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._agent = agent
        self._listeners = listeners
        self._tally = Tally()
        self._contested = False
        self._price = price_agent(run.settings)

    async def hold(self, cases: Iterator[Case]) -> Summary:
        run, settings = self._run.id, self._run.settings
        finished = {self._tally.seen(outcome).case.id for outcome in self._store.outcomes(run)}
        self._emit(RunStarted(run, self._run.total, dict(self._tally.verdicts)))
        campaign = WithinBudget(FixedSuite(cases, finished), self._is_spent)
        try:
            await drive(campaign, partial(execute, self._agent, settings), self._take, settings.jobs)
        except asyncio.CancelledError:
            raise Interrupted(f"run {run} was stopped; what had finished is kept", self._way_on()) from None
        except StoreError as error:
            raise StoreError(error.message, *error.hints, self._way_on(), where=error.where) from error
        tally = self._recount() if self._contested else self._tally
        if campaign.stopped and tally.cases < self._run.total:
            raise self._out_of_money(tally)
        return self._finish(summarise(tally, run, settings))

    def _finish(self, summary: Summary) -> Summary:
        run = self._run.id
        if summary.cases != self._run.total:
            raise InternalError(
                f"run {run} ended with {summary.cases} of {self._run.total} cases", self._way_on()
            )
        self._store.finish_run(run, summary)
        self._emit(RunFinished(run, summary))
        return summary

    def _take(self, outcome: Outcome) -> None:
        if self._store.add_outcome(self._run.id, outcome):
            self._tally.add(outcome)
        else:
            self._contested = True  # another sitting of the same run was faster
        self._emit(CaseFinished(self._run.id, outcome))

    def _recount(self) -> Tally:
        tally = Tally()
        for outcome in self._store.outcomes(self._run.id):
            tally.add(outcome)
        return tally

    def _is_spent(self) -> bool:
        budget, price = self._run.settings.budget_usd, self._price
        if budget is None or price is None:
            return False
        self._refuse_hidden_tokens()
        return price.of(self._tally.usage) >= budget

    def _refuse_hidden_tokens(self) -> None:
        """A budget that nobody can see being spent is none."""
        if self._tally.calls and _hides_tokens(self._tally, self._run.settings):
            raise UsageError(
                "the budget can't be kept: the agent does not show its tokens",
                "stand between it and its model with --record-proxy, or leave --budget-usd out",
            )

    def _out_of_money(self, tally: Tally) -> BudgetExceeded:
        budget, run = self._run.settings.budget_usd, self._run.id
        return BudgetExceeded(
            f"the budget of {budget:g} USD is spent after {tally.cases} of {self._run.total} cases",
            f"see what they gave with: misstep show {run}",
            f"{self._way_on()} --budget-usd MORE",
        )

    def _way_on(self) -> str:
        return f"go on with: misstep plan test --resume {self._run.id}"

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)
