"""Whether a text has the format that a schema names.

When two JSON values are the same one.

Patterns out of other people's schemas, matched only where that can't take long.
"""

import ipaddress
import json
import re
import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from functools import lru_cache
from math import log
from typing import Any
from urllib.parse import urlsplit


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


MOST_STEPS = 10_000_000  # that a match may take, by a rough estimate
LONGEST_MATCHED = 10_000  # characters
MOST_STEPS_NESTED = 1_000_000  # where each character may multiply them

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
    """Whether the pattern is found in the text; None where it can't be read or the text is too long."""
    compiled, longest = _prepared(pattern)
    if compiled is None or len(text) > longest:
        return None
    return compiled.search(text) is not None


def is_readable(pattern: str) -> bool:
    return _prepared(pattern)[0] is not None


@lru_cache(maxsize=1024)
def _prepared(pattern: str) -> tuple[re.Pattern[str] | None, int]:
    """The pattern compiled, and the most characters that it may be held against."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what will mean something else one day
        try:
            return re.compile(pattern), _longest_text(pattern)
        except (re.error, OverflowError, RecursionError, ValueError):
            return None, 0


class _Group:
    """What has been read of a group: how many parts of it repeat, and how many may match in several ways."""

    def __init__(self) -> None:
        self.repeats = 0
        self.choices = 0


def _longest_text(pattern: str) -> int:
    """How long a text may be: steps grow with its length to the power of the repeats, or worse."""
    groups, last, longest = [_Group()], _Group(), LONGEST_MATCHED
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "open":
                groups.append(_Group())
            case "close" if len(groups) > 1:
                last = groups.pop()
                groups[-1].repeats += last.repeats
                groups[-1].choices += last.choices
            case "branch":
                groups[-1].choices += 1
            case "repeat":
                longest = min(longest, _longest_nested(token[0], last.choices))
                groups[-1].repeats += token[0][0] in "*+" or "," in token[0]
                groups[-1].choices += token[0][0] != "{" or "," in token[0]
            case "atom" | "other":
                last = _Group()
    power = groups[0].repeats + (not pattern.startswith("^"))
    return min(longest, int(MOST_STEPS ** (1 / max(1, power))))


def _longest_nested(repeat: str, choices: int) -> int:
    """How long a text may be where something with choices is repeated: each time multiplies the steps."""
    if not choices or repeat.startswith("?"):
        return LONGEST_MATCHED
    times = int(log(MOST_STEPS_NESTED, choices + 1))
    most = max(map(int, re.findall(r"\d+", repeat)), default=0)
    return times if most <= times else 0


LONGEST_FORMATTED = 2000  # characters; no format has longer ones

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_EMAIL = re.compile(rf"[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@{_LABEL}(\.{_LABEL})+", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", re.ASCII)
_BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII)


def has_format(name: object, text: str) -> bool:
    """True too for formats that nobody here knows; strict where readers differ in what they take."""
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
