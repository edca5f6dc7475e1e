"""Fuzzes targets within the limits of the run, several at a time, each in a thread with its own host."""

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import BY_REQUEST, AgentReach, ToolReport
from misstep.core.rng import derive_seed
from misstep.core.run import RunSpec
from misstep.core.settings import ToolRunSettings
from misstep.core.tool import Invocation
from misstep.errors import StoreError, UsageError
from misstep.features.tool_fuzz.reproduce import AgentReproducer
from misstep.features.tool_fuzz.time_shares import WITH_CONTRACTS, TimeShare, TimeShares
from misstep.fuzzing.contracts.samples import CallSamples
from misstep.fuzzing.examination import Ended, Examination, ExaminationOptions
from misstep.fuzzing.workbench import STRETCH
from misstep.runs.budget import RunBudget
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import LAST, Target, Workbenches
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
BEFORE_AGENT = 0.2  # of the time for a tool is for fuzzing, if an agent gets the rest
LOOKS = 2  # attempts to reach a server before it is given up
NAP = 0.2  # seconds between two checks whether to keep waiting
LOST = "could not be restarted"
NO_TIME = "no time was left for it: test fewer tools at once, or set --time-per-tool"
NOTHING_KEPT = SeedCorpus()

News: TypeAlias = tuple[str, Finding] | ToolReport  # a finding comes with the name of its target
Left: TypeAlias = tuple[Target, ToolReport | None]  # with the report so far, if it was stopped


@dataclass
class FuzzWorker:
    """Examines targets and reports the results; several threads may call it at a time.

    `known` are findings that are not new, `seeds` the corpus of an earlier run to start from. A `reproducer`
    tries findings with an agent. `starting` is told the name of each target. All targets share `seconds`, if
    they are given. `lost` are specs whose tools could not be loaded again, and why; their
    remaining work is not done.
    """

    benches: Workbenches
    settings: ToolRunSettings
    run_budget: RunBudget
    known: Iterable[Finding] = ()
    seeds: SeedCorpus = NOTHING_KEPT
    reproducer: AgentReproducer | None = None
    starting: Callable[[str], None] = lambda _: None
    seconds: float | None = None

    def __post_init__(self) -> None:
        self._known = {_mark(finding) for finding in self.known}
        self._lock = threading.Lock()
        self._samples = defaultdict[str, CallSamples](CallSamples)
        self._earlier = dict[str, CallSamples]()  # those that earlier waves have added, by spec
        self._most_tools = Counter[str]()
        self._shares: TimeShares | None = None
        self.lost = dict[str, str]()

    def work(self, targets: Sequence[Left]) -> Generator[News]:
        """Examine targets, as many at a time as the settings say, and yield results as they arrive.

        Findings are reported at once, unconfirmed; intermediate reports are marked as stopped. Errors in an
        examination are raised here. No thread is left at the end. Tools that make something come first, since
        others may need it, and several tools together last: what they show alone is not new then. Specs take
        turns.
        """
        run_budget, jobs = self.run_budget, self.settings.jobs
        self._most_tools = most_tools(targets)
        weights = [weight_of(target, self._most_tools) for target, _ in targets]
        self._shares = TimeShares(self.seconds, jobs, weights) if self.seconds is not None else None
        targets = _in_turns(targets)
        workers = Workers[Left, News](lambda left, tell: self.examine(*left, tell), run_budget, jobs)
        with stopping(run_budget):
            for wave in range(LAST + 1):
                self._earlier = self._snapshots()
                yield from workers.work([left for left in targets if left[0].wave == wave])

    def examine(self, target: Target, before: ToolReport | None, tell: Callable[[News], None]) -> None:
        """Examine a target until done, starting from where it was stopped `before`."""
        self.starting(target.name)
        before = before if before and (before.calls or before.journey) else None
        share = self._share(target)
        undone = before or ToolReport(target.name, 0, place=target.place, ended="stopped")
        try:
            if target.spec in self.lost:
                pass
            elif share.is_over():
                undone = structs.replace(undone, ended="time", notes=(*undone.notes, NO_TIME))
            else:
                with self.benches.lend(target.spec) as bench:
                    self._examine_on(bench, (target, before), share, tell)
                return
        except UsageError as error:  # its tools are missing or have changed
            self._lose(target.spec, error.message)
        finally:
            if self._shares is not None:
                self._shares.give_back(share)
        tell(self._noted(_cleared(undone), target.spec))

    def _examine_on(
        self, bench: ToolHost, left: Left, share: TimeShare, tell: Callable[[News], None]
    ) -> None:
        """Fuzz the target, unless that is done or not wanted; then try findings with the agent."""
        target, before = left
        bench.heed(lambda: share.is_over() or self.run_budget.is_over())
        target.among(bench.tools)  # raises if there is nothing to examine
        method = self.settings.tool_method
        if before is not None and before.journey is not None:
            report = _cleared(before)
        elif method == "toolfuzz":
            report = self._fuzzed(bench, left, share, tell)
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
        self, bench: ToolHost, left: Left, share: TimeShare, tell: Callable[[News], None]
    ) -> ToolReport:
        """The report on a target after fuzzing; an agent, if there is one, continues with it."""
        target, before = left
        bench.reset()  # so that starting a server takes no time from fuzzing it
        tools = target.among(bench.tools)
        earlier = self._earlier.get(target.spec, CallSamples())
        needs = tools[0].kind == "mcp" and len(tools) == 1 and target.wave > 0
        options = ExaminationOptions(
            target.spec,
            derive_seed(self.settings.seed, *target.tools, before.calls if before else 0),
            target.titles,
            () if before else self.seeds.for_tools(target.tools),
            self._samples_of(target.spec),
            earlier.preparations_for(tools[0], bench.tools) if needs else (),
            earlier.hints_for(tools[0], bench.tools) if needs else {},
        )
        examination = Examination(bench, tools, _cleared(before or self._blank(bench, target)), options)
        ended: Ended = "stopped"
        try:
            ended = self._carry_out(examination, target, share, tell)
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

    def _samples_of(self, spec: str) -> CallSamples:
        with self._lock:
            return self._samples[spec]

    def _snapshots(self) -> dict[str, CallSamples]:
        """What is known when a wave begins, so that the order in which its targets end changes nothing."""
        with self._lock:
            return {spec: samples.snapshot() for spec, samples in self._samples.items()}

    def _hear(self, report: ToolReport, tell: Callable[[News], None]) -> None:
        """Report the progress with the agent, preceded by new findings that its requests have shown."""
        with self._lock:
            asked = [each for each in report.findings if each.origin == BY_REQUEST]
            fresh = [each for each in asked if _mark(each) not in self._known]
            self._known |= {_mark(finding) for finding in fresh}
        for finding in fresh:
            tell((report.name, finding))
        tell(report)

    def _blank(self, bench: ToolHost, target: Target) -> ToolReport:
        problems = (*(f"skipped: {each}" for each in bench.skipped), *bench.notes)  # found while loading
        notes = problems if target.tools == (bench.tools[0].name,) else ()  # once is enough
        return ToolReport(target.name, 0, place=target.place, sandbox=bench.sandbox.words, notes=notes)

    def _carry_out(
        self, examination: Examination, target: Target, share: TimeShare, tell: Callable[[News], None]
    ) -> Ended:
        """Fuzz, try contracts once all tools of the spec are known, and confirm what was found."""
        spec, over, grants = target.spec, self.run_budget.is_over, self.run_budget
        ended = self._fuzz(examination, target.name, share, tell)
        settled = False
        if ended != "stopped":
            with self._lock:
                known = [(tool, signature) for where, tool, signature in self._known if where == spec]
            all_tools = len(target.tools) == self._most_tools[spec]
            contracts, until = share.after_fuzzing(all_tools)
            if all_tools:
                examination.try_contracts(over, contracts, grants)
                for finding in examination.news():
                    tell((target.name, finding))
            settled = examination.settle(known, over, until, grants)
        if examination.unreachable:
            self._lose(spec, examination.unreachable)
            return "stopped"
        return ended if settled else "stopped"

    def _share(self, target: Target) -> TimeShare:
        """The time for the next target: what the user allows, or its part of what is left for all."""
        settings = self.settings
        if self._shares is not None:
            return self._shares.take(weight_of(target, self._most_tools), settings.tool_seconds)
        return TimeShare(settings.tool_seconds * (BEFORE_AGENT if self.reproducer else 1.0))

    def _fuzz(
        self, examination: Examination, name: str, share: TimeShare, tell: Callable[[News], None]
    ) -> Ended:
        """Fuzz until this or another limit is reached, and return which."""
        settings, began, told = self.settings, time.monotonic() - examination.seconds, time.monotonic()
        before = examination.seconds if self._shares is not None else 0.0
        most = min(share.fuzzing + before, settings.tool_seconds)
        misses = 0

        def over() -> bool:
            examination.seconds = time.monotonic() - began
            return examination.seconds >= most or share.is_over() or self.run_budget.is_over()

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
                    tell((name, finding))
            misses = misses + 1 if examination.unreachable else 0
            if misses == LOOKS or (misses and not _wait(over)):
                return "stopped"
            if not made:
                return "exhausted" if not over() else "stopped" if self.run_budget.is_over() else "time"
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


def most_tools(targets: Iterable[Left]) -> Counter[str]:
    """The number of tools of the largest target of each spec; contracts are tried with that."""
    found = Counter[str]()
    for target, _ in targets:
        found[target.spec] = max(len(target.tools), found[target.spec])
    return found


def weight_of(target: Target, most: Mapping[str, int]) -> float:
    """How much time a target gets, compared to others."""
    return WITH_CONTRACTS if len(target.tools) == most[target.spec] else 1.0


def _in_turns(targets: Sequence[Left]) -> list[Left]:
    """The first target of each spec, then the second of each, and so on."""
    turns = Counter[str]()
    placed = list[tuple[int, Left]]()
    for left in targets:
        placed.append((turns[left[0].spec], left))
        turns[left[0].spec] += 1
    return [left for _, left in sorted(placed, key=lambda each: each[0])]


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
