"""One stretch of a planning run, from its start or resumption to its end or interruption."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

from misstep.api.budgets import budget_exceeded, pricing, refuse_hidden_tokens
from misstep.api.summaries import summarise
from misstep.core.campaign import Campaign
from misstep.core.case import Case
from misstep.core.estimate import Estimate
from misstep.core.event import CaseFinished, Event, Listener, RunFinished, RunStarted, RunStopped
from misstep.core.outcome import Outcome
from misstep.core.spending import Account
from misstep.core.summary import Summary
from misstep.engine.batches import Batches
from misstep.engine.drive import drive
from misstep.engine.purse import CaseAccount, Purse
from misstep.errors import InternalError, Interrupted, MisstepError, StoreError
from misstep.store.runs import Run, Seat, Store

Execute: TypeAlias = Callable[[Case, Account], Awaitable[Outcome]]


class Sitting:
    """Runs what a campaign asks for, keeps each outcome when it arrives, then tells the listeners."""

    def __init__(self, store: Store, run: Run, estimate: Estimate, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._estimate = estimate
        self._listeners = listeners
        self._tally = store.tally(run.id)
        self._purse = Purse(
            run.settings.budget, pricing(run.settings), store.spent(run.id), estimate.per_case
        )
        self._contested = False

    async def hold(self, campaign: Campaign, execute: Execute) -> Summary:
        with self._store.sit(self._run.id, time.time()) as seat:
            self._emit(RunStarted(self._run.id, self._run.total, dict(self._tally.verdicts), self._estimate))
            try:
                ended = await self._drive(campaign, execute, seat)
            except MisstepError as error:
                self._emit(RunStopped(self._run.id, error.message))
                raise
            return self._finish() if ended else self._give_up()

    async def _drive(self, campaign: Campaign, execute: Execute, seat: Seat) -> bool:
        """Whether the campaign came to its end."""

        def keep(outcomes: Sequence[Outcome]) -> Sequence[bool]:
            # Cases that are never finished cost something, too.
            return seat.keep(outcomes, self._purse.spent)

        async with Batches(keep) as batches:

            async def start(case: Case, account: CaseAccount) -> Outcome:
                return await self._carry_out(case, execute, account, batches)

            driving = asyncio.create_task(drive(campaign, start, self._run.settings.jobs, self._purse))
            with self._limited(driving), _heeding_termination():
                try:
                    return await driving
                except asyncio.CancelledError:
                    return self._cut_short()
                except StoreError as error:
                    raise StoreError(
                        error.message, *error.hints, self._way_on(), where=error.where
                    ) from error
                finally:
                    driving.cancel()
                    await asyncio.wait([driving])

    async def _carry_out(
        self, case: Case, execute: Execute, account: CaseAccount, batches: "Batches[Outcome, bool]"
    ) -> Outcome:
        finished = False
        try:
            outcome = await execute(case, account)
            finished = True
        finally:
            account.close(finished)
        if await batches.put(outcome):
            self._tally.add(outcome)
            refuse_hidden_tokens(self._tally, self._run.settings)
        else:
            self._contested = True  # another sitting of the same run was faster
        self._emit(CaseFinished(self._run.id, outcome))
        return outcome

    @contextmanager
    def _limited(self, driving: "asyncio.Task[bool]") -> Iterator[None]:
        """Stop at once when the budget is overdrawn or time is up."""
        loop = asyncio.get_running_loop()
        self._purse.overdrawn = lambda: _call_there(loop, driving.cancel)
        left = self._purse.seconds_left
        alarm = None if left is None else loop.call_later(left, driving.cancel)
        try:
            yield
        finally:
            self._purse.overdrawn = None
            if alarm:
                alarm.cancel()

    def _cut_short(self) -> bool:
        """False where it was the budget that stopped the run; raises `Interrupted` where it was somebody."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise Interrupted(
                f"run {self._run.id} was stopped; what had finished is kept", self._way_on()
            ) from None
        return False

    def _finish(self) -> Summary:
        run, tally = self._run, self._store.tally(self._run.id) if self._contested else self._tally
        if tally.cases != run.total:
            raise InternalError(f"run {run.id} ended with {tally.cases} of {run.total} cases", self._way_on())
        summary = summarise(tally, run.id, run.settings)
        self._store.finish_run(run.id, summary)
        self._emit(RunFinished(run.id, summary))
        return summary

    def _give_up(self) -> Summary:
        run = self._run
        if self._tally.cases == run.total:
            return self._finish()
        spent = self._store.spent(run.id)
        error = budget_exceeded(
            self._purse.lacking or "seconds",
            run.settings,
            spent,
            f"{self._tally.cases} of {run.total} cases",
            [f"see what they gave with: misstep show {run.id}", self._way_on()],
        )
        self._emit(RunStopped(run.id, error.message))
        raise error

    def _way_on(self) -> str:
        settings = self._run.settings
        there = f" --on {settings.on}" if settings.on != "local" else ""
        address = f" --ray-address {settings.ray_address}" if settings.ray_address else ""
        return f"go on with: misstep plan test --resume {self._run.id}{there}{address}"

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


def unfinished(store: Store, run: Run, cases: Iterable[Case]) -> Iterator[Case]:
    """The cases that have no outcome yet."""
    for some in in_portions(cases):
        done = store.fingerprints(run.id, [case.id for case in some])
        yield from (case for case in some if case.id not in done)


def in_portions(cases: Iterable[Case], size: int = 50) -> Iterator[list[Case]]:
    """The cases in lists that are short enough to be asked about."""
    portion = list[Case]()
    for case in cases:
        portion.append(case)
        if len(portion) == size:
            yield portion
            portion = []
    if portion:
        yield portion


@contextmanager
def _heeding_termination() -> Iterator[None]:
    """SIGTERM stops a run like Ctrl-C does, where we are the ones to hear it."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = signal.getsignal(signal.SIGTERM)
    try:
        loop.add_signal_handler(signal.SIGTERM, lambda: task and task.cancel())
    except (ValueError, RuntimeError, NotImplementedError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)


def _call_there(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # it has closed
        loop.call_soon_threadsafe(work)
