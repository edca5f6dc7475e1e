"""Values that calls take from the results of earlier ones, put right when those results change."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from misstep.core.tool import Invocation, Reaction
from misstep.tooling.fuzzing.learning.harvest import values_in
from misstep.tooling.triage.together import replaced, values_given

NAME = 4  # characters of a text that is in two places for a reason


class Binding(msgspec.Struct, frozen=True):
    """A value that stands at a place among those of a call's result, and that a later call was given."""

    value: str | int
    producer: int
    place: int


def bindings_of(calls: Sequence[Invocation], results: Sequence[Reaction]) -> list[Binding]:
    """What calls took from results; what had been given to the tools before is an echo and is left alone."""
    found, given = dict[str | int, Binding](), set[str]()
    known = dict[str, tuple[int, int]]()
    for number, (call, result) in enumerate(zip(calls, results, strict=False)):
        own = values_given([call])
        for value in own:
            if str(value) in known:
                found[value] = Binding(value, *known[str(value)])
        given |= {str(value) for value in own}
        for place, (_, value) in enumerate(values_in(result)):
            if str(value) not in given:
                known[str(value)] = number, place
    return list(found.values())


def is_name(value: str | int) -> bool:
    """Whether a value is unlikely to be in a result by chance, as a small number may be."""
    return isinstance(value, str) and len(value) >= NAME


def rebound(call: Invocation, new: Mapping[str | int, str | int]) -> Invocation:
    """The call with new values in place of old ones."""
    if not new:
        return call
    return Invocation(call.tool, json.dumps(replaced(json.loads(call.arguments), new)))


def renewed(bindings: Sequence[Binding], number: int, result: Reaction) -> dict[str | int, str | int]:
    """What values become that were taken from the result of a call, by what it gives now."""
    values = [value for _, value in values_in(result)]
    own = [each for each in bindings if each.producer == number and each.place < len(values)]
    return {each.value: _like(each.value, values[each.place]) for each in own}


def _like(old: str | int, new: Any) -> str | int:
    if isinstance(old, int):
        return int(new) if str(new).isdecimal() and len(str(new)) < 19 else old
    return str(new)
