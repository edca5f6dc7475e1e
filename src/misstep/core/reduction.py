"""The smallest problem that still fails."""

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.verdict import ErrorKind


class Size(msgspec.Struct, frozen=True):
    """How large a problem is."""

    actions: int
    sentences: int
    constraints: int
    words: int


class Reduction(msgspec.Struct, frozen=True):
    """What shrinking a failed case has come to.

    `outcome` is a failure of the smallest case, of the same kind as the first; None where the case did not
    fail again. `failed` of `tried` runs of the smallest case failed in this way. `agent_runs` is how often
    the agent was run in all, `steps` how many reductions were kept. `minimal` says whether every further
    reduction was tried, and none fails like that. Of those, `otherwise` fail in another way and `unjudged`
    could not be judged; `complaint` is about the last run that could not.
    """

    case: Case
    kind: ErrorKind
    outcome: Outcome | None
    before: Size
    after: Size
    failed: int
    tried: int
    steps: int
    agent_runs: int
    minimal: bool
    otherwise: int = 0
    unjudged: int = 0
    complaint: str = ""
