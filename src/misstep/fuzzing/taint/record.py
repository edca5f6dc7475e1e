"""Records what code does with marked values."""

import json
import math
import sys
from types import FrameType
from typing import Any, NamedTuple

from misstep.core.tool import Observation, Path

MOST = 400  # observations per call
MOST_AT_ONE_PLACE = 24  # per line of code and operation
LONGEST_TEXT = 200
LONGEST_LIST = 40
LONGEST_WAY = 12  # steps from an argument to a value derived from it
LARGEST = 10**60

Step = tuple[str, str]

_HERE = __name__.rpartition(".")[0]


class ValueOrigin(NamedTuple):
    """Where a marked value comes from: its path in the arguments, and the steps from there."""

    record: "ObservationLog"
    path: Path
    via: tuple[Step, ...] = ()

    def step(self, name: str, *operands: Any) -> "ValueOrigin | None":
        """The origin of a derived value; None if it is too many steps away."""
        if len(self.via) >= LONGEST_WAY or self.record.closed:
            return None
        return ValueOrigin(self.record, self.path, (*self.via, (name, _as_list(operands))))

    def below(self, part: str | int) -> "ValueOrigin | None":
        if self.via:
            return self.step("at", part)
        return ValueOrigin(self.record, (*self.path, part))

    def note(self, operation: str, operand: Any = None, outcome: bool | None = None) -> None:
        self.record.note(self, operation, operand, outcome)


class ObservationLog:
    """The observations of one call, in order and without duplicates."""

    def __init__(self) -> None:
        self.closed = False
        self._noted: dict[Observation, None] = {}
        self._places: dict[tuple[object, ...], int] = {}

    @property
    def observations(self) -> tuple[Observation, ...]:
        return tuple(self._noted)

    def note(self, origin: ValueOrigin, operation: str, operand: Any, outcome: bool | None) -> None:
        if self.closed or len(self._noted) >= MOST:
            return
        frame = calling()
        place = (frame.f_code.co_filename, frame.f_lineno, operation) if frame else (operation,)
        heard = self._places.get(place, 0)
        if heard >= MOST_AT_ONE_PLACE:  # so that a loop does not use up the limit
            return
        observation = Observation(origin.path, operation, as_json(operand), outcome, origin.via)
        if observation not in self._noted:
            self._noted[observation] = None
            self._places[place] = heard + 1


def calling() -> FrameType | None:
    """The frame of the code that uses a marked value: the innermost one outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame and str(frame.f_globals.get("__name__", "")).startswith(_HERE):
        frame = frame.f_back
    return frame


def as_json(value: Any) -> str:
    """An operand as JSON; long values are truncated, and what JSON cannot represent becomes null."""
    return json.dumps(_bounded(value, 3))


def _as_list(operands: tuple[Any, ...]) -> str:
    """The operands as a JSON list, with a fast path for integers, which are the most frequent."""
    if all([type(operand) is int and -LARGEST < operand < LARGEST for operand in operands]):
        return str(list(operands))
    return as_json(list(operands))


def _bounded(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return str.__getitem__(value, slice(LONGEST_TEXT))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value) if -LARGEST < int.__int__(value) < LARGEST else None
    if isinstance(value, float):
        return float.__float__(value) if math.isfinite(float.__float__(value)) else None
    if isinstance(value, bytes):
        return bytes.decode(value, "latin-1")[:LONGEST_TEXT]
    return _bounded_container(value, depth - 1) if depth else None


def _bounded_container(value: Any, depth: int) -> Any:
    if isinstance(value, list | tuple):
        kind: Any = list if isinstance(value, list) else tuple
        items = [item for _, item in zip(range(LONGEST_LIST), kind.__iter__(value), strict=False)]
        return [_bounded(item, depth) for item in items]
    if isinstance(value, set | frozenset):
        kind_of_set: Any = set if isinstance(value, set) else frozenset
        items = [_bounded(item, depth) for item in kind_of_set.__iter__(value)]
        return sorted(items, key=lambda item: (type(item).__name__, json.dumps(item)))[:LONGEST_LIST]
    if isinstance(value, dict):
        pairs = [(key, dict.__getitem__(value, key)) for key in list(dict.keys(value))[:LONGEST_LIST]]
        return {_bounded(key, 1): _bounded(item, depth) for key, item in pairs if isinstance(key, str)}
    return None
