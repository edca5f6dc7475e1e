"""Keeps what tools refused though it fits their schemas: each sort once, with the smallest arguments."""

from collections.abc import Iterable, Iterator

from msgspec import structs

from misstep.core.finding import Refusal
from misstep.core.tool import Invocation, Reaction
from misstep.core.words import cut
from misstep.tooling.judging.signatures import place_of
from misstep.tooling.judging.words.echoes import normalise_for
from misstep.tooling.judging.words.given import Given

MOST = 50  # of one tool
LONGEST = 1_000  # characters of a message
LONGEST_ARGUMENTS = 10_000  # characters; longer ones say nothing to anybody

_Key = tuple[str, str, str, str]


class Refusals:
    """Told apart by tool, type of error, place in the tool's own code, and message without what was given.

    `before` are those of an earlier sitting.
    """

    def __init__(self, before: Iterable[Refusal] = ()) -> None:
        self._kept = {_key(refusal): refusal for refusal in before}
        self._room = dict[str, int]()
        for refusal in self._kept.values():
            self._take_room(refusal.tool)

    def add(self, call: Invocation, reaction: Reaction) -> None:
        """Note a call with arguments that fit the schema, and how it was refused."""
        if len(call.arguments) > LONGEST_ARGUMENTS:
            return
        new = _refusal(call, reaction)
        known = self._kept.get(key := _key(new))
        if known is not None:
            smaller = min(known, new, key=_size)
            self._kept[key] = structs.replace(smaller, seen=known.seen + 1)
        elif self._room.get(call.tool, MOST):
            self._take_room(call.tool)
            self._kept[key] = new

    def __iter__(self) -> Iterator[Refusal]:
        return iter(self._kept.values())

    def _take_room(self, tool: str) -> None:
        self._room[tool] = max(0, self._room.get(tool, MOST) - 1)


def _refusal(call: Invocation, reaction: Reaction) -> Refusal:
    raised = reaction.raised
    if raised is None:
        return Refusal(call.tool, "", _short(reaction.text), "", call.arguments)
    return Refusal(call.tool, raised.kind, _short(raised.message), place_of(raised), call.arguments)


def _key(refusal: Refusal) -> _Key:
    given = Given.of(Invocation(refusal.tool, refusal.arguments))
    return refusal.tool, refusal.error, refusal.where, normalise_for(refusal.message, given)


def _size(refusal: Refusal) -> tuple[int, str]:
    return len(refusal.arguments), refusal.arguments


def _short(text: str) -> str:
    return cut(" ".join(text[: 2 * LONGEST].split()), LONGEST)
