"""Makes calls again from a fresh start, with new values where they use what earlier calls returned."""

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.fuzzing.returned import values_in
from misstep.fuzzing.triage.steps import replaced, values_given
from misstep.fuzzing.workbench import Workbench, run_calls

NAME = 4  # characters of a text that is not in two places by coincidence


class Binding(msgspec.Struct, frozen=True):
    """A value at an index among those of a call's result, which a later call uses."""

    value: str | int
    producer: int
    place: int


def bindings_of(calls: Sequence[Invocation], results: Sequence[Reaction]) -> list[Binding]:
    """The values that calls took from results; values that were arguments before are echoes and left out."""
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
    """Whether a value is unlikely to be in a result by coincidence, unlike a small number."""
    return isinstance(value, str) and len(value) >= NAME


# Judges a sequence of calls of known tools by the reactions to them.
Judge: TypeAlias = Callable[[Sequence[Invocation], Sequence[Reaction]], Judged]


def never() -> bool:
    return False


class Replayer:
    """Replays calls on a workbench, at most `most` of them; `spent` is how many it has made.

    `made` are the calls of the last replay as they were made, `results` their reactions. With `watch`, these
    tell which files were changed.
    """

    def __init__(
        self,
        bench: Workbench,
        judge: Judge,
        most: int,
        over: Callable[[], bool] = never,
        watch: bool = False,
    ) -> None:
        self._bench = bench
        self._judge = judge
        self._over = over
        self._watch = watch
        self._most = most
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
        """The ruling on the last call after the others, from a fresh start or the current state.

        With `bindings`, values taken from results are replaced by the new ones. None if not enough calls are
        left, time is over, or the workbench stopped.
        """
        if self.spent + len(calls) > self._most or self._over():
            return None
        self.spent += len(calls)
        if fresh:
            self._bench.reset()
        if bindings and all(call.sent == "in turn" for call in calls):
            self._make_bound(calls, patience, bindings)
        else:
            self.made = tuple(calls)
            self.results = tuple(run_calls(self._bench, calls, patience, self._watch))
        return self._judge(self.made, self.results) if len(self.results) == len(calls) else None

    def _make_bound(self, calls: Sequence[Invocation], patience: float, bindings: Sequence[Binding]) -> None:
        """Make the calls one by one, each with values from the new results."""
        made, results, new = list[Invocation](), list[Reaction](), dict[str | int, str | int]()
        for number, call in enumerate(calls):
            if new:
                call = replace(call, arguments=json.dumps(replaced(json.loads(call.arguments), new)))
            made.append(call)
            reactions = list(self._bench.run([Probe(call, watch=self._watch)], patience))
            if not reactions:
                break
            results += reactions
            values = [value for _, value in values_in(reactions[0])]
            for each in bindings:
                if each.producer != number or each.place >= len(values):
                    continue
                value = str(values[each.place])
                if isinstance(each.value, str):
                    new[each.value] = value
                else:
                    new[each.value] = int(value) if value.isdecimal() and len(value) < 19 else each.value
        self.made, self.results = tuple(made), tuple(results)

    def shows(self, calls: Sequence[Invocation], like: Judged, patience: float = 1.0) -> bool | None:
        """Whether the calls show the same defect from a fresh start; None if there is no time or budget."""
        judged = self.last_of(calls, patience=patience)
        return None if judged is None else is_same(judged, like)


def is_same(one: Judged, other: Judged) -> bool:
    """Whether both are the same defect; an endless computation may look like waiting."""
    rulings = {one.ruling, other.ruling}
    return one.signature == other.signature and (len(rulings) == 1 or rulings == {"hang", "blow-up"})
