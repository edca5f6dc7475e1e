"""Checks of formats and patterns in schemas, and equality of JSON values.

Patterns come from other people's schemas, so they are matched only if that can't take long.
"""

import ipaddress
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time
from functools import lru_cache
from math import log
from typing import Any
from urllib.parse import urlsplit


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 equals 1.0, and neither equals true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


MOST_STEPS = 10_000_000  # rough limit on the steps of a match
LONGEST_MATCHED = 10_000  # characters
MOST_STEPS_NESTED = 1_000_000  # limit if each character may multiply the steps

_TOKEN = re.compile(
    r"""
    (?P<atom> \\. | \[ \^? \]? (?: \\. | [^\]\\] )* \] )
    | (?P<open> \( (?: \? (?: [:=!>] | <[=!] | P?<\w+> ) )? )
    | (?P<close> \) )
    | (?P<repeat> (?: [*+?] | \{ \d* ,? \d* \} ) [?+]? )
    | (?P<branch> \| )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None if it is invalid or the text is too long."""
    compiled, longest = _prepared(pattern)
    if compiled is None or len(text) > longest:
        return None
    return compiled.search(text) is not None


def is_readable(pattern: str) -> bool:
    return _prepared(pattern)[0] is not None


@lru_cache(maxsize=1024)
def _prepared(pattern: str) -> tuple[re.Pattern[str] | None, int]:
    """The compiled pattern, and the longest text that it may be matched with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about syntax that will change its meaning
        try:
            return re.compile(pattern), _longest_text(pattern)
        except (re.error, OverflowError, RecursionError, ValueError):
            return None, 0


def _longest_text(pattern: str) -> int:
    """The longest text allowed: steps grow with its length to the power of the repeats, or faster.

    For each open group, it counts parts that repeat, and choices, where it may match in several ways.
    """
    groups, last, longest = [Counter[str]()], Counter[str](), LONGEST_MATCHED
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "open":
                groups.append(Counter())
            case "close" if len(groups) > 1:
                last = groups.pop()
                groups[-1].update(last)
            case "branch":
                groups[-1]["choices"] += 1
            case "repeat":
                longest = min(longest, _longest_nested(token[0], last["choices"]))
                groups[-1]["repeats"] += token[0][0] in "*+" or "," in token[0]
                groups[-1]["choices"] += token[0][0] != "{" or "," in token[0]
            case "atom" | "other":
                last = Counter()
    power = groups[0]["repeats"] + (not pattern.startswith("^"))
    return min(longest, int(MOST_STEPS ** (1 / max(1, power))))


def _longest_nested(repeat: str, choices: int) -> int:
    """The longest text allowed if a part with choices is repeated: each repetition multiplies the steps."""
    if not choices or repeat.startswith("?"):
        return LONGEST_MATCHED
    times = int(log(MOST_STEPS_NESTED, choices + 1))
    most = max(map(int, re.findall(r"\d+", repeat)), default=0)
    return times if most <= times else 0


LONGEST_FORMATTED = 2000  # characters; valid texts are shorter

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_EMAIL = re.compile(rf"[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@{_LABEL}(\.{_LABEL})+", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", re.ASCII)
_BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII)


def has_format(name: object, text: str) -> bool:
    """Whether a text has a format; True for unknown formats, strict if parsers differ."""
    check = _CHECKS.get(name) if isinstance(name, str) else None
    if check is None:
        return True
    if len(text) > LONGEST_FORMATTED:
        return False
    try:
        return bool(check(text))
    except (ValueError, RecursionError):
        return False


def _is_date(text: str) -> object:
    return _DATE.fullmatch(text) and date.fromisoformat(text)


def _is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text)) and time.fromisoformat(text) is not None


def _is_moment(text: str) -> bool:
    day, separator, rest = text.partition("T")
    parts = separator and _is_date(day) and _is_time(rest)
    return bool(parts) and bool(datetime.fromisoformat(text))


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    numbered = parts.port is None or 0 <= parts.port < 65536
    hosted = parts.scheme not in ("http", "https", "ftp", "ws", "wss") or bool(parts.hostname)
    return bool(_URI.fullmatch(text)) and numbered and hosted


def _is_json(text: str) -> bool:
    json.loads(text)
    return True


_CHECKS: dict[str, Callable[[str], object]] = {
    "date": _is_date,
    "date-time": _is_moment,
    "time": _is_time,
    "uuid": _UUID.fullmatch,
    "email": _EMAIL.fullmatch,
    "idn-email": _EMAIL.fullmatch,
    "hostname": lambda text: len(text) < 254 and _HOST.fullmatch(text),
    "ipv4": lambda text: text.isascii() and ipaddress.IPv4Address(text),
    "ipv6": lambda text: text.isascii() and ipaddress.IPv6Address(text),
    "uri": _is_uri,
    "url": _is_uri,
    "regex": is_readable,
    "json": _is_json,
    "json-string": _is_json,
    "byte": _BASE64.fullmatch,
}
