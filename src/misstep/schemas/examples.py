"""Makes up arguments for a tool that read naturally in a request.

Values fit the schema and suit the names of parameters, and every text can be quoted in a sentence.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from misstep.core.rng import SEED_LIMIT as EXACT
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.schemas.formats import is_readable, matches, same
from misstep.schemas.limits import is_number
from misstep.schemas.samples import CODES, PLAIN, find_examples, range_for, texts_for
from misstep.schemas.schema import fits
from misstep.schemas.shape import KINDS, as_list, count, flatten, kinds_of, mapping, merge, names_in

LONGEST_TEXT = 400  # characters
UNSPEAKABLE = frozenset("`'\"“”„‘’«»")


def is_sayable(value: object) -> bool:
    """Whether every text in the value can be quoted on one line and is not blank."""
    if isinstance(value, str):
        speakable = value.isprintable() and not UNSPEAKABLE & set(value)
        return speakable and 0 < len(value.strip()) <= LONGEST_TEXT
    if isinstance(value, dict):
        named = all(name.isprintable() and "`" not in name and name.strip() for name in value)
        return named and all(map(is_sayable, value.values()))
    return not isinstance(value, list) or all(map(is_sayable, value))


NUMBER_DRAWS = 3  # per range, because a schema may restrict more than the limits
FINEST = 12  # decimals
MOST_IN_ROW = 30  # consecutive numbers, for lists of unique numbers
LARGEST = 10**300
REACH = 20  # steps beyond a limit that excludes the range the name suggests


def numbers_for(schema: Mapping[str, Any], name: str, whole: bool, dice: Dice) -> Iterator[int | float]:
    """Candidates within the limits: those that the name suggests, then others, then finer ones."""
    low, high, step = (Fraction(number) for number in range_for(name))
    limits = _Limits(schema)
    for unit in _units(schema, step, whole):
        spans = (limits.multiples(unit, *part) for part in limits.ranges(low, high, unit * REACH))
        for first, last in spans:
            for _ in range(NUMBER_DRAWS if first <= last else 0):
                yield written(unit * (first + dice.below(min(last - first + 1, EXACT))))
            yield from (written(unit * each) for each in range(first, min(last + 1, first + MOST_IN_ROW)))
    yield from (written(edge) for edge in (limits.least, limits.most) if edge is not None)


def _units(schema: Mapping[str, Any], step: Fraction, whole: bool) -> list[Fraction]:
    """The units that candidates are multiples of, coarse ones first."""
    factor = as_fraction(schema.get("multipleOf"))
    if factor is not None and factor > 0:
        return [Fraction(factor.numerator) if whole else factor]
    finer = [] if whole else [Fraction(1, 10**decimals) for decimals in range(1, FINEST + 1)]
    return [step, Fraction(1), *finer]


class _Limits:
    """The minimum and maximum of a schema, if any."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._above = as_fraction(schema.get("exclusiveMinimum"))
        self._below = as_fraction(schema.get("exclusiveMaximum"))
        least = [self._above, as_fraction(schema.get("minimum"))]
        most = [self._below, as_fraction(schema.get("maximum"))]
        self.least = max((limit for limit in least if limit is not None), default=None)
        self.most = min((limit for limit in most if limit is not None), default=None)

    def ranges(self, low: Fraction, high: Fraction, reach: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
        """The allowed part of a range, which may be empty, then allowed ranges next to the limits."""
        yield self._clipped(low, high)
        if self.least is not None:
            yield self._clipped(self.least, self.least + reach)
        if self.most is not None:
            yield self._clipped(self.most - reach, self.most)
        yield self._clipped(low, low + reach)

    def _clipped(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        low = low if self.least is None else max(low, self.least)
        return low, high if self.most is None else min(high, self.most)

    def multiples(self, unit: Fraction, low: Fraction, high: Fraction) -> tuple[int, int]:
        """The smallest and largest allowed multiplier of the unit between these values."""
        first, last = ceil(low / unit), floor(high / unit)
        if self._above is not None:
            first = max(first, floor(self._above / unit) + 1)
        if self._below is not None:
            last = min(last, ceil(self._below / unit) - 1)
        return first, last


def as_fraction(number: object) -> Fraction | None:
    """A number as the exact fraction that is written; None if it is huge."""
    try:
        fraction = Fraction(repr(number)) if is_number(number) else None
    except ValueError:  # infinite or not a number
        return None
    return fraction if fraction is not None and abs(fraction) < LARGEST else None


def written(number: Fraction) -> int | float:
    """As an integer if it is one that every JSON reader represents exactly."""
    return int(number) if number.denominator == 1 and abs(number) < EXACT else float(number)


DEEPEST = 12  # nested schemas; deeper ones are infinite or unreadable
DRAWS = 4  # attempts at a list or object that has to satisfy a condition as a whole
MOST_WANTED = 3  # items in a list, unless the schema requires more
MOST_ITEMS = 30
MOST_TRIED = 10_000  # parts tried for one value; only a hostile schema has more
DEEP = 6  # nesting from which on lists are empty if allowed: recursive schemas would fill pages
MOST_NAMED = 4  # steps in the path of a parameter

ITEM = ""  # stands for the items of a list in the path of a parameter


def make_up(schema: Mapping[str, Any], dice: Dice, description: str = "") -> dict[str, Any]:
    """Values for all required parameters of an object schema, and for no others.

    They fit the schema, and no text among them has quotation marks, backticks or line breaks. Raises
    `UsageError` for a parameter that no value can be found for. Examples in the `description` of the whole
    are used if there is exactly one parameter.
    """
    schema = _described(schema, description)
    arguments = {key: value for key, value in schema.items() if key not in ("default", "example", "examples")}
    try:
        made = _Maker(schema, dice).make({**arguments, "type": "object"}, ())
    except (_Impossible, RecursionError) as problem:
        path = problem.path if isinstance(problem, _Impossible) else ()
        what = f"the parameter '{_shown(path)}'" if path else "the parameters together"
        raise UsageError(
            f"can't make up a value for {what}", "give it an example or a default in its schema"
        ) from None
    assert isinstance(made, dict)
    return made


def _described(schema: Mapping[str, Any], description: str) -> Mapping[str, Any]:
    properties = mapping(schema.get("properties"))
    if description and len(properties) == 1:
        ((name, only),) = properties.items()
        if isinstance(only, dict):
            return {**schema, "properties": {name: {"description": description, **only}}}
    return schema


class _Impossible(Exception):
    """There is no value for the parameter at this path."""

    def __init__(self, path: tuple[str, ...]) -> None:
        super().__init__(path)
        self.path = path


class _Maker:
    def __init__(self, root: Mapping[str, Any], dice: Dice) -> None:
        self._root = root
        self._dice = dice
        self._deep = 0
        self._tried = 0

    def make(self, schema: Any, path: tuple[str, ...], others: Sequence[Any] = ()) -> Any:
        """A value that fits and, if possible, differs from the others; `_Impossible` if nothing fits."""
        self._tried += 1
        flat = flatten(schema, self._root)
        if flat is None or self._deep >= DEEPEST or self._tried > MOST_TRIED:
            raise _Impossible(path)
        known = list[Any]()
        self._deep += 1
        try:
            for value in self._candidates(flat, path, others):
                if is_sayable(value) and fits(schema, value, self._root) is None:
                    if not any(same(value, other) for other in others):
                        return value
                    known.append(value)
        finally:
            self._deep -= 1
        if not known:
            raise _Impossible(path)
        return known[0]

    def _candidates(
        self, schema: dict[str, Any], path: tuple[str, ...], others: Sequence[Any]
    ) -> Iterator[Any]:
        """Values that may fit, the most natural ones first."""
        if "const" in schema:
            yield schema["const"]
        if isinstance(schema.get("enum"), list):
            yield from sorted(self._dice.shuffled(schema["enum"]), key=lambda value: value is None)
        if "const" in schema or isinstance(schema.get("enum"), list):
            return
        if isinstance(schema.get("examples"), list):
            yield from self._dice.shuffled(schema["examples"])
        yield from (schema[key] for key in ("example", "default") if schema.get(key) is not None)
        yield from self._dice.shuffled(find_examples(str(schema.get("description", ""))))
        if alternatives := self._alternatives(schema):
            yield from self._possible(alternatives, path, others)
        else:
            yield from self._of_kind(kinds_of(schema)[0], schema, path)

    def _alternatives(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        """The schemas of which the value has to fit one; null comes last."""
        for key in ("anyOf", "oneOf", "type"):
            choices = schema.get(key)
            if not isinstance(choices, list) or not choices:
                continue
            rest = {name: value for name, value in schema.items() if name != key}
            if key == "type":
                found = [{**rest, "type": kind} for kind in choices]
            else:
                flat = [flatten(choice, self._root) for choice in choices]
                found = [merge(rest, choice) for choice in flat if choice is not None]
            return sorted(self._dice.shuffled(found), key=lambda each: each.get("type") == "null")
        if "not" in schema and schema.get("type") not in KINDS:
            return [{**schema, "type": kind} for kind in dict.fromkeys((*kinds_of(schema), *KINDS))]
        return []

    def _possible(
        self, alternatives: list[dict[str, Any]], path: tuple[str, ...], others: Sequence[Any]
    ) -> Iterator[Any]:
        """A value for each of the schemas for which one exists."""
        problems = list[_Impossible]()
        for schema in alternatives:
            try:
                yield self.make(schema, path, others)
            except _Impossible as problem:
                problems.append(problem)
        if len(problems) == len(alternatives):
            raise problems[0]

    def _of_kind(self, kind: str, schema: dict[str, Any], path: tuple[str, ...]) -> Iterator[Any]:
        match kind:
            case "string":
                yield from self._texts(schema, path)
            case "integer" | "number":
                yield from numbers_for(schema, _name(path), kind == "integer", self._dice)
            case "boolean":
                yield from self._dice.shuffled([True, False])
            case "array":
                yield from (self._list(schema, path) for _ in range(DRAWS))
            case "object":
                yield from (self._object(schema, path) for _ in range(DRAWS))
            case "null":
                yield None

    def _texts(self, schema: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
        natural = self._dice.shuffled(texts_for(_name(path), schema.get("format")))
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and is_readable(pattern):
            known = [*natural, *self._dice.shuffled(PLAIN), *self._dice.shuffled(CODES)]
            yield from (text for text in known if matches(pattern, text))
            return
        yield from natural
        yield from self._dice.shuffled(PLAIN)
        low, high = count(schema, "minLength", 1), count(schema, "maxLength", LONGEST_TEXT)
        if low <= min(high, LONGEST_TEXT):
            yield _of_length(natural, low, high)

    def _list(self, schema: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
        schemas = _item_schemas(schema, 1 + self._dice.below(MOST_WANTED))
        least = count(schema, "minItems", 0)
        if not least and self._deep >= DEEP:
            return []
        if least > min(len(schemas), MOST_ITEMS):
            raise _Impossible(path)
        made = list[Any]()
        for each in schemas:
            try:
                item = self.make(each, (*path, ITEM), made)
            except _Impossible:
                if len(made) < least:
                    raise
                return made
            is_new = not any(same(item, other) for other in made)
            if not is_new and schema.get("uniqueItems") is True and len(made) < least:
                raise _Impossible(path)
            if is_new or len(made) < least or "prefixItems" in schema:
                made.append(item)
        return made

    def _object(self, schema: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        properties = mapping(schema.get("properties"))
        required = names_in(schema.get("required"))
        rest = schema.get("additionalProperties", True)
        spare = [*properties, *(PLAIN if rest is not False else ())]
        names = [name for name in properties if name in required]
        names += [name for name in required if name not in properties]
        more = [name for name in spare if name not in names]
        names += more[: max(0, count(schema, "minProperties", 0) - len(names))]
        return {name: self.make(properties.get(name, rest), (*path, name)) for name in names}


def _item_schemas(schema: dict[str, Any], wanted: int) -> list[Any]:
    """A schema for each item of a list: `wanted` ones, or as many as required."""
    rest = schema.get("items", True)
    first = rest if isinstance(rest, list) else as_list(schema.get("prefixItems"))
    size = max(len(first) or wanted, count(schema, "minItems", 0))
    size = min(size, count(schema, "maxItems", size), MOST_ITEMS + 1)
    more = 0 if rest is False or isinstance(rest, list) else size - len(first)
    return [*first[:size], *[rest] * more]


def _of_length(words: list[str], low: int, high: int) -> str:
    """The words repeated to a length within the limits, without a space at the end."""
    text = " ".join(words)
    while len(text) < low:
        text += f" {text}"
    text = text[: min(high, max(low, len(words[0])))]
    return f"{text[:-1]}s" if text.endswith(" ") else text


def _name(path: tuple[str, ...]) -> str:
    return next((name for name in reversed(path) if name != ITEM), "")


def _shown(path: tuple[str, ...]) -> str:
    shown = "".join(f".{name}" if name else "[]" for name in path[:MOST_NAMED]).removeprefix(".")
    return f"{shown}…" if len(path) > MOST_NAMED else shown
