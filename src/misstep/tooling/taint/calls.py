"""Hears of calls of built-in types with a marked value, which they make a plain one of.

Only Python 3.12 and later tell of them. Before that, a text that no number can be made of is heard of by the
message of the error, and one that is a number is not.
"""

import sys
from collections.abc import Callable
from decimal import Decimal
from types import CodeType
from typing import Any

from misstep.tooling.taint.dressing import plain
from misstep.tooling.taint.marked import origin_of

LISTENER = 4  # among those who may listen: none that Python has given a use to

_CONVERSIONS: dict[int, tuple[str, Callable[[Any], Any]]] = {
    id(int): ("int", int),
    id(float): ("float", float),
    id(Decimal): ("Decimal", Decimal),
    id(range): ("range", range),
}


def listen() -> Callable[[], None] | None:
    """Begin to listen; what is given back ends it. None where nobody tells, or the place is taken."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or monitoring.get_tool(LISTENER) is not None:
        return None
    call = monitoring.events.CALL
    monitoring.use_tool_id(LISTENER, "misstep: marked values")
    monitoring.register_callback(LISTENER, call, _heard)
    monitoring.set_events(LISTENER, call)

    def stop() -> None:
        monitoring.set_events(LISTENER, 0)
        monitoring.register_callback(LISTENER, call, None)
        monitoring.free_tool_id(LISTENER)

    return stop


def _heard(_code: CodeType, _offset: int, called: object, argument: object) -> None:
    known = _CONVERSIONS.get(id(called))
    origin = origin_of(argument) if known else None
    if known and origin and not origin.record.closed:
        name, convert = known
        origin.note(name, None, _works(convert, plain(argument)))


def _works(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return False
    return True
