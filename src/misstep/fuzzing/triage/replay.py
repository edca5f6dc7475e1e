"""Makes calls again from a fresh start, to see whether they still show a defect.

Values that calls take from the results of earlier ones, put right when those results change.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.fuzzing.search.harvest import values_in
from misstep.fuzzing.triage.steps import replaced, values_given
from misstep.fuzzing.workbench import Workbench

NAME = 4  # characters of a text that is in two places for a reason


class Binding(msgspec.Struct, frozen=True):
    """A value that stands at a place among those of a call's result, and that a later call was given."""

    value: str | int
    producer: int
    place: int


def bindings_of(calls: Sequence[Invocation], results: Sequence[Reaction]) -> list[Binding]:
    """What calls took from results; what had been given to the tools before is an echo and is left alone."""
    found, given = dict[str | int, Binding](), set[str]()
    known = dict[str, tuple[int, int]]()
    for number, (call, result) in enumerate(zip(calls, results, strict=False)):
        own = values_given([call])
        for value in own:
            if str(value) in known:
                found[value] = Binding(value, *known[str(value)])
        given |= {str(value) for value in own}
        for place, (_, value) in enumerate(values_in(result)):
            if str(value) not in given:
                known[str(value)] = number, place
    return list(found.values())


def is_name(value: str | int) -> bool:
    """Whether a value is unlikely to be in a result by chance, as a small number may be."""
    return isinstance(value, str) and len(value) >= NAME


def rebound(call: Invocation, new: Mapping[str | int, str | int]) -> Invocation:
    """The call with new values in place of old ones."""
    if not new:
        return call
    return Invocation(call.tool, json.dumps(replaced(json.loads(call.arguments), new)))


def renewed(bindings: Sequence[Binding], number: int, result: Reaction) -> dict[str | int, str | int]:
    """What values become that were taken from the result of a call, by what it gives now."""
    values = [value for _, value in values_in(result)]
    own = [each for each in bindings if each.producer == number and each.place < len(values)]
    return {each.value: _like(each.value, values[each.place]) for each in own}


def _like(old: str | int, new: Any) -> str | int:
    if isinstance(old, int):
        return int(new) if str(new).isdecimal() and len(str(new)) < 19 else old
    return str(new)


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
