"""Results of consistency tests: whether paraphrases of one request get the same answer from a tool."""

import json
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from misstep.core.outcome import Judgement, Usage
from misstep.core.results.trial import Trial
from misstep.core.spending import tokens_of
from misstep.core.text import cut

CONSISTENCY_VERSION = 1
ID = 10  # hexadecimal digits
THRESHOLD = 5  # a lower score means that the answer is wrong

Check = Literal["inputs", "outputs", "judge"]
CHECKS: tuple[Check, ...] = ("inputs", "outputs", "judge")

# How requests are generated: in sets of paraphrases, or by a model that has read the documentation (greybox)
# and also the source (whitebox).
Means = Literal["sets", "greybox", "whitebox"]


class Bucket(msgspec.Struct, frozen=True):
    """Requests, by their numbers from 1, with the same result; `value` is the result, truncated if long."""

    requests: tuple[int, ...]
    value: str


class Buckets(msgspec.Struct, frozen=True):
    """The requests of a set grouped by what the tool was given, and by what it returned."""

    inputs: tuple[Bucket, ...] = ()
    outputs: tuple[Bucket, ...] = ()


class Expectation(msgspec.Struct, frozen=True):
    """What a model expects the tool to answer to each request, and the statement most answers agree on.

    It is `guessed` if the model marks at least half of the answers as guesses.
    """

    answers: tuple[str, ...]
    statement: str
    guessed: bool = False


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """How right the answer to a request is, from 1 to 10.

    For a score below the threshold the judge is asked again, with the two expectations swapped. With `guess`,
    the judge says that only a guess contradicts the answer; the answer then counts neither as right nor as
    wrong.
    """

    request: int
    score: int
    reason: str
    second: int | None = None
    second_reason: str = ""
    guess: bool = False

    @property
    def says(self) -> Literal["right", "wrong", "contradiction", "guess"]:
        if self.score >= THRESHOLD:
            return "right"
        if self.guess:
            return "guess"
        return "wrong" if self.second is not None and self.second < THRESHOLD else "contradiction"


class Side(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request, the tool's inputs and outputs for it, and the agent's answer."""

    number: int
    request: str
    inputs: str
    outputs: str
    answer: str
    score: int | None = None


class Decline(msgspec.Struct, frozen=True):
    """A request, by its number, for which the agent did not call the tool.

    The quote is the passage of the documentation that made the agent decline.
    """

    request: int
    quote: str


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The smallest evidence of a fault: a request that went wrong beside a paraphrase that did not.

    If none is known to be right or wrong, they are the two that differ most. `right` is None for a request
    without paraphrases.
    """

    wrong: Side
    right: Side | None = None


class PromptSet(msgspec.Struct, frozen=True, omit_defaults=True):
    """Requests that mean the same, and their results.

    `buckets` compare exact values; `normalised` leave out differences that don't matter, and take precedence
    if present. `infills` are the words that were put into the template. `why` says what the verdict is based
    on. A request for which the tool was not called is in no bucket, unless it was `declined` because of the
    documentation.
    """

    id: str
    verdict: Judgement
    why: str = ""
    template: str = ""
    infills: dict[str, tuple[str, ...]] = {}
    requests: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    buckets: Buckets = Buckets()
    normalised: Buckets | None = None
    expectation: Expectation | None = None
    scores: tuple[Score, ...] = ()
    evidence: Evidence | None = None
    declined: tuple[Decline, ...] = ()

    @property
    def calls(self) -> int:
        return sum(len(trial.uses) for trial in self.trials)


class ConsistencyReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of testing one tool's answers; `usage` is by model role.

    `ideas` are the templates generated so far, or the requests if those are not made in sets. `spare_calls`
    were made for sets that were not finished because the run was stopped.
    """

    name: str
    sets: tuple[PromptSet, ...] = ()
    ended: Literal["done", "time", "stopped"] = "done"
    means: Means = "sets"
    checks: tuple[Check, ...] = CHECKS
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the tools of its run
    ideas: tuple[str, ...] = ()
    spare_calls: int = 0
    version: int = CONSISTENCY_VERSION

    @property
    def faulty(self) -> list[PromptSet]:
        return self.having("failed")

    @property
    def verdict(self) -> Judgement:
        """Failed if any set failed; passed if none failed and at least one passed."""
        if self.faulty:
            return "failed"
        return "passed" if self.having("passed") else "inconclusive"

    @property
    def calls(self) -> int:
        """All calls, including those for unfinished sets."""
        return self.spare_calls + sum(each.calls for each in self.sets)

    @property
    def tokens(self) -> int:
        return tokens_of(self.usage)

    def having(self, verdict: Judgement) -> list[PromptSet]:
        return [each for each in self.sets if each.verdict == verdict]


class ConsistencyRun(msgspec.Struct, frozen=True):
    """The result of a whole run."""

    run: str
    specs: tuple[str, ...]
    tools: tuple[ConsistencyReport, ...]
    seconds: float

    @property
    def sets(self) -> list[PromptSet]:
        return [each for tool in self.tools for each in tool.sets]


def set_id(tool: str, requests: Sequence[str]) -> str:
    """A stable id: the same for the same requests to the same tool."""
    return sha256("\0".join((tool, *requests)).encode("utf-8", "replace")).hexdigest()[:ID]


SHOWN = 60  # characters of a pattern that are shown
NOT_CALLED = "whether the tool is called"

_VARIABLE = re.compile(r"\d+(?:[.,:]\d+)*|\"[^\"]*\"|'[^']*'")


class FailureGroup(msgspec.Struct, frozen=True):
    """Failed sets, by id, whose evidence differs in the same respect.

    This is an approximation: whether two faults have one cause can't be known from outside.
    """

    differs: str
    sets: tuple[str, ...]


def group_sets(sets: Iterable[PromptSet]) -> list[FailureGroup]:
    """Group the failed sets of one tool, the largest group first."""
    found = dict[str, list[str]]()
    for each in sets:
        if each.verdict == "failed":
            found.setdefault(_difference(each), []).append(each.id)
    groups = [FailureGroup(differs, tuple(ids)) for differs, ids in found.items()]
    return sorted(groups, key=lambda group: -len(group.sets))


def _difference(failed: PromptSet) -> str:
    """How the two sides of the evidence differ: in which arguments, else in the form of the result."""
    evidence = failed.evidence
    if evidence is None or evidence.right is None:
        return f"output: {_pattern(evidence.wrong.outputs)}" if evidence else "nothing"
    sides = [failed.trials[side.number - 1 : side.number] for side in (evidence.wrong, evidence.right)]
    # The agent had one tool.
    wrong, right = ([_object(use.arguments) for trial in trials for use in trial.uses] for trials in sides)
    if bool(wrong) != bool(right):
        return NOT_CALLED
    if len(wrong) != len(right):
        return "the number of calls"
    pairs = [(name, one, other) for one, other in zip(wrong, right, strict=True) for name in {**one, **other}]
    names = {name for name, one, other in pairs if one.get(name) != other.get(name)}
    if names:
        return f"arguments: {', '.join(sorted(names))}"
    patterns = sorted({_pattern(evidence.wrong.outputs), _pattern(evidence.right.outputs)})
    return f"output: {' / '.join(patterns)}"


def _object(text: str) -> dict[str, str]:
    """The arguments as JSON texts, since 1, 1.0 and true differ."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"": text}  # not JSON, because a secret in it was masked
    values = value if isinstance(value, dict) else {"": value}
    return {name: json.dumps(each, sort_keys=True) for name, each in values.items()}


def _pattern(text: str) -> str:
    """A text with numbers and quoted parts replaced, so that similar texts become equal."""
    return cut(_VARIABLE.sub("…", text), SHOWN)
