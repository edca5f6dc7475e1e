"""Provides arguments for calls of one tool, fast, from values that are generated in advance.

Each parameter has a shelf of valid, boundary and invalid values, generated with Hypothesis, gathered from the
tool's source and documentation, or learnt from earlier calls.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from misstep.core.rng import Dice, derive_seed
from misstep.core.tool import Described, Path
from misstep.errors import MissingExtra
from misstep.fuzzing.inputs import slots
from misstep.fuzzing.inputs.edges import BY_KIND
from misstep.fuzzing.inputs.semantic import SuggestedValues, ValueIdea, harvest, ideas_for, kinds_within
from misstep.fuzzing.inputs.slots import KINDS, ArgumentSlot, Drawn, Kind, Origin, PoolEntry
from misstep.schemas.schema import find_breach
from misstep.schemas.shape import flatten, mapping, names_in

DRAWN: dict[Kind, int] = {"valid": 24, "boundary": 40, "invalid": 24}
MOST_LEARNT = 300
MOST_WITHIN = 60  # ideas per nested place
MOST_PATTERNS = 4  # regular expressions in the source that texts are generated for
PER_PATTERN = 6
LONGEST_KEY = 1000  # characters by which values are compared

# Values of a different type are generated from the schema anyway; from other sources they add nothing.
UNTELLING = ("type", "anyOf", "oneOf", "schema")


class Shelf:
    """Values for one slot, generated on first use and determined by the seed."""

    def __init__(
        self, slot: ArgumentSlot, root: Mapping[str, Any], found: SuggestedValues, seed: int
    ) -> None:
        self._slot, self._root, self._found, self._seed = slot, root, found, seed
        self._rounds = 0
        self._groups: dict[Kind, dict[Origin, list[PoolEntry]]] = {}
        self._ready: dict[Kind, list[list[PoolEntry]]] = {}
        self._known = set[str]()

    def has(self, kind: Kind) -> bool:
        return bool(self._ready.get(kind) or self._lists(kind))

    def pick(self, kind: Kind, dice: Dice) -> PoolEntry:
        """A value of this kind; there must be one. All origins are equally likely."""
        return dice.pick(dice.pick(self._ready.get(kind) or self._lists(kind)))

    def refill(self, kind: Kind) -> None:
        """Replace the values generated from the schema by new ones."""
        if self._ready.get(kind):
            self._rounds += 1
            self._store(kind, "schema", self._drawn(kind))

    def learn(self, value: Any) -> None:
        """Keep a value that turned out to be interesting; the oldest is dropped."""
        self._lists("valid")
        if entry := self._judged(ValueIdea(value, "valid", "learnt")):
            kind: Kind = "invalid" if entry.broken else "valid"
            self._lists(kind)
            self._store(kind, "learnt", [*self._groups[kind].get("learnt", ()), entry][-MOST_LEARNT:])

    def _lists(self, kind: Kind) -> list[list[PoolEntry]]:
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

    def _store(self, kind: Kind, origin: Origin, entries: list[PoolEntry]) -> None:
        self._groups[kind][origin] = entries
        self._ready[kind] = [group for group in self._groups[kind].values() if group]

    def _drawn(self, kind: Kind) -> list[PoolEntry]:
        seed = derive_seed(self._seed, *map(str, self._slot.path), kind, self._rounds)
        return draw_entries(self._slot.schema, self._root, kind, seed, DRAWN[kind])

    def _judged(self, idea: ValueIdea) -> PoolEntry | None:
        """The idea with the constraint that it violates; None if it is known already."""
        key = repr(idea.value)[:LONGEST_KEY]
        if key in self._known:
            return None
        self._known.add(key)
        broken, at = find_breach(self._slot.schema, idea.value, self._root) or ("", ())
        return PoolEntry(idea.value, idea.origin, broken, at)

    def _matching(self) -> Iterator[ValueIdea]:
        """Texts that match regular expressions in the tool's source."""
        if "string" not in kinds_within(flatten(self._slot.schema, self._root) or {}, self._root):
            return
        for pattern in self._found.patterns[:MOST_PATTERNS]:
            seed = derive_seed(self._seed, "pattern", pattern)
            for entry in draw_entries({"type": "string", "pattern": pattern}, {}, "valid", seed, PER_PATTERN):
                yield ValueIdea(entry.value, "valid", "harvested")

    def _within(self) -> Iterator[ValueIdea]:
        """Ideas for nested places, each put into a generated value."""
        drawn = self._groups["valid"]["schema"]
        for slot in slots.slots_within(self._slot, self._root) if drawn else ():
            inside = slot.path[len(self._slot.path) :]
            ideas = list(ideas_for(slot, self._root, self._found))
            for place, idea in enumerate(ideas[:: len(ideas) // MOST_WITHIN + 1]):
                whole = slots.put(drawn[place % len(drawn)].value, inside, idea.value)
                yield ValueIdea(whole, idea.kind, idea.origin)


def draw_entries(schema: Any, root: Mapping[str, Any], kind: Kind, seed: int, count: int) -> list[PoolEntry]:
    """Values that Hypothesis generates for a schema."""
    try:
        from misstep.fuzzing.inputs import strategies
    except ModuleNotFoundError as error:
        raise MissingExtra("Hypothesis", "fuzz") from error
    if kind == "invalid":
        return strategies.draw_values(strategies.invalid(schema, root), seed, count)
    strategy = strategies.valid(schema, root, edgy=kind == "boundary")
    return [PoolEntry(value) for value in strategies.draw_values(strategy, seed, count)]


VALID, BOUNDARY = 0.42, 0.8  # shares of draws that are valid, and that are valid or boundary
WHOLE = 0.08  # share of draws that are given examples
ALSO_ODD = 0.25  # chance that other values in a draw are of the same kind
REFILL = 3000  # draws after which some values are replaced
WHOLES = 64  # complete arguments generated at once
MOST_EXAMPLES = 100
STRANGERS = ("unexpected", "extra", "")

# Keywords about the arguments as a whole, so that parameters cannot be chosen independently.
TOGETHER = frozenset((
    "anyOf", "oneOf", "allOf", "not", "enum", "const", "minProperties", "maxProperties", "patternProperties",
    "$ref",
))  # fmt: skip


class Pool:
    """Arguments for one tool, reproducible in any process from the seed and the sequence of requests.

    Values are generated in advance with Hypothesis; draws only pick and combine them.
    """

    def __init__(self, described: Described, seed: int) -> None:
        self._schema = described.tool.parameters
        self._told = described.tool.description
        self._found = harvest(described)
        self._seed = derive_seed(seed, "inputs", described.name)
        self._drawn = 0
        flat = flatten(self._schema, self._schema) or {}
        self._rest = flat.get("additionalProperties", True)
        self._required = names_in(flat.get("required"))
        self._names = list(dict.fromkeys([*mapping(flat.get("properties")), *self._required]))
        self._together = bool(TOGETHER & self._schema.keys())
        self._shelves = dict[Path, Shelf]()
        self._usable: dict[Kind, list[str]] | None = None
        self._wholes = dict[Kind, list[PoolEntry]]()
        self._examples = [each for each in self._found.examples if self._breach(each) is None][:MOST_EXAMPLES]

    def draw(self, dice: Dice) -> Drawn:
        """Arguments for a call, whatever the schema."""
        self._drawn += 1
        if self._drawn % REFILL == 0 and self._names:
            kind_of_turn, place = divmod(self._drawn // REFILL, len(self._names))
            self._shelf((self._names[place],)).refill(KINDS[kind_of_turn % 3])
        kinds = self._usable or self._look()
        roll = dice.chance
        if self._examples and roll(WHOLE):
            return Drawn(dict(dice.pick(self._examples)), "valid", "harvested")
        if roll(BOUNDARY):
            kind: Kind = "valid" if roll(VALID / BOUNDARY) else "boundary"
            found = self._mix(kind, kinds, dice)
            if self._together and (found is None or self._breach(found.arguments) is not None):
                found = self._whole(kind, dice)
        else:
            found = self._whole("invalid", dice) if self._together else self._break(kinds, dice)
        return found or self._mix("valid", kinds, dice) or self._anything(dice)

    def value(self, path: Path, dice: Dice) -> PoolEntry | None:
        """A valid value for a place in the arguments; None if none is known."""
        shelf = self._shelf(path)
        return shelf.pick("valid", dice) if shelf.has("valid") else None

    def learn(self, path: Path, value: Any) -> None:
        """Use a value at this path from now on; an empty path means complete arguments."""
        if not path:
            if isinstance(value, dict) and self._breach(value) is None:
                self._examples = [*self._examples, value][-MOST_EXAMPLES:]
            return
        self._shelf(path).learn(value)
        if len(path) > 1:
            outer = self._shelf(path[:1])
            dice = Dice(derive_seed(self._seed, "learn", repr(path)))
            held = outer.pick("valid", dice).value if outer.has("valid") else None
            outer.learn(slots.put(held, path[1:], value))
        self._usable = None

    def _breach(self, arguments: Any) -> tuple[str, Path] | None:
        return find_breach({**self._schema, "type": "object"}, arguments, self._schema)

    def _shelf(self, path: Path) -> Shelf:
        path = tuple(0 if isinstance(step, int) else step for step in path)
        shelf = self._shelves.get(path)
        if shelf is None:
            slot = slots.slot_at(path, self._schema, self._schema, self._told)
            shelf = self._shelves[path] = Shelf(slot, self._schema, self._found, self._seed)
        return shelf

    def _look(self) -> dict[Kind, list[str]]:
        """Find the parameters that have values of each kind."""
        names = self._names
        self._usable = {kind: [name for name in names if self._shelf((name,)).has(kind)] for kind in KINDS}
        return self._usable

    def _mix(self, kind: Kind, kinds: dict[Kind, list[str]], dice: Dice) -> Drawn | None:
        """Combine a value for each parameter, at least one of this kind; None if there is none."""
        chosen = kinds[kind]
        if not chosen or (kind == "boundary" and not self._required and dice.chance(0.05)):
            return None if self._required else Drawn({}, "boundary", "schema")
        focus = dice.pick(chosen)
        share = dice.pick((0.0, 0.5, 0.5, 1.0))
        arguments, origin = dict[str, Any](), None
        for name in self._names:
            shelf = self._shelves[name,]
            if name == focus:
                entry = shelf.pick(kind, dice)
                origin = entry.origin
            elif name not in self._required and not dice.chance(share):
                continue
            elif name in chosen and dice.chance(ALSO_ODD):
                entry = shelf.pick(kind, dice)
            elif name in kinds["valid"]:
                entry = shelf.pick("valid", dice)
            elif name in self._required:
                return None
            else:
                continue
            arguments[name] = entry.value
        return Drawn(arguments, kind, origin or "schema")

    def _break(self, kinds: dict[Kind, list[str]], dice: Dice) -> Drawn | None:
        """Arguments with exactly one violation."""
        whole = self._mix("valid", kinds, dice)
        first = dice.pick((0, 1, 2, 2, 2))
        if whole is None:
            return None
        ways = (self._leave_out, self._add, self._spoil)
        tried = (way(whole.arguments, kinds, dice) for way in (*ways[first:], *ways[:first]))
        return next((broken for broken in tried if broken is not None), None)

    def _leave_out(self, arguments: dict[str, Any], _kinds: Any, dice: Dice) -> Drawn | None:
        if not self._required:
            return None
        name = dice.pick(self._required)
        rest = {key: value for key, value in arguments.items() if key != name}
        return Drawn(rest, "invalid", "schema", "required", (name,))

    def _add(self, arguments: dict[str, Any], _kinds: Any, dice: Dice) -> Drawn | None:
        name = dice.pick(STRANGERS)
        if self._rest is not False or name in self._names:
            return None
        return Drawn({**arguments, name: 1}, "invalid", "schema", "additionalProperties", (name,))

    def _spoil(self, arguments: dict[str, Any], kinds: dict[Kind, list[str]], dice: Dice) -> Drawn | None:
        if not kinds["invalid"]:
            return None
        name = dice.pick(kinds["invalid"])
        entry = self._shelves[name,].pick("invalid", dice)
        broken = {**arguments, name: entry.value}
        return Drawn(broken, "invalid", entry.origin, entry.broken, (name, *entry.at))

    def _whole(self, kind: Kind, dice: Dice) -> Drawn | None:
        """Arguments generated at once rather than parameter by parameter."""
        if kind not in self._wholes:
            schema, seed = {**self._schema, "type": "object"}, derive_seed(self._seed, "whole", kind)
            drawn = draw_entries(schema, self._schema, kind, seed, WHOLES)
            self._wholes[kind] = [entry for entry in drawn if isinstance(entry.value, dict)]
        if not self._wholes[kind]:
            return None
        entry = dice.pick(self._wholes[kind])
        return Drawn(dict(entry.value), kind, "schema", entry.broken, entry.at)

    def _anything(self, dice: Dice) -> Drawn:
        """Arguments for a schema without any known fitting values."""
        values = [each for some in BY_KIND.values() for each in some]
        arguments = {name: dice.pick(values) for name in self._names}
        breach = self._breach(arguments)
        return Drawn(arguments, "invalid" if breach else "valid", "schema", *(breach or ()))
