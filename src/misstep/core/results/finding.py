"""What comes of fuzzing tools: findings, then reports in which they are counted.

How likely an agent is to make such calls, by their arguments alone.

An attempt to reach a defect of a tool through an agent by a natural request.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from misstep.core.outcome import Usage
from misstep.core.results.trial import Ruling, Trial
from misstep.core.settings import ToolMethod
from misstep.core.tool import Frame, Invocation

LONG = 200  # characters of a text that anybody would give by hand
LARGE = 10**12  # number that anybody would
DEEP = 8  # lists and objects within each other

ORDINARY, UNUSUAL, CONTROL, UNTYPABLE = range(4)


def oddity_of(calls: Sequence[Invocation]) -> int:
    """How strange the strangest value is: 0 for ordinary ones, up to 3 for NUL bytes and lone surrogates."""
    return max((_oddity(call) for call in calls), default=ORDINARY)


def length_of(calls: Sequence[Invocation]) -> int:
    return sum(len(call.arguments) for call in calls)


def _oddity(call: Invocation) -> int:
    try:
        return max(map(_of_leaf, _leaves(json.loads(call.arguments))), default=ORDINARY)
    except (ValueError, RecursionError):
        return UNTYPABLE


def _of_leaf(leaf: Any) -> int:
    if isinstance(leaf, str):
        return _of_text(leaf)
    is_large = isinstance(leaf, int | float) and not abs(leaf) <= LARGE
    return UNUSUAL if is_large else ORDINARY


def _of_text(text: str) -> int:
    if text.isprintable():
        return ORDINARY if len(text) <= LONG else UNUSUAL
    if any(each == "\0" or "\ud800" <= each <= "\udfff" or each in "\ufffe\uffff" for each in text):
        return UNTYPABLE
    if all(each.isprintable() or each in "\n\t" for each in text):
        return ORDINARY if len(text) <= LONG else UNUSUAL
    return CONTROL


def _leaves(value: Any) -> Iterator[Any]:
    """All that stands in a value, and a number that is too large for each place that is too deep."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if depth > DEEP:
            yield 2 * LARGE
        elif isinstance(each, dict):
            yield from each
            waiting += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            waiting += [(inner, depth + 1) for inner in each]
        else:
            yield each


ReachOutcome = Literal[
    "undocumented",  # the agent, told to make the call, would not: its documentation does not allow it
    "unmet",  # natural requests were made, and none led to an error
    "expected",  # one led to a refusal, as whoever has read the documentation would expect
    "reached",
    "inconclusive",  # a model or the agent gave nothing that could be judged
]

FATES: tuple[ReachOutcome, ...] = get_args(ReachOutcome)

# What was put to the agent: a defect that fuzzing found, a refusal, or a request that began with neither.
Matter = Literal["defect", "refusal", "request"]


class ReachAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far one defect got; `finding` is the id of the fuzzer's, empty for requests that began with none.

    `documented` says whether the agent would make the calls; it is None where nobody asked, or nobody knows.
    `rehearsal` is the agent told to make the very calls, `trials` are the requests with the real tools.
    """

    finding: str
    fate: ReachOutcome
    why: str = ""
    matter: Matter = "defect"
    documented: bool | None = None
    rehearsal: Trial | None = None
    requests: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()


FINDING_VERSION = 1

FindingKind = Literal[
    "crash",  # an exception that nobody handled, or a process that died
    "hang",
    "blow-up",  # far more memory or processor time than the input explains
    "schema",  # a result that is not what the tool promised, or fitting arguments that were refused
    "protocol",
    "acceptance",  # arguments that the documentation forbids were taken without a word
    "suspicious-refusal",  # fitting arguments were refused with words about the tool's insides, or with none
    "refusal",  # arguments that the documentation lets an agent ask for were refused
]

# Rulings and kinds of findings that are about a call that went wrong at run time.
RUNTIME_ERRORS: tuple[FindingKind, ...] = ("crash", "hang", "blow-up", "protocol")

# The worst first; a process that died comes before all of them.
_SEVERITY: dict[str, int] = {
    "crash": 1,
    "hang": 2,
    "blow-up": 2,
    "protocol": 2,
    "schema": 4,
    "acceptance": 5,
    "suspicious-refusal": 6,
}
_OTHERS = 3  # kinds that are not listed
_UNNUMBERED = re.compile(r":\d+(?= in )")
DIGITS = 10  # of the id of a cause
ENOUGH_WORDS = 2  # of a message that tells one cause from another
DIED = "process died"  # the error of such a finding
HIDDEN = "hidden exception"  # the error of one that says nothing about itself

MOST_SHOWN = 3  # refusals of a tool
BY_REQUEST = "a natural request"  # the origin of findings that no fuzzer has made

Constant: TypeAlias = str | int
Fuzzed: TypeAlias = Literal["time", "calls", "exhausted"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One defect of a tool, with the smallest calls that show it: the last one does, the others prepare it.

    `found_after` counts the calls up to the one that showed it first, `seen` all that did. `original` is what
    showed it first. `reproduced` of `replayed` times it showed itself again from a fresh start.
    """

    id: str
    tool: str
    kind: FindingKind
    error: str
    where: str
    message: str
    why: str
    signature: str
    calls: tuple[Invocation, ...]
    original: tuple[Invocation, ...]
    found_after: int
    seen: int = 1
    replayed: int = 0
    reproduced: int = 0
    origin: str = ""  # how the arguments were come by
    frames: tuple[Frame, ...] = ()
    spec: str = ""  # where the tool was found
    request: str = ""  # in natural language, with which an agent got there
    fits: bool = True  # whether the arguments of its calls are what the schemas ask for
    documented: int = 0  # values among them that the documentation names
    minimised: bool = True  # as far as there was time for it
    version: int = FINDING_VERSION

    @property
    def weight(self) -> tuple[int, bool, int, bool, int, int, int, str]:
        """What findings are ranked by, the smallest first: how bad it is, how plausible its calls are."""
        severity = 0 if self.error == DIED else _SEVERITY.get(self.kind, _OTHERS)
        calls = self.calls
        odd, length = oddity_of(calls), length_of(calls)
        return (severity, not self.request, odd, not self.fits, len(calls), -self.documented, length, self.id)

    @property
    def cause(self) -> str:
        """The same for findings that have the same root cause, whichever tool shows it.

        That is the type of the exception and the place in the code; where no place is known, the message of
        tools from one spec without what changes. What says too little stands for itself.
        """
        if self.where:
            place = (
                _UNNUMBERED.sub("", self.where) if self.kind == "hang" else self.where
            )  # any line of a loop
            return _digest("place", _home(self.spec), self.kind, self.error, place)
        said = self.signature.replace(self.tool, "…")
        if self.kind in ("crash", "protocol") and self.error not in (DIED, HIDDEN) and _says_enough(said):
            return _digest("message", self.spec, self.kind, self.error, said)
        return _digest("finding", self.spec, self.tool, self.kind, self.signature)

    @property
    def ruling(self) -> Ruling:
        """What the last of its calls comes to."""
        return "refused" if self.kind == "refusal" else self.kind

    @property
    def identity(self) -> str:
        """The same from run to run, wherever lines have moved to.

        Defects of one kind in one function share it.
        """
        place = _UNNUMBERED.sub("", self.where) or self.signature
        return "\0".join((self.tool, self.kind, self.error, place))


def _home(spec: str) -> str:
    """The file or module of a spec, or the whole of a server's: places are named without their folders."""
    return spec if spec.startswith("mcp") else spec.rpartition(":")[0] or spec


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:DIGITS]


def _says_enough(signature: str) -> bool:
    """Whether a message has words of its own, beside the type of the error."""
    return len(re.findall(r"[^\W\d_]{2,}", signature.partition(":")[2])) >= ENOUGH_WORDS


class Cause(msgspec.Struct, frozen=True):
    """Findings with one root cause, the weightiest first: each is a place at which it shows."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.tool for finding in self.findings))


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which they are shown everywhere: the worst and most plausible first."""
    return sorted(findings, key=lambda finding: finding.weight)


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Findings by their root cause, in the order of the weightiest of each."""
    groups = dict[str, list[Finding]]()
    for finding in ranked(findings):
        groups.setdefault(finding.cause, []).append(finding)
    return [Cause(id, tuple(group)) for id, group in groups.items()]


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Arguments that fit a tool's schema, and that the tool did not take: it said what was wrong.

    `arguments` are the smallest such ones, a JSON text; `seen` counts the calls that were answered so.
    `where` is the place in the tool's own code, as `file.py:12 in f`, empty where that is not known.
    """

    tool: str
    error: str  # the type of what was raised, empty where the result told of it
    message: str
    where: str
    arguments: str
    seen: int = 1


class Comparisons(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the code of a tool was seen to compare a parameter with, none of which came out of arguments.

    `alone` are constants that it was compared with one by one, `collections` those it was looked up in. With
    those `taken` some call went well, with those `refused` none did; `others` are some values beside them.
    `more` if the code did something else with it as well, such as to read a number, before a call failed.
    """

    tool: str
    path: tuple[str, ...]  # without places in lists
    alone: tuple[Constant, ...] = ()
    collections: tuple[tuple[Constant, ...], ...] = ()
    taken: tuple[Constant, ...] = ()
    refused: tuple[Constant, ...] = ()
    others_taken: tuple[Constant, ...] = ()
    others_refused: tuple[Constant, ...] = ()
    more: bool = False


class Richness(msgspec.Struct, frozen=True):
    """How many defects there are in all, by Chao's estimate, with its 95 % interval."""

    estimate: float
    low: float
    high: float


class CodeReach(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much of the tool's own code was run: lines, out of those that could be.

    `missed` are the ranges of lines of the tool's own functions that never were, as `file.py:12-17`.
    """

    lines: int
    total: int
    missed: tuple[str, ...] = ()


def errors_in(trials: Iterable[Trial]) -> set[tuple[str, str]]:
    """The errors at run time that trials have met, by their tools and signatures."""
    uses = (use for trial in trials for use in trial.uses)
    return {(use.tool, use.judged.signature) for use in uses if use.judged.ruling in RUNTIME_ERRORS}


class AgentReach(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a tool's defects when they were put to an agent; `usage` is by the role of the model.

    `richness` is about the defects that natural requests can lead to. `fuzzed` is how fuzzing had ended, and
    `left` counts what was never put to the agent for want of time. `ideas` are the requests that were thought
    of so far, put or not, where a model is asked for them outright. `seconds` begin where fuzzing had ended:
    what it took to confirm the defects is among them.
    """

    method: ToolMethod = "toolfuzz"
    fuzzed: Fuzzed = "calls"
    left: int = 0
    passages: tuple[ReachAttempt, ...] = ()
    usage: dict[str, Usage] = {}
    richness: Richness | None = None
    seconds: float = 0.0
    ideas: tuple[str, ...] = ()

    @property
    def trials(self) -> list[Trial]:
        return [trial for passage in self.passages for trial in passage.trials]

    @property
    def attempts(self) -> list[Trial]:
        """All that the agent was told to do: to make calls with tools that do nothing, and the trials."""
        rehearsals = [passage.rehearsal for passage in self.passages if passage.rehearsal is not None]
        return [*rehearsals, *self.trials]

    @property
    def unclear(self) -> int:
        """How much of what was put to the agent could not be judged."""
        return sum(passage.fate == "inconclusive" for passage in self.passages)

    @property
    def calls(self) -> int:
        """Of the real tools."""
        return sum(len(trial.uses) for trial in self.trials)

    @property
    def unique_errors(self) -> int:
        """Errors at run time that natural requests have led to, each once."""
        return len(errors_in(self.trials))

    @property
    def calls_per_error(self) -> float | None:
        return self.calls / self.unique_errors if self.unique_errors else None


class ToolReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What fuzzing a tool came to.

    `findings` were replayed from a fresh start, or shown by requests; nobody has had the time to replay those
    `unconfirmed`, which may be chance. `calls` were made to find defects, `triage_calls` beside that to
    confirm and shrink them. `refused` and `environment` count calls, `valid` those with arguments that fit
    the schema, of which `refusals` are; `notes` are what stood in the way, such as a missing key, each once.
    """

    name: str
    calls: int
    findings: tuple[Finding, ...] = ()
    refused: int = 0
    environment: int = 0
    triage_calls: int = 0
    seconds: float = 0.0
    richness: Richness | None = None
    reach: CodeReach | None = None
    corpus: tuple[str, ...] = ()  # arguments that each reached what no smaller ones did
    ended: Literal["time", "calls", "exhausted", "stopped"] = "calls"
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # in words
    place: int = 0  # among the tools of its run
    journey: AgentReach | None = None  # where there was an agent
    refusals: tuple[Refusal, ...] = ()  # of arguments that fit the schema, each sort once
    unconfirmed: tuple[Finding, ...] = ()
    compared: tuple[Comparisons, ...] = ()
    valid: int = 0

    @property
    def accepted(self) -> int:
        """Calls that got past validation: neither refused, nor kept from being served by the environment."""
        return max(0, self.calls - self.refused - self.environment)

    @property
    def is_tested(self) -> bool:
        """Whether any call got past validation; without fuzzing, requests are judged one by one."""
        return self.accepted > 0 or (self.journey is not None and not self.calls)

    @property
    def frequent_refusals(self) -> list[Refusal]:
        """The most frequent ones, those first."""
        return sorted(self.refusals, key=lambda refusal: -refusal.seen)[:MOST_SHOWN]

    @property
    def unique_errors(self) -> int:
        return len(self.findings)

    @property
    def calls_per_error(self) -> float | None:
        """How many calls it took the fuzzer to find one; it has no part in what only requests have shown."""
        own = sum(finding.origin != BY_REQUEST for finding in self.findings)
        return self.calls / own if own else None

    @property
    def in_all(self) -> Richness | None:
        """How many defects there are, found or not.

        Refusals are beyond the estimate, which is about what calls can show, and add to it. There are never
        fewer than have been found.
        """
        if self.richness is None:
            return None
        refusals = sum(finding.kind == "refusal" for finding in self.findings)
        bounds = (self.richness.estimate, self.richness.low, self.richness.high)
        return Richness(*[max(bound + refusals, len(self.findings)) for bound in bounds])


class FuzzReport(msgspec.Struct, frozen=True):
    """What a run of the fuzzer came to; `specs` are what it was given."""

    run: str
    specs: tuple[str, ...]
    tools: tuple[ToolReport, ...]
    seconds: float = 0.0

    @property
    def findings(self) -> list[Finding]:
        """The worst and most plausible first."""
        return ranked(finding for report in self.tools for finding in report.findings)

    @property
    def unconfirmed(self) -> list[Finding]:
        return ranked(finding for report in self.tools for finding in report.unconfirmed)

    @property
    def causes(self) -> list[Cause]:
        return causes_of(self.findings)

    @property
    def untested(self) -> list[ToolReport]:
        """The tools none of whose calls got past validation."""
        return [report for report in self.tools if not report.is_tested]

    def passage_of(self, finding: Finding) -> ReachAttempt | None:
        """What became of a finding that was put to an agent."""
        journeys = [report.journey for report in self.tools if report.journey is not None]
        passages = [passage for journey in journeys for passage in journey.passages]
        return next((passage for passage in passages if passage.finding == finding.id), None)
