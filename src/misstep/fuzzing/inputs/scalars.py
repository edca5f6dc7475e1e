"""Generates texts and numbers for a schema, ordinary ones or boundary values, with Hypothesis."""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, nextafter
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from misstep.fuzzing.inputs.edges import FLOATS, HUGE, INTEGERS, TEXTS, WORDS
from misstep.fuzzing.inputs.semantic import values_for_format
from misstep.schemas.examples import as_fraction, written
from misstep.schemas.formats import has_format, is_readable, matches
from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.schemas.shape import count

T = TypeVar("T")


class Impossible(Exception):
    """No value fits the schema, or none was found."""


class Chance:
    """Choices made by Hypothesis. Raises `Impossible` if there is nothing to choose from."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def drawn(self, strategy: st.SearchStrategy[T] | None) -> T:
        if strategy is None:
            raise Impossible
        drawn: T = self._draw(strategy)
        return drawn

    def pick(self, items: Sequence[T]) -> T:
        if not items:
            raise Impossible
        return items[self.below(len(items))]

    def below(self, limit: int) -> int:
        return int(self._draw(st.integers(0, limit - 1))) if limit > 1 else 0

    def one_in(self, times: int) -> bool:
        return self.below(times) == times - 1

    def turned(self, items: Sequence[T]) -> list[T]:
        """All items, rotated by a random number of places."""
        first = self.below(len(items))
        return [*items[first:], *items[:first]]


REACH = 1000  # distance beyond the only limit
LARGEST = 10**300
WIDTHS = (10, 100, 10_000, 2**31, 2**53)
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def real_numbers(schema: Mapping[str, Any]) -> st.SearchStrategy[float | int] | None:
    """Numbers within the limits, most of them with a short notation; None if there are none."""
    low, high = _limits(schema)
    if is_number(schema.get("multipleOf")):
        return _multiples(low, high, _step(schema, whole=False), written)
    first = float(low) if low is not None else float(high) - REACH if high is not None else -100.0
    last = first + REACH if high is None else float(high)
    if first > last:
        return None
    parts = st.integers(0, 1000).map(lambda part: round(first + (last - first) * (part / 1000), 6))
    whole = _multiples(low, high, Fraction(1), written)
    return st.one_of([parts, st.floats(first, last), *([] if whole is None else [whole])])


def _multiples(
    low: Fraction | None, high: Fraction | None, step: Fraction, write: Callable[[Fraction], T]
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
    return times.map(lambda count: write(count * step))


def edge_numbers(schema: Mapping[str, Any], whole: bool) -> list[int | float]:
    """Numbers at the limits, and numbers that often cause errors, as far as they fit."""
    own = {key: value for key, value in schema.items() if key in (*_LIMITS, "multipleOf")}
    limits: dict[str, int | float] = {repr(each): each for each in _edge_numbers(schema, whole)}
    others = {repr(each): each for each in (*INTEGERS, *(() if whole else FLOATS))}
    # Limits count twice: they are few, and somebody chose them.
    candidates = [*limits.values(), *limits.values(), *others.values()]
    return [each for each in candidates if abs(each) < inf and fits(own, each) is None]


def _edge_numbers(schema: Mapping[str, Any], whole: bool) -> Iterator[int | float]:
    for key in _LIMITS:
        limit: Any = schema.get(key)
        if not _is_sane(limit):
            continue
        yield from (floor(limit), ceil(limit), floor(limit) + 1, ceil(limit) - 1)
        if not whole:
            yield from (limit, nextafter(float(limit), inf), nextafter(float(limit), -inf))
    step = _step(schema, whole)
    if step != 1:
        yield from (written(step * times) for times in (0, 1, -1, 1000))


def _limits(schema: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Minimum and maximum; an exclusive limit is moved to the next integer or float."""
    whole = schema.get("type") != "number"
    lows, highs = list[Fraction](), list[Fraction]()
    for key, found, sign in (("minimum", lows, 1), ("maximum", highs, -1)):
        limit: Any = schema.get(key)
        if _is_sane(limit):
            found.append(Fraction(limit))
        limit = schema.get(f"exclusive{key.capitalize()}")
        if _is_sane(limit) and whole:
            found.append(Fraction(floor(limit) + 1 if sign > 0 else ceil(limit) - 1))
        elif _is_sane(limit):
            found.append(Fraction(nextafter(float(limit), sign * inf)))
    return max(lows, default=None), min(highs, default=None)


def _step(schema: Mapping[str, Any], whole: bool) -> Fraction:
    step = as_fraction(schema.get("multipleOf"))
    if step is None or step <= 0:
        return Fraction(1)
    return Fraction(step.numerator) if whole else step


def _is_sane(limit: Any) -> bool:
    return is_number(limit) and abs(limit) < LARGEST  # false for NaN too


LONGEST = 100_000  # characters; longer texts are not made
LONGEST_PATTERN = 2000
ROOM = 24  # characters beyond the minimum
SAFE = 200  # characters that a pattern is matched against, unless it may backtrack exponentially
ALPHABET = (
    "".join(map(chr, range(32, 127))) + "\tÄßéñøşЖعא中日한٣½€→😀"
)  # the same on every Python, unlike the letters of Unicode

# Syntax of other regex dialects, with the Python equivalent.
_FOREIGN = (
    (re.compile(r"\(\?<(?=[A-Za-z_])"), "(?P<"),
    (re.compile(r"\\p\{(L|Lu|Ll|Letter|Alphabetic)\}"), "[A-Za-z]"),
    (re.compile(r"\\p\{(N|Nd|Number)\}"), "[0-9]"),
    (re.compile(r"\\z"), r"\\Z"),
)


def texts(schema: Mapping[str, Any]) -> st.SearchStrategy[str] | None:
    """Texts that match the pattern, the format or the length; None if there are none."""
    low, high = count(schema, "minLength", 0), count(schema, "maxLength", LONGEST)
    if low > min(high, LONGEST):
        return None
    if isinstance(pattern := schema.get("pattern"), str) and (made := from_pattern(pattern)) is not None:
        return made
    if isinstance(name := schema.get("format"), str) and (known := formatted(name)) is not None:
        return known
    longest = min(high, low + ROOM)
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(
        lambda words: _of_length(" ".join(words), low, longest)
    )


def edge_texts(schema: Mapping[str, Any]) -> list[str]:
    """Texts of minimum and maximum length, and difficult ones; not all of them need to fit."""
    low, high = count(schema, "minLength", 0), count(schema, "maxLength", LONGEST)
    if low > min(high, LONGEST):
        return []
    odd = [_of_length(text, low, high) for text in TEXTS]
    if high >= LONGEST:
        longest = [*HUGE[:2]] if low == 0 else []
    else:
        longest = ["a" * high, "é" * high, "\ud800" * high, " " * high, "a" * max(low, high - 1)]
    shortest = ["a" * low, "a" * min(high, low + 1), "\0" * low, "日" * low]
    return list(dict.fromkeys([*shortest, *longest, *odd]))


@lru_cache(maxsize=256)
def from_pattern(pattern: str) -> st.SearchStrategy[str] | None:
    """Texts that contain a match; None if that is impossible or might take too long."""
    for before, after in _FOREIGN:
        pattern = before.sub(after, pattern)
    if len(pattern) > LONGEST_PATTERN or not is_readable(pattern) or matches(pattern, "a" * SAFE) is None:
        return None
    alphabet = "".join(dict.fromkeys(ALPHABET + "".join(each for each in pattern if each.isprintable())))
    # Digits and letters are ASCII, as in most languages that check patterns.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about syntax that will change its meaning
        made = st.from_regex(re.compile(pattern, re.ASCII), alphabet=alphabet)
    # Python's `$` also matches before a final line break, unlike other languages.
    return made.map(lambda text: text.removesuffix("\n") if pattern.endswith("$") else text)


def formatted(name: str) -> st.SearchStrategy[str] | None:
    """Texts in a JSON Schema format; None if it is unknown."""
    match name:
        case "date":
            return st.dates().map(lambda day: day.isoformat())
        case "date-time":
            return st.datetimes(timezones=st.just(UTC)).map(lambda at: at.isoformat().replace("+00:00", "Z"))
        case "time":
            return st.times().map(lambda at: f"{at.isoformat('seconds')}Z")
        case "uuid":
            return st.uuids().map(str)
        case "ipv4" | "ipv6":
            return st.ip_addresses(v=4 if name == "ipv4" else 6).map(str)
    known = [text for text in values_for_format(name) if has_format(name, text)]
    return st.sampled_from(known) if known else None


def _of_length(text: str, low: int, high: int) -> str:
    """The text, cut or repeated until its length is within the limits."""
    if len(text) < low:
        text = ((text or "a") * (low // max(1, len(text)) + 1))[:low]
    return text[:high]


RARELY = 12  # one in this many boundary values is huge

_TEXTUAL = ("pattern", "format", "minLength", "maxLength")


def make_text(schema: dict[str, Any], root: Mapping[str, Any], edgy: bool, chance: Chance) -> str:
    """A text that may fit; a boundary value if there is one that fits."""
    if edgy:
        limited = schema.keys() & {"pattern", "minLength", "maxLength"}
        if not limited and schema.get("format") is None and chance.one_in(RARELY):
            return chance.pick(HUGE)
        edges = [text for text in edge_texts(schema) if has_format(schema.get("format"), text)]
        if isinstance(pattern := schema.get("pattern"), str):
            edges = [text for text in edges if matches(pattern, text)]
        if edges:
            return chance.pick(edges)
    try:
        return chance.drawn(texts({key: each for key, each in schema.items() if key in _TEXTUAL}))
    except InvalidArgument:  # a pattern that Hypothesis does not support
        text: str = chance.pick(fitting(schema, root, [*WORDS, *TEXTS]))
        return text


def make_number(schema: dict[str, Any], whole: bool, edgy: bool, chance: Chance) -> int | float:
    """A number that may fit; a boundary value if there is one that fits."""
    own = {**schema, "type": "integer" if whole else "number"}
    if edgy and (edges := edge_numbers(own, whole)):
        return chance.pick(edges)
    return chance.drawn(_multiples(*_limits(own), _step(own, whole), int) if whole else real_numbers(own))


def fitting(schema: dict[str, Any], root: Mapping[str, Any], candidates: Sequence[Any]) -> list[Any]:
    return [each for each in candidates if fits(schema, each, root) is None]
