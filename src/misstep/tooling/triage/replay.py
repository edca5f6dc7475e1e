"""Makes calls again from a fresh start, to see whether they still show a defect."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from misstep.core.ruling import Judged
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.tooling.triage.binding import Binding, rebound, renewed
from misstep.tooling.workbench import Workbench

# Rules on what came of a call; whoever gives it knows the tools.
Judge: TypeAlias = Callable[[Invocation, Reaction], Judged]


def never() -> bool:
    return False


class Replayer:
    """Replays calls on a workbench and counts them; `left` is how many it may still make.

    `made` are the calls of the last replay as they were made, `results` what came of them.
    """

    def __init__(self, bench: Workbench, judge: Judge, most: int, over: Callable[[], bool] = never) -> None:
        self._bench = bench
        self._judge = judge
        self._over = over
        self.left = most
        self.spent = 0
        self.made = tuple[Invocation, ...]()
        self.results = tuple[Reaction, ...]()

    def last_of(
        self,
        calls: Sequence[Invocation],
        fresh: bool = True,
        patience: float = 1.0,
        bindings: Sequence[Binding] = (),
    ) -> Judged | None:
        """What the last call comes to after the others, from a fresh start or from whatever there is.

        With `bindings`, values that were taken from results are taken from the new ones. None if there are
        not enough calls left, it is over, or the workbench makes no more.
        """
        if len(calls) > self.left or self._over():
            return None
        self.left -= len(calls)
        self.spent += len(calls)
        if fresh:
            self._bench.reset()
        if bindings:
            self._make_bound(calls, patience, bindings)
        else:
            self.made = tuple(calls)
            self.results = tuple(self._bench.run([Probe(call) for call in calls], patience))
        return self._judge(self.made[-1], self.results[-1]) if len(self.results) == len(calls) else None

    def _make_bound(self, calls: Sequence[Invocation], patience: float, bindings: Sequence[Binding]) -> None:
        """Make calls one by one, each with the values that results give now."""
        made, results, new = list[Invocation](), list[Reaction](), dict[str | int, str | int]()
        for number, call in enumerate(calls):
            made.append(rebound(call, new))
            reactions = list(self._bench.run([Probe(made[-1])], patience))
            if not reactions:
                break
            results += reactions
            new |= renewed(bindings, number, reactions[0])
        self.made, self.results = tuple(made), tuple(results)

    def shows(self, calls: Sequence[Invocation], like: Judged, patience: float = 1.0) -> bool | None:
        """Whether the calls show the same defect from a fresh start; None if that can't be paid for."""
        judged = self.last_of(calls, patience=patience)
        return None if judged is None else is_same(judged, like)


def is_same(one: Judged, other: Judged) -> bool:
    """Whether both are the same defect; what computes without end may look as if it waited."""
    rulings = {one.ruling, other.ruling}
    return one.signature == other.signature and (len(rulings) == 1 or rulings == {"hang", "blow-up"})
