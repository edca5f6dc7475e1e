"""An outcome: a case, what the agent did with it, and the verdict."""

import msgspec

from misstep.core.case import Case
from misstep.core.transcript import Transcript
from misstep.core.verdict import Verdict


class Outcome(msgspec.Struct, frozen=True):
    case: Case
    transcript: Transcript
    verdict: Verdict
    seconds: float = 0.0
