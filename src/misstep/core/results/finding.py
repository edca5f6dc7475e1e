"""Results of fuzzing: findings, attempts to reach them through an agent, and the reports that count them."""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

import msgspec

from misstep.core.outcome import Usage
from misstep.core.results.trial import Ruling, Trial
from misstep.core.settings import ToolMethod
from misstep.core.tool import ORDINARY, Frame, Invocation, length_of, oddity_of

ReachOutcome = Literal[
    "undocumented",  # the agent, told to make the call, declined because the documentation does not allow it
    "unmet",  # natural requests were made, and none led to an error
    "expected",  # a request led to a refusal that the documentation predicts
    "reached",
    "inconclusive",  # a model or the agent returned nothing that could be judged
]

FATES: tuple[ReachOutcome, ...] = get_args(ReachOutcome)

# What was tried with the agent: a defect found by fuzzing, a refusal, or a request based on neither.
Matter = Literal["defect", "refusal", "request"]


class ReachAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attempt to reach a defect through the agent; `finding` is its id, empty for other requests.

    `documented` says whether the agent would make the calls; None if it was not asked or the answer is
    unknown. `rehearsal` is the agent told to make exactly these calls, `trials` are the natural requests with
    the real tools.
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
    "crash",  # an unhandled exception, or a process that died
    "hang",
    "blow-up",  # far more memory or processor time than the input explains
    "schema",  # a result that breaks the output schema, or valid arguments that were refused
    "protocol",
    "acceptance",  # arguments that the documentation forbids were accepted silently
    "security",  # it can be made to do what it should not: read other files, run what it is given
    "contract",  # the tool does not do what its annotations or its description promise
    "suspicious-refusal",  # valid arguments were refused with an internal error message, or with none
    "refusal",  # arguments that the documentation allows were refused
]

# Rulings and kinds of findings about a call that failed at run time.
RUNTIME_ERRORS: tuple[FindingKind, ...] = ("crash", "hang", "blow-up", "protocol")

# Errors in code that all tools of a server share.
SHARED = frozenset(("error flag", "path outside", "stack trace", "exception without words"))
# Broken contracts by which data is lost.
LOSSES = frozenset(("not destructive", "all or nothing", "nothing else", "read back", "still readable"))
# The worst first: security, lost data, a process that died, other broken contracts, failures, the rest.
_UNSAFE, _LOST, _DEATH, _BREACH, _FAILURE, _REST = range(6)
_KINDS_BY_WEIGHT = ("crash", "hang", "blow-up", "protocol", "refusal", "schema", "acceptance")
_UNNUMBERED = re.compile(r":\d+(?= in )")
DIGITS = 10  # length of a cause id
ENOUGH_WORDS = 2  # needed in a message to tell one cause from another
DIED = "process died"  # the error of such a finding
HIDDEN = "hidden exception"  # the error of a finding that says nothing about itself

MOST_SHOWN = 3  # refusals shown per tool
BY_REQUEST = "a natural request"  # the origin of findings that the fuzzer did not make

Constant: TypeAlias = str | int
Fuzzed: TypeAlias = Literal["time", "calls", "exhausted"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One defect of a tool with the minimal calls that show it; all calls but the last are preparation.

    `found_after` counts the calls up to the one that first showed it, `seen` all that did. `original` are the
    calls that first showed it. It was reproduced `reproduced` of `replayed` times from a fresh start.
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
    origin: str = ""  # how the arguments were generated
    frames: tuple[Frame, ...] = ()
    spec: str = ""  # the tool's spec
    request: str = ""  # natural-language request with which an agent triggered it
    fits: bool = True  # whether the arguments fit the schemas
    documented: int = 0  # number of values among them that the documentation names
    minimised: bool = True  # as far as time allowed
    version: int = FINDING_VERSION

    @property
    def weight(self) -> tuple[int, bool, int, int, bool, int, int, int, str]:
        """Sort key of findings, worst first: severity, then how plausible the calls are."""
        calls, odd = self.calls, oddity_of(self.calls)
        listed = self.kind in _KINDS_BY_WEIGHT
        kind = _KINDS_BY_WEIGHT.index(self.kind) if listed else len(_KINDS_BY_WEIGHT)
        plausible = (not self.request, odd, kind, not self.fits, len(calls))
        return (self._severity, *plausible, -self.documented, length_of(calls), self.id)

    @property
    def _severity(self) -> int:
        if self.kind == "security":
            return _UNSAFE
        if self.kind == "contract":
            return _LOST if self.error in LOSSES else _BREACH
        if self.error == DIED:
            return _DEATH
        return _FAILURE if self.kind in RUNTIME_ERRORS else _REST

    @property
    def is_odd(self) -> bool:
        """Whether it takes values that hardly anybody sends: control characters, very long texts."""
        is_failure = self.kind not in ("contract", "security")
        return is_failure and not self.request and oddity_of(self.calls) > ORDINARY

    @property
    def cause(self) -> str:
        """An id shared by findings with the same root cause, whichever tool shows it.

        It is made of the exception type and the place in the code; if no place is known, of the message
        without its variable parts, among tools of one spec. A finding whose message says too little is a
        cause by itself.
        """
        spec, kind = self.spec, self.kind
        if self.error in SHARED:
            return _digest("server", spec, kind, self.error)
        if self.where:
            # Places are given without folders. A hang may stop at any line of a loop.
            home = spec if spec.startswith("mcp") else spec.rpartition(":")[0] or spec
            place = _UNNUMBERED.sub("", self.where) if kind == "hang" else self.where
            return _digest("place", home, kind, self.error, place)
        said = self.signature.replace(self.tool, "…")
        words = re.findall(r"[^\W\d_]{2,}", said.partition(":")[2])
        speaks = kind in ("crash", "protocol") and self.error not in (DIED, HIDDEN)
        if speaks and len(words) >= ENOUGH_WORDS:
            return _digest("message", spec, kind, self.error, said)
        return _digest("finding", spec, self.tool, kind, self.signature)

    @property
    def ruling(self) -> Ruling:
        """The ruling on the last of its calls."""
        return "refused" if self.kind == "refusal" else self.kind

    @property
    def identity(self) -> str:
        """A key that stays the same from run to run, even if lines move.

        Defects of one kind in one function share it.
        """
        place = _UNNUMBERED.sub("", self.where) or self.signature
        return "\0".join((self.tool, self.kind, self.error, place))


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:DIGITS]


class Cause(msgspec.Struct, frozen=True):
    """Findings with one root cause, the most severe first."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.tool for finding in self.findings))


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings for display: the worst and most plausible first."""
    return sorted(findings, key=lambda finding: finding.weight)


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Group findings by root cause, in the order of the worst of each."""
    groups = dict[str, list[Finding]]()
    for finding in ranked(findings):
        groups.setdefault(finding.cause, []).append(finding)
    return [Cause(id, tuple(group)) for id, group in groups.items()]


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Arguments that fit a tool's schema but that the tool rejected with an error message.

    `arguments` are the smallest such ones, as JSON text; `seen` counts the calls that got this answer.
    `where` is the place in the tool's own code, as `file.py:12 in f`, empty if unknown.
    """

    tool: str
    error: str  # the exception type, empty if the error was in the result
    message: str
    where: str
    arguments: str
    seen: int = 1


class Comparisons(msgspec.Struct, frozen=True, omit_defaults=True):
    """Constants that a tool's code compared a parameter with; constants taken from arguments are left out.

    `alone` are constants it was compared with one by one, `collections` those it was looked up in. Some call
    succeeded with each of `taken` and none with any of `refused`; `others_taken` and `others_refused` are
    examples of values outside these constants. `more` is set if the code also did something else with it,
    such as parse a number, before a call failed.
    """

    tool: str
    path: tuple[str, ...]  # without list indices
    alone: tuple[Constant, ...] = ()
    collections: tuple[tuple[Constant, ...], ...] = ()
    taken: tuple[Constant, ...] = ()
    refused: tuple[Constant, ...] = ()
    others_taken: tuple[Constant, ...] = ()
    others_refused: tuple[Constant, ...] = ()
    more: bool = False


class Richness(msgspec.Struct, frozen=True):
    """Estimated total number of defects (Chao), with its 95 % interval."""

    estimate: float
    low: float
    high: float


class CodeReach(msgspec.Struct, frozen=True, omit_defaults=True):
    """Line coverage of the tool's own code.

    `missed` are the ranges of lines of the tool's own functions that were never run, as `file.py:12-17`.
    """

    lines: int
    total: int
    missed: tuple[str, ...] = ()


def errors_in(trials: Iterable[Trial]) -> set[tuple[str, str]]:
    """The run-time errors that occurred in trials, as pairs of tool and signature."""
    uses = (use for trial in trials for use in trial.uses)
    return {(use.tool, use.judged.signature) for use in uses if use.judged.ruling in RUNTIME_ERRORS}


class AgentReach(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of trying a tool's defects with an agent; `usage` is by model role.

    `richness` estimates the defects that natural requests can lead to. `fuzzed` is how fuzzing had ended, and
    `left` counts what was not tried for lack of time. `ideas` are the requests generated so far, tried or
    not, if a model is asked for them directly. `seconds` start when fuzzing ends: they include the time to
    confirm the defects.
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
        """Rehearsals, in which the agent is told which calls to make and the tools do nothing, and trials."""
        rehearsals = [passage.rehearsal for passage in self.passages if passage.rehearsal is not None]
        return [*rehearsals, *self.trials]

    @property
    def unclear(self) -> int:
        return sum(passage.fate == "inconclusive" for passage in self.passages)

    @property
    def calls(self) -> int:
        """Calls of the real tools."""
        return sum(len(trial.uses) for trial in self.trials)

    @property
    def unique_errors(self) -> int:
        """Number of distinct run-time errors that natural requests have led to."""
        return len(errors_in(self.trials))

    @property
    def calls_per_error(self) -> float | None:
        return self.calls / self.unique_errors if self.unique_errors else None


class ToolReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of fuzzing a tool.

    `findings` were replayed from a fresh start, or shown by requests; there was no time to replay
    `unconfirmed`, which may be flaky. `calls` were made to find defects, `triage_calls` to confirm and shrink
    them. `refused` and `environment` count calls, `valid` those whose arguments fit the schema; `refusals`
    are among the valid ones. `notes` are problems such as a missing key, each once.
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
    corpus: tuple[str, ...] = ()  # arguments that each reached code that no smaller ones did
    ended: Literal["time", "calls", "exhausted", "stopped"] = "calls"
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the tools of its run
    journey: AgentReach | None = None  # if there was an agent
    refusals: tuple[Refusal, ...] = ()  # of valid arguments, one of each kind
    unconfirmed: tuple[Finding, ...] = ()
    compared: tuple[Comparisons, ...] = ()
    valid: int = 0

    @property
    def accepted(self) -> int:
        """Calls that got past validation: neither refused nor blocked by the environment."""
        return max(0, self.calls - self.refused - self.environment)

    @property
    def is_tested(self) -> bool:
        """Whether any call got past validation; without fuzzing, requests are judged individually."""
        return self.accepted > 0 or (self.journey is not None and not self.calls)

    @property
    def frequent_refusals(self) -> list[Refusal]:
        """The most frequent refusals, in descending order."""
        return sorted(self.refusals, key=lambda refusal: -refusal.seen)[:MOST_SHOWN]

    @property
    def unique_errors(self) -> int:
        return len(self.findings)

    @property
    def calls_per_error(self) -> float | None:
        """How many calls the fuzzer needed per finding; findings shown only by requests don't count."""
        own = sum(finding.origin != BY_REQUEST for finding in self.findings)
        return self.calls / own if own else None

    @property
    def in_all(self) -> Richness | None:
        """Estimated number of defects, found or not.

        The estimate covers what calls can show; refusals are added to it. It is never lower than the number
        of findings.
        """
        if self.richness is None:
            return None
        refusals = sum(finding.kind == "refusal" for finding in self.findings)
        bounds = (self.richness.estimate, self.richness.low, self.richness.high)
        return Richness(*[max(bound + refusals, len(self.findings)) for bound in bounds])


class FuzzReport(msgspec.Struct, frozen=True):
    """The result of a fuzzing run; `specs` are the tools it was given."""

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
        """Tools none of whose calls got past validation."""
        return [report for report in self.tools if not report.is_tested]

    def passage_of(self, finding: Finding) -> ReachAttempt | None:
        """The attempt to reach a finding through an agent, if there was one."""
        journeys = [report.journey for report in self.tools if report.journey is not None]
        passages = [passage for journey in journeys for passage in journey.passages]
        return next((passage for passage in passages if passage.finding == finding.id), None)
