"""Reports of fuzzing: what was found in each tool, how much was tried, and what an agent could reach."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import msgspec

from misstep.core.outcome import Usage
from misstep.core.results.finding import RUNTIME_ERRORS, Cause, Finding, causes_of, ranked
from misstep.core.results.trial import Trial
from misstep.core.settings import ToolMethod

MOST_SHOWN = 3  # refusals shown per tool
BY_REQUEST = "a natural request"  # the origin of findings that the fuzzer did not make

Constant: TypeAlias = str | int
Fuzzed: TypeAlias = Literal["time", "calls", "exhausted"]

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
    """Line coverage of the tool's own code; for a server, of the functions that calls of the tool entered.

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
