"""Parses the rules of a request and the results of tools for simulated agents.

Both are recognised by the templates in `data/requests.toml`.
"""

import json
import re
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.phrases import NUMBERS
from misstep.planning.language.requests import load_requests

Outcome: TypeAlias = Literal["done", "unavailable", "broken", "over", "price", "error"]

_CLOCK = r"[0-2][0-9]:[0-5][0-9]"
_NUMBER = rf"(?:[0-9]{{1,3}}|{'|'.join(NUMBERS)})(?: times)?|once|twice"
_STRING = r"\"(?:[^\"\\\x00-\x1f]|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})){0,2000}\""
_INTEGER = r"-?(?:0|[1-9][0-9]{0,17})"
# Allowed fillers of a slot, with length limits so that matching stays fast.
_SLOTS = {
    "name": r"(?:[^.]|\.(?! )){1,100}?",  # the name of any activity, but not a whole sentence
    "begin": _CLOCK,
    "end": _CLOCK,
    "attempts": _NUMBER,
    "retries": _NUMBER,
    "duration": r"[0-9a-z ]{1,40}",
    "value": r"[^.\"]{1,80}",
    "literal": rf"{_STRING}|{_INTEGER}",
    "finding": r"[^.]{1,80}",
    "amount": r"[0-9]{1,9} euros?",
    "sentence": r".{1,6000}",
}
_DURATION = r"(?:([0-9]+) hours?)?(?: and )?(?:([0-9]+) minutes?)?"
_ANYTHING = r"[^.,;:]{1,100}"


class Rules(msgspec.Struct, frozen=True):
    """The day in minutes since midnight, the number of attempts, and how often a call may be repeated."""

    day: tuple[int, int] | None = None
    attempts: int = 1
    retries: int = 0


class Heard(msgspec.Struct, frozen=True):
    """A parsed tool result; anything unknown counts as an error."""

    outcome: Outcome
    minutes: int | None = None
    values: dict[str, str | int] = {}
    finding: bool | None = None
    cost: int | None = None
    announcement: str = ""


def read_rules(request: str) -> Rules:
    rules = load_requests().rules
    time, over, retry = (_pattern(rules[name]).search(request) for name in ("time", "over", "retry"))
    return Rules(
        day=(_clock(time["begin"]), _clock(time["end"])) if time else None,
        attempts=_number(over["attempts"]) if over else 1,
        retries=_number(retry["retries"]) if retry else 0,
    )


def read_result(text: str) -> Heard:
    texts = _texts()
    if found := texts["done"].match(text):
        return _done(text, found.end(), texts)
    if found := texts["price"].fullmatch(text):
        return Heard("price", cost=_amount(found["amount"]))
    others: tuple[Outcome, ...] = ("unavailable", "broken", "over")
    return Heard(next((outcome for outcome in others if texts[outcome].fullmatch(text)), "error"))


def _done(text: str, at: int, texts: dict[str, re.Pattern[str]]) -> Heard:
    """A success, then each additional statement, up to the first one that is not understood."""
    told: dict[str, Any] = {}
    values: dict[str, str | int] = {}
    keys = ("duration", "value", "finding", "cost", "announcement")
    while text[at : at + 1] == " ":
        matches = ((key, texts[key].match(text, at + 1)) for key in keys)
        part, found = next(((key, found) for key, found in matches if found), ("", None))
        if found is None:
            break
        at = found.end()
        match part:
            case "duration":
                spent = re.fullmatch(_DURATION, found["duration"])
                told["minutes"] = int(spent[1] or 0) * 60 + int(spent[2] or 0) if spent else None
            case "value":
                values[found["value"].replace(" ", "_")] = json.loads(found["literal"])
            case "finding":
                told["finding"] = _findings().get(found["finding"])
            case "cost":
                told["cost"] = _amount(found["amount"])
            case "announcement":
                told["announcement"] = found["sentence"]
    return Heard("done", values=values, **told)


@cache
def _texts() -> dict[str, re.Pattern[str]]:
    return {key: _pattern(text) for key, text in load_requests().results.items()}


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A pattern for the texts of a template; a repeated slot must have the same filler."""
    pieces = re.split(r"\{(\w+)\}", template)
    pattern, seen = re.escape(pieces[0]), set[str]()
    for slot, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        pattern += f"(?P={slot})" if slot in seen else f"(?P<{slot}>{_SLOTS.get(slot, _ANYTHING)})"
        pattern += re.escape(piece)
        seen.add(slot)
    return re.compile(pattern)


@cache
def _findings() -> dict[str, bool]:
    findings = load_lexicon().conditions.all_findings
    return {**{finding.some: True for finding in findings}, **{finding.none: False for finding in findings}}


def _clock(time: str) -> int:
    hours, minutes = time.split(":")
    return int(hours) * 60 + int(minutes)


def _amount(text: str) -> int:
    return int(text.split(" ")[0])


def _number(text: str) -> int:
    """Parse numbers such as "3", "three", "three times", "twice"."""
    word = {"once": "one", "twice": "two"}.get(text, text.split(" ")[0])
    return NUMBERS.index(word) + 1 if word in NUMBERS else int(word)
