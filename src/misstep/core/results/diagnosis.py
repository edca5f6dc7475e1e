"""Results of failure analysis: the likely cause of each failure, and the smallest case that still fails."""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import ErrorKind, Outcome

Cause = Literal[
    "probability", "terminal", "topic", "name", "structure", "position", "constraint", "size", "undetermined"
]
CAUSES: tuple[Cause, ...] = get_args(Cause)


class Diagnosis(msgspec.Struct, frozen=True):
    """The cause of one failure.

    `confidence` is the posterior probability of the cause, `posterior` that of each cause; methods without
    probabilities leave them out. `guilty` names the word, topic, activity, sentence form, position,
    constraints or size at fault, as far as known, and `sentences` the numbers (from 0) of the sentences that
    contain it. `evidence` describes what was observed. `agent_runs` is how often the agent was run for it.
    """

    case: str
    cause: Cause
    confidence: float | None
    guilty: str
    sentences: tuple[int, ...]
    evidence: str
    agent_runs: int
    posterior: Mapping[Cause, float] = {}

    @property
    def sure(self) -> str:
        """The confidence as text: at most 99 %, and empty if no cause was found."""
        if self.confidence is None or self.cause == "undetermined":
            return ""
        return f"{min(round(100 * self.confidence), 99)} %"


class Dissection(msgspec.Struct, frozen=True):
    """What `plan dissect --json` prints: `run` did the reruns, `of` is the run that failed."""

    run: str
    of: str
    agent: str
    model: str | None
    method: str
    failures: tuple[Diagnosis, ...]
    causes: Mapping[Cause, int]


class ProblemSize(msgspec.Struct, frozen=True):
    actions: int
    sentences: int
    constraints: int
    words: int


class Reduction(msgspec.Struct, frozen=True):
    """The result of shrinking a failed case.

    `outcome` is a failure of the smallest case, of the same kind as the original; None if the case did not
    fail again. `failed` of `tried` runs of the smallest case failed in this way. `agent_runs` is how often
    the agent was run in all, `steps` how many reductions were kept. `minimal` says that every further
    reduction was tried and none fails in the same way; of those, `otherwise` fail in another way and
    `unjudged` could not be judged. `complaint` describes the last run that could not be judged.
    """

    case: Case
    kind: ErrorKind
    outcome: Outcome | None
    before: ProblemSize
    after: ProblemSize
    failed: int
    tried: int
    steps: int
    agent_runs: int
    minimal: bool
    otherwise: int = 0
    unjudged: int = 0
    complaint: str = ""
