"""Dissection: why an agent fails, case by case."""

from collections.abc import Callable, Iterator, Sequence

from misstep.api.conduct import Known, Work, begin, go_on
from misstep.api.failures import draw_sample, find_failures, settings_for
from misstep.api.models import name_model
from misstep.core.agent import Agent
from misstep.core.campaign import Campaign, Inquiries, Inquiry
from misstep.core.case import Case
from misstep.core.diagnosis import CAUSES, Diagnosis, Dissection
from misstep.core.dice import derive_seed
from misstep.core.event import Listener
from misstep.core.purpose import Purpose
from misstep.core.settings import Settings, check_settings
from misstep.errors import UsageError
from misstep.planning.dissection import pdoctor, sequential
from misstep.store.runs import Run, Store

MOST_RUNS = 60
RERUNS = 3  # with which the method pdoctor begins


def dissect(
    settings: Settings, name: str, cases: Sequence[str] = (), *listeners: Listener, agent: Agent | None = None
) -> Dissection:
    """Find the causes of a run's failures, of those named or of a sample, by running the agent again."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = store.find_run(name)
        chosen = draw_sample(find_failures(store, run, cases), settings)
        own = settings_for(settings, run)
        if not chosen:
            return _sum_up("", run, own, [])
        purpose = Purpose("dissect", run.id, chosen)
        work = _work(store, own, purpose)
        summary = begin(own, work, listeners, agent)
    return view_dissection(settings, summary.run)


def resume_dissection(settings: Settings, *listeners: Listener, agent: Agent | None = None) -> Dissection:
    """Go on with a stopped dissection."""
    settings = check_settings(settings)

    def plan(store: Store, run: Run) -> Work:
        return _work(store, run.settings, run.purpose)

    summary = go_on(settings, "dissect", plan, listeners, agent)
    return view_dissection(settings, summary.run)


def view_dissection(settings: Settings, name: str) -> Dissection:
    """What a stored dissection has found out so far: its inquiries are held again, on what has been kept."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        inquiries = Inquiries(
            _inquiries(store, run.settings, run.purpose), lambda case: store.find_kept(run.id, case)
        )
        for _ in run.purpose.cases:
            inquiries.ask(1)
        parent = store.find_run(run.purpose.run)
        return _sum_up(run.id, parent, run.settings, inquiries.found)


def _sum_up(run: str, parent: Run, settings: Settings, found: Sequence[Diagnosis]) -> Dissection:
    model = name_model(settings)
    counts = {cause: sum(each.cause == cause for each in found) for cause in CAUSES}
    named = str(model) if model else None
    return Dissection(run, parent.id, settings.agent, named, settings.method, tuple(found), counts)


def _work(store: Store, settings: Settings, purpose: Purpose) -> Work:
    def campaign(known: Known) -> Campaign:
        return Inquiries(_inquiries(store, settings, purpose), known)

    def sample() -> Iterator[Case]:
        return (store.find_outcome(purpose.run, name).case for name in purpose.cases)

    each = RERUNS + 3 * settings.mutations if settings.method == "pdoctor" else _most_runs(settings)
    return Work(campaign, sample, most=each * len(purpose.cases), purpose=purpose)


def _inquiries(store: Store, settings: Settings, purpose: Purpose) -> Iterator[Inquiry[Diagnosis]]:
    look_into = _method(settings)
    for name in purpose.cases:
        case = store.find_outcome(purpose.run, name).case
        try:
            yield look_into(case)
        except UsageError as error:  # a case that is not in misstep's own words
            yield _unknown(case, error)


def _unknown(case: Case, error: UsageError) -> Inquiry[Diagnosis]:
    """An inquiry that has nothing to ask."""
    yield []
    why = "; ".join((error.message, *error.hints))
    return Diagnosis(case.id, "undetermined", None, "", (), why, 0)


def _method(settings: Settings) -> Callable[[Case], Inquiry[Diagnosis]]:
    if settings.method == "pdoctor":
        return lambda case: pdoctor.dissect(case, settings.mutations, derive_seed(settings.seed, case.id))
    return lambda case: sequential.investigate(case, settings.confidence, _most_runs(settings))


def _most_runs(settings: Settings) -> int:
    return settings.most_runs or MOST_RUNS
