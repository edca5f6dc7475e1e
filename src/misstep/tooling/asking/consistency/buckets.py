"""Requests sorted by what a tool was given for them, then by what it gave back."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from misstep.core.consistency import Bucket, Buckets
from misstep.core.transcript import storable
from misstep.core.trial import Trial, Use
from misstep.core.words import cut
from misstep.tooling.asking.consistency.normalising import Normalise

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
