"""Fuzzes one tool, or several that share state: makes and judges calls, keeps and confirms findings."""

import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import structs

from misstep.core.results.finding import ENDLESS, Finding, FindingKind
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.trial import REFUSALS, Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.comparisons import SeenComparisons
from misstep.fuzzing.contracts.checks import experiments, judge_steps, next_of, read_steps_of
from misstep.fuzzing.contracts.samples import CallSamples
from misstep.fuzzing.contracts.steps import Toolkit
from misstep.fuzzing.judging.endings import UNREACHABLE
from misstep.fuzzing.judging.ruling import FINE, judge
from misstep.fuzzing.judging.wording import normalise
from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.triage.confirmation import Settled, make_small, settle
from misstep.fuzzing.triage.defect_index import Defect, DefectIndex, Refusals, chao1, frames_of, located
from misstep.fuzzing.workbench import Grants, MeteredWorkbench, Stretch, Workbench, run_calls

MOST_NOTES = 5
MOST_KEPT = 200  # inputs of a corpus
STUCK = 15  # refusals in a row after accepted calls that call for a fresh start; twice as many each time

Ended: TypeAlias = Literal["time", "calls", "exhausted", "stopped"]

# Identifies a defect: tool, kind and signature.
_Key: TypeAlias = tuple[str, FindingKind, str]


class Deadlines(msgspec.Struct, frozen=True):
    """When confirming findings and minimising them ends, by the monotonic clock."""

    confirmed: float
    minimised: float


NEVER = Deadlines(math.inf, math.inf)


class ExaminationOptions(msgspec.Struct, frozen=True):
    """Where the tools of an examination are from, and what is known of them.

    `titles` replace tool names in the ids of findings where names are ambiguous. `kept` are calls from
    elsewhere, such as a corpus, to try first. `samples` collects calls on which contracts are tried;
    `preparations` are calls of other tools that make something these tools may need, `hints` values that
    those accepted.
    """

    spec: str = ""
    seed: int = 0
    titles: Mapping[str, str] = {}
    kept: Sequence[str] = ()
    samples: CallSamples | None = None
    preparations: Sequence[Sequence[Invocation]] = ()
    hints: Mapping[str, Sequence[Any]] = {}


class Examination:
    """Asks the fuzzer for calls, makes and judges them, and keeps the findings.

    `before` is the report of a stopped examination to resume, or an empty one.
    """

    def __init__(
        self, bench: Workbench, tools: Sequence[Described], before: ToolReport, options: ExaminationOptions
    ) -> None:
        self._bench = bench
        self._tools = {tool.name: tool for tool in tools}
        others = [tool for tool in bench.tools if tool.name not in self._tools]
        is_alone = len(tools) == 1 and tools[0].kind == "mcp"
        self._helpers = {tool.name: tool for tool in others if is_alone}
        self._callable = {**self._helpers, **self._tools}
        self._steps = read_steps_of(list(self._callable.values()))
        self._samples = options.samples or CallSamples()
        self._options = options
        self._before = before
        self._fuzzer = self._make_fuzzer()
        self._index = DefectIndex()
        for finding in (*before.findings, *before.unconfirmed):
            self._index.recall(finding)
        self._settled = {
            (finding.tool, finding.kind, finding.signature): finding
            for finding in before.findings
            if finding.replayed
        }
        self._dismissed = set[_Key]()
        self._trouble = set[tuple[str, str, str]]()  # (tool, error, message) of environment problems
        self._plain = set[tuple[str, str]]()  # (tool, signature) seen in calls without marks
        self._fresh = list[Finding]()
        self._notes = {normalise(note): note for note in before.notes}
        self._refused, self._environment = before.refused, before.environment
        self._refused_in_row, self._patience, self._has_accepted = 0, STUCK, False
        self._valid = before.valid
        self._refusals = Refusals(before.refusals)
        self._compared = SeenComparisons(self._tools, before.compared)
        self._triage = before.triage_calls
        self.calls, self.seconds = before.calls, before.seconds
        self.seconds_settling = 0.0  # not included in `seconds`
        self.unreachable = ""  # why tools cannot be called any more, if the last call failed for that reason

    def _make_fuzzer(self) -> Fuzzer:
        options = self._options
        return Fuzzer(
            list(self._tools.values()),
            options.seed,
            corpus=(*options.kept, *self._before.corpus),
            files=self._bench.files,
            helpers=list(self._helpers.values()),
            preparations=[
                tuple((call.tool, json.loads(call.arguments)) for call in calls)
                for calls in options.preparations
            ],
            hints=options.hints,
        )

    def go_on(self, most: int, over: Callable[[], bool]) -> int:
        """Make up to `most` calls and return their number: fewer if `over`, 0 if nothing is left to try.

        It stops at the first call that the tool's process or server is not there to answer.
        """
        self.unreachable = ""
        stretch = Stretch(self._fuzzer, self._bench, self._take)
        made = stretch.run(most, self._until(lambda: over() or self._is_stuck()))
        if self._is_stuck() and not over():
            self._refused_in_row, self._patience, self._has_accepted = 0, 2 * self._patience, False
            self._fuzzer.forget_refusals()
            self._bench.reset()
            self._index.begin_anew()
        return made

    def _is_stuck(self) -> bool:
        """Whether earlier calls may have broken what later ones need; only servers are worth the wait."""
        return (
            self._has_accepted and self._refused_in_row >= self._patience and not self._bench.starts_quickly
        )

    def news(self) -> list[Finding]:
        """Unconfirmed findings since the last call of this method."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def settle(
        self,
        known: Iterable[tuple[str, str]],
        over: Callable[[], bool],
        until: Deadlines = NEVER,
        grants: Grants | None = None,
    ) -> bool:
        """Confirm and minimise findings, except those `known` by tool and signature.

        Findings not handled in time stay unconfirmed, or as they are. Returns False if it was stopped
        earlier: `over`, no more calls granted, or tools unreachable.
        """
        elsewhere, began = set(known), time.monotonic()
        bench = MeteredWorkbench(self._bench, grants)
        ended = self._until(lambda: bench.is_out or over())
        try:
            weighty = sorted(self._index, key=lambda entry: self._unconfirmed(entry).weight)
            fresh = [entry for entry in weighty if not self._is_done(entry, elsewhere)]
            # All are confirmed before any is minimised: an unconfirmed finding is worth little. What takes
            # the full time limit comes last, or it would leave no time for the others.
            fresh.sort(key=lambda entry: entry.kind in ENDLESS)
            return all(
                self._work_on(entry, minimise, bench, ended, until.minimised if minimise else until.confirmed)
                for minimise in (False, True)
                for entry in fresh
            )
        finally:
            self._triage += bench.made
            self.seconds_settling += time.monotonic() - began

    def try_contracts(self, over: Callable[[], bool], until: float, grants: Grants | None = None) -> None:
        """Make calls that show whether the tools do what they promise; breaches are confirmed by `settle`."""
        bench, began = MeteredWorkbench(self._bench, grants), time.monotonic()
        ended = self._until(lambda: bench.is_out or over() or time.monotonic() >= until)
        known = self._samples
        kit = Toolkit(self._tools, known.accepted, known.refused, known.hung, self._folder())
        self._bench.reset()
        self._index.begin_anew()
        proposed, steps = experiments(kit), None
        while not ended() and (calls := next_of(proposed, steps)) is not None:
            reactions = run_calls(bench, calls, watch=True)
            steps = self._steps(calls, reactions) if len(reactions) == len(calls) else None
            if steps is None:
                continue
            judged = judge_steps(steps)
            self._look_for(judged)
            for place in range(1, len(calls)):
                self._index.add(calls[:place], FINE, self.calls)
            new = self._index.add(calls, judged, self.calls, "contract")
            if new:
                self._fresh.append(self._unconfirmed(new))
                self._bench.reset()  # what was broken may be needed
                self._index.begin_anew()
            if any(reaction.ended not in ("returned", "raised") for reaction in reactions):
                self._index.begin_anew()
        self._triage += bench.made
        self.seconds_settling += time.monotonic() - began

    def _folder(self) -> str:
        """The tools' working directory, if the files in it are listed by relative and absolute names."""
        files = self._bench.files
        ending = f"/{files[0]}" if files else ""
        return next((file.removesuffix(ending) for file in files if ending and file.endswith(ending)), "")

    def report(self, ended: Ended) -> ToolReport:
        """The results so far."""
        found = list(self._findings())
        return structs.replace(
            self._before,
            calls=self.calls,
            findings=tuple(each for each in found if each.replayed),
            unconfirmed=tuple(each for each in found if not each.replayed),
            refused=self._refused,
            environment=self._environment,
            triage_calls=self._triage,
            seconds=self.seconds,
            # From the counts of all sessions, without defects known from elsewhere.
            richness=chao1([each.seen for each in found]) if found else None,
            reach=self._bench.reach(next(iter(self._tools))) if len(self._tools) == 1 else None,
            corpus=tuple(islice(self._fuzzer.corpus, MOST_KEPT)),
            ended=ended,
            notes=tuple(self._notes.values()),
            refusals=tuple(self._refusals),
            compared=tuple(self._compared),
            valid=self._valid,
        )

    def _until(self, over: Callable[[], bool]) -> Callable[[], bool]:
        return lambda: bool(self.unreachable) or over()

    def _take(self, attempt: CallSequence, reactions: Sequence[Reaction]) -> Sequence[Judged]:
        """Judge the reactions to an attempt, which may have been interrupted after some calls."""
        judged = [
            judge(self._callable[call.tool], call, fit, "" if fit else attempt.broken, reaction)
            for call, fit, reaction in zip(attempt.calls, attempt.fits, reactions, strict=False)
        ]
        for place, (ruling, reaction) in enumerate(zip(judged, reactions, strict=True), 1):
            calls = attempt.calls[:place]
            self._look_for(ruling)
            if calls[-1].tool in self._helpers:  # whose own examination reports what they do
                self._triage += 1
                self._index.add(calls, FINE, self.calls)
                continue
            self.calls += 1
            self._refused_in_row = self._refused_in_row + 1 if ruling.was_refused else 0
            self._has_accepted = self._has_accepted or not ruling.was_refused
            if ruling.was_refused:
                self._refused += 1
            elif ruling.ruling == "environment":
                self._environment += 1
                self._trouble.add((calls[-1].tool, ruling.error, ruling.message))
                self._add_note(ruling.why)
            self._compared.add(calls[-1], reaction.observations, ruling.ruling)
            frames = frames_of(ruling, reaction)
            new = self._index.add(calls, ruling, self.calls, attempt.origin, frames)
            if new and not self._is_trouble(new):
                self._fresh.append(self._unconfirmed(new))
            if not attempt.mark:
                self._plain.add((calls[-1].tool, ruling.signature))
                if attempt.fits[place - 1]:
                    self._valid += 1
                    by_server = self._callable[calls[-1].tool].kind == "mcp"
                    self._samples.add(calls, ruling, reaction, by_server)
                    if ruling.ruling in REFUSALS:
                        self._refusals.add(calls[-1], reaction)
            if reaction.ended not in ("returned", "raised"):
                self._index.begin_anew()
        return judged

    def _look_for(self, judged: Judged) -> None:
        """Note whether the tool could be reached."""
        gone = judged.ruling == "environment" and judged.why.startswith(UNREACHABLE)
        self.unreachable = judged.why.removeprefix(f"{UNREACHABLE}: ") if gone else ""

    def _is_trouble(self, entry: Defect) -> bool:
        """Whether the same error occurred regardless of arguments, which makes it an environment problem."""
        return (entry.tool, entry.judged.error, entry.judged.message) in self._trouble

    def _add_note(self, words: str) -> None:
        """Keep the first note of each shape."""
        if len(self._notes) < MOST_NOTES:
            self._notes.setdefault(normalise(words), words)

    def _is_done(self, entry: Defect, elsewhere: Collection[tuple[str, str]]) -> bool:
        """Whether a defect needs no work: settled, known from elsewhere, or not the tool's fault."""
        if (known := self._settled.get(_key(entry))) is not None:
            return known.minimised
        if (entry.tool, entry.judged.signature) in elsewhere or self._is_trouble(entry):
            self._dismissed.add(_key(entry))
        return _key(entry) in self._dismissed

    def _work_on(
        self, entry: Defect, minimise: bool, bench: Workbench, ended: Callable[[], bool], until: float
    ) -> bool:
        """Confirm a defect, or minimise a confirmed one. Returns False if there was no time or budget."""
        found = self._settled.get(_key(entry))
        if minimise != (found is not None):
            return True
        if found is None:
            settled = settle(entry, bench, self._judge, ended, until)
        else:
            settled = Settled(found.calls, entry.judged, found.replayed, found.reproduced)
            settled = make_small(entry, settled, bench, self._judge, ended, until)
        if ended():
            return False
        self._settle(entry, settled, minimised=minimise)
        return True

    def _judge(self, calls: Sequence[Invocation], reactions: Sequence[Reaction]) -> Judged:
        judged = judge_steps(self._steps(calls, reactions))
        self._look_for(judged)
        return judged

    def _settle(self, entry: Defect, settled: Settled, minimised: bool) -> None:
        """Keep a finding that was reproduced, dismiss one that was not; unchanged if it was not replayed."""
        if settled.reproduced:
            found = entry.finding(settled.calls, settled.replayed, settled.reproduced, settled.judged)
            self._settled[_key(entry)] = structs.replace(self._located(found), minimised=minimised)
        elif settled.replayed:
            self._dismissed.add(_key(entry))
            if (entry.tool, entry.judged.signature) in self._plain:  # else the marks caused it
                where = f" at {entry.judged.where}" if entry.judged.where else ""
                seen = f"{entry.kind}, {entry.judged.error}{where}, after {entry.found_after:,} calls"
                self._add_note(f"{seen}, but not again after a fresh start")

    def _located(self, finding: Finding) -> Finding:
        title = self._options.titles.get(finding.tool, "")
        return located(finding, self._options.spec, self._callable, title)

    def _unconfirmed(self, entry: Defect) -> Finding:
        return self._located(entry.finding(entry.calls, 0, 0))

    def _findings(self) -> Iterator[Finding]:
        """Earlier findings, then new ones, in the order they were found; suspicious refusals last."""
        for entry in sorted(self._index, key=lambda entry: entry.kind == "suspicious-refusal"):
            if _key(entry) not in self._dismissed:
                finding = self._settled.get(_key(entry)) or self._unconfirmed(entry)
                yield structs.replace(finding, seen=entry.seen)


def _key(entry: Defect) -> _Key:
    return entry.tool, entry.kind, entry.judged.signature
