"""Texts that a schema allows, drawn from everyday ones or from those at which programs stumble."""

import re
import warnings
from collections.abc import Mapping
from datetime import UTC
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from misstep.schemas.formats import has_format
from misstep.schemas.patterns import is_readable, matches
from misstep.schemas.shape import count
from misstep.tooling.inputs.edges import HUGE, TEXTS, WORDS
from misstep.tooling.inputs.suggestions.semantic import values_for_format

LONGEST = 100_000  # characters; a text that has to be longer is not made
LONGEST_PATTERN = 2000
ROOM = 24  # characters beyond the fewest allowed
SAFE = 200  # characters that a pattern can be held against unless it is one of those that take for ever
ALPHABET = (
    "".join(map(chr, range(32, 127))) + "\tÄßéñøşЖعא中日한٣½€→😀"
)  # the same on every Python, unlike what Unicode calls a letter

# How other languages write what Python writes otherwise.
_FOREIGN = (
    (re.compile(r"\(\?<(?=[A-Za-z_])"), "(?P<"),
    (re.compile(r"\\p\{(L|Lu|Ll|Letter|Alphabetic)\}"), "[A-Za-z]"),
    (re.compile(r"\\p\{(N|Nd|Number)\}"), "[0-9]"),
    (re.compile(r"\\z"), r"\\Z"),
)


def texts(schema: Mapping[str, Any]) -> st.SearchStrategy[str] | None:
    """Texts of the pattern or the format, or else of the length; None where there are none."""
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
    """Those of the least and the greatest length, and those that are hard to handle; they may not all fit."""
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
    """Texts in which the pattern is found; None where that can't be had, or might take for ever."""
    for before, after in _FOREIGN:
        pattern = before.sub(after, pattern)
    if len(pattern) > LONGEST_PATTERN or not is_readable(pattern) or matches(pattern, "a" * SAFE) is None:
        return None
    alphabet = "".join(dict.fromkeys(ALPHABET + "".join(each for each in pattern if each.isprintable())))
    # Digits and letters are ASCII's, as in most languages that check patterns.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what will mean something else one day
        made = st.from_regex(re.compile(pattern, re.ASCII), alphabet=alphabet)
    # Where `$` stands for the end, Python takes a line break before it, and nobody else does.
    return made.map(lambda text: text.removesuffix("\n") if pattern.endswith("$") else text)


def formatted(name: str) -> st.SearchStrategy[str] | None:
    """Texts of a format that a schema may name; None for one that is not known."""
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
    """The text, cut or said again and again until its length is within the limits."""
    if len(text) < low:
        text = ((text or "a") * (low // max(1, len(text)) + 1))[:low]
    return text[:high]
