"""What judging a stored run again has shown."""

import msgspec

from misstep.core.verdict import Verdict


class Difference(msgspec.Struct, frozen=True):
    """A case whose stored verdict is not the one that its calls deserve."""

    case: str
    stored: Verdict
    judged: Verdict


class Rejudgement(msgspec.Struct, frozen=True):
    """What `misstep rejudge --json` prints."""

    run: str
    cases: int
    confirmed: int
    differences: tuple[Difference, ...]
