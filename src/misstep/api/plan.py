"""Planning tests: synthesise cases, check plans, test an agent."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from misstep.api.agents import check_agent
from misstep.api.cases import (
    cases_of,
    count_cases,
    count_suite,
    lasting_path,
    lasting_tools,
    load_cases,
    suite_of,
)
from misstep.api.crew import employ
from misstep.api.estimates import estimate_rest, estimate_run, past_runs
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.sitting import Sitting
from misstep.api.summaries import summarise
from misstep.core.agent import Agent
from misstep.core.campaign import FixedSuite
from misstep.core.case import Case
from misstep.core.estimate import Estimate
from misstep.core.event import Listener, Notice
from misstep.core.outcome import Outcome
from misstep.core.settings import BUDGETS, Settings, check_settings
from misstep.core.summary import Summary
from misstep.core.transcript import Transcript
from misstep.errors import MisstepError, UsageError, did_you_mean
from misstep.planning.judging.explanation import check
from misstep.planning.judging.verification import verify
from misstep.planning.synthesis.suite import make_case
from misstep.store.database import going_on
from misstep.store.lines import read_lines
from misstep.store.runs import Digest, Run, Store


def synthesise(settings: Settings) -> Iterator[Case]:
    """The cases that the settings describe, one by one."""
    settings = check_settings(settings)
    suite = suite_of(settings)
    return (make_case(suite, index) for index in range(count_suite(settings)))


def check_plans(settings: Settings) -> Iterator[Outcome]:
    """The plans of a file, each judged against its case."""
    settings = check_settings(settings)
    cases = {case.id: case for case in load_cases(settings.cases)}
    for where, transcript in read_lines(settings.plans, Transcript, "plan"):
        case = cases.get(transcript.case)
        if case is None:
            hints = (f"{settings.cases} has {len(cases)} cases", did_you_mean(transcript.case, cases))
            raise UsageError(f"a plan for the unknown case '{transcript.case}'", *hints, where=where)
        verdict = check(case, transcript, settings.parallel)
        if settings.verify:
            verify(case, transcript, verdict)
        yield Outcome(case, transcript, verdict)


def run_agent(settings: Settings, *listeners: Listener, agent: Agent | None = None) -> Summary:
    """Run an agent, your own or the one that the settings name, on the cases that they describe."""
    _refuse_running_loop()
    settings = check_settings(settings)
    total, digest = count_cases(settings)
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    named = {} if agent is None else {"agent": agent.name}
    files = {name: lasting_path(getattr(settings, name)) for name in ("prices", "prompt")}
    crew = employ(settings, agent, _teller(listeners))
    lasting = {"cases": lasting_path(settings.cases), "tools": lasting_tools(settings.tools)}
    settings = check_settings(settings.overlay({**named, **files, **lasting}))
    with Store(settings.store, create=True) as store:
        estimate = estimate_run(settings, total, cases_of(settings), store.list_runs())

        async def sit() -> Summary:
            async with crew as execute:
                # The run is opened once the agent is known to work.
                run = store.add_run(settings, total, time.time(), digest)
                sitting = Sitting(store, run, estimate, listeners)
                return await sitting.hold(FixedSuite(cases_of(settings)), execute)

        return asyncio.run(sit())


def resume_run(settings: Settings, *listeners: Listener, agent: Agent | None = None) -> Summary:
    """Go on with a stopped run under the settings it was started with, budgets and place excepted."""
    _refuse_running_loop()
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = store.find_run(settings.resume)
        if run.summary:
            raise UsageError(f"run {run.id} has finished", f"misstep show {run.id} shows it")
        if store.is_held(run.id):
            raise going_on(run.id)
        began_on = run.settings.on
        run = msgspec.structs.replace(run, settings=run.settings.overlay(_new_means(settings)))
        refuse_blind_budget(run.settings)
        done = _find_done(store, run)
        tell = _teller(listeners)
        crew = employ(_guarded(store, run, tell) if agent is None else run.settings, agent, tell)
        if began_on != run.settings.on:
            tell(f"the run was begun on {began_on}; it goes on {run.settings.on}")
        estimate = _estimate_rest(store, run)
        rest = cases_of(run.settings, done)

        async def sit() -> Summary:
            async with crew as execute:
                return await Sitting(store, run, estimate, listeners).hold(FixedSuite(rest), execute)

        return asyncio.run(sit())


def _estimate_rest(store: Store, run: Run) -> Estimate:
    """By what its own cases have come to, or else like that of a new run."""
    rest, spent = run.total - run.done, store.spent(run.id)
    if run.done:
        so_far = summarise(store.tally(run.id), run.id, run.settings)
        return estimate_rest(run.settings, rest, so_far, spent)
    return estimate_run(run.settings, rest, cases_of(run.settings), store.list_runs())


def estimate(settings: Settings) -> Estimate:
    """What a run under these settings will come to; nothing is started, and nothing is kept."""
    settings = check_settings(settings)
    total, _ = count_cases(settings)
    refuse_blind_budget(settings)
    check_agent(settings)
    return estimate_run(settings, total, cases_of(settings), past_runs(settings))


def _new_means(settings: Settings) -> dict[str, Any]:
    """What may differ from when the run was started: how much it may use, if that is said, and where."""
    budgets = {name: getattr(settings, name) for name in BUDGETS}
    raised = {name: value for name, value in budgets.items() if value is not None}
    return {**raised, "on": settings.on, "ray_address": settings.ray_address}


def _guarded(store: Store, run: Run, tell: Callable[[str], None]) -> Settings:
    """The settings of a run; if it may have died of the user's own agent, that is kept apart from now on."""
    settings = run.settings
    own = ":" in settings.agent and settings.agent.partition(":")[0] not in ("sim", "mcp")
    if not own or settings.python or settings.on != "local" or not store.died(run.id):
        return settings
    tell("the run was cut off before: the agent works in a process of its own now, in case it was the agent")
    return settings.overlay({"python": sys.executable})


def _teller(listeners: Sequence[Listener]) -> Callable[[str], None]:
    def tell(text: str) -> None:
        for listener in listeners:
            with suppress(MisstepError):  # one that can't listen will say so when there is more to hear
                listener(Notice(text))

    return tell


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("a run can't be started inside a running event loop", "start it in a thread of its own")


def _find_done(store: Store, run: Run) -> Sequence[int]:
    """For the place of each case, whether it has an outcome.

    A `UsageError` where the cases are not what they were when the run was stopped.
    """
    done, digest = bytearray(), Digest()
    cases = load_cases(run.settings.cases) if run.settings.cases else cases_of(run.settings)
    for some in _in_portions(cases):
        kept = store.fingerprints(run.id, [case.id for case in some])
        done += bytes(digest.add(case) == kept.get(case.id) for case in some)
    same = run.digest in (b"", bytes(digest))
    if not same or (len(done), sum(done)) != (run.total, run.done):
        source = run.settings.cases or run.settings.tools or "this version of misstep"
        hint = f"{source} gives other cases than those it was started with: start a new run"
        raise UsageError(f"run {run.id} can't be resumed", hint)
    return done


def _in_portions(cases: Iterable[Case], size: int = 200) -> Iterator[list[Case]]:
    """The cases in lists that are short enough to be asked about."""
    portion = list[Case]()
    for case in cases:
        portion.append(case)
        if len(portion) == size:
            yield portion
            portion = []
    yield portion
