"""Groups paraphrased requests by a tool's inputs and outputs, and decides whether they show a fault."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from itertools import permutations
from typing import Any, TypeAlias

from misstep.core.outcome import Judgement, storable
from misstep.core.results.consistency import Bucket, Buckets, Check, Evidence, Score, Side
from misstep.core.results.trial import Trial, Use
from misstep.core.text import cut

DIGITS = 3  # significant digits of a number

Normalise: TypeAlias = Callable[[str], str]

_MONTHS = [
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
]
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_HEX = re.compile(r"\b(?:0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,})\b")
# After case-folding.
_DURATION = re.compile(r"(?<![\w.,])\d++(?:\.\d++)?+\s?(?:[nuμm]?s|secs?|(?:milli|micro|nano)?seconds?)\b")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])-?\d++(?:,\d{3})*+(?:\.\d++)?+(?:e[-+]?\d{1,3})?+(?!\w*\d|[:/_-]|[.,]\d)"
)
# Seconds or milliseconds since 1970.
_MOMENT = re.compile(r"(?<![\w.,])\d{10}(?:\d{3})?(?:\.\d++)?(?!\w|[.,]\d)")
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?"
_TIME = r"(?:[t ,]*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:z\b|utc\b|gmt\b|[ap]m\b|[+-]\d{2}:?\d{2}\b)?)?"


def normaliser(today: date) -> Normalise:
    """Return a function that makes texts equal if they differ only in details that don't matter.

    These are case, white space, the order of JSON keys, digits beyond the third, UUIDs and other hexadecimal
    ids, dates and times at most a day from `today`, and durations in seconds or less: longer durations are
    probably part of the answer.
    """
    days = [today + timedelta(days=shift) for shift in (-1, 0, 1)]
    forms = "|".join(form for day in days for form in _forms(day))
    dates = re.compile(rf"\b{_WEEKDAY}(?:{forms})(?!\d){_TIME}")
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

    def normalise(text: str) -> str:
        """Normalise JSON value by value, and anything else as one text."""
        if not text.lstrip().startswith(("{", "[")):
            return plain(text)
        try:
            return json.dumps(_within(json.loads(text), plain), ensure_ascii=False, sort_keys=True)
        except (ValueError, RecursionError):
            return plain(text)

    return normalise


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
    return f"{float(number) + 0.0:.{DIGITS}g}"  # adding 0.0 turns -0 into 0


def _forms(day: date) -> list[str]:
    """Patterns for the ways to write a date, in lower case."""
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


MOST_SHOWN = 2_000  # characters shown of a bucket's common text
NO_CALL = "(the tool was not called)"

_Key: TypeAlias = tuple[str, ...]


def sort_into_buckets(trials: Mapping[int, Trial], tool: str, normalise: Normalise = str) -> Buckets:
    """Group trials in which the tool got the same calls in the same order, and those with the same results.

    Arguments are compared as JSON: the order of keys does not matter, and 1, 1.0 and true differ. Results are
    compared as texts. Trials without a call share one bucket.
    """
    inputs, outputs = dict[_Key, list[int]](), dict[_Key, list[int]]()
    for number, trial in trials.items():
        uses = calls_of(trial, tool)
        given = tuple([normalise(_canonical(use.arguments)) for use in uses])
        inputs.setdefault(given, []).append(number)
        outputs.setdefault(tuple([normalise(use.result) for use in uses]), []).append(number)
    sorts = [
        tuple(Bucket(tuple(numbers), _in_words(key)) for key, numbers in found.items())
        for found in (inputs, outputs)
    ]
    return Buckets(*sorts)


def calls_of(trial: Trial, tool: str) -> list[Use]:
    return [use for use in trial.uses if use.tool == tool]


def outputs_in_words(trial: Trial, tool: str, most: int = MOST_SHOWN) -> str:
    return _in_words([use.result for use in calls_of(trial, tool)], most)


def _in_words(lines: Sequence[str], most: int = MOST_SHOWN) -> str:
    return cut(storable("\n".join(lines)), most) if lines else NO_CALL


def _canonical(arguments: str) -> str:
    """The same text for equal JSON. Anything else (a masked secret makes JSON invalid) is unchanged."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


COMPARED = 1_000  # characters of each output that are compared


def find_evidence(
    trials: Mapping[int, Trial], tool: str, buckets: Buckets, scores: Sequence[Score] = ()
) -> Evidence:
    """The most convincing pair: a wrong and a right request if there are any, as different as possible."""
    judged = {score.request: score for score in scores}
    said = {number: score.says for number, score in judged.items()}
    sides = list[Side]()
    for number, trial in trials.items():
        given = _in_words([_canonical(use.arguments) for use in calls_of(trial, tool)])
        score = judged[number].score if number in judged else None
        sides.append(Side(number, trial.request, given, outputs_in_words(trial, tool), trial.answer, score))

    def rank(pair: tuple[Side, Side]) -> tuple[bool, bool, int, float]:
        """The lower, the more convincing; outputs should not be alike."""
        wrong, right = pair
        numbers = {wrong.number, right.number}
        sorts = buckets.inputs, buckets.outputs
        shared = [any(numbers <= {*each.requests} for each in found) for found in sorts]
        # `quick_ratio` counts characters only: `ratio` could take very long.
        matcher = SequenceMatcher(None, wrong.outputs[:COMPARED], right.outputs[:COMPARED])
        is_wrong, is_right = said.get(wrong.number) == "wrong", said.get(right.number) == "right"
        return not is_wrong, not is_right, sum(shared), matcher.quick_ratio()

    if len(sides) == 1:
        return Evidence(sides[0])
    return Evidence(*min(permutations(sides, 2), key=rank))


# Each check returns True for a fault, False for none, and None if that cannot be decided.


def consistency_says(buckets: Sequence[Bucket], complete: bool) -> bool | None:
    """Whether requests fell into different buckets; undecided if some are missing and the rest agree."""
    if len(buckets) > 1:
        return True
    return False if complete else None


def buckets_say(buckets: Buckets, checks: Collection[Check], complete: bool) -> list[bool | None]:
    """What the checks of inputs and outputs say, as far as they are wanted."""
    found: dict[Check, tuple[Bucket, ...]] = {"inputs": buckets.inputs, "outputs": buckets.outputs}
    return [consistency_says(each, complete) for check, each in found.items() if check in checks]


def judge_says(scores: Iterable[Score], complete: bool) -> bool | None:
    """Whether an answer is wrong; undecided if the judge contradicts itself, guesses or has not seen all."""
    said = {score.says for score in scores}
    if "wrong" in said:
        return True
    return False if complete and said <= {"right"} else None


def settle(said: Iterable[bool | None]) -> Judgement:
    """Failed if all checks find a fault, passed if any check finds none."""
    said = list(said)
    if any([each is False for each in said]):
        return "passed"
    return "failed" if all(said) else "inconclusive"
