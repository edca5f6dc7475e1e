"""A few calls of each tool that it accepted, and some that it refused, on which contracts are tried."""

import threading
from collections.abc import Sequence

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Reaction, length_of, oddity_of
from misstep.fuzzing.contracts.steps import Calls

MOST_ACCEPTED = 6  # of a tool
MOST_REFUSED = 4
MOST_CALLS = 3  # in a sequence
LONGEST = 2_000  # characters of arguments


class CallSamples:
    """The plainest and shortest calls of each tool. Several threads may add to them."""

    def __init__(self) -> None:
        self.accepted = dict[str, list[Calls]]()
        self.refused = dict[str, list[Calls]]()
        self._reasons = set[tuple[str, str]]()
        self._lock = threading.Lock()

    def add(self, calls: Sequence[Invocation], judged: Judged, reaction: Reaction) -> None:
        """Take in valid calls, if the last of them is worth keeping."""
        if len(calls) > MOST_CALLS or length_of(calls) > LONGEST or reaction.ended != "returned":
            return
        with self._lock:
            if judged.ruling == "fine":
                _keep(tuple(calls), self.accepted.setdefault(calls[-1].tool, []))
            elif judged.was_refused:
                kept = self.refused.setdefault(calls[-1].tool, [])
                reason = calls[-1].tool, judged.signature or judged.message
                if len(kept) < MOST_REFUSED and reason not in self._reasons:
                    self._reasons.add(reason)
                    kept.append(tuple(calls))


def _keep(calls: Calls, kept: list[Calls]) -> None:
    if any(each[-1] == calls[-1] for each in kept):
        return
    kept.append(calls)
    kept.sort(key=lambda each: (oddity_of(each), len(each), length_of(each)))
    del kept[MOST_ACCEPTED:]
