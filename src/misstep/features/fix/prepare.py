"""Collects the requests and evidence that a search for better descriptions starts from."""

import os
from collections.abc import Sequence

from msgspec import structs

from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.fixing import FixReport, Part, Trying, wording_of
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.features.bench.environments import BenchmarkSuite
from misstep.features.bench.suites import find_suite
from misstep.features.fix.apply import digest_at
from misstep.fuzzing.descriptions.evidence import (
    FixEvidence,
    evidence_of_fuzzing,
    evidence_of_sets,
    limited,
    split,
)
from misstep.runs.lookup import find_maker
from misstep.runs.setup.workbenches import Target
from misstep.store.runs import Run, Store


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


def prepared(
    targets: Sequence[Target], tools: Sequence[Described], knowledge: Knowledge, settings: Settings
) -> list[FixReport]:
    """The work for each tool. A `UsageError` if there is none."""
    if settings.bench:
        trying = _tasks(settings)
        made = [_with_tasks(each, tool, trying, knowledge) for each, tool in zip(targets, tools, strict=True)]
        return [structs.replace(report, place=place) for place, report in enumerate(made)]
    assert knowledge.run is not None
    known = [(each, tool, knowledge.of(each)) for each, tool in zip(targets, tools, strict=True)]
    found = [(each, tool, evidence) for each, tool, evidence in known if evidence.asked]
    _refuse_nothing(found or known, knowledge, settings)
    wanted = (
        found if settings.only else [entry for entry in found if any(each.bad for each in entry[2].asked)]
    )
    where = f"run {knowledge.run.id}"
    if not wanted:
        hint = "there is nothing to be mended, going by that run"
        raise UsageError("no request of it ended badly", hint, where=where)
    return [
        structs.replace(_with_requests(each, tool, evidence, settings, where), place=place)
        for place, (each, tool, evidence) in enumerate(wanted)
    ]


def benchmark_suite_of(settings: Settings) -> BenchmarkSuite | None:
    """The benchmark on which descriptions are scored, if any, with all its tasks."""
    if not settings.bench:
        return None
    return find_suite(settings.bench, settings.overlay({"split": "all", "count": None}))


def _refuse_nothing(
    found: Sequence[tuple[Target, Described, FixEvidence]], knowledge: Knowledge, settings: Settings
) -> None:
    """Say why there are no requests to test descriptions on."""
    assert knowledge.run is not None
    if any(evidence.asked for _, _, evidence in found):
        return
    where, names = f"--from {settings.from_run}", ", ".join(target.name for target, _, _ in found[:5])
    if not {each.partition(" of ")[0] for each in knowledge.tools} & {tool.name for _, tool, _ in found}:
        hint = f"it is about {', '.join(knowledge.tools[:10]) or 'no tool'}"
        raise UsageError(f"run {knowledge.run.id} knows nothing of {names}", hint, where=where)
    hint = "name a run of misstep tool consistency, or of misstep tool fuzz with --agent"
    message = f"run {knowledge.run.id} has put no request for {names} to an agent"
    raise UsageError(message, hint, "or score on a benchmark: --bench files", where=where)


def _with_requests(
    target: Target, tool: Described, evidence: FixEvidence, settings: Settings, where: str
) -> FixReport:
    try:
        trying, examples = split(evidence, settings.seed, settings.count)
    except UsageError as error:
        error.where = f"{where}, {tool.name}"
        raise
    return structs.replace(_blank(target, tool), trying=trying, examples=examples)


def _with_tasks(
    target: Target, tool: Described, trying: tuple[Trying, ...], knowledge: Knowledge
) -> FixReport:
    """A report scored on tasks. No task is a known failure, so the model may see all known failures."""
    evidence = knowledge.of(target)
    told = (*[each.told for each in evidence.asked if each.bad], *evidence.defects)
    return structs.replace(_blank(target, tool), trying=trying, examples=told)


def _tasks(settings: Settings) -> tuple[Trying, ...]:
    suite = benchmark_suite_of(settings)
    assert suite is not None
    parts: dict[str, Part] = {"validation": "validation", "test": "test"}
    tasks = [each for each in suite.tasks if each.split in parts]
    trying = [Trying(each.id, each.request, parts[each.split], "task") for each in tasks]
    found = limited(trying, settings.seed, settings.count)
    if len({each.part for each in found}) < len(parts):
        raise UsageError("there are not tasks in both parts of the benchmark", "leave out --kind or --domain")
    return found


def _blank(target: Target, tool: Described) -> FixReport:
    source = tool.source if tool.kind == "function" else None
    file = os.path.realpath(source.file) if source else ""
    return FixReport(
        target.name,
        tool.name,
        wording_of(tool.tool),
        ended="stopped",
        file=file,
        line=source.line if source else 0,
        digest=digest_at(file, source.line) if source else "",
    )
