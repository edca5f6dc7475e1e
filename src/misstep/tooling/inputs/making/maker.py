"""Makes up a value for a schema, one choice of Hypothesis after the other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from misstep.schemas.limits import same
from misstep.schemas.patterns import matches
from misstep.schemas.schema import fits
from misstep.tooling.inputs.edges import ANYTHING, HUGE, NAMES, TEXTS, WORDS
from misstep.tooling.inputs.formats import has_format
from misstep.tooling.inputs.making.numbers import edge_numbers, real_numbers, whole_numbers
from misstep.tooling.inputs.making.texts import edge_texts, from_pattern, texts
from misstep.tooling.inputs.shape import KINDS, count, flatten, kinds_of, listed, mapping, merge, names_in

T = TypeVar("T")

SHALLOW = 3  # schemas within schemas, until what may be left out is
DEEPEST = 14  # where whatever goes on is given up
MOST_MADE = 300  # parts of one value; only a schema that is made to take long needs more
PLENTY = 50  # parts of one value; from then on what may be left out is
MOST_ITEMS = 400  # in a list that has to be long
TRIES = 3
MANY = 40  # items in a list that is long for no reason
FEW = 6
EXTRA = ("extra", "note", "x", "key", "id", "name", "value", "a", "b", "c")
RARELY = 12  # one in so many edges is a huge one


class Impossible(Exception):
    """There is no value for the schema, or none that can be found."""


class Maker:
    """Makes one value. `edgy` asks for a value at an edge; how deep it goes is drawn as well."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], root: Mapping[str, Any]) -> None:
        self._draw = draw
        self._root = root
        self._left = MOST_MADE
        self._deep = 0
        self._shallow = SHALLOW

    def make(self, schema: Any, edgy: bool = False) -> Any:
        """A value that fits the schema."""
        self._left -= 1
        flat = flatten(schema, self._root)
        if flat is None or self._left < 0 or self._deep >= DEEPEST:
            raise Impossible
        if edgy and self._deep == 0 and self._one_in(4):
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
        """Whether it need not be looked at here: its parts fit, and the whole will be looked at."""
        tangled = not isinstance(schema, Mapping) or bool(_TANGLED & schema.keys())
        return self._deep > 1 and isinstance(value, list | dict) and not tangled

    def _is_late(self) -> bool:
        return self._deep > self._shallow or self._left < MOST_MADE - PLENTY

    def _one(self, schema: dict[str, Any], edgy: bool) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(named := schema.get("enum"), list):
            return self._fitting(schema, named)
        if schema.get("nullable") is True and self._one_in(4):
            return None
        if alternatives := self._alternatives(schema):
            return self._first(alternatives, lambda each: self.make(each, edgy))
        kinds = kinds_of(schema)
        if kinds == KINDS and edgy:
            return self._pick(ANYTHING)
        kinds = kinds if "not" not in schema else tuple(dict.fromkeys((*kinds, *KINDS)))
        return self._first(self._ordered(kinds), lambda kind: self._of_kind(kind, schema, edgy))

    def _ordered(self, kinds: Sequence[str]) -> list[str]:
        """The types in an order that chance has given them, those that end before those that go on."""
        first = self._below(len(kinds))
        turned = [*kinds[first:], *kinds[:first]]
        return sorted(turned, key=lambda kind: kind in ("array", "object")) if self._is_late() else turned

    def _alternatives(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        for key in ("anyOf", "oneOf"):
            choices = listed(schema.get(key))
            if not choices:
                continue
            rest = {name: value for name, value in schema.items() if name != key}
            parts = [flatten(choice, self._root) for choice in choices]
            found = [merge(rest, part) for part in parts if part is not None]
            if not found:
                raise Impossible
            first = self._below(len(found))
            turned = [*found[first:], *found[:first]]
            if self._is_late():
                turned.sort(key=lambda each: any(kind in ("array", "object") for kind in kinds_of(each)))
            return turned
        return []

    def _first(self, choices: Sequence[T], make: Callable[[T], Any]) -> Any:
        """What is made of the first choice of which anything can be."""
        for choice in choices:
            try:
                return make(choice)
            except Impossible:
                continue
        raise Impossible

    def _of_kind(self, kind: str, schema: dict[str, Any], edgy: bool) -> Any:
        match kind:
            case "string":
                return self._text(schema, edgy)
            case "integer" | "number":
                return self._number(schema, kind == "integer", edgy)
            case "boolean":
                return self._pick((True, False))
            case "array":
                return self._list(schema, edgy)
            case "object":
                return self._object(schema, edgy)
            case _:
                return None

    def _text(self, schema: dict[str, Any], edgy: bool) -> str:
        wanted = schema.get("format")
        if edgy:
            plain = "pattern" not in schema and not any(key.endswith("Length") for key in schema)
            if plain and wanted is None and self._one_in(RARELY):
                return self._pick(HUGE)
            candidates = [text for text in edge_texts(schema) if has_format(wanted, text)]
            pattern = schema.get("pattern")
            if isinstance(pattern, str):
                candidates = [text for text in candidates if matches(pattern, text)]
            if candidates:
                return self._pick(candidates)
        strategy = texts({key: each for key, each in schema.items() if key in _TEXTUAL})
        try:
            text: str = self._drawn(strategy)
        except InvalidArgument:  # a pattern that is beyond Hypothesis
            text = self._fitting(schema, [*WORDS, *TEXTS])
        return text

    def _number(self, schema: dict[str, Any], whole: bool, edgy: bool) -> Any:
        own = {**schema, "type": "integer" if whole else "number"}
        if edgy and (edges := edge_numbers(own, whole)):
            return self._pick(edges)
        return self._drawn(whole_numbers(own) if whole else real_numbers(own))

    def _list(self, schema: dict[str, Any], edgy: bool) -> list[Any]:
        rest = schema.get("items", True)
        first = rest if isinstance(rest, list) else listed(schema.get("prefixItems"))
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
                made.append(made[-1 - self._below(4)])
                continue
            item = self._item(first[place] if place < len(first) else rest, edgy, made if unique else ())
            if item is _NONE and len(made) < least:
                raise Impossible
            if item is _NONE:
                break
            made.append(item)
        return made

    def _size(self, least: int, most: int, usual: int, edgy: bool) -> int:
        if self._is_late():
            return least
        if edgy:
            long = MANY if self._deep <= 2 else FEW  # or what holds its own kind would have no end
            longest = most if most < MOST_ITEMS else long
            return self._pick(
                sorted({least, min(most, least + 1), max(least, longest), min(most, max(least, usual))})
            )
        usual = min(max(usual, least), most)
        return usual + self._below(min(most - usual, 3) + 1)

    def _item(self, schema: Any, edgy: bool, others: Sequence[Any]) -> Any:
        """An item unlike the others, or `_NONE`."""
        for _ in range(TRIES if others else 1):
            try:
                item = self.make(schema, edgy and self._one_in(2))
            except Impossible:
                return _NONE
            if not any(same(item, other) for other in others):
                return item
        return _NONE

    def _object(self, schema: dict[str, Any], edgy: bool) -> dict[str, Any]:
        properties = mapping(schema.get("properties"))
        required = names_in(schema.get("required"))
        names = self._names(properties, required, edgy)
        chosen = self._below(len(names)) if edgy and names else -1
        made = dict[str, Any]()
        rest = schema.get("additionalProperties", True)
        patterns = mapping(schema.get("patternProperties"))
        for place, name in enumerate(names):
            demands = [wanted for pattern, wanted in patterns.items() if matches(pattern, name)]
            own = properties.get(name, rest if not demands else True)
            try:
                made[name] = self.make(
                    {"allOf": [own, *demands]} if demands else own,
                    edgy and (place == chosen or self._one_in(2)),
                )
            except Impossible:
                if name in required:
                    raise
        self._add_more(made, schema, edgy)
        return made

    def _names(self, properties: Mapping[str, Any], required: list[str], edgy: bool) -> list[str]:
        """Those that are given: all that have to be, and of the others some, none or all."""
        share = self._pick((0, 1, 2)) if edgy else 1
        if self._is_late():
            share = 0
        optional = [name for name in properties if name not in required]
        return [*required, *(name for name in optional if share == 2 or (share == 1 and self._one_in(2)))]

    def _add_more(self, made: dict[str, Any], schema: dict[str, Any], edgy: bool) -> None:
        """Members that no name asks for: as many as there have to be, more where it is about them."""
        rest = schema.get("additionalProperties")
        properties, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
        wanted = count(schema, "minProperties", 0) - len(made)
        is_map = rest is True or isinstance(rest, Mapping) or not properties or bool(patterns)
        if is_map and not self._is_late():
            wanted = max(wanted, self._below(3))
        wanted = min(wanted, count(schema, "maxProperties", MOST_ITEMS) - len(made), MOST_ITEMS)
        spare = [*(NAMES if edgy and self._one_in(2) else ()), *EXTRA]
        spare = [
            *properties,
            *self._matching(patterns),
            *spare,
            *(f"key{number}" for number in range(wanted)),
        ]
        for name in spare if wanted > 0 else ():
            demands = [each for pattern, each in patterns.items() if matches(pattern, name)]
            own = properties.get(name, True if rest is None or demands else rest)
            if name in made or own is False:
                continue
            try:
                made[name] = self.make({"allOf": [own, *demands]}, edgy)
            except Impossible:
                continue
            wanted -= 1
            if wanted <= 0:
                break

    def _matching(self, patterns: Mapping[str, Any]) -> list[str]:
        """Names that the patterns are about."""
        found = list[str]()
        for pattern in patterns:
            try:
                found.append(self._drawn(from_pattern(pattern)))
            except (InvalidArgument, Impossible):
                continue
        return found

    def _fitting(self, schema: dict[str, Any], candidates: Sequence[Any]) -> Any:
        return self._pick([each for each in candidates if fits(schema, each, self._root) is None])

    def _drawn(self, strategy: st.SearchStrategy[T] | None) -> T:
        if strategy is None:
            raise Impossible
        drawn: T = self._draw(strategy)
        return drawn

    def _pick(self, items: Sequence[T]) -> T:
        if not items:
            raise Impossible
        return items[self._below(len(items))]

    def _below(self, limit: int) -> int:
        return int(self._draw(st.integers(0, limit - 1))) if limit > 1 else 0

    def _one_in(self, times: int) -> bool:
        return self._below(times) == times - 1


_NONE: Any = object()
_TANGLED = frozenset(("anyOf", "oneOf", "allOf", "not", "enum", "const"))
_TEXTUAL = ("pattern", "format", "minLength", "maxLength")
