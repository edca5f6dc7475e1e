"""Finds stored runs, and the cases, requests and failures in them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import msgspec

from misstep.core.outcome import Outcome
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.summary import ListedRun, RunView, Summary
from misstep.core.rng import Dice, derive_seed
from misstep.core.run import RunSpec
from misstep.core.settings import (
    BUDGETS,
    AgentRunSettings,
    Settings,
    StoreSettings,
    setting_names,
    store_flag,
)
from misstep.errors import StoreError, UsageError
from misstep.runs.trust import with_agent
from misstep.store.runs import DamagedRun, Run, Store

if TYPE_CHECKING:  # a short run doesn't need it
    from misstep.runs.reporting.stored import RunFeature


def feature_of(purpose: RunSpec) -> "RunFeature":
    feature: RunFeature = import_module(f"{purpose.kind.feature}.kind").FEATURE
    return feature


def list_runs(
    settings: StoreSettings, most: int | None = None, tags: Sequence[str] = ()
) -> tuple[list[ListedRun], int]:
    """Runs of the store with all of these tags, newest first, at most `most`, and how many there are."""
    with Store(settings.store) as store:
        runs = [run for run in store.list_runs() if {*tags} <= {*run.tags}]
        return [ListedRun(run, is_live(store, run)) for run in runs[:most]], len(runs)


def list_damaged(settings: StoreSettings) -> list[DamagedRun]:
    with Store(settings.store) as store:
        return [run for run in store.survey_runs() if isinstance(run, DamagedRun)]


def look_over(
    settings: StoreSettings, skip: int, most: int, search: str = ""
) -> tuple[list[RunView | DamagedRun], int]:
    """Up to `most` runs of the store after the newest `skip`, and how many there are in all.

    With `search`, only those with each of its words in their id, name, tags, command, agent, model or tools.
    """
    found, words = list[RunView | DamagedRun](), search.lower().split()
    with Store(settings.store) as store:
        runs = [run for run in store.survey_runs() if all(word in _searchable(run) for word in words)]
        for run in runs[skip : skip + most]:
            if isinstance(run, DamagedRun):
                found.append(run)
                continue
            try:
                found.append(RunView(run, is_live(store, run), summary_of(store, run)))
            except (StoreError, UsageError) as error:
                found.append(DamagedRun(run.id, "; ".join(error.hints) or error.message))
    return found, len(runs)


def _searchable(run: Run | DamagedRun) -> str:
    if isinstance(run, DamagedRun):
        return run.id
    settings, purpose = run.settings, run.purpose
    tags = (f"#{tag}" for tag in run.tags)
    named = (run.id, run.name, *tags, purpose.command, settings.agent, settings.model, *purpose.tools)
    return " ".join(named).lower()


def find_removable(store: Store, names: Iterable[str]) -> list[Run]:
    """Runs that can be deleted together; a `UsageError` if another run analyses one of them."""
    found = {run.id: run for run in map(store.find_run, names)}
    for other in store.list_runs():
        if other.purpose.run in found and other.id not in found:
            message = f"run {other.purpose.run} is analysed by run {other.id} ({other.purpose.command})"
            raise UsageError(message, f"delete both: misstep runs rm {other.purpose.run} {other.id}")
    return list(found.values())


def find_run(settings: StoreSettings, name: str) -> Run:
    with Store(settings.store) as store:
        return store.find_run(name)


def view_run(settings: StoreSettings, name: str, most: int) -> RunView:
    with Store(settings.store) as store:
        run = store.find_run(name)
        failed = (store.outcomes(run.id, verdict) for verdict in ("failed", "errored", "inconclusive"))
        failures = tuple(islice(chain.from_iterable(failed), most))
        return RunView(run, is_live(store, run), summary_of(store, run), failures)


def view_case(settings: StoreSettings, name: str, case: str) -> tuple[Run, Outcome]:
    with Store(settings.store) as store:
        run = store.find_run(name)
        return run, store.find_outcome(run.id, case)


def summary_of(store: Store, run: Run) -> Summary:
    """The summary of a run, final or so far."""
    return run.summary or feature_of(run.purpose).summary(store, run)


def is_live(store: Store, run: Run) -> bool:
    return run.summary is None and store.is_held(run.id)


T = TypeVar("T")


def resolve_prefix(wanted: str, known: Mapping[str, T], what: str, run: Run, store: Store) -> T:
    """The only one of the known whose id starts with this; a `UsageError` if there is none or several."""
    found = [each for id, each in known.items() if wanted and id.startswith(wanted)]
    if len(found) != 1:
        problem = f"could be any of several {what}s" if found else f"is not a {what}"
        hint = f"misstep show {run.id} lists them"
        raise UsageError(f"'{wanted}' {problem} of run {run.id}", hint, where=store.location)
    return found[0]


def find_planned(store: Store, name: str, *hints: str) -> Run:
    """The named run; a `UsageError` with these hints if it has tools or tasks rather than cases."""
    run = store.find_run(name)
    if not run.purpose.kind.has_cases:
        message = f"run {run.id} is from {run.purpose.command}, which has no planning cases"
        shown = f"misstep show {run.id}{store_flag(store.location)} shows it"
        raise UsageError(message, "name a run of misstep plan test or plan capability", shown, *hints)
    return run


MAKERS: tuple[str, ...] = ("consistency", "fuzz")


class MadeRequest(msgspec.Struct, frozen=True):
    request: str
    tools: frozenset[str]


def find_maker(store: Store, name: str) -> Run:
    run = store.find_run(name)
    if run.purpose.verb not in MAKERS:
        message = f"run {run.id} is from {run.purpose.command}, which has no tool requests"
        hint = "name a run of misstep tool consistency, or of misstep tool fuzz --agent"
        raise UsageError(message, hint, where=f"--from {name}")
    return run


def find_requests(store: Store, run: Run) -> list[MadeRequest]:
    """All requests of a run, each once; one that was made for several tools needs all of them."""
    tools = dict[str, frozenset[str]]()
    made = _of_sets(store, run.id) if run.purpose.verb == "consistency" else _of_passages(store, run.id)
    for requests, own in made:
        for request in requests:
            tools[request] = tools.get(request, frozenset()) | own
    return [MadeRequest(request, those) for request, those in tools.items()]


def draw_requests(
    asked: Sequence[MadeRequest], tools: Collection[str], count: int, seed: int
) -> tuple[str, ...]:
    """Up to `count` of the requests that need only these tools."""
    own = sorted(each.request for each in asked if each.tools <= {*tools})
    return tuple(Dice(derive_seed(seed, "crosstalk", *sorted(tools))).sample(own, min(count, len(own))))


def _of_sets(store: Store, run: str) -> Iterator[tuple[Sequence[str], frozenset[str]]]:
    for report in store.tool_documents(run, ConsistencyReport):
        for one in report.sets:
            yield one.requests, frozenset({_bare(report.name)})


def _of_passages(store: Store, run: str) -> Iterator[tuple[Sequence[str], frozenset[str]]]:
    for report in store.tool_reports(run):
        made_for = {each.id: frozenset(call.tool for call in each.calls) for each in report.findings}
        for passage in report.journey.passages if report.journey else ():
            yield passage.requests, made_for.get(passage.finding, frozenset({_bare(report.name)}))


def _bare(name: str) -> str:
    """The name of a tool without the spec, which reports add if names are ambiguous."""
    return name.partition(" of ")[0]


# Settings that a run which analyses another takes from its own command; the others are unchanged.
_OWN = (
    *BUDGETS,
    *setting_names(
        "confidence display json method most_runs mutations on ray_address report report_dir resume run_name "
        "sample seed store tags"
    ),
)


def settings_for(settings: AgentRunSettings, run: Run, has_agent: bool = False) -> Settings:
    """The settings of a run that analyses `run`: the same limits, and its agent or a newly named one.

    `has_agent` says that the user passes an agent object. There is no cache, since an agent that is run again
    has to be asked again, and no files, since the cases are in the store.
    """
    own = {name: getattr(settings, name) for name in _OWN if name in settings.fields()}
    run = with_agent(settings, run, has_agent)
    return run.settings.overlay({**own, "cache": False, "cases": "", "exhaustive": False, "count": None})


def find_subject(store: Store, name: str) -> Run:
    """The named run; for a dissection, the run whose failures it analyses."""
    run = find_planned(store, name)
    return store.find_run(run.purpose.run) if run.purpose.verb == "dissect" else run


def find_failure(store: Store, run: Run, name: str) -> Outcome:
    outcome = store.find_outcome(run.id, name)
    if outcome.verdict.verdict != "failed":
        raise UsageError(
            f"case {outcome.case.id} of run {run.id} has not failed: it is {outcome.verdict.verdict}",
            f"misstep show {run.id} lists those that have",
        )
    return outcome


def choose_failures(store: Store, run: Run, names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The ids of the named cases, or of a sample of those within the agent's capability."""
    if names:
        return tuple(dict.fromkeys([find_failure(store, run, name).case.id for name in names]))
    limit = feature_of(run.purpose).most_actions(store, run)
    within = (each.case for each in store.outcomes(run.id, "failed") if len(each.case.actions) <= limit)
    failures = sorted(case.id for case in within)  # since outcomes arrive in random order
    return tuple(Dice(settings.seed).sample(failures, min(settings.sample, len(failures))))
