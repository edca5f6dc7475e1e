"""Whether a case fails about as often as another one, from as few runs as that takes."""

from math import log

import msgspec

NOISE = 0.25  # of the rate looked for: what fails no more often than that fails for another reason
FALSE_ALARM = 0.05  # how often that may be mistaken for the failure looked for
MOST_BROKEN = 3  # runs that came to nothing before a case is given up


class Trials(msgspec.Struct, frozen=True):
    """How often a case failed in the way looked for, how often it did not, how often nothing came of it."""

    failed: int = 0
    passed: int = 0
    broken: int = 0

    @property
    def tried(self) -> int:
        return self.failed + self.passed

    def __add__(self, other: "Trials") -> "Trials":
        return Trials(self.failed + other.failed, self.passed + other.passed, self.broken + other.broken)


class Yardstick(msgspec.Struct, frozen=True):
    """The rate at which a case has to fail, and how surely one that does is to be recognised.

    Where the rate is 1, one run decides. Below that a single failure may be noise, and the decision is Wald's
    sequential test of this rate against a fraction of it.
    """

    rate: float
    confidence: float

    def decide(self, trials: Trials) -> bool | None:
        """Whether a case fails as often; None as long as that is open."""
        if trials.broken > MOST_BROKEN:
            return False
        if self.rate == 1:
            return trials.passed == 0 if trials.tried else None
        evidence = trials.failed * -log(NOISE)
        evidence += trials.passed * log((1 - self.rate) / (1 - NOISE * self.rate))
        if evidence <= log((1 - self.confidence) / (1 - FALSE_ALARM)):
            return False
        return True if evidence >= log(self.confidence / FALSE_ALARM) else None

    def needed(self, trials: Trials) -> int:
        """The fewest further runs after which it might be decided."""
        more = 1
        while self.decide(trials + Trials(more)) is None and self.decide(trials + Trials(0, more)) is None:
            more += 1
        return more
