"""Planning tests: synthesise cases, check plans, test an agent."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from functools import partial

from misstep.api.agents import find_agent
from misstep.core.agent import Agent, Assignment
from misstep.core.campaign import FixedSuite
from misstep.core.case import Case
from misstep.core.event import CaseFinished, Event, Listener, RunFinished, RunStarted
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary, Tally
from misstep.core.transcript import Transcript
from misstep.engine.attempt import attempt
from misstep.engine.drive import drive
from misstep.errors import Interrupted, UsageError, did_you_mean
from misstep.planning.admission import admit
from misstep.planning.explanation import check
from misstep.planning.suite import Suite, make_case
from misstep.planning.synthesis import Recipe
from misstep.planning.verification import verify
from misstep.planning.world import World
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
    if settings.cases:
        return sum(1 for _ in load_cases(settings.cases))
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
    suite = suite_of(settings)
    return (make_case(suite, index) for index in range(count_cases(settings)))


def load_cases(path: str) -> Iterator[Case]:
    """The cases of a file, each fit to be judged, no id twice."""
    seen: dict[str, str] = {}
    for where, case in read_lines(path, Case, "case"):
        if case.id in seen:
            raise UsageError(f"case {case.id} comes twice", f"first at {seen[case.id]}", where=where)
        seen[case.id] = where
        try:
            yield admit(case)
        except UsageError as error:
            raise UsageError(error.message, *error.hints, where=where) from error


def check_plans(settings: Settings) -> Iterator[Outcome]:
    """The plans of a file, each judged against its case."""
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
    total = count_cases(settings)
    agent = agent or find_agent(settings.agent, settings.agent_args)
    settings = settings.overlay({"agent": agent.name})
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings, total, time.time())
        return _Sitting(store, run, agent, listeners).hold()


def resume_run(settings: Settings, *listeners: Listener) -> Summary:
    """Go on with a stopped run under the settings it was started with."""
    with Store(settings.store) as store:
        run = store.find_run(settings.resume)
        if run.summary:
            raise UsageError(f"run {run.id} has finished", f"misstep show {run.id} shows it")
        agent = find_agent(run.settings.agent, run.settings.agent_args)
        return _Sitting(store, run, agent, listeners).hold()


def replay_case(case: Case, settings: Settings) -> Outcome:
    """Run a case once more under the settings of its run."""
    agent = find_agent(settings.agent, settings.agent_args)
    return asyncio.run(_execute(agent, settings, case))


class _Sitting:
    """One stretch of a run, from its start or resumption to its end or interruption."""

    def __init__(self, store: Store, run: Run, agent: Agent, listeners: Sequence[Listener]) -> None:
        self._store = store
        self._run = run
        self._agent = agent
        self._listeners = listeners
        self._tally = Tally()

    def hold(self) -> Summary:
        run, settings = self._run.id, self._run.settings
        for outcome in self._store.outcomes(run):
            self._tally.add(outcome)
        self._emit(RunStarted(run, self._run.total, self._tally.cases))
        cases = load_cases(settings.cases) if settings.cases else synthesise(settings)
        campaign = FixedSuite(cases, finished=self._store.finished_cases(run))
        try:
            asyncio.run(drive(campaign, partial(_execute, self._agent, settings), self._take, settings.jobs))
        except KeyboardInterrupt:
            hint = f"go on with: misstep plan test --resume {run}"
            raise Interrupted(f"run {run} was stopped; what had finished is kept", hint) from None
        summary = self._tally.summary(run, self._agent.name)
        self._store.finish_run(run, summary)
        self._emit(RunFinished(run, summary))
        return summary

    def _take(self, outcome: Outcome) -> None:
        self._store.add_outcome(self._run.id, outcome)
        self._tally.add(outcome)
        self._emit(CaseFinished(self._run.id, outcome))

    def _emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


async def _execute(agent: Agent, settings: Settings, case: Case) -> Outcome:
    began = time.monotonic()
    world = World(case, time.monotonic, settings.max_steps)
    answer, broken = await attempt(agent, Assignment(case.query, case.seed), world, settings.timeout)
    transcript = Transcript(case.id, world.calls, answer.ended, answer.text, broken, answer.usage)
    verdict = check(case, transcript, settings.parallel)
    return Outcome(case, transcript, verdict, round(time.monotonic() - began, 6))
