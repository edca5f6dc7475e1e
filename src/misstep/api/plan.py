"""Planning tests: synthesise cases, check plans, test an agent."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from misstep.api.agents import find_agent
from misstep.api.execution import execute_once
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.sitting import hold_sitting
from misstep.core.agent import Agent
from misstep.core.case import CASE_VERSION, Case
from misstep.core.event import Listener, Notice
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, check_settings
from misstep.core.summary import Summary
from misstep.core.transcript import Transcript
from misstep.errors import UsageError, did_you_mean
from misstep.planning.admission import admit
from misstep.planning.explanation import check
from misstep.planning.suite import Suite, make_case
from misstep.planning.synthesis import Recipe
from misstep.planning.verification import verify
from misstep.store.lines import read_lines
from misstep.store.runs import Run, Store

DEFAULT_COUNT = 100


def suite_of(settings: Settings) -> Suite:
    """The suite that the settings ask for; a `UsageError` where it can't be synthesised."""
    recipe = Recipe(
        sentences=settings.sentences,
        iterations=settings.iterations,
        redundancy=settings.redundancy,
        group=settings.group,
        relative=settings.relative,
    )
    suite = Suite(
        seed=settings.seed,
        low=settings.actions.low,
        high=settings.actions.high,
        topics=settings.topics,
        request=settings.request,
        exhaustive=settings.exhaustive,
        recipe=recipe,
    )
    suite.validate()
    return suite


def count_cases(settings: Settings) -> int:
    """How many cases a run has. A file of cases is read to its end, so that a bad one is found at once."""
    return sum(1 for _ in load_cases(settings.cases)) if settings.cases else count_suite(settings)


def count_suite(settings: Settings) -> int:
    suite = suite_of(settings)
    if not suite.exhaustive:
        return settings.count or DEFAULT_COUNT
    orders = suite.orders()
    if settings.count and settings.count % orders:
        hint = f"leave it out, or take a multiple of {orders}"
        raise UsageError(f"count {settings.count} does not cover the {orders} orders evenly", hint)
    return settings.count or orders


def synthesise(settings: Settings) -> Iterator[Case]:
    """The cases that the settings describe, one by one."""
    settings = check_settings(settings)
    suite = suite_of(settings)
    return (make_case(suite, index) for index in range(count_suite(settings)))


def load_cases(path: str) -> Iterator[Case]:
    """The cases of a file, each fit to be judged, no id twice."""
    seen: dict[str, str] = {}
    for where, case in read_lines(path, Case, "case", version=CASE_VERSION):
        if case.id in seen:
            raise UsageError(f"case {case.id} comes twice", f"first at {seen[case.id]}", where=where)
        seen[case.id] = where
        try:
            yield admit(case)
        except UsageError as error:
            raise UsageError(error.message, *error.hints, where=where) from error


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
    lasting = _lasting_path(settings.cases)
    total = count_cases(settings)
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    named = {} if agent is None else {"agent": agent.name}
    agent = find_agent(settings, _teller(listeners)) if agent is None else agent
    files = {name: _lasting_path(getattr(settings, name)) for name in ("prices", "prompt")}
    settings = check_settings(settings.overlay({**named, **files, "cases": lasting}))
    with Store(settings.store, create=True) as store:
        add = partial(store.add_run, settings, total, time.time())
        return hold_sitting(store, agent, listeners, add, _cases_of(settings))


def resume_run(settings: Settings, *listeners: Listener, agent: Agent | None = None) -> Summary:
    """Go on with a stopped run under the settings it was started with, the budget excepted."""
    _refuse_running_loop()
    with Store(settings.store) as store:
        run = store.find_run(settings.resume)
        if run.summary:
            raise UsageError(f"run {run.id} has finished", f"misstep show {run.id} shows it")
        if settings.budget_usd is not None:
            raised = run.settings.overlay({"budget_usd": settings.budget_usd})
            run = msgspec.structs.replace(run, settings=raised)
        refuse_blind_budget(run.settings)
        _refuse_other_cases(store, run)
        agent = find_agent(run.settings, _teller(listeners)) if agent is None else agent
        return hold_sitting(store, agent, listeners, lambda: run, _cases_of(run.settings))


def replay_case(case: Case, settings: Settings) -> Outcome:
    """Run a case once more under the settings of its run."""
    return asyncio.run(execute_once(find_agent(settings), settings, case))


def _teller(listeners: Sequence[Listener]) -> Callable[[str], None]:
    def tell(text: str) -> None:
        for listener in listeners:
            listener(Notice(text))

    return tell


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("a run can't be started inside a running event loop", "start it in a thread of its own")


def _lasting_path(path: str) -> str:
    """The path of a file that can be read again, from anywhere; empty where there is none."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError("is not a regular file", "a run reads it more than once: save it first", where=path)
    return os.path.abspath(path) if path else ""


def _cases_of(settings: Settings) -> Iterator[Case]:
    return load_cases(settings.cases) if settings.cases else synthesise(settings)


def _refuse_other_cases(store: Store, run: Run) -> None:
    """Make sure that the cases of a run are what they were when it was stopped."""
    done = {outcome.case.id: hash(outcome.case) for outcome in store.outcomes(run.id)}
    total = 0
    for case in _cases_of(run.settings):
        total += 1
        if done.pop(case.id, None) not in (None, hash(case)):
            done[case.id] = 0
            break
    if done or total != run.total:
        source = run.settings.cases or "this version of misstep"
        hint = f"{source} gives other cases than those it was started with: start a new run"
        raise UsageError(f"run {run.id} can't be resumed", hint)
