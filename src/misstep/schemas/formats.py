"""Whether a text has the format that a schema names."""

import ipaddress
import json
import re
from collections.abc import Callable
from datetime import date, datetime, time
from urllib.parse import urlsplit

from misstep.schemas.patterns import is_readable

LONGEST = 2000  # characters; no format has longer ones

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
    if len(text) > LONGEST:
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
