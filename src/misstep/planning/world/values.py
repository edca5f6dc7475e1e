"""Values that actions return and others have to be handed: which of them is the right one by now."""

from collections.abc import Mapping

from misstep.core.constraint import Handover
from misstep.planning.world.history import ParameterFault
from misstep.schemas.equality import same

Returned = dict[str, str | int]


class Values:
    """What each action returns, time after time; it goes on from attempt to attempt."""

    __slots__ = ("_fresh", "_returned", "_values")

    def __init__(self, values: Mapping[str, Mapping[str, tuple[str | int, ...]]]) -> None:
        self._values = values
        self._returned: dict[str, list[Returned]] = {}  # in all attempts, the newest last
        self._fresh: set[str] = set()  # those that have returned something in this attempt

    def forget(self) -> None:
        """Nothing that was returned so far holds any longer."""
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
        """What is wrong with a value that has been passed to the taker, if anything."""
        giver, parameter = handover.giver, handover.parameter
        returned = [each[parameter] for each in self._returned.get(giver, ()) if parameter in each]
        if giver in self._fresh and returned and same(passed, returned[-1]):
            return None
        if any(same(passed, value) for value in returned):
            return "stale"
        newest = [each[-1] for action, each in self._returned.items() if action != giver]
        swapped = any(same(passed, value) for values in newest for value in values.values())
        return "swapped" if swapped else "value"
