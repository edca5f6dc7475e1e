"""Planning tests: synthesise cases, check plans, test an agent."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from misstep.api.agents import check_agent
from misstep.api.crew import employ
from misstep.api.estimates import estimate_rest, estimate_run, past_runs
from misstep.api.models import refuse_blind_budget, refuse_secrets
from misstep.api.sitting import Sitting
from misstep.api.summaries import summarise
from misstep.core.agent import Agent
from misstep.core.campaign import FixedSuite
from misstep.core.case import CASE_VERSION, Case
from misstep.core.estimate import Estimate
from misstep.core.event import Listener, Notice
from misstep.core.hashes import Hashes
from misstep.core.outcome import Outcome
from misstep.core.settings import BUDGETS, Settings, check_settings
from misstep.core.summary import Summary
from misstep.core.transcript import Transcript
from misstep.errors import MisstepError, UsageError, did_you_mean
from misstep.planning.admission import admit
from misstep.planning.judging.explanation import check
from misstep.planning.judging.verification import verify
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.store.database import going_on
from misstep.store.lines import read_lines
from misstep.store.runs import Digest, Run, Store

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


def count_cases(settings: Settings) -> tuple[int, bytes]:
    """How many cases a run has. A file of cases is read to its end, so that a bad one is found at once.

    What was read has a digest, for a file may change; what is synthesised does not.
    """
    if not settings.cases:
        return count_suite(settings), b""
    digest = Digest()
    for case in load_cases(settings.cases):
        digest.add(case)
    return digest.count, bytes(digest)


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
    seen = Hashes()
    for where, case in read_lines(path, Case, "case", version=CASE_VERSION):
        if not seen.add(case.id) and (first := _find_case(path, case.id)) != where:
            raise UsageError(f"case {case.id} comes twice", f"first at {first}", where=where)
        yield _admit(case, where)


def _load_rest(path: str, done: Sequence[int]) -> Iterator[Case]:
    """The cases of a file that has been looked through before, less those whose place is marked as done."""
    for place, (where, case) in enumerate(read_lines(path, Case, "case", version=CASE_VERSION)):
        if not (place < len(done) and done[place]):
            yield _admit(case, where)


def _admit(case: Case, where: str) -> Case:
    try:
        return admit(case)
    except UsageError as error:
        raise UsageError(error.message, *error.hints, where=where) from error


def _find_case(path: str, name: str) -> str:
    """Where a case first stands in a file."""
    return next(where for where, case in read_lines(path, Case, "case") if case.id == name)


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
    total, digest = count_cases(settings)
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    named = {} if agent is None else {"agent": agent.name}
    files = {name: _lasting_path(getattr(settings, name)) for name in ("prices", "prompt")}
    crew = employ(settings, agent, _teller(listeners))
    settings = check_settings(settings.overlay({**named, **files, "cases": lasting}))
    with Store(settings.store, create=True) as store:
        estimate = estimate_run(settings, total, _cases_of(settings), store.list_runs())

        async def sit() -> Summary:
            async with crew as execute:
                # The run is opened once the agent is known to work.
                run = store.add_run(settings, total, time.time(), digest)
                sitting = Sitting(store, run, estimate, listeners)
                return await sitting.hold(FixedSuite(_cases_of(settings)), execute)

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
        rest = _cases_of(run.settings, done)

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
    return estimate_run(run.settings, rest, _cases_of(run.settings), store.list_runs())


def estimate(settings: Settings) -> Estimate:
    """What a run under these settings will come to; nothing is started, and nothing is kept."""
    settings = check_settings(settings)
    total, _ = count_cases(settings)
    refuse_blind_budget(settings)
    check_agent(settings)
    return estimate_run(settings, total, _cases_of(settings), past_runs(settings))


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


def _lasting_path(path: str) -> str:
    """The path of a file that can be read again, from anywhere; empty where there is none."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError("is not a regular file", "a run reads it more than once: save it first", where=path)
    return os.path.abspath(path) if path else ""


def _cases_of(settings: Settings, done: Sequence[int] = ()) -> Iterator[Case]:
    """The cases of a run, without those whose place is marked as done."""
    if settings.cases:
        return _load_rest(settings.cases, done)
    suite, count = suite_of(settings), count_suite(settings)
    return (make_case(suite, index) for index in range(count) if not (index < len(done) and done[index]))


def _find_done(store: Store, run: Run) -> Sequence[int]:
    """For the place of each case, whether it has an outcome.

    A `UsageError` where the cases are not what they were when the run was stopped.
    """
    done, digest = bytearray(), Digest()
    cases = load_cases(run.settings.cases) if run.settings.cases else _cases_of(run.settings)
    for some in _in_portions(cases):
        kept = store.fingerprints(run.id, [case.id for case in some])
        done += bytes(digest.add(case) == kept.get(case.id) for case in some)
    same = run.digest in (b"", bytes(digest))
    if not same or (len(done), sum(done)) != (run.total, run.done):
        source = run.settings.cases or "this version of misstep"
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
