"""Keeps values for one place in a tool's arguments ready, sorted by kind and origin."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from misstep.core.dice import Dice, derive_seed
from misstep.core.tool import Path
from misstep.errors import MissingExtra
from misstep.schemas.breaches import find_breach
from misstep.schemas.shape import flatten
from misstep.tooling.inputs.drawn import KINDS, Kind, Origin
from misstep.tooling.inputs.slots import Slot, put, slots_within
from misstep.tooling.inputs.suggestions.harvest import Harvest
from misstep.tooling.inputs.suggestions.ideas import Idea, ideas_for, kinds_within

DRAWN: dict[Kind, int] = {"valid": 24, "boundary": 40, "invalid": 24}
MOST_LEARNT = 300
MOST_WITHIN = 60  # ideas for each place within this one
MOST_PATTERNS = 4  # regular expressions of the source that texts are made for
PER_PATTERN = 6
LONGEST_KEY = 1000  # characters by which values are told apart

# Values of quite another type are drawn for the schema anyhow; from elsewhere they tell nothing new.
UNTELLING = ("type", "anyOf", "oneOf", "schema")


class Entry(msgspec.Struct, frozen=True):
    """A value on a shelf; `at` is a place within the value."""

    value: Any
    origin: Origin
    broken: str = ""
    at: Path = ()


class Shelf:
    """Values for one slot. They are got when they are first asked for, the same ones for the same seed."""

    def __init__(self, slot: Slot, root: Mapping[str, Any], found: Harvest, seed: int) -> None:
        self._slot = slot
        self._root = root
        self._found = found
        self._seed = seed
        self._rounds = 0
        self._groups: dict[Kind, dict[Origin, list[Entry]]] = {}
        self._ready: dict[Kind, list[list[Entry]]] = {}
        self._known = set[str]()

    def has(self, kind: Kind) -> bool:
        return bool(self._ready.get(kind) or self._lists(kind))

    def pick(self, kind: Kind, dice: Dice) -> Entry:
        """A value of the kind, of which there has to be one. Every origin has the same chance."""
        return dice.pick(dice.pick(self._ready.get(kind) or self._lists(kind)))

    def refill(self, kind: Kind) -> None:
        """Get other values of the schema's."""
        if self._ready.get(kind):
            self._rounds += 1
            self._store(kind, "schema", self._drawn(kind))

    def learn(self, value: Any) -> None:
        """Keep a value that has turned out to be interesting; the oldest one makes room."""
        self._lists("valid")
        if entry := self._judged(Idea(value, "valid", "learnt")):
            kind: Kind = "invalid" if entry.broken else "valid"
            self._lists(kind)
            self._store(kind, "learnt", [*self._groups[kind].get("learnt", ()), entry][-MOST_LEARNT:])

    def _lists(self, kind: Kind) -> list[list[Entry]]:
        if not self._groups:
            self._groups = {each: {} for each in KINDS}
            self._groups["valid"]["schema"] = self._drawn("valid")
            for idea in (*ideas_for(self._slot, self._root, self._found), *self._matching(), *self._within()):
                entry = self._judged(idea)
                if entry is not None and entry.broken not in UNTELLING:
                    group = self._groups["invalid" if entry.broken else idea.kind]
                    group.setdefault(idea.origin, []).append(entry)
        if kind not in self._ready:
            self._store(kind, "schema", self._groups[kind].get("schema") or self._drawn(kind))
        return self._ready[kind]

    def _store(self, kind: Kind, origin: Origin, entries: list[Entry]) -> None:
        self._groups[kind][origin] = entries
        self._ready[kind] = [group for group in self._groups[kind].values() if group]

    def _drawn(self, kind: Kind) -> list[Entry]:
        seed = derive_seed(self._seed, *map(str, self._slot.path), kind, self._rounds)
        return draw_entries(self._slot.schema, self._root, kind, seed, DRAWN[kind])

    def _judged(self, idea: Idea) -> Entry | None:
        """The idea with what is wrong with it; None if it is known already."""
        key = repr(idea.value)[:LONGEST_KEY]
        if key in self._known:
            return None
        self._known.add(key)
        broken, at = find_breach(self._slot.schema, idea.value, self._root) or ("", ())
        return Entry(idea.value, idea.origin, broken, at)

    def _matching(self) -> Iterator[Idea]:
        """Texts that regular expressions in the tool's source match."""
        if "string" not in kinds_within(flatten(self._slot.schema, self._root) or {}, self._root):
            return
        for pattern in self._found.patterns[:MOST_PATTERNS]:
            seed = derive_seed(self._seed, "pattern", pattern)
            for entry in draw_entries({"type": "string", "pattern": pattern}, {}, "valid", seed, PER_PATTERN):
                yield Idea(entry.value, "valid", "harvested")

    def _within(self) -> Iterator[Idea]:
        """Ideas for places inside this one, each put into a value that was drawn."""
        drawn = self._groups["valid"]["schema"]
        for slot in slots_within(self._slot, self._root) if drawn else ():
            inside = slot.path[len(self._slot.path) :]
            ideas = list(ideas_for(slot, self._root, self._found))
            for place, idea in enumerate(ideas[:: len(ideas) // MOST_WITHIN + 1]):
                yield Idea(put(drawn[place % len(drawn)].value, inside, idea.value), idea.kind, idea.origin)


def draw_entries(schema: Any, root: Mapping[str, Any], kind: Kind, seed: int, count: int) -> list[Entry]:
    """Values that Hypothesis draws for a schema."""
    try:
        from misstep.tooling.inputs.making import drawing, strategies
    except ModuleNotFoundError as error:
        raise MissingExtra("Hypothesis", "fuzz") from error
    if kind == "invalid":
        broken = drawing.draw_values(strategies.invalid(schema, root), seed, count)
        return [Entry(each.value, "schema", each.broken, each.at) for each in broken]
    strategy = strategies.valid(schema, root) if kind == "valid" else strategies.boundary(schema, root)
    return [Entry(value, "schema") for value in drawing.draw_values(strategy, seed, count)]
