"""What the fuzzer knows about one tool: parameters, constants in its source, values, simple arguments."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from misstep.core.rng import Dice
from misstep.core.tool import Described, Path
from misstep.errors import UsageError
from misstep.fuzzing.inputs.edges import file_places, files_for
from misstep.fuzzing.inputs.semantic import constants_in
from misstep.fuzzing.inputs.slots import Drawn
from misstep.fuzzing.search.corpus import Feedback, Sights
from misstep.schemas.examples import make_up
from misstep.schemas.schema import fits
from misstep.schemas.shape import as_list, flatten, kinds_of, mapping

_MOST = 64  # constants of each type
_LONGEST_CONSTANT = 40
_KEPT = 48  # values remembered per parameter
_LONGEST = 1 << 12  # characters of a value
_NO_MARKS = 12  # marked calls without observations, after which marking stops
_TOKENS = 96
_TOKEN = 40

encode = json.JSONEncoder(allow_nan=False).encode


class Supply(Protocol):
    """Arguments for one tool. Callers must not modify what they draw."""

    def draw(self, dice: Dice) -> Drawn: ...

    def learn(self, path: Path, value: Any) -> None:
        """Take in a value that worked or was observed at a path in the arguments."""
        ...


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a tool. `schema` has its reference resolved; `kinds` are its possible types."""

    name: str
    schema: dict[str, Any]
    kinds: tuple[str, ...]
    required: bool
    choices: tuple[Any, ...] = ()  # all values, if the schema lists them


_LEAST_TRIED = 5  # new values of a parameter before it is judged by them
_PARTICULAR = 0.8  # share of refused new values above which a parameter takes particular values only
_LEAST_CALLS = 50  # before that, a call that is refused may tell more
_FEWEST_CALLS, _HARDLY_ANY = 16, 0.1  # but not if hardly any are accepted
_ENOUGH = 0.6  # share of accepted calls above which anything may be tried
_SHORT = 200  # characters of a value that is kept


class Acceptance:
    """Which values a tool accepts, for tools that refuse most others: names of files, zones, sheets.

    A parameter takes particular values if nearly all new ones are refused.
    """

    def __init__(self) -> None:
        self.calls = self.accepted = 0
        self._known = dict[str, dict[str, Any]]()  # accepted values by parameter and JSON text
        self._tried = Counter[str]()  # calls in which only this parameter had a new value
        self._refused = Counter[str]()

    def hear(self, arguments: Mapping[str, Any], accepted: bool) -> None:
        self.calls += 1
        self.accepted += accepted
        texts = {name: encode(value) for name, value in arguments.items()}
        new = [name for name, text in texts.items() if text not in self._known.get(name, ())]
        if len(new) == 1:
            self._tried[new[0]] += 1
            self._refused[new[0]] += not accepted
        for name in new if accepted else ():
            kept = self._known.setdefault(name, {})
            if len(texts[name]) <= _SHORT and len(kept) < _KEPT:
                kept[texts[name]] = arguments[name]

    @property
    def need(self) -> float:
        """How often calls should be prepared: rarely while most are accepted without."""
        return 0.5 if self.accepted < _ENOUGH * self.calls else 0.1

    def settled(self, arguments: dict[str, Any], dice: Dice) -> dict[str, Any]:
        """The arguments, with accepted values where only particular ones work, while most are refused."""
        fewest = _FEWEST_CALLS if self.accepted < _HARDLY_ANY * self.calls else _LEAST_CALLS
        if not self.accepted or self.calls < fewest or self.accepted >= _ENOUGH * self.calls:
            return arguments
        return {name: self._settled(name, value, dice) for name, value in arguments.items()}

    def _settled(self, name: str, value: Any, dice: Dice) -> Any:
        known = self._known.get(name)
        tried = self._tried[name]
        if not known or tried < _LEAST_TRIED or self._refused[name] < _PARTICULAR * tried:
            return value
        return value if encode(value) in known else dice.pick(list(known.values()))


class FuzzSubject:
    """One tool and what has been learnt about it."""

    def __init__(
        self,
        described: Described,
        number: int,
        supply: Supply,
        dice: Dice,
        files: Sequence[str] = (),
        hints: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> None:
        self.described = described
        self.name = described.name
        self.supply = supply
        self.feedback = Feedback(number)
        self.sights = Sights()
        self.parameters = parameters_of(described.tool.parameters)
        self.required = frozenset(each.name for each in self.parameters if each.required)
        found = constants_in(described.source.text if described.source else "")
        texts = [value for value in found if isinstance(value, str) and 0 < len(value) <= _LONGEST_CONSTANT]
        whole = [value for value in found if type(value) is int and abs(value) < 1 << 63]
        self.texts = tuple(dict.fromkeys(texts))[:_MOST]
        self.integers = tuple(dict.fromkeys(whole))[:_MOST]
        self.tokens = dict.fromkeys(self.texts)
        self.numbers = tuple({each + by: None for each in self.integers for by in (0, 1, -1)})
        self.choices = {each.name: each.choices for each in self.parameters if each.choices}
        self._schema: Mapping[str, Any] = described.tool.parameters
        self._values: dict[str, dict[str, Any]] = {each.name: {} for each in self.parameters}
        self.acceptance = Acceptance()
        self._unheard = 0 if described.kind != "mcp" else _NO_MARKS
        try:
            self.simple = make_up(self._schema, dice)
        except UsageError:
            self.simple = supply.draw(dice).arguments
        self.files = self._learn_files(files)
        self._learn_hints(hints)
        self.complete = {**self.simple, **self._optional(dice)}
        self.remember(self.complete)
        for name, choices in self.choices.items():
            for value in choices[:_KEPT]:
                self.remember_value(name, value)

    def _learn_hints(self, hints: Mapping[str, Sequence[Any]]) -> None:
        """Take in values that other tools accepted for parameters of the same name."""
        for name in [each.name for each in self.parameters if each.name in hints]:
            for value in hints[name]:
                if self.misfit({**self.simple, name: value}) is None:
                    self.supply.learn((name,), value)
                    self.remember_value(name, value)
                    self.simple |= {name: value} if name in self.simple else {}

    @property
    def marking(self) -> bool:
        """Whether marking arguments is useful, that is, whether observations come back."""
        return self._unheard < _NO_MARKS

    def heard(self, observed: bool) -> None:
        """Count a marked call; once one had observations, marking never stops."""
        self._unheard = -1_000_000 if observed else self._unheard + 1

    def can_get(self, text: str) -> bool:
        """Whether arguments (as JSON) can be sent to the tool: lone surrogates cannot be sent to a server."""
        if self.described.kind != "mcp" or "\\ud" not in text:
            return True
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return False
        return True

    def misfit(self, arguments: dict[str, Any]) -> str | None:
        return fits(self._schema, arguments)

    def hear(self, arguments: Mapping[str, Any], accepted: bool) -> None:
        """Take in whether the tool accepted a call: the first that it did replaces the simple arguments."""
        if accepted and not self.acceptance.accepted:
            self.simple |= {name: arguments[name] for name in self.simple if name in arguments}
            self.complete |= arguments
        self.acceptance.hear(arguments, accepted)

    def remember(self, arguments: Mapping[str, Any]) -> None:
        for name, value in arguments.items():
            self.remember_value(name, value)

    def remember_value(self, name: str, value: Any) -> None:
        kept = self._values.get(name)
        if kept is None or (type(value) is str and len(value) > _LONGEST):
            return
        text = value if type(value) is str else repr(value)
        if text not in kept:
            if len(kept) >= _KEPT:
                del kept[next(iter(kept))]
            kept[text] = value

    def values(self, name: str) -> list[Any]:
        return list(self._values.get(name, {}).values())

    def learn_token(self, token: object) -> None:
        if isinstance(token, str) and 0 < len(token) <= _TOKEN and len(self.tokens) < _TOKENS:
            self.tokens[token] = None

    def _learn_files(self, files: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Use the files for all parameters that take file names, and return the files by parameter."""
        places = file_places(self._schema) if files else []
        files = files_for(self.described, files)
        for path in places:
            for file in files:
                self.supply.learn(path, file)
        return {str(path[0]): tuple(files) for path in places if len(path) == 1}

    def _optional(self, dice: Dice) -> dict[str, Any]:
        made = dict[str, Any]()
        for each in self.parameters:
            if each.name in self.simple:
                continue
            if "default" in each.schema:
                made[each.name] = each.schema["default"]
                continue
            with suppress(UsageError, KeyError):
                made[each.name] = make_up({**self._schema, "required": [each.name]}, dice)[each.name]
        return made


def parameters_of(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    whole = flatten(schema, schema) or {}
    required = as_list(whole.get("required"))
    parts = {name: flatten(part, schema) for name, part in mapping(whole.get("properties")).items()}
    return tuple(
        Parameter(name, flat, _kinds(flat, schema), name in required, _choices(flat))
        for name, flat in parts.items()
        if flat is not None
    )


def _choices(flat: dict[str, Any]) -> tuple[Any, ...]:
    if "const" in flat:
        return (flat["const"],)
    return tuple(as_list(flat.get("enum"))) or ((True, False) if flat.get("type") == "boolean" else ())


def _kinds(flat: dict[str, Any], root: Mapping[str, Any]) -> tuple[str, ...]:
    """The types of a parameter, including those of its alternatives."""
    options = [flatten(each, root) for each in (*as_list(flat.get("anyOf")), *as_list(flat.get("oneOf")))]
    found = dict.fromkeys(kind for each in options if each is not None for kind in kinds_of(each))
    return tuple(found) or kinds_of(flat)
