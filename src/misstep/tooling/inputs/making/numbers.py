"""Numbers that a schema allows, drawn from within its limits or from their edges."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from typing import Any, TypeVar

from hypothesis import strategies as st

from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.tooling.inputs.edges import FLOATS, INTEGERS

T = TypeVar("T")

REACH = 1000  # beyond the only limit that there is
LARGEST = 10**300
WIDTHS = (10, 100, 10_000, 2**31, 2**53)


def whole_numbers(schema: Mapping[str, Any]) -> st.SearchStrategy[int] | None:
    """Integers within the limits; None where there are none."""
    low, high = _limits(schema)
    step = _step(schema, whole=True)
    return _multiples(low, high, step, lambda number: int(number))


def real_numbers(schema: Mapping[str, Any]) -> st.SearchStrategy[float | int] | None:
    """Numbers within the limits, most of them short when written; None where there are none."""
    low, high = _limits(schema)
    if is_number(schema.get("multipleOf")):
        return _multiples(low, high, _step(schema, whole=False), _written)
    first, last = _range(low, high)
    if first > last:
        return None
    parts = st.integers(0, 1000).map(lambda part: round(first + (last - first) * (part / 1000), 6))
    whole = _multiples(low, high, Fraction(1), _written)
    return st.one_of([parts, st.floats(first, last), *([] if whole is None else [whole])])


def _range(low: Fraction | None, high: Fraction | None) -> tuple[float, float]:
    first = float(high) - REACH if high is not None else -100.0
    first = first if low is None else float(low)
    return first, first + REACH if high is None else float(high)


def _multiples(
    low: Fraction | None, high: Fraction | None, step: Fraction, written: Callable[[Fraction], T]
) -> st.SearchStrategy[T] | None:
    first = None if low is None else ceil(low / step)
    last = None if high is None else floor(high / step)
    if first is None and last is None:
        times = st.one_of([st.integers(-width // 10, width) for width in WIDTHS])
    else:
        first = last - REACH if first is None and last is not None else first
        last = first + REACH if last is None and first is not None else last
        if first is None or last is None or first > last:
            return None
        times = st.integers(first, last)
    return times.map(lambda count: written(count * step))


def edge_numbers(schema: Mapping[str, Any], whole: bool) -> list[int | float]:
    """Those at the limits and those at which computers stumble, as far as they fit."""
    own = {key: value for key, value in schema.items() if key in _DEMANDS}
    limits: dict[str, int | float] = {repr(each): each for each in _edges(schema, whole)}
    others = {repr(each): each for each in (*INTEGERS, *(() if whole else FLOATS))}
    # Limits count twice: they are few, and somebody has thought about them.
    candidates = [*limits.values(), *limits.values(), *others.values()]
    return [each for each in candidates if abs(each) < inf and fits(own, each) is None]


_DEMANDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _edges(schema: Mapping[str, Any], whole: bool) -> Iterator[int | float]:
    for key in _DEMANDS[:4]:
        limit: Any = schema.get(key)
        if not _is_sane(limit):
            continue
        yield from (floor(limit), ceil(limit), floor(limit) + 1, ceil(limit) - 1)
        if not whole:
            yield from (limit, nextafter(float(limit), inf), nextafter(float(limit), -inf))
    step = _step(schema, whole)
    if step != 1:
        yield from (_written(step * times) for times in (0, 1, -1, 1000))


def _limits(schema: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Least and most; where the edge itself is ruled out, the nearest that a finite step leaves."""
    whole = schema.get("type") != "number"
    lows, highs = list[Fraction](), list[Fraction]()
    for key, found, sign in (("minimum", lows, 1), ("maximum", highs, -1)):
        limit: Any = schema.get(key)
        if _is_sane(limit):
            found.append(Fraction(limit))
        limit = schema.get(f"exclusive{key.capitalize()}")
        if _is_sane(limit):
            found.append(_past(limit, sign, whole))
    return max(lows, default=None), min(highs, default=None)


def _past(limit: Any, sign: int, whole: bool) -> Fraction:
    if whole:
        return Fraction(floor(limit) + 1 if sign > 0 else ceil(limit) - 1)
    return Fraction(nextafter(float(limit), sign * inf))


def _step(schema: Mapping[str, Any], whole: bool) -> Fraction:
    step: Any = schema.get("multipleOf")
    if not _is_sane(step) or not step > 0:
        return Fraction(1)
    exact = Fraction(repr(step))
    return Fraction(exact.numerator) if whole else exact


def _is_sane(limit: Any) -> bool:
    return is_number(limit) and abs(limit) < LARGEST  # not a number is less than nothing


def _written(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 and abs(number) < 2**53 else float(number)
