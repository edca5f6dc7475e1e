"""Requests sorted by what a tool was given for them, then by what it gave back.

Leaves out of texts what differs although nothing has changed.

The least that shows a fault to somebody who has seen nothing else.

What the checks of a set say, taken together.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from itertools import permutations
from typing import Any, TypeAlias

from misstep.core.outcome import Judgement, storable
from misstep.core.results.consistency import Bucket, Buckets, Evidence, Score, Side
from misstep.core.results.trial import Trial, Use
from misstep.core.text import cut

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


MOST_SHOWN = 2_000  # characters of what a bucket has in common
NO_CALL = "(the tool was not called)"

_Key: TypeAlias = tuple[str, ...]


def sort_into_buckets(trials: Mapping[int, Trial], tool: str, normalise: Normalise = str) -> Buckets:
    """Trials by their numbers, those together in which the tool got the same calls in the same order.

    Arguments are compared as JSON, where the order of keys does not matter, and 1, 1.0 and true are three
    things; results are compared as texts. Trials without a call are alike, and like no others.
    """
    inputs, outputs = dict[_Key, list[int]](), dict[_Key, list[int]]()
    for number, trial in trials.items():
        uses = calls_of(trial, tool)
        given = tuple([normalise(_canonical(use.arguments)) for use in uses])
        inputs.setdefault(given, []).append(number)
        outputs.setdefault(tuple([normalise(use.result) for use in uses]), []).append(number)
    return Buckets(_named(inputs), _named(outputs))


def calls_of(trial: Trial, tool: str) -> list[Use]:
    return [use for use in trial.uses if use.tool == tool]


def inputs_in_words(trial: Trial, tool: str) -> str:
    """What the tool was given, a line for each call."""
    return _in_words([_canonical(use.arguments) for use in calls_of(trial, tool)])


def outputs_in_words(trial: Trial, tool: str, most: int = MOST_SHOWN) -> str:
    """What the tool gave back to each call."""
    return _in_words([use.result for use in calls_of(trial, tool)], most)


def _named(found: Mapping[_Key, Sequence[int]]) -> tuple[Bucket, ...]:
    return tuple(Bucket(tuple(numbers), _in_words(key)) for key, numbers in found.items())


def _in_words(lines: Sequence[str], most: int = MOST_SHOWN) -> str:
    return cut(storable("\n".join(lines)), most) if lines else NO_CALL


def _canonical(arguments: str) -> str:
    """The same text for the same JSON. What is no JSON, since a secret in it was masked, stays as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


COMPARED = 1_000  # characters of what two requests led to


def find_evidence(
    trials: Mapping[int, Trial], tool: str, buckets: Buckets, scores: Sequence[Score] = ()
) -> Evidence:
    """One that is wrong and one that is right if there are such, which differ in as much as they can."""
    judged = {score.request: score for score in scores}
    sides = [_side(number, trial, tool, judged.get(number)) for number, trial in trials.items()]

    def rank(pair: tuple[Side, Side]) -> tuple[bool, bool, int, float]:
        """The smaller, the more it shows."""
        wrong, right = pair
        return (
            not (wrong.number in judged and judged[wrong.number].says == "wrong"),
            not (right.number in judged and judged[right.number].says == "right"),
            _together(buckets.inputs, pair) + _together(buckets.outputs, pair),
            _likeness(wrong, right),
        )

    if len(sides) == 1:
        return Evidence(sides[0])
    return Evidence(*min(permutations(sides, 2), key=rank))


def _side(number: int, trial: Trial, tool: str, score: Score | None) -> Side:
    given, got = inputs_in_words(trial, tool), outputs_in_words(trial, tool)
    return Side(number, trial.request, given, got, trial.answer, score.score if score else None)


def _together(buckets: Sequence[Bucket], pair: tuple[Side, Side]) -> bool:
    return any(all(side.number in bucket.requests for side in pair) for bucket in buckets)


def _likeness(one: Side, other: Side) -> float:
    """How much of what the tool gave back is the same, from 0 to 1."""
    # By characters and not by pieces, which could take for ever.
    return SequenceMatcher(None, one.outputs[:COMPARED], other.outputs[:COMPARED]).quick_ratio()


# A check says that there is a fault, that there is none, or nothing where that can't be decided.


def consistency_says(buckets: Sequence[Bucket], complete: bool) -> bool | None:
    """Whether requests differ in what came of them; those that are missing might have."""
    if len(buckets) > 1:
        return True
    return False if complete else None


def judge_says(scores: Iterable[Score], complete: bool) -> bool | None:
    """Whether an answer is wrong; those that the judge contradicts itself about, or guesses at, might be."""
    said = {score.says for score in scores}
    if "wrong" in said:
        return True
    return False if complete and said <= {"right"} else None


def settle(said: Iterable[bool | None]) -> Judgement:
    """A fault is one only if all say so, and there is none as soon as one says so."""
    said = list(said)
    if any([each is False for each in said]):
        return "passed"
    return "failed" if all(said) else "inconclusive"
