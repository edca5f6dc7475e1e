"""Finds the causes of an agent's failures by running it on changed cases."""

from collections.abc import Iterator, Sequence
from itertools import islice

from misstep.core.agent import Agent
from misstep.core.case import Case
from misstep.core.event import Estimate, Listener
from misstep.core.results.diagnosis import CAUSES, Diagnosis, Dissection
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiries, Inquiry, RunSpec
from misstep.core.settings import DissectSettings, Settings, StoreSettings
from misstep.core.settings.reading import check_settings
from misstep.errors import UsageError
from misstep.planning.dissection import pdoctor, sequential
from misstep.planning.dissection.hypotheses import ElementHistory
from misstep.runs.lifecycle import RunWork, estimate, resume, start
from misstep.runs.lookup import choose_failures, find_subject, settings_for
from misstep.runs.setup.models import model_name
from misstep.store.runs import Store

MOST_RUNS = 60
MOST_EARLIER = 400  # cases of the run used as evidence; more would hardly change it
ALL = 10**9


def dissect(
    settings: DissectSettings,
    name: str,
    cases: Sequence[str] = (),
    *listeners: Listener,
    agent: Agent | None = None,
) -> Dissection:
    """Find the causes of a run's failures, of those named or of a sample, by running the agent again."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        own, work = _prepare(store, settings, name, cases, agent is not None)
        if not work.purpose.cases:
            return _sum_up("", work.purpose, own, [])
        summary = start(own, work, listeners, agent)
    return view_dissection(settings, summary.run)


def resume_dissection(
    settings: DissectSettings, *listeners: Listener, agent: Agent | None = None
) -> Dissection:
    settings = check_settings(settings)
    summary = resume(
        settings, "dissect", lambda store, run: _work(store, run.settings, run.purpose), listeners, agent
    )
    return view_dissection(settings, summary.run)


def estimate_dissection(
    settings: DissectSettings, name: str, cases: Sequence[str] = ()
) -> tuple[Settings, Estimate]:
    """The settings that would be used, and the highest cost to expect."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        own, work = _prepare(store, settings, name, cases)
        return own, estimate(own, work)


def view_dissection(settings: StoreSettings, name: str) -> Dissection:
    """The results of a stored dissection; before its end, what the stored outcomes allow."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        found = store.find_result(run.id, Diagnosis)
        if found is None:
            inquiries = Inquiries(
                _inquiries(store, run.settings, run.purpose), lambda case: store.find_kept(run.id, case)
            )
            inquiries.ask(ALL)
            found = inquiries.found
        return _sum_up(run.id, run.purpose, run.settings, found)


def _prepare(
    store: Store, settings: DissectSettings, name: str, cases: Sequence[str], has_agent: bool = False
) -> tuple[Settings, RunWork]:
    run = find_subject(store, name)
    own = settings_for(settings, run, has_agent)
    purpose = RunSpec("dissect", run.id, choose_failures(store, run, cases, own))
    return own, _work(store, own, purpose)


def _sum_up(run: str, purpose: RunSpec, settings: DissectSettings, found: Sequence[Diagnosis]) -> Dissection:
    counts = {cause: sum(each.cause == cause for each in found) for cause in CAUSES}
    return Dissection(
        run=run,
        of=purpose.run,
        agent=settings.agent,
        model=model_name(settings),
        method=settings.method,
        failures=tuple(found),
        causes=counts,
    )


def _work(store: Store, settings: DissectSettings, purpose: RunSpec) -> RunWork:
    literal = settings.method == "pdoctor"
    each = pdoctor.most_runs(settings.mutations) if literal else settings.most_runs or MOST_RUNS
    return RunWork(
        campaign=lambda known: Inquiries(_inquiries(store, settings, purpose), known),
        sample=lambda: (store.find_outcome(purpose.run, name).case for name in purpose.cases),
        most=each * len(purpose.cases),
        purpose=purpose,
    )


def _inquiries(store: Store, settings: DissectSettings, purpose: RunSpec) -> Iterator[Inquiry[Diagnosis]]:
    history = None
    if settings.method != "pdoctor":
        history = ElementHistory(islice(store.outcomes(purpose.run), MOST_EARLIER))
    for name in purpose.cases:
        case = store.find_outcome(purpose.run, name).case
        try:
            if history is None:
                yield pdoctor.dissect(case, settings.mutations, derive_seed(settings.seed, case.id))
            else:
                most = settings.most_runs or MOST_RUNS
                yield sequential.investigate(case, settings.confidence, most, history)
        except UsageError as error:  # a case that misstep did not write
            yield _unknown(case, error)


def _unknown(case: Case, error: UsageError) -> Inquiry[Diagnosis]:
    """An inquiry that asks for no cases."""
    yield []
    why = "; ".join((error.message, *error.hints))
    return Diagnosis(case.id, "undetermined", None, "", (), why, 0)
