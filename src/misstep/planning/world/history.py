"""The history of an agent's last attempt, which constraints are checked against, and returned values."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

import msgspec

from misstep.core.constraint import Condition, Handover
from misstep.planning.language.lexicon import load_lexicon
from misstep.schemas.formats import same

NOTHING = "nothing of the kind"


def reported(condition: Condition, found: bool) -> str:
    """The finding in words, or its absence."""
    return condition.finding if found else _absences().get(condition.finding, NOTHING)


@cache
def _absences() -> dict[str, str]:
    return {finding.some: finding.none for finding in load_lexicon().conditions.all_findings}


ActFault = Literal["unknown", "arguments", "repeated", "parallel", "distractor", "attempts"]
ParameterFault = Literal["no time", "outside", "early", "value", "stale", "swapped"]


class Deed(msgspec.Struct, frozen=True):
    """An action carried out by the call number `step`.

    `start` and `end` are minutes since midnight, in timed problems. `by` is the action whose tool did it, if
    it was a stand-in.
    """

    action: str
    step: int
    start: int = 0
    end: int = 0
    by: str = ""


class ActSlip(msgspec.Struct, frozen=True):
    """A call that should not have been made; for a repeated call `action` is the action of its tool."""

    step: int
    fault: ActFault
    action: str = ""


class ParameterSlip(msgspec.Struct, frozen=True):
    """A valid call that was refused for a wrong value in a parameter; `action` is the action of its tool.

    A call with several wrong values makes one slip for each of them.
    """

    step: int
    fault: ParameterFault
    action: str
    parameter: str


class History(msgspec.Struct, frozen=True):
    """Deeds and slips in order, how often each action's tool has worked, and the number of the attempt.

    `began` is the number of the first call of the attempt.
    """

    deeds: tuple[Deed, ...] = ()
    acts: tuple[ActSlip, ...] = ()
    parameters: tuple[ParameterSlip, ...] = ()
    calls_of: dict[str, int] = {}
    attempt: int = 1
    began: int = 1


Returned = dict[str, str | int]


class Values:
    """What each action returns, execution by execution, across attempts."""

    __slots__ = ("_fresh", "_returned", "_values")

    def __init__(self, values: Mapping[str, Mapping[str, tuple[str | int, ...]]]) -> None:
        self._values = values
        self._returned: dict[str, list[Returned]] = {}  # in all attempts, the newest last
        self._fresh: set[str] = set()  # those that have returned something in this attempt

    def forget(self) -> None:
        """Invalidate everything returned so far."""
        self._fresh.clear()

    def give(self, action: str) -> Returned:
        """What the action returns now."""
        values = self._values.get(action)
        if values is None:
            return {}
        returned = self._returned.setdefault(action, [])
        place = len(returned)
        returned.append({name: series[min(place, len(series) - 1)] for name, series in values.items()})
        self._fresh.add(action)
        return returned[-1]

    def fault(self, handover: Handover, passed: object) -> ParameterFault | None:
        """What is wrong with a value that was passed to the taker, if anything."""
        giver, parameter = handover.giver, handover.parameter
        returned = [each[parameter] for each in self._returned.get(giver, ()) if parameter in each]
        if giver in self._fresh and returned and same(passed, returned[-1]):
            return None
        if any(same(passed, value) for value in returned):
            return "stale"
        newest = [each[-1] for action, each in self._returned.items() if action != giver]
        swapped = any(same(passed, value) for values in newest for value in values.values())
        return "swapped" if swapped else "value"
