"""An outcome: a case, what the agent did with it, and the verdict."""

import msgspec

from misstep.core.case import Case
from misstep.core.difficulty import Baselines
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict


class Outcome(msgspec.Struct, frozen=True):
    """`baselines` are None where an older version has kept it without."""

    case: Case
    transcript: Transcript
    verdict: Verdict
    seconds: float = 0.0
    baselines: Baselines | None = None
