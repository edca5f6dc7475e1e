"""Makes calls again from a fresh start, to see whether they still show a defect."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from misstep.core.ruling import Judged
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.tooling.workbench import Workbench

# Rules on what came of a call; whoever gives it knows the tools.
Judge: TypeAlias = Callable[[Invocation, Reaction], Judged]


def never() -> bool:
    return False


class Replayer:
    """Replays calls on a workbench and counts them; `left` is how many it may still make."""

    def __init__(self, bench: Workbench, judge: Judge, most: int, over: Callable[[], bool] = never) -> None:
        self._bench = bench
        self._judge = judge
        self._over = over
        self.left = most
        self.spent = 0

    def last_of(
        self, calls: Sequence[Invocation], fresh: bool = True, patience: float = 1.0
    ) -> Judged | None:
        """What the last call comes to after the others, from a fresh start or from whatever there is.

        None if there are not enough calls left, it is over, or the workbench makes no more.
        """
        if len(calls) > self.left or self._over():
            return None
        self.left -= len(calls)
        self.spent += len(calls)
        if fresh:
            self._bench.reset()
        reactions = list(self._bench.run([Probe(call) for call in calls], patience))
        return self._judge(calls[-1], reactions[-1]) if len(reactions) == len(calls) else None

    def shows(self, calls: Sequence[Invocation], like: Judged, patience: float = 1.0) -> bool | None:
        """Whether the calls show the same defect from a fresh start; None if that can't be paid for."""
        judged = self.last_of(calls, patience=patience)
        return None if judged is None else is_same(judged, like)


def is_same(one: Judged, other: Judged) -> bool:
    """Whether both are the same defect; what computes without end may look as if it waited."""
    rulings = {one.ruling, other.ruling}
    return one.signature == other.signature and (len(rulings) == 1 or rulings == {"hang", "blow-up"})
