"""Fuzzes targets within the limits of the run, several at a time, each in a thread with its own host."""

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from misstep.core.results.finding import BY_REQUEST, AgentReach, Finding, ToolReport
from misstep.core.rng import derive_seed
from misstep.core.run import RunSpec
from misstep.core.settings import ToolRunSettings
from misstep.core.tool import Invocation
from misstep.errors import StoreError, UsageError
from misstep.features.tool_fuzz.reproduce import AgentReproducer
from misstep.fuzzing.contracts.samples import CallSamples
from misstep.fuzzing.examination import STRETCH, Ended, Examination
from misstep.fuzzing.search.sequences import stage_of
from misstep.runs.budget import RunBudget
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Target, Workbenches
from misstep.runs.setup.workers import Workers, stopping
from misstep.store.runs import Run, Store
from misstep.tool_host.host import PAUSE, ToolHost


class SeedCorpus:
    """The smallest calls of an earlier run's findings, then the calls of its corpora."""

    def __init__(self, reports: Iterable[ToolReport] = ()) -> None:
        told = sorted(reports, key=lambda report: report.place)
        shown = [each for report in told for each in (*report.findings, *report.unconfirmed)]
        kept = [text for report in told for text in report.corpus]
        self._calls = {
            text: {call.tool for call in msgspec.json.decode(text, type=list[_Kept])}
            for text in (*(_written(finding.calls) for finding in shown), *kept)
        }

    def for_tools(self, tools: Sequence[str]) -> list[str]:
        """The calls of one tool; for several tools, those that involve more than one of them."""
        least = min(len(tools), 2)
        return [text for text, called in self._calls.items() if called <= {*tools} and len(called) >= least]


def find_seed_run(store: Store, name: str) -> Run:
    """The run with this name, if it is a run on tools; a `UsageError` if not."""
    run = store.find_run(name)
    if run.purpose.verb != "fuzz":
        ours = RunSpec("fuzz").command
        message = f"run {run.id} is not from {ours}, but from {run.purpose.command}"
        raise UsageError(message, f"name a run of misstep {ours}", where=f"--from {name}")
    return run


def find_seed_corpus(store: Store, name: str) -> SeedCorpus:
    """The seed corpus from the run with this name; empty without a name."""
    if not name:
        return SeedCorpus()
    run = find_seed_run(store, name).id
    try:
        return SeedCorpus(store.tool_reports(run))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"run {run} is damaged", f"corpus: {error}", where=store.location) from error


def _written(calls: Sequence[Invocation]) -> str:
    """The calls in the format of a corpus."""
    return json.dumps([{"tool": call.tool, "arguments": json.loads(call.arguments)} for call in calls])


class _Kept(msgspec.Struct):
    tool: str
    arguments: dict[str, Any]


BETWEEN = 10.0  # seconds between intermediate reports; a killed run loses at most that
TRIAGE = 0.25  # of the time for a tool, added to confirm findings and minimise them
LEAST_TRIAGE = 30.0  # seconds
FUZZING = 0.2  # of the time for a tool, if an agent gets the rest
LOOKS = 2  # attempts to reach a server before it is given up
NAP = 0.2  # seconds between two checks whether to keep waiting
LOST = "could not be restarted"
NOTHING_KEPT = SeedCorpus()

News: TypeAlias = Finding | ToolReport
Left: TypeAlias = tuple[Target, ToolReport | None]  # with the report so far, if it was stopped


@dataclass
class FuzzWorker:
    """Examines targets and reports the results; several threads may call it at a time.

    `known` are findings that are not new, `seeds` the corpus of an earlier run to start from. A `reproducer`
    tries findings with an agent. `starting` is told the name of each target. `lost` are specs whose tools
    could not be loaded again, and why; their remaining work is not done.
    """

    benches: Workbenches
    settings: ToolRunSettings
    run_budget: RunBudget
    known: Iterable[Finding] = ()
    seeds: SeedCorpus = NOTHING_KEPT
    reproducer: AgentReproducer | None = None
    starting: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self._known = {_mark(finding) for finding in self.known}
        self._seconds = self.settings.time_per_tool * (FUZZING if self.reproducer else 1.0)
        self._lock = threading.Lock()
        self._samples = defaultdict[str, CallSamples](CallSamples)
        self._most_tools = Counter[str]()  # of a target, by spec
        self.lost = dict[str, str]()

    def work(self, targets: Sequence[Left]) -> Generator[News]:
        """Examine targets, as many at a time as the settings say, and yield results as they arrive.

        Findings are reported at once, unconfirmed; intermediate reports are marked as stopped. Errors in an
        examination are raised here. No thread is left at the end. Tools that make something come first, since
        others may need it, and several tools together last: what they show alone is not new then.
        """
        run_budget, jobs = self.run_budget, self.settings.jobs
        for target, _ in targets:
            self._most_tools[target.spec] = max(len(target.tools), self._most_tools[target.spec])
        workers = Workers[Left, News](lambda left, tell: self.examine(*left, tell), run_budget, jobs)
        with stopping(run_budget):
            for wave in range(3):
                yield from workers.work([left for left in targets if _wave(left[0]) == wave])

    def examine(self, target: Target, before: ToolReport | None, tell: Callable[[News], None]) -> None:
        """Examine a target until done, starting from where it was stopped `before`."""
        self.starting(target.name)
        before = before if before and (before.calls or before.journey) else None
        if target.spec not in self.lost:
            try:
                with self.benches.lend(target.spec) as bench:
                    self._examine_on(bench, target, before, tell)
                return
            except UsageError as error:  # its tools are missing or have changed
                self._lose(target.spec, error.message)
        undone = before or ToolReport(target.name, 0, place=target.place, ended="stopped")
        tell(self._noted(_cleared(undone), target.spec))

    def _examine_on(
        self, bench: ToolHost, target: Target, before: ToolReport | None, tell: Callable[[News], None]
    ) -> None:
        """Fuzz the target, unless that is done or not wanted; then try findings with the agent."""
        bench.heed(self.run_budget.is_over)
        target.among(bench.tools)  # raises if there is nothing to examine
        method = self.settings.tool_method
        if before is not None and before.journey is not None:
            report = _cleared(before)
        elif method == "toolfuzz":
            report = self._fuzzed(bench, target, before, tell)
        else:
            report = structs.replace(self._blank(bench, target), journey=AgentReach(method))
        if self.reproducer is None or report.journey is None:
            return

        def keep(news: ToolReport) -> None:
            nonlocal report
            report = news  # so that it is kept if the tools are lost meanwhile
            self._hear(news, tell)

        try:
            report = self.reproducer.reproduce(bench, report, target, keep)
        except UsageError as error:  # code that can't be loaded again
            self._lose(target.spec, error.message)
        self._hear(self._noted(report, target.spec), tell)

    def _fuzzed(
        self, bench: ToolHost, target: Target, before: ToolReport | None, tell: Callable[[News], None]
    ) -> ToolReport:
        """The report on a target after fuzzing; an agent, if there is one, continues with it."""
        seed = derive_seed(self.settings.seed, *target.tools, before.calls if before else 0)
        kept = [] if before else self.seeds.for_tools(target.tools)
        blank = _cleared(before or self._blank(bench, target))
        tools = target.among(bench.tools)
        samples = self._samples[target.spec]
        needs = tools[0].kind == "mcp" and len(tools) == 1 and stage_of(tools[0].name) != 0
        examination = Examination(
            bench,
            tools,
            target.spec,
            seed,
            blank,
            target.titles,
            kept,
            samples,
            preparations=samples.preparations_for(tools[0].name) if needs else (),
            hints=samples.hints_for(tools[0]) if needs else {},
        )
        ended: Ended = "stopped"
        try:
            ended = self._carry_out(
                examination, target.spec, tell, len(tools) == self._most_tools[target.spec]
            )
        except UsageError as error:  # code that can't be loaded again
            self._lose(target.spec, error.message)
        finally:
            # The agent is given what is in the report.
            report = self._noted(masked(examination.report(ended)), target.spec)
            if self.reproducer and ended != "stopped":
                journey = AgentReach(fuzzed=ended, seconds=round(examination.seconds_settling, 3))
                report = structs.replace(report, journey=journey, ended="stopped")
            tell(report)
        return report

    def _hear(self, report: ToolReport, tell: Callable[[News], None]) -> None:
        """Report the progress with the agent, preceded by new findings that its requests have shown."""
        with self._lock:
            asked = [each for each in report.findings if each.origin == BY_REQUEST]
            fresh = [each for each in asked if _mark(each) not in self._known]
            self._known |= {_mark(finding) for finding in fresh}
        for finding in fresh:
            tell(finding)
        tell(report)

    def _blank(self, bench: ToolHost, target: Target) -> ToolReport:
        problems = (*(f"skipped: {each}" for each in bench.skipped), *bench.notes)  # found while loading
        notes = problems if target.tools == (bench.tools[0].name,) else ()  # once is enough
        return ToolReport(target.name, 0, place=target.place, sandbox=bench.sandbox.words, notes=notes)

    def _carry_out(
        self, examination: Examination, spec: str, tell: Callable[[News], None], all_tools: bool
    ) -> Ended:
        """Fuzz, try contracts once all tools of the spec are known, and confirm what was found."""
        ended = self._fuzz(examination, tell)
        settled = False
        if ended != "stopped":
            with self._lock:
                known = [(tool, signature) for where, tool, signature in self._known if where == spec]
            seconds = max(LEAST_TRIAGE, self.settings.time_per_tool * TRIAGE)
            if all_tools:
                examination.try_contracts(self.run_budget.is_over, seconds, self.run_budget)
                for finding in examination.news():
                    tell(finding)
            settled = examination.settle(known, self.run_budget.is_over, seconds, self.run_budget)
        if examination.unreachable:
            self._lose(spec, examination.unreachable)
            return "stopped"
        return ended if settled else "stopped"

    def _fuzz(self, examination: Examination, tell: Callable[[News], None]) -> Ended:
        """Fuzz until a limit is reached, and return which."""
        settings, began, told = self.settings, time.monotonic() - examination.seconds, time.monotonic()
        misses = 0

        def over() -> bool:
            examination.seconds = time.monotonic() - began
            return examination.seconds >= self._seconds or self.run_budget.is_over()

        while not over():
            wanted = min(STRETCH, (settings.calls_per_tool or sys.maxsize) - examination.calls)
            if wanted <= 0:
                return "calls"
            granted = self.run_budget.reserve_calls(wanted)
            if not granted:
                return "stopped"
            made = examination.go_on(granted, over)
            self.run_budget.give_back(granted - made)
            for finding in examination.news():
                if _mark(finding) not in self._known:
                    tell(finding)
            misses = misses + 1 if examination.unreachable else 0
            if misses == LOOKS or (misses and not _wait(over)):
                return "stopped"
            if not made:
                return "stopped" if self.run_budget.is_over() else "exhausted"
            if time.monotonic() - told > BETWEEN:
                told = time.monotonic()
                tell(examination.report("stopped"))
        return "stopped" if self.run_budget.is_over() else "time"

    def _lose(self, spec: str, why: str) -> None:
        with self._lock:
            self.lost.setdefault(spec, f"{LOST}: {why}")

    def _noted(self, report: ToolReport, spec: str) -> ToolReport:
        """The last report on a target, with the reason if it can't be continued."""
        with self._lock:
            self._known |= {_mark(finding) for finding in (*report.findings, *report.unconfirmed)}
            why = self.lost.get(spec) if report.ended == "stopped" else None
        return structs.replace(report, notes=(*report.notes, why)) if why else report


def _wave(target: Target) -> int:
    return 2 if len(target.tools) > 1 else int(stage_of(target.tools[0]) != 0)


def _wait(over: Callable[[], bool]) -> bool:
    """Wait before trying again to reach a server; whether there is time for that."""
    until = time.monotonic() + PAUSE
    while (left := until - time.monotonic()) > 0 and not over():
        time.sleep(min(left, NAP))
    return not over()


def _cleared(report: ToolReport) -> ToolReport:
    """The report without what prevented it from continuing before."""
    notes = tuple(note for note in report.notes if not note.startswith(LOST))
    return structs.replace(report, notes=notes)


def _mark(finding: Finding) -> tuple[str, str, str]:
    """What findings of the same defect have in common."""
    return finding.spec, finding.tool, finding.signature
