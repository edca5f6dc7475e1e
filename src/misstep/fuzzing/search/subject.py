"""What the fuzzer knows about one tool: parameters, constants in its source, values, simple arguments."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from misstep.core.rng import Dice
from misstep.core.tool import Described, Path
from misstep.errors import UsageError
from misstep.fuzzing.inputs.edges import file_places, files_for
from misstep.fuzzing.inputs.semantic import constants_in, is_vague, topics_for, values_in
from misstep.fuzzing.inputs.slots import Drawn, PoolEntry, put
from misstep.fuzzing.returned import is_returned, misfit_of
from misstep.fuzzing.search.acceptance import Acceptance, places_in
from misstep.fuzzing.search.corpus import CallIdea, Calls, Feedback, Sights
from misstep.schemas.examples import make_up
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list, flatten, kinds_of, mapping

_MOST = 64  # constants of each type
_LONGEST_CONSTANT = 40
_KEPT = 48  # values remembered per parameter
_LONGEST = 1 << 12  # characters of a value
_NO_MARKS = 12  # marked calls without observations, after which marking stops
_CONFIRMING = {("confirm",), ("confirmed",), ("confirmation",), ("repeat",), ("verify",)}
_TOKENS = 96
_TOKEN = 40

encode = json.JSONEncoder(allow_nan=False).encode


class Supply(Protocol):
    """Arguments for one tool. Callers must not modify what they draw."""

    def draw(self, dice: Dice) -> Drawn: ...

    def value(self, path: Path, dice: Dice) -> PoolEntry | None:
        """A valid value for a place in the arguments; None if none is known."""
        ...

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
        self.optional = tuple(each.name for each in self.parameters if not each.required)
        found = constants_in(described.source.text if described.source else "")
        texts = [value for value in found if isinstance(value, str) and 0 < len(value) <= _LONGEST_CONSTANT]
        whole = [value for value in found if type(value) is int and abs(value) < 1 << 63]
        self.texts = tuple(dict.fromkeys(texts))[:_MOST]
        self.integers = tuple(dict.fromkeys(whole))[:_MOST]
        self.tokens = dict.fromkeys(self.texts)
        self.numbers = tuple({each + by: None for each in self.integers for by in (0, 1, -1)})
        self.choices = {each.name: each.choices for each in self.parameters if each.choices}
        self._schema: Mapping[str, Any] = described.tool.parameters
        self.confirmed = _confirmed([each.name for each in self.parameters])
        self._values: dict[str, dict[str, Any]] = {each.name: {} for each in self.parameters}
        self.acceptance = Acceptance()
        self._unheard = 0 if described.kind != "mcp" else _NO_MARKS
        try:
            self.simple = make_up(self._schema, dice)
        except UsageError:
            self.simple = supply.draw(dice).arguments
        self.all_files = files
        self.files = self._learn_files(files)
        if described.kind == "mcp":  # servers refuse most texts in such places
            self._start_with({**self._notations(), **self._first_files()})
            self._put_files_inside()
        self._learn_hints(hints)
        self.complete = {**self.simple, **self._optional(dice)}
        self.remember(self.complete)
        for name, choices in self.choices.items():
            for value in choices[:_KEPT]:
                self.remember_value(name, value)

    def _start_with(self, values: Mapping[str, Any]) -> None:
        """Use these values in the simple arguments, as far as they fit."""
        for name, value in values.items():
            if name in self.simple and self.misfit({**self.simple, name: value}) is None:
                self.simple |= {name: value}

    def _notations(self) -> dict[str, Any]:
        """Ordinary texts for parameters that take CSV, JSON, addresses of networks and the like."""
        found = dict[str, Any]()
        for each in self.parameters:
            named = " ".join(words_of(self.name)) if is_vague(each.name) else ""
            told = str(each.schema.get("description") or named)
            topics = topics_for(each.name, told, each.schema.get("format"))
            if topics and topics[0].notation and not each.choices and not values_in(each.schema):
                found[each.name] = topics[0].plain[0]
        return found

    def _first_files(self) -> dict[str, Any]:
        return {
            str(path[0]): fitting[0] for path, fitting in self.files.items() if len(path) == 1 and fitting
        }

    def _put_files_inside(self) -> None:
        """Use files in lists and objects of the simple arguments, too."""
        there = dict(places_in(self.simple))
        for path in [
            path for path, fitting in self.files.items() if len(path) > 1 and path in there and fitting
        ]:
            changed = put(self.simple, path, self.files[path][0])
            self.simple = changed if self.misfit(changed) is None else self.simple

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

    def confirming(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the same value again where a parameter such as `confirmPath` asks for it."""
        again = {
            each: arguments[name] for each, name in self.confirmed.items() if {each, name} <= {*arguments}
        }
        return {**arguments, **again} if again else arguments

    def misfit(self, arguments: dict[str, Any]) -> str | None:
        return misfit_of(self._schema, arguments)

    def hear(self, calls: Calls, accepted: bool, source: str | None = None) -> None:
        """Take in whether the tool accepted a call: the first that it did replaces the simple arguments."""
        arguments = calls[-1][1]
        if accepted and not self.acceptance.accepted:
            own = {name: value for name, value in arguments.items() if not is_returned(value)}
            self.simple |= {name: own[name] for name in self.simple if name in own}
            self.complete |= own
        self.acceptance.hear(calls, accepted, source)

    def corrected(self, dice: Dice) -> CallIdea | None:
        """A refused call with another value where its refusal points to."""
        return self.acceptance.corrected(self.supply.value, self.optional, dice)

    def hear_refusal(self, calls: Calls, words: str) -> None:
        self.acceptance.hear_refusal(calls, words, [each.name for each in self.parameters])

    def remember(self, arguments: Mapping[str, Any]) -> None:
        for name, value in arguments.items():
            self.remember_value(name, value)

    def remember_value(self, name: str, value: Any) -> None:
        kept = self._values.get(name)
        if kept is None or (type(value) is str and len(value) > _LONGEST) or is_returned(value):
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

    def _learn_files(self, files: Sequence[str]) -> dict[Path, tuple[str, ...]]:
        """Use the files for all places that take file names, and return the files by place."""
        places = file_places(self._schema) if files else []
        found = {path: tuple(files_for(self.described, path, files)) for path in places}
        for path, fitting in found.items():
            for file in fitting:
                self.supply.learn(path, file)
        return found

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


def _confirmed(names: Sequence[str]) -> dict[str, str]:
    """The parameters that confirm others, with the names of those."""
    by_words = {tuple(words_of(name)): name for name in names}
    return {
        name: by_words[words[1:]]
        for words, name in by_words.items()
        if words[:1] in _CONFIRMING and words[1:] in by_words
    }


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
