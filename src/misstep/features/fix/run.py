"""Searches for better tool descriptions as a stored run, from the evidence of an earlier one."""

import asyncio
import os
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TypeAlias

from msgspec import structs

from misstep.core.event import Event, Listener, ToolMended
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.descriptions import parse_descriptions, read_text, wording_of
from misstep.core.results.fixing import FixReport, FixRun, Part, Trying
from misstep.core.run import RunSpec
from misstep.core.settings import AgentRunSettings, FixSettings, StoreSettings, ToolLimits
from misstep.core.settings.reading import check_settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.features.bench.environments import BenchmarkSuite, check_task_agent
from misstep.features.bench.suites import find_suite
from misstep.features.fix.apply import digest_at, refuse_changed, refuse_overridden, refuse_unwritable
from misstep.features.fix.search import DescriptionSearch, OnRequests, OnTasks, Scorer, without_secrets
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.fuzzing.descriptions.evidence import (
    FixEvidence,
    evidence_of_fuzzing,
    evidence_of_sets,
    limited,
    split,
)
from misstep.runs.budget import cost_of_run
from misstep.runs.cases import absolute_places, stored_specs
from misstep.runs.lookup import find_maker
from misstep.runs.setup.agent_session import AgentSession, refuse_missing
from misstep.runs.setup.models import open_model, refuse_blind_budget, refuse_secrets
from misstep.runs.setup.workbenches import Target, Workbenches, find_targets
from misstep.runs.setup.workers import stopping
from misstep.runs.summary import summarise_sets
from misstep.runs.tool_session import ToolRunSession
from misstep.runs.trust import refuse_foreign_calls, run_to_resume
from misstep.store.runs import Run, Store
from misstep.store.trust import is_trusted


class Knowledge:
    """What an earlier run knows about tools; nothing if there is no such run."""

    def __init__(self, store: Store | None, name: str) -> None:
        self.run: Run | None = find_maker(store, name) if store and name else None
        self._sets = dict[str, ConsistencyReport]()
        self._fuzzed = []
        if store and self.run and self.run.purpose.verb == "consistency":
            self._sets = {each.name: each for each in store.tool_documents(self.run.id, ConsistencyReport)}
        elif store and self.run:
            self._fuzzed = store.tool_reports(self.run.id)

    @property
    def tools(self) -> list[str]:
        return [*self._sets, *[each.name for each in self._fuzzed]]

    def of(self, target: Target) -> FixEvidence:
        tool = target.tools[0]
        name = next((each for each in (target.name, tool) if each in self.tools), "")
        if name in self._sets:
            return evidence_of_sets(self._sets[name])
        return evidence_of_fuzzing(self._fuzzed, name, tool) if name else FixEvidence()


Known: TypeAlias = tuple[Target, Described, FixEvidence]


def _reports(known: Sequence[Known], knowledge: Knowledge, settings: FixSettings) -> list[FixReport]:
    """The work for each tool. A `UsageError` if there is none."""
    reports = list[FixReport]()
    if settings.bench:
        trying = _tasks(settings)
        for place, (target, tool, evidence) in enumerate(known):
            # No task is a known failure, so the model may see all known failures.
            told = (*[each.told for each in evidence.asked if each.bad], *evidence.defects)
            reports.append(_report(target, tool, trying, told, place))
        return reports
    assert knowledge.run is not None
    found = [entry for entry in known if entry[2].asked]
    _refuse_nothing(found or known, knowledge, settings)
    failed = [entry for entry in found if any(each.bad for each in entry[2].asked)]
    wanted = found if settings.only else failed
    where = f"run {knowledge.run.id}"
    if not wanted:
        raise UsageError("none of its requests failed", "that run has nothing to fix", where=where)
    for place, (target, tool, evidence) in enumerate(wanted):
        try:
            reports.append(_report(target, tool, *split(evidence, settings.seed, settings.count), place))
        except UsageError as error:
            error.where = f"{where}, {tool.name}"
            raise
    return reports


def benchmark_suite_of(settings: FixSettings) -> BenchmarkSuite | None:
    """The benchmark on which descriptions are scored, if any, with all its tasks."""
    if not settings.bench:
        return None
    return find_suite(settings.bench, settings.overlay({"split": "all", "count": None}))


def _refuse_nothing(found: Sequence[Known], knowledge: Knowledge, settings: ToolLimits) -> None:
    """Say why there are no requests to test descriptions on."""
    assert knowledge.run is not None
    if any(evidence.asked for _, _, evidence in found):
        return
    where, names = f"--from {settings.from_run}", ", ".join(target.name for target, _, _ in found[:5])
    if not {each.partition(" of ")[0] for each in knowledge.tools} & {tool.name for _, tool, _ in found}:
        hint = f"it is about {', '.join(knowledge.tools[:10]) or 'no tool'}"
        raise UsageError(f"run {knowledge.run.id} has no data on {names}", hint, where=where)
    hint = "name a run of misstep tool consistency, or of misstep tool fuzz with --agent"
    message = f"run {knowledge.run.id} has no agent requests for {names}"
    raise UsageError(message, hint, "or score on a benchmark: --bench files", where=where)


def _tasks(settings: FixSettings) -> tuple[Trying, ...]:
    suite = benchmark_suite_of(settings)
    assert suite is not None
    parts: dict[str, Part] = {"validation": "validation", "test": "test"}
    tasks = [each for each in suite.tasks if each.split in parts]
    trying = [Trying(each.id, each.request, parts[each.split], "task") for each in tasks]
    found = limited(trying, settings.seed, settings.count)
    if len({each.part for each in found}) < len(parts):
        hint = "omit --kind or --domain"
        raise UsageError("the selected tasks are not in both parts of the benchmark", hint)
    return found


def _report(
    target: Target, tool: Described, trying: tuple[Trying, ...], examples: tuple[str, ...], place: int
) -> FixReport:
    source = tool.source if tool.kind == "function" else None
    file, line = (os.path.realpath(source.file), source.line) if source else ("", 0)
    return FixReport(
        target.name,
        tool.name,
        wording_of(tool.tool),
        trying,
        examples,
        ended="stopped",
        file=file,
        line=line,
        digest=digest_at(file, line) if source else "",
        place=place,
    )


def fix_tools(
    settings: FixSettings, specs: Sequence[str], *listeners: Listener, write: bool = False
) -> FixRun:
    """Search for better descriptions of the tools of the specs, and store the results.

    No file is changed; with `write`, problems that would prevent writing are reported now.
    """
    settings = absolute_places(check_settings(settings))
    if write:
        refuse_overridden(settings)
    suite = benchmark_suite_of(settings)
    prompts = _refuse_early(settings, suite)
    own = stored_specs(suite.tools.get(spec, spec) if suite else spec for spec in specs)
    with Workbenches(settings) as benches, Store(settings.store, create=not settings.from_run) as store:
        knowledge = Knowledge(store, settings.from_run)
        if knowledge.run:
            refuse_foreign_calls(settings, knowledge.run)
        settings = settings.overlay({"from_run": knowledge.run.id if knowledge.run else ""})
        reports = _prepared(benches, own, knowledge, settings)
        refuse_unwritable([report for report, _ in reports] if write else ())
        purpose = RunSpec("fix", settings.from_run, tools=own, descriptions=read_text(settings.descriptions))
        run = store.add_run(settings, len(reports), time.time(), purpose=purpose)
        return _hold(store, run, listeners, reports, benches, prompts, suite)


def resume_fixing(settings: AgentRunSettings, *listeners: Listener, write: bool = False) -> FixRun:
    """Resume a stopped run under the settings it was started with, except for budgets.

    A finished run is returned as it is.
    """
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = run_to_resume(store, settings, "fix")
        if run.summary:
            return _view(store, run, is_trusted(run))
        if write:
            refuse_overridden(run.settings)
        suite = benchmark_suite_of(run.settings)
        prompts = _refuse_early(run.settings, suite)
        with Workbenches(run.settings) as benches:
            reports = _prepared(benches, run.purpose.tools, Knowledge(store, run.purpose.run), run.settings)
            if write:  # to the tools as they are now
                refuse_unwritable([report for report, _ in reports])
                begun = {each.name: each.digest for each in store.tool_documents(run.id, FixReport)}
                for report, _ in reports:
                    refuse_changed(structs.replace(report, digest=begun.get(report.name, report.digest)))
            return _hold(store, run, listeners, reports, benches, prompts, suite)


def view_fixing(settings: StoreSettings, name: str) -> FixRun:
    with Store(settings.store) as store:
        run = store.find_run(name)
        return _view(store, run, settings.trust_store or is_trusted(run))


def _refuse_early(settings: FixSettings, suite: BenchmarkSuite | None) -> Prompts:
    refuse_blind_budget(settings)
    refuse_secrets(settings)
    if not settings.from_run and not settings.bench:
        hint = "name it with --from: a run of misstep tool consistency, or of misstep tool fuzz --agent"
        raise UsageError("no run with findings was given", hint, "or score with --bench files")
    if not settings.from_run and "findings" in settings.strategy:
        hint = "name a run with --from, or other strategies: --strategy description,source,explore"
        raise UsageError("the strategy 'findings' needs a run with findings", hint)
    if suite is None:
        refuse_missing(settings)
    else:
        check_task_agent(settings)
        asyncio.run(open_model(settings, lambda _: None, "generator").close())
    return Prompts(settings.prompts)


def _prepared(
    benches: Workbenches, specs: Sequence[str], knowledge: Knowledge, settings: FixSettings
) -> list[tuple[FixReport, str]]:
    found = benches.all_tools(specs)
    targets = [each for each in find_targets(found, settings.only) if len(each.tools) == 1]
    known = [(each, each.among(found[each.spec])[0], knowledge.of(each)) for each in targets]
    specs_of = {target.name: target.spec for target in targets}
    reports = _reports(known, knowledge, settings)
    offered = [tool.name for tools in found.values() for tool in tools]
    for name in offered if settings.bench else [report.tool for report in reports]:
        both = [spec for spec, tools in found.items() if name in [each.name for each in tools]]
        if len(both) > 1:  # the description of one would be taken for that of the other
            message = f"the tool '{name}' exists twice: in {both[0]} and in {both[1]}"
            raise UsageError(message, "descriptions are matched by tool name: give only one of these")
    return [(report, specs_of[report.name]) for report in reports]


def _view(store: Store, run: Run, trusted: bool) -> FixRun:
    if run.purpose.verb != "fix":
        raise UsageError(f"run {run.id} is not from tool fix, but from {run.purpose.command}")
    kept = [without_secrets(report) for report in store.tool_documents(run.id, FixReport)]
    if not trusted:  # without a digest, the file that a report names is not read
        kept = [structs.replace(report, digest="") for report in kept]
    reports = sorted(kept, key=lambda report: report.place)
    spent = store.spent(run.id)
    usd = cost_of_run(run, spent.usage)
    wordings = parse_descriptions(run.purpose.descriptions, run.settings.descriptions)
    return FixRun(run.id, run.purpose.tools, run.purpose.run, tuple(reports), spent.seconds, usd, wordings)


def _hold(
    store: Store,
    run: Run,
    listeners: Sequence[Listener],
    reports: Sequence[tuple[FixReport, str]],
    benches: Workbenches,
    prompts: Prompts,
    suite: BenchmarkSuite | None,
) -> FixRun:
    session = ToolRunSession(store, run, listeners, FixReport, summarise_sets)
    settings, run_budget = run.settings, session.run_budget

    def work() -> Generator[FixReport | Event]:
        """One tool after the other; unfinished ones continue with the requests they started with."""
        agent_session = AgentSession(settings, prompts, run_budget, session.notice)
        done = {report.name for report in session.done}
        with stopping(run_budget):
            for blank, spec in reports:
                if blank.name in done or agent_session.is_over():
                    continue
                report = session.kept.get(blank.name, blank)
                scorer: Scorer = OnRequests(benches, spec, settings, agent_session, run_budget)
                if suite is not None:
                    scorer = OnTasks(suite, run.purpose.tools, settings, run_budget, session.notice)
                search = DescriptionSearch(report, spec, settings, benches, agent_session, run_budget, scorer)
                with closing(search.run()) as found:
                    yield from found

    session.hold(work, lambda report: ToolMended(run.id, report))
    return _view(store, run, trusted=True)
