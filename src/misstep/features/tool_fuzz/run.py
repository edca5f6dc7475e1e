"""Fuzzes tools and stores the results as a run."""

import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.util import find_spec

from misstep.adapters.toolset.spec import each_server
from misstep.core.event import Event, FindingMade, Listener, Notice, ToolFinished
from misstep.core.results.descriptions import read_text
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import FuzzReport, ToolReport
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, StoreSettings, ToolFuzzSettings, ToolRunSettings
from misstep.core.settings.reading import check_settings
from misstep.core.spending import RateLimiters
from misstep.errors import MissingExtra, UsageError
from misstep.features.tool_fuzz.cluster.on_ray import RayFuzzing, refuse_on_ray
from misstep.features.tool_fuzz.reproduce import AgentReproducer
from misstep.features.tool_fuzz.time_shares import shared_time
from misstep.features.tool_fuzz.worker import FuzzWorker, find_seed_corpus, find_seed_run
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.execution import masked
from misstep.runs.lookup import resolve_prefix
from misstep.runs.setup.agent_session import refuse_missing
from misstep.runs.setup.models import refuse_blind_budget, refuse_secrets
from misstep.runs.setup.workbenches import Target, Workbenches, find_targets, short_names
from misstep.runs.summary import summarise_tools
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import refuse_foreign_calls, run_to_resume
from misstep.store.runs import Run, Store

NOTHING = "there is nothing to test: the server has no tools, resources or prompts"


def fuzz_tools(
    settings: ToolFuzzSettings,
    specs: Sequence[str],
    *listeners: Listener,
    rate_limiters: RateLimiters | None = None,
) -> FuzzReport:
    """Fuzz the tools of these specs, each within its limits, and store the results.

    Runs that share `rate_limiters` share the limits of models.
    """
    settings = absolute_places(check_settings(settings))
    prompts = _refuse_early(settings)
    if settings.from_run:
        with Store(settings.store) as store:
            seed_run = find_seed_run(store, settings.from_run)
            refuse_foreign_calls(settings, seed_run)
            settings = settings.overlay({"from_run": seed_run.id})
    own = stored_specs([each for spec in specs for each in each_server(spec)])
    with Workbenches(settings, partial(_notify, listeners), beside=not settings.agent) as benches:
        targets, unusable = _find_targets(benches, own, settings)
        with Store(settings.store, create=True) as store:
            purpose = RunSpec("fuzz", tools=own, descriptions=read_text(settings.descriptions))
            run = store.add_run(settings, len(targets) + len(unusable), time.time(), purpose=purpose)
            return _hold(store, run, listeners, targets, unusable, benches, prompts, rate_limiters)


def resume_fuzzing(settings: AgentRunSettings, *listeners: Listener) -> FuzzReport:
    """Resume a stopped run under the settings it was started with, except for budgets."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = run_to_resume(store, settings, "fuzz")
        if run.summary:
            return _report(store, run)
        prompts = _refuse_early(run.settings)
        with Workbenches(run.settings, partial(_notify, listeners), beside=not run.settings.agent) as benches:
            targets, unusable = _find_targets(benches, run.purpose.tools, run.settings)
            return _hold(store, run, listeners, targets, unusable, benches, prompts)


def view_fuzzing(settings: StoreSettings, name: str) -> FuzzReport:
    with Store(settings.store) as store:
        return _report(store, store.find_run(name))


def find_finding(settings: StoreSettings, name: str, finding: str) -> tuple[Run, Finding]:
    """The finding of a run with this id, or the only one whose id starts with it."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        report = _report(store, run)
        known = {each.id: each for each in (*report.findings, *report.unconfirmed)}
        return run, resolve_prefix(finding, known, "finding", run, store)


def _refuse_early(settings: ToolFuzzSettings) -> Prompts | None:
    refuse_on_ray(settings)
    if settings.tool_method == "toolfuzz" and find_spec("hypothesis") is None:
        raise MissingExtra("Hypothesis", "fuzz")
    if not settings.agent:
        if settings.tool_method != "toolfuzz" or settings.skip_sanity:
            flag = "--skip-sanity" if settings.skip_sanity else f"--method {settings.tool_method}"
            raise UsageError(f"{flag} requires --agent", "add --agent")
        return None
    if settings.from_run and settings.tool_method != "toolfuzz":
        hint = "omit one of them: the corpus of an earlier run only seeds the fuzzer"
        raise UsageError(f"--from can't be combined with --method {settings.tool_method}", hint)
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    refuse_missing(settings)
    return Prompts(settings.prompts)


def _notify(listeners: Sequence[Listener], text: str) -> None:
    for listener in listeners:
        listener(masked(Notice(text)))


def _find_targets(
    benches: Workbenches, specs: Sequence[str], settings: ToolRunSettings
) -> tuple[list[Target], dict[str, str]]:
    """The targets, and why some specs have none; several tools together can only be fuzzed."""
    unusable = dict[str, str]()
    found = find_targets(benches.all_tools(specs, unusable), settings.only)
    targets = [each for each in found if len(each.tools) == 1 or settings.tool_method == "toolfuzz"]
    return targets, unusable


def _reports_on(unusable: Mapping[str, str], run: Run, place: int) -> Iterator[ToolReport]:
    """A report on each spec whose tools can't be loaded."""
    names = short_names(run.purpose.tools)
    for number, (spec, why) in enumerate(unusable.items(), place):
        yield ToolReport(names[spec], 0, place=number, notes=(why,))


def _report(store: Store, run: Run) -> FuzzReport:
    reports = sorted(store.tool_reports(run.id), key=lambda report: report.place)
    return FuzzReport(run.id, run.purpose.tools, tuple(reports), store.spent(run.id).seconds)


def _hold(
    store: Store,
    run: Run,
    listeners: Sequence[Listener],
    targets: Sequence[Target],
    unusable: Mapping[str, str],
    benches: Workbenches,
    prompts: Prompts | None,
    rate_limiters: RateLimiters | None = None,
) -> FuzzReport:
    names = short_names(run.purpose.tools) if len(run.purpose.tools) > 1 else defaultdict[str, str](str)
    session = ToolRunSession(store, run, listeners, ToolReport, summarise_tools, rate_limiters)
    seeds = find_seed_corpus(store, run.settings.from_run)

    def work() -> Generator[ToolReport | Event]:
        settings, run_budget = run.settings, session.run_budget
        if not targets and not unusable:
            session.notice(NOTHING)
        done = {report.name for report in session.done}
        left = [(target, session.kept.get(target.name)) for target in targets if target.name not in done]
        known = [each for report in session.done for each in (*report.findings, *report.unconfirmed)]
        reproducer = AgentReproducer(settings, prompts, run_budget, session.notice) if prompts else None
        origins = {target.name: names[target.spec] for target in targets}
        worker: FuzzWorker | RayFuzzing

        def starting(name: str) -> None:
            session.start(name, origins[name])

        if settings.on == "ray":
            worker = RayFuzzing(settings, run_budget, known, seeds, starting, session.notice)
        else:
            seconds = shared_time(settings, run_budget.used.seconds)
            worker = FuzzWorker(benches, settings, run_budget, known, seeds, reproducer, starting, seconds)
        session.lost = worker.lost
        yield from [each for each in _reports_on(unusable, run, len(targets)) if each.name not in done]
        with closing(worker.work(left)) as found:
            for news in found:
                if isinstance(news, ToolReport):
                    yield news
                else:
                    target, finding = news
                    yield FindingMade(run.id, finding, names[finding.spec], target)

    session.hold(work, lambda report: ToolFinished(run.id, report), least=len(targets) + len(unusable))
    return _report(store, run)
