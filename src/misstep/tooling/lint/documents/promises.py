"""Descriptions that promise what the schema forbids."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from misstep.core.remark import Remark
from misstep.schemas.limits import is_number
from misstep.tooling.lint.documents.defaults import stated_default
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

_NUMBER = r"(-?\d+(?:\.\d+)?)(?![\d.]*\w)"
_BETWEEN = re.compile(rf"\b(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}", re.IGNORECASE)
_AT_MOST = re.compile(
    rf"\b(?:at most|no more than|maximum(?: of| is)?:?|max\.?:?)\s+{_NUMBER}", re.IGNORECASE
)
_AT_LEAST = re.compile(
    rf"\b(?:at least|no less than|minimum(?: of| is)?:?|min\.?:?)\s+{_NUMBER}", re.IGNORECASE
)
_SEPARATED = re.compile(
    r"\b(?:comma|semicolon|space|newline|pipe)[- ]?(?:separated|delimited)\b", re.IGNORECASE
)
_OPTIONAL = re.compile(
    r"^\W*optional\b(?!ly)|\(optional\)|\bis optional\b"
    r"|\bif (?:omitted|not (?:given|provided|specified|set))\b",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"^\W*required\b(?=\W*$|[.,:;)])|\(required\)|\bis (?:always )?required\s*(?:[.;)]|$)", re.IGNORECASE
)
_JSON_TEXT = re.compile(r"\bJSON[- ](?:encoded\s+)?(?:string|text)\b|\bJSON-encoded\b", re.IGNORECASE)
_DAY_ALONE = re.compile(r"\bYYYY-MM-DD\b(?![T ]*['\"]?[T ]?['\"]?HH)")
_WRITTEN_DATE = re.compile(r"\bYYYY-MM-DD\b|\bISO[- ]?8601\b", re.IGNORECASE)
_LENGTH = re.compile(r"^\s*(?:characters?|chars?|letters?)\b", re.IGNORECASE)
_COUNT = re.compile(r"^\s*(?:items?|elements?|entries)\b", re.IGNORECASE)


def broken_promises(subject: Subject) -> Iterator[Remark]:
    """What the words about a parameter say, against what its schema says."""
    strict = subject.described.kind == "openai-agents"  # its schemas have everything given
    for part in subject.parts:
        text = part.description[:20_000]
        for rule in _RULES:
            yield from rule(part, text)
        if not strict:
            yield from _wanted(part, text)


def _list_as_text(part: Part, text: str) -> Iterator[Remark]:
    if part.types == {"array"} and (found := _SEPARATED.search(text)):
        yield _remark(part, "is an array, but the description asks for a text", found[0])


def _json_as_value(part: Part, text: str) -> Iterator[Remark]:
    if part.types and part.types <= {"array", "object"} and (found := _JSON_TEXT.search(text)):
        yield _remark(part, "is JSON itself, but the description asks for a text that holds some", found[0])


def _dates(part: Part, text: str) -> Iterator[Remark]:
    if part.types and part.types <= {"integer", "number"} and (found := _WRITTEN_DATE.search(text)):
        yield _remark(part, "is a number, but the description asks for a written date", found[0])
    if part.schema.get("format") == "date-time" and (found := _DAY_ALONE.search(text)):
        yield _remark(part, "is a point in time, but the description asks for a day alone", found[0])


def _bounds(part: Part, text: str) -> Iterator[Remark]:
    """Limits in words, against those of the schema for the same thing."""
    for found in _BETWEEN.finditer(text):
        low, high = _keywords(part, text[found.end() :])
        yield from _against(part, low, float(found[1]), found[0])
        yield from _against(part, high, float(found[2]), found[0])
    for pattern, place in ((_AT_LEAST, 0), (_AT_MOST, 1)):
        for found in pattern.finditer(text):
            yield from _against(part, _keywords(part, text[found.end() :])[place], float(found[1]), found[0])


def _keywords(part: Part, after: str) -> tuple[str, str]:
    if part.types <= {"integer", "number", "null"}:
        return "minimum", "maximum"
    if "string" in part.types and _LENGTH.match(after):
        return "minLength", "maxLength"
    return ("minItems", "maxItems") if "array" in part.types and _COUNT.match(after) else ("", "")


def _against(part: Part, keyword: str, said: float, words: str) -> Iterator[Remark]:
    bounds = [each[keyword] for each in part.variants if is_number(each.get(keyword))]
    if len(bounds) == 1 and bounds[0] != said:
        yield _remark(
            part, f"the schema has {keyword} {bounds[0]}, but the description says otherwise", words
        )


def _wanted(part: Part, text: str) -> Iterator[Remark]:
    if part.required and not part.may_be_null:
        stated = stated_default(text, part)
        if found := _OPTIONAL.search(text):
            yield _remark(part, "has to be given, but the description says that it may be left out", found[0])
        elif stated and "default" not in part.schema:
            yield _remark(part, "has to be given, but the description says what it is by default", stated[1])
    elif not part.required and part.schema.get("default") is None and (found := _REQUIRED.search(text)):
        yield _remark(part, "may be left out, but the description says that it is required", found[0])


def _remark(part: Part, message: str, words: str) -> Remark:
    advice = "change the one or the other: an agent can't follow both"
    return Remark("promise", "ill", part.where, message, f"“{' '.join(words.split()).strip()}”", advice)


_Rule = Callable[[Part, Any], Iterator[Remark]]
_RULES: tuple[_Rule, ...] = (_list_as_text, _json_as_value, _dates, _bounds)
