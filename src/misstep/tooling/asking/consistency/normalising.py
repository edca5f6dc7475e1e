"""Leaves out of texts what differs although nothing has changed."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

DIGITS = 3  # of a number that count

Normalise: TypeAlias = Callable[[str], str]

_MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_HEX = re.compile(r"\b(?:0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,})\b")
_DURATION = re.compile(
    r"(?<![\w.,])\d++(?:\.\d++)?+\s?(?:[nuμm]?s|secs?|(?:milli|micro|nano)?seconds?)\b"  # after case-folding
)
_NUMBER = re.compile(
    r"(?<![\w.,:/-])-?\d++(?:,\d{3})*+(?:\.\d++)?+(?:e[-+]?\d{1,3})?+(?!\w*\d|[:/_-]|[.,]\d)"
)
_MOMENT = re.compile(
    r"(?<![\w.,])\d{10}(?:\d{3})?(?:\.\d++)?(?!\w|[.,]\d)"
)  # seconds or thousandths since 1970
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?"
_TIME = r"(?:[t ,]*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:z\b|utc\b|gmt\b|[ap]m\b|[+-]\d{2}:?\d{2}\b)?)?"


def normaliser(today: date) -> Normalise:
    """A function that makes texts equal that differ in what does not matter.

    That is case, white space, the order of keys in JSON, numbers beyond three digits, UUIDs and other ids in
    hexadecimal, dates and moments at most a day from `today`, and durations in seconds or less: longer ones
    are rather what somebody asked for.
    """
    days = [today + timedelta(days=shift) for shift in (-1, 0, 1)]
    dates = re.compile(
        rf"\b{_WEEKDAY}(?:{'|'.join(form for day in days for form in _forms(day))})(?!\d){_TIME}"
    )
    began = datetime(days[0].year, days[0].month, days[0].day, tzinfo=UTC).timestamp()

    def moment(match: re.Match[str]) -> str:
        seconds = float(match[0][:10])
        return "<time>" if began <= seconds < began + 3 * 86_400 else match[0]

    def plain(text: str) -> str:
        text = " ".join(text.casefold().split())
        text = _UUID.sub("<id>", text)
        text = _MOMENT.sub(moment, dates.sub("<time>", text))
        text = _DURATION.sub("<duration>", _HEX.sub("<id>", text))
        return _NUMBER.sub(lambda match: _rounded(match[0].replace(",", "")), text)

    return lambda text: _normalised(text, plain)


def _normalised(text: str, plain: Normalise) -> str:
    """JSON piece by piece, everything else as a text."""
    if not text.lstrip().startswith(("{", "[")):
        return plain(text)
    try:
        return json.dumps(_within(json.loads(text), plain), ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return plain(text)


def _within(value: Any, plain: Normalise) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, dict):
        return {key: _within(each, plain) for key, each in value.items()}
    if isinstance(value, list):
        return [_within(each, plain) for each in value]
    return float(_rounded(str(value)))


def _rounded(number: str) -> str:
    return f"{float(number) + 0.0:.{DIGITS}g}"  # which makes nought of minus nought


def _forms(day: date) -> list[str]:
    """The ways in which a day is written, as patterns in small letters."""
    number, month, year = day.day, day.month, day.year
    forms = [
        rf"{year}[-/]{month:02}[-/]{number:02}",
        rf"{number:02}\.{month:02}\.{year}",
        f"{month:02}/{number:02}/{year}",
        f"{number:02}/{month:02}/{year}",
    ]
    for name in (_MONTHS[month - 1], _MONTHS[month - 1][:3]):
        forms += [
            rf"{name} 0?{number},? {year}",
            rf"{number} {name} {year}",
            rf"{name} {number} \d\d:\d\d:\d\d {year}",
        ]
    return forms
