"""Generates a value for a schema from Hypothesis choices."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from misstep.fuzzing.inputs.edges import ANYTHING, NAMES
from misstep.fuzzing.inputs.scalars import Chance, Impossible, fitting, from_pattern, make_number, make_text
from misstep.schemas.formats import matches, same
from misstep.schemas.schema import fits
from misstep.schemas.shape import KINDS, as_list, count, flatten, kinds_of, mapping, merge, names_in


class Members:
    """The property names that a schema defines, and the schema for any name.

    `are_open` if it describes properties that it does not name.
    """

    def __init__(self, schema: Mapping[str, Any], most: int) -> None:
        self.properties = mapping(schema.get("properties"))
        self.patterns = mapping(schema.get("patternProperties"))
        self.required = names_in(schema.get("required"))
        self.least = count(schema, "minProperties", 0)
        self.most = min(count(schema, "maxProperties", most), most)
        self._rest = schema.get("additionalProperties")
        is_map = self._rest is True or isinstance(self._rest, Mapping)
        self.are_open = is_map or not self.properties or bool(self.patterns)

    def schema_of(self, name: str) -> Any:
        """All constraints on the property of this name; False if it is forbidden."""
        demands = [wanted for pattern, wanted in self.patterns.items() if matches(pattern, name)]
        own = self.properties.get(name, True if self._rest is None or demands else self._rest)
        return {"allOf": [own, *demands]} if demands and own is not False else own


T = TypeVar("T")

SHALLOW = 3  # nesting, from where on optional parts are left out
DEEPEST = 14  # nesting at which generation gives up
MOST_MADE = 300  # parts of one value; only a pathological schema needs more
PLENTY = 50  # parts of one value, from where on optional parts are left out
MOST_ITEMS = 400  # items of a list with a large minimum
TRIES = 3
MANY = 40  # items of a list that is long as a boundary case
FEW = 6
EXTRA = ("extra", "note", "x", "key", "id", "name", "value", "a", "b", "c")


class Maker:
    """Makes one value. `edgy` asks for a boundary value; the depth is random as well."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], root: Mapping[str, Any]) -> None:
        self._chance = Chance(draw)
        self._root = root
        self._left = MOST_MADE
        self._deep = 0
        self._shallow = SHALLOW

    def make(self, schema: Any, edgy: bool = False) -> Any:
        self._left -= 1
        flat = flatten(schema, self._root)
        if flat is None or self._left < 0 or self._deep >= DEEPEST:
            raise Impossible
        if edgy and self._deep == 0 and self._chance.one_in(4):
            self._shallow = 8
        self._deep += 1
        try:
            for _ in range(TRIES):
                value = self._one(flat, edgy)
                if self._is_sure(schema, value) or fits(schema, value, self._root) is None:
                    return value
        finally:
            self._deep -= 1
        raise Impossible

    def _is_sure(self, schema: Any, value: Any) -> bool:
        """Whether no validation is needed here: the parts fit, and the whole value is validated later."""
        tangled = not isinstance(schema, Mapping) or bool(_TANGLED & schema.keys())
        return self._deep > 1 and isinstance(value, list | dict) and not tangled

    def _is_late(self) -> bool:
        return self._deep > self._shallow or self._left < MOST_MADE - PLENTY

    def _one(self, schema: dict[str, Any], edgy: bool) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(named := schema.get("enum"), list):
            return self._chance.pick(fitting(schema, self._root, named))
        if schema.get("nullable") is True and self._chance.one_in(4):
            return None
        if alternatives := self._alternatives(schema):
            return self._first(alternatives, lambda each: self.make(each, edgy))
        kinds = kinds_of(schema)
        if kinds == KINDS and edgy:
            return self._chance.pick(ANYTHING)
        kinds = kinds if "not" not in schema else tuple(dict.fromkeys((*kinds, *KINDS)))
        turned = self._chance.turned(kinds)
        if self._is_late():
            turned.sort(key=lambda kind: kind in ("array", "object"))
        return self._first(turned, lambda kind: self._of_kind(kind, schema, edgy))

    def _alternatives(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        for key in ("anyOf", "oneOf"):
            if choices := as_list(schema.get(key)):
                rest = {name: value for name, value in schema.items() if name != key}
                parts = [flatten(choice, self._root) for choice in choices]
                found = [merge(rest, part) for part in parts if part is not None]
                if not found:
                    raise Impossible
                turned = self._chance.turned(found)
                if self._is_late():
                    turned.sort(key=lambda each: not {"array", "object"}.isdisjoint(kinds_of(each)))
                return turned
        return []

    def _first(self, choices: Sequence[T], make: Callable[[T], Any]) -> Any:
        """The value for the first choice that is possible."""
        for choice in choices:
            with suppress(Impossible):
                return make(choice)
        raise Impossible

    def _of_kind(self, kind: str, schema: dict[str, Any], edgy: bool) -> Any:
        match kind:
            case "string":
                return make_text(schema, self._root, edgy, self._chance)
            case "integer" | "number":
                return make_number(schema, kind == "integer", edgy, self._chance)
            case "boolean":
                return self._chance.pick((True, False))
            case "array":
                return self._list(schema, edgy)
            case "object":
                return self._object(schema, edgy)
        return None

    def _list(self, schema: dict[str, Any], edgy: bool) -> list[Any]:
        rest = schema.get("items", True)
        first = rest if isinstance(rest, list) else as_list(schema.get("prefixItems"))
        rest = True if isinstance(rest, list) else rest
        least = count(schema, "minItems", 0)
        most = min(count(schema, "maxItems", MOST_ITEMS), len(first) if rest is False else MOST_ITEMS)
        if least > most:
            raise Impossible
        size = self._size(least, most, len(first), edgy)
        unique = schema.get("uniqueItems") is True
        made = list[Any]()
        for place in range(size):
            if place > len(first) + 4 and not unique and place >= 5:
                made.append(made[-1 - self._chance.below(4)])
                continue
            try:
                item = self._item(first[place] if place < len(first) else rest, edgy, made if unique else ())
            except Impossible:
                if len(made) < least:
                    raise
                break
            made.append(item)
        return made

    def _size(self, least: int, most: int, usual: int, edgy: bool) -> int:
        if self._is_late():
            return least
        if edgy:
            long = MANY if self._deep <= 2 else FEW  # otherwise recursive schemas would never end
            longest = most if most < MOST_ITEMS else long
            return self._chance.pick(
                sorted({least, min(most, least + 1), max(least, longest), min(most, max(least, usual))})
            )
        usual = min(max(usual, least), most)
        return usual + self._chance.below(min(most - usual, 3) + 1)

    def _item(self, schema: Any, edgy: bool, others: Sequence[Any]) -> Any:
        """An item that differs from the others."""
        for _ in range(TRIES if others else 1):
            item = self.make(schema, edgy and self._chance.one_in(2))
            if not any(same(item, other) for other in others):
                return item
        raise Impossible

    def _object(self, schema: dict[str, Any], edgy: bool) -> dict[str, Any]:
        members = Members(schema, MOST_ITEMS)
        names = self._names(members, edgy)
        chosen = self._chance.below(len(names)) if edgy and names else -1
        made = dict[str, Any]()
        for place, name in enumerate(names):
            try:
                odd = edgy and (place == chosen or self._chance.one_in(2))
                made[name] = self.make(members.schema_of(name), odd)
            except Impossible:
                if name in members.required:
                    raise
        self._add_more(made, members, edgy)
        return made

    def _names(self, members: Members, edgy: bool) -> list[str]:
        """The properties to include: all required ones, and some, none or all of the others."""
        share = self._chance.pick((0, 1, 2)) if edgy else 1
        share = 0 if self._is_late() else share
        optional = [name for name in members.properties if name not in members.required]
        some = (name for name in optional if share == 2 or (share == 1 and self._chance.one_in(2)))
        return [*members.required, *some]

    def _add_more(self, made: dict[str, Any], members: Members, edgy: bool) -> None:
        """Add properties beyond the named ones: as many as required, more if the schema describes them."""
        wanted = members.least - len(made)
        if members.are_open and not self._is_late():
            wanted = max(wanted, self._chance.below(3))
        wanted = min(wanted, members.most - len(made))
        for name in self._spare(members, wanted, edgy):
            if wanted <= 0:
                break
            schema = members.schema_of(name)
            if name in made or schema is False:
                continue
            with suppress(Impossible):
                made[name] = self.make({"allOf": [schema]}, edgy)  # validated, since it can be left out
                wanted -= 1

    def _spare(self, members: Members, wanted: int, edgy: bool) -> list[str]:
        """Names for further properties, those that the schema mentions first."""
        others = [*(NAMES if edgy and self._chance.one_in(2) else ()), *EXTRA]
        numbered = (f"key{number}" for number in range(wanted))
        return [*members.properties, *self._matching(members.patterns), *others, *numbered]

    def _matching(self, patterns: Mapping[str, Any]) -> list[str]:
        found = list[str]()
        for pattern in patterns:
            with suppress(InvalidArgument, Impossible):
                found.append(self._chance.drawn(from_pattern(pattern)))
        return found


_TANGLED = frozenset(("anyOf", "oneOf", "allOf", "not", "enum", "const"))
