"""Tests an agent on planning cases, and checks plans from files."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.event import Estimate, Listener
from misstep.core.outcome import Outcome, Transcript
from misstep.core.results.summary import Summary
from misstep.core.run import FixedSuite
from misstep.core.settings import CheckSettings, PlanTestSettings, ProblemSettings
from misstep.core.settings.reading import check_settings
from misstep.errors import UsageError, did_you_mean
from misstep.planning.difficulty import baselines
from misstep.planning.judging.check import check
from misstep.planning.judging.solver import require_z3
from misstep.planning.judging.verification import verify
from misstep.runs import lifecycle
from misstep.runs.cases import cases_of, count_cases, load_cases
from misstep.runs.lifecycle import RunWork, lasting, resume, start
from misstep.store.files import read_lines
from misstep.store.runs import Digest, Run, Store

AT_ONCE = 200  # cases in a query


def check_plans(settings: CheckSettings) -> Iterator[Outcome]:
    """The plans of a file, each judged against its case."""
    settings = check_settings(settings)
    if settings.verify:
        require_z3()
    for case, transcript in _plans(settings):
        verdict = check(case, transcript, settings.parallel)
        if settings.verify:
            verify(case, transcript, verdict)
        yield Outcome(case, transcript, verdict, baselines=baselines(case))


def _plans(settings: CheckSettings) -> Iterator[tuple[Case, Transcript]]:
    """The plans in the file, each with its case: in our format or in those of other programs."""
    from misstep.interop.trajectories.reading import is_foreign, read_trajectories
    from misstep.interop.trajectories.trajectory import Cases

    loaded = load_cases(settings.cases)
    if is_foreign(settings.plans):
        cases = Cases(loaded, settings.cases, settings.case)
        yield from map(cases.transcript, read_trajectories(settings.plans))
        return
    if settings.case:
        raise UsageError("plans name their cases themselves", "omit --case", where="--case")
    known = {case.id: case for case in loaded}
    for where, transcript in read_lines(settings.plans, Transcript, "plan"):
        case = known.get(transcript.case)
        if case is None:
            hints = (f"{settings.cases} has {len(known)} cases", did_you_mean(transcript.case, known))
            raise UsageError(f"a plan for the unknown case '{transcript.case}'", *hints, where=where)
        yield case, transcript


def run_agent(settings: PlanTestSettings, *listeners: Listener, agent: Agent | None = None) -> Summary:
    """Run an agent, your own or the one that the settings name, on the cases that they describe."""
    settings = check_settings(settings)
    total, digest = count_cases(settings)
    settings = lasting(settings)
    return start(settings, _work(settings, cases_of(settings), total, digest), listeners, agent)


def resume_run(settings: PlanTestSettings, *listeners: Listener, agent: Agent | None = None) -> Summary:
    """Resume a stopped run under the settings it was started with, except for budgets and place."""

    def plan(store: Store, run: Run) -> RunWork:
        rest = cases_of(run.settings, _find_done(store, run))
        return _work(run.settings, rest, run.total, run.digest)

    return resume(check_settings(settings), "test", plan, listeners, agent)


def _work(settings: ProblemSettings, cases: Iterable[Case], total: int, digest: bytes) -> RunWork:
    return RunWork(lambda _: FixedSuite(cases), lambda: cases_of(settings), total, digest=digest)


def estimate(settings: PlanTestSettings) -> Estimate:
    """Estimate a run under these settings; nothing is started or stored."""
    settings = check_settings(settings)
    total, digest = count_cases(settings)
    return lifecycle.estimate(settings, _work(settings, (), total, digest))


def _find_done(store: Store, run: Run) -> Sequence[int]:
    """Whether each case, by its index, has an outcome.

    A `UsageError` if the cases have changed since the run was stopped.
    """
    done, digest = bytearray(), Digest()
    cases = load_cases(run.settings.cases) if run.settings.cases else cases_of(run.settings)
    while some := list(islice(cases, AT_ONCE)):
        kept = store.fingerprints(run.id, [case.id for case in some])
        done += bytes(digest.add(case) == kept.get(case.id) for case in some)
    same = run.digest in (b"", bytes(digest))
    if not same or (len(done), sum(done)) != (run.total, run.done):
        source = run.settings.cases or run.settings.tools or "this version of misstep"
        hint = f"{source} gives different cases than it started with; start a new run"
        raise UsageError(f"run {run.id} can't be resumed", hint)
    return done
