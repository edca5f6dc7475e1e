"""One session of a run on cases, from its start or resumption to its end or interruption."""

import asyncio
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from misstep.core.case import Case
from misstep.core.event import (
    CaseFinished,
    Estimate,
    Event,
    ItemStarted,
    Listener,
    RunFinished,
    RunStarted,
    RunStopped,
    Spending,
)
from misstep.core.outcome import Outcome
from misstep.core.results.summary import Summary
from misstep.core.run import Campaign, Execute, Inquiries
from misstep.core.settings import store_flag
from misstep.core.spending import AGENT, Cost
from misstep.engine.budget import CaseAccount, CaseBudget
from misstep.engine.drive import Batches, drive
from misstep.errors import (
    BudgetExceeded,
    InternalError,
    Interrupted,
    MisstepError,
    StoreError,
    StoreGone,
    UsageError,
)
from misstep.runs.budget import FLAGS, pricing, refuse_hidden_tokens, spent_of
from misstep.runs.summary import summarise
from misstep.store.runs import Run, RunWriter, Store


class RunSession:
    """Runs the cases that a campaign asks for, stores each outcome when it arrives, then tells listeners."""

    def __init__(self, store: Store, run: Run, estimate: Estimate, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._estimate = estimate
        self._listeners = listeners
        self._tally = store.tally(run.id)
        self._contested = False
        price = pricing(run.settings)
        dearest = estimate.per_case  # what the next case may cost: the maximum so far
        if self._tally.cases:
            seen = store.dearest(run.id)
            dearest = Cost(price(AGENT, seen.usage), seen.tokens, seen.seconds, seen.calls)
        self._case_budget = CaseBudget(run.settings.budget, price, store.spent(run.id), dearest)

    async def hold(self, campaign: Campaign, execute: Execute) -> Summary:
        run = self._run
        with self._store.sit(run.id, time.time()) as writer:
            self._store.change_run(run.id, run.settings)  # a larger budget is stored with the run
            self._emit(RunStarted(run.id, run.total, dict(self._tally.verdicts), self._estimate))
            try:
                ended = await self._drive(campaign, execute, writer)
                return self._finish(campaign) if ended else self._give_up(campaign)
            except Exception as error:
                with suppress(MisstepError):  # perhaps from the listener that ended the run
                    reason = error.message if isinstance(error, MisstepError) else type(error).__name__
                    self._emit(RunStopped(run.id, reason))
                raise

    async def _drive(self, campaign: Campaign, execute: Execute, writer: RunWriter) -> bool:
        """Returns whether the campaign was completed."""

        def keep(outcomes: Sequence[Outcome]) -> Sequence[bool]:
            # Unfinished cases cost something, too.
            return writer.keep(outcomes, self._case_budget.spent)

        async with Batches(keep, self._take) as batches:

            async def start(case: Case, account: CaseAccount) -> Outcome:
                finished = False
                self._emit(ItemStarted(self._run.id, case.id))
                try:
                    outcome = await execute(case, account)
                    finished = True
                finally:
                    account.close(finished)
                await batches.put(outcome)
                return outcome

            driving = asyncio.create_task(drive(campaign, start, self._run.settings.jobs, self._case_budget))
            with self._limited(driving), _heeding_termination():
                try:
                    return await driving
                except asyncio.CancelledError:
                    task = asyncio.current_task()
                    if task is None or not task.cancelling():
                        return False  # the budget stopped the run, not the user
                    kept = f"run {self._run.id} was stopped; finished cases are stored"
                    raise Interrupted(kept, self._way_on()) from None
                except StoreGone:
                    raise
                except StoreError as error:
                    hints = (*error.hints, self._way_on())
                    raise StoreError(error.message, *hints, where=error.where) from error
                finally:
                    driving.cancel()
                    await asyncio.wait([driving])

    def _take(self, outcome: Outcome, new: bool) -> None:
        """Count a stored outcome and tell listeners, unless the case had one before."""
        if not new:
            self._contested = True
            return
        self._tally.add(outcome)
        self._emit(Spending(self._run.id, self._case_budget.used, self._run.settings.budget))
        self._emit(CaseFinished(self._run.id, outcome))
        if outcome.transcript.ended == "answered":
            refuse_hidden_tokens(self._tally, self._run.settings)

    @contextmanager
    def _limited(self, driving: "asyncio.Task[bool]") -> Iterator[None]:
        """Stop at once when the budget is exceeded or time is up."""
        loop = asyncio.get_running_loop()

        def time_is_up() -> None:
            self._case_budget.run_out_of_time()
            driving.cancel()

        def overdrawn() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(driving.cancel)

        self._case_budget.overdrawn = overdrawn
        left = self._case_budget.seconds_left
        alarm = None if left is None else loop.call_later(left, time_is_up)
        try:
            yield
        finally:
            self._case_budget.overdrawn = None
            if alarm:
                alarm.cancel()

    def _finish(self, campaign: Campaign) -> Summary:
        run, tally = self._run, self._store.tally(self._run.id) if self._contested else self._tally
        if run.total and tally.cases != run.total:
            count = f"{tally.cases} of {run.total} cases"
            if run.settings.cases:
                raise UsageError(
                    f"the file has changed: the run ended with {count}", where=run.settings.cases
                )
            raise InternalError(f"run {run.id} ended with {count}", self._way_on())
        summary = summarise(tally, run)
        self._store.finish_run(run.id, summary, campaign.found if isinstance(campaign, Inquiries) else ())
        self._emit(RunFinished(run.id, summary))
        return summary

    def _give_up(self, campaign: Campaign) -> Summary:
        run, lacking = self._run, self._case_budget.lacking
        done = self._store.tally(run.id).cases
        if run.total and done == run.total:
            return self._finish(campaign)
        cases = f"{done} of {run.total} cases" if run.total else f"{done} cases"
        used = spent_of(lacking, run.settings, self._store.spent(run.id))
        raise BudgetExceeded(
            f"the budget does not allow another case after {cases}: {used} used",
            f"show results: misstep show {run.id}{self._place}",
            self._way_on(FLAGS[lacking]),
        )

    def _way_on(self, lacking: str = "") -> str:
        """How to resume the run, with more of the budget that ran out, if one did."""
        run, settings = self._run, self._run.settings
        if run.purpose.verb == "paper":
            return "it cannot be resumed; start a new run" + (f" with a larger {lacking}" if lacking else "")
        there = f" --on {settings.on}" if settings.on != "local" else ""
        address = f" --ray-address {settings.ray_address}" if settings.ray_address else ""
        command = f"misstep {run.purpose.command} --resume {run.id}"
        more = f" {lacking} MORE" if lacking else ""
        return f"resume with: {command}{self._place}{there}{address}{more}"

    @property
    def _place(self) -> str:
        return store_flag(self._store.location)

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


@contextmanager
def _heeding_termination() -> Iterator[None]:
    """Let SIGTERM stop a run like Ctrl-C, if signals can be handled here."""
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
