"""Runs of the agent that have to come to a verdict."""

from collections.abc import Generator, Sequence

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.planning.language.figures import how_often
from misstep.planning.variation.anatomy import again

MOST_ATTEMPTS = 3


class Attempt(msgspec.Struct, frozen=True):
    """What came of a case, after so many runs of the agent."""

    outcome: Outcome
    runs: int

    @property
    def failed(self) -> bool | None:
        """None where no run passed or failed."""
        return {"passed": False, "failed": True}.get(self.outcome.verdict.verdict)

    @property
    def complaint(self) -> str:
        """Why there is no verdict."""
        verdict = self.outcome.verdict
        return f"{verdict.verdict} {how_often(self.runs)} running: {verdict.explanation}".rstrip(": ")


def attempt(case: Case, most: int = MOST_ATTEMPTS) -> Generator[Sequence[Case], Sequence[Outcome], Attempt]:
    """Run a case, and again under another seed while it comes to no verdict; `most` is at least 1."""
    tried = case
    for runs in range(1, min(most, MOST_ATTEMPTS) + 1):
        (outcome,) = yield (tried,)
        done = Attempt(outcome, runs)
        if done.failed is not None:
            break
        tried = again(case, runs)
    return done
