"""Generates ideas for calls: a fixed plan first, then from all sources in proportion to their success.

The plan has the calls that are most likely to find something soon. Many give one parameter a value that
reveals much. If a tool has few possible inputs, all of them are listed, and invalid ones next to them.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, product, zip_longest
from math import prod
from typing import Any

from misstep.core.rng import Dice
from misstep.fuzzing.inputs.semantic import read_examples
from misstep.fuzzing.inputs.slots import put
from misstep.fuzzing.search.corpus import CallIdea, Calls, Corpus, Hazards, Shares
from misstep.fuzzing.search.harvest import NamedValues
from misstep.fuzzing.search.mutation import mutated, spliced
from misstep.fuzzing.search.sequences import (
    Sequences,
    Walks,
    related_values,
    with_files_of,
    with_names_of,
    with_results_of,
)
from misstep.fuzzing.search.subject import FuzzSubject, Parameter, encode
from misstep.schemas.limits import is_number

_MOST = 64
_ABSENT = object()


def every_input(subject: FuzzSubject) -> list[dict[str, Any]] | None:
    """All arguments that fit the schema; None if there are too many."""
    choices = list[list[Any]]()
    for parameter in subject.parameters:
        values = _values(parameter)
        if values is None:
            return None
        choices.append(values if parameter.required else [*values, _ABSENT])
    if prod(map(len, choices)) > _MOST:
        return None
    names = [parameter.name for parameter in subject.parameters]
    found = (
        {name: value for name, value in zip(names, values, strict=True) if value is not _ABSENT}
        for values in product(*choices)
    )
    return [arguments for arguments in found if subject.misfit(arguments) is None]


def _values(parameter: Parameter) -> list[Any] | None:
    schema = parameter.schema
    if parameter.choices:
        return list(parameter.choices)
    if set(parameter.kinds) <= {"boolean", "null"} and not {"anyOf", "oneOf"} & schema.keys():
        return [value for kind in parameter.kinds for value in _SIMPLE[kind]]
    if parameter.kinds == ("integer",):
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(low, int) and isinstance(high, int) and 0 <= high - low < _MOST:
            return list(range(low, high + 1))
    return None


_NEIGHBOURS = 2  # listed values that neighbours are derived from
_STEPS = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
_STRANGERS: tuple[Any, ...] = (None, "", 0, -1, [], {}, True)


def neighbours(subject: FuzzSubject) -> Iterator[CallIdea]:
    """Simple arguments with one parameter missing or invalid in an obvious way."""
    for parameter in subject.parameters:
        rest = {name: value for name, value in subject.simple.items() if name != parameter.name}
        wrong = [rest, *({**rest, parameter.name: value} for value in _beside(parameter))]
        for arguments in wrong:
            if misfit := subject.misfit(arguments):
                # `again` exempts them from the limit on the share of invalid calls.
                yield CallIdea(((subject.name, arguments),), "neighbour", broken=misfit, again=True)


def _beside(parameter: Parameter) -> Iterator[Any]:
    """Values close to those of a parameter; some may be valid."""
    for choice in parameter.choices[:_NEIGHBOURS]:
        if isinstance(choice, str):
            yield from (choice.swapcase(), f"{choice}x")
        elif isinstance(choice, int):
            yield from (choice + 1, choice - 1)
    for keyword, step in _STEPS.items():
        bound = parameter.schema.get(keyword)
        if isinstance(bound, int | float):
            yield bound + step
    yield from _STRANGERS


LONG = 5000  # longer than file names and paths may be

# The most revealing come first. `{}` stands for the simple value of the parameter.
TEXTS = (
    "", "{}\0", "{}\ud800", "x" * LONG, " ", "../../{}", "0", "-1", "'\"", "{{", "\u00e9\u4e2d\U0001f600",
    "[]", "\n", "%s%d{{0}}", "/", "1e999", "null", "(", "*", "{} {}", ",", ":", "=", "\\", "<a>",
    "\u202e{}\u0130", "--{}", "\u0663", "1_0", "0x10",
)  # fmt: skip
INTEGERS = (0, -1, 1, 2**31, -(2**31) - 1, 2, 2**63, 10**30, 255, 1000, -(10**30), 3, 7, 100)
NUMBERS = (0, -1, 0.5, 1e308, -1e308, 5e-324, -0.0, 2**53 + 1, 1, 1e-9, 10**30)
LISTS = (0, 1, 2, 100)  # lengths
_SIMPLE: dict[str, Sequence[Any]] = {
    "integer": INTEGERS, "number": NUMBERS, "boolean": (True, False), "null": (None,),
}  # fmt: skip
_ITEMS: dict[str, Any] = {
    "integer": 1, "number": 1.5, "boolean": True, "object": {}, "array": [1], "null": None,
}  # fmt: skip
_NONE: Any = object()
_LATER, _CONSTANTS = 5, 24  # how many values come before constants of the code, and how many of these
_CHOICES = 24
_ROUND = 10  # values of each parameter before relations between parameters


def telling_arguments(subject: FuzzSubject) -> Iterator[dict[str, Any]]:
    """Arguments with one revealing parameter and simple others, round by round."""
    columns = [_column(each, subject) for each in subject.parameters]
    deepest = max((len(column) for column in columns), default=0)
    for row in range(deepest):
        if row == _ROUND:
            yield from relations(subject)
        for parameter, column in zip(subject.parameters, columns, strict=True):
            if row < len(column):
                yield {**subject.simple, parameter.name: column[row]}
    if deepest <= _ROUND:
        yield from relations(subject)


def relations(subject: FuzzSubject) -> Iterator[dict[str, Any]]:
    """Arguments in which two parameters of one type are equal, swapped, or far apart."""
    complete = subject.complete
    for one, other in combinations(subject.parameters, 2):
        for kind in ("string", "integer", "number", "array"):
            if kind in one.kinds and kind in other.kinds:
                for pair in _pairs(kind, complete.get(one.name), complete.get(other.name)):
                    yield {**complete, one.name: pair[0], other.name: pair[1]}
                break


def _pairs(kind: str, one: Any, other: Any) -> tuple[tuple[Any, Any], ...]:
    if kind in ("integer", "number"):
        return ((1, 1), (5, 2), (2, 5), (0, 0), (-1, 1), (1, 0))
    if kind == "array":
        return ((one, one), (one, []), ([], other))
    text = one if isinstance(one, str) else "a"
    return ((text, text), (other, one), (text, text + "x"), ("", ""), (text + "x", text))


def _column(parameter: Parameter, subject: FuzzSubject) -> list[Any]:
    """Revealing values of a parameter, alternating between its types."""
    schema = parameter.schema
    if parameter.choices:
        return list(parameter.choices[:_CHOICES])
    simple = subject.complete.get(parameter.name)
    columns = [_limits(schema), *(list(_of_kind(kind, schema, simple)) for kind in parameter.kinds)]
    if "string" in parameter.kinds:
        columns.append([_NONE] * _LATER + list(subject.texts[:_CONSTANTS]))
        columns.append([_NONE] * _LATER + list(subject.files.get((parameter.name,), ())[:_CONSTANTS]))
    if "integer" in parameter.kinds or "number" in parameter.kinds:
        columns.append([_NONE] * _LATER + list(subject.numbers[:_CONSTANTS]))
    rows = [value for row in zip_longest(*columns, fillvalue=_NONE) for value in row]
    return [value for value in rows if value is not _NONE]


def _limits(schema: dict[str, Any]) -> list[Any]:
    """Values exactly at the limits of the schema."""
    found = [schema[key] for key in ("minimum", "maximum") if is_number(schema.get(key))]
    sizes = [schema[key] for key in ("minLength", "maxLength") if is_number(schema.get(key))]
    return found + ["a" * size for size in sizes if 0 <= size <= LONG]


def _of_kind(kind: str, schema: dict[str, Any], simple: Any) -> Iterable[Any]:
    match kind:
        case "string":
            stem = simple if isinstance(simple, str) and len(simple) < LONG else "a"
            return [text.replace("{{", "\1").replace("{}", stem).replace("\1", "{") for text in TEXTS]
        case "array":
            return _lists(schema, simple)
        case "object":
            return _objects(simple)
    return _SIMPLE.get(kind, ())


def _lists(schema: dict[str, Any], simple: Any) -> Iterator[Any]:
    inner = schema.get("items")
    kind = str(inner.get("type")) if isinstance(inner, dict) else "string"
    items = simple if isinstance(simple, list) and simple else [_ITEMS.get(kind, "a")]
    yield from ((items * length)[:length] for length in LISTS)
    if isinstance(items[0], str):
        yield from ([items[0], text] for text in ("", "\0", "\ud800", "x" * LONG))
    elif is_number(items[0]):
        yield from ([items[0], number] for number in (0, -1, 10**30))
    else:
        yield [items[0], None]


def _objects(simple: Any) -> Iterator[Any]:
    yield {}
    if isinstance(simple, dict):
        for key, value in simple.items():
            yield {name: each for name, each in simple.items() if name != key}
            yield {**simple, key: [] if isinstance(value, list) else "" if isinstance(value, str) else 0}
    yield {"": ""}
    yield {"a": {"a": {"a": None}}}


_EARLY = 6  # telling calls per tool before repetitions
_EXAMPLES = 8
_FILES = 3  # relative and absolute ones per parameter that takes file names


def telling_plan(subjects: list[FuzzSubject]) -> Iterator[CallIdea]:
    """Telling arguments of all tools, taking turns."""
    return _taking_turns(
        [
            (CallIdea(((subject.name, each),), "telling") for each in telling_arguments(subject))
            for subject in subjects
        ]
    )


def _read_calls(text: str, names: set[str]) -> Calls:
    """The calls of a stored entry; empty if it is invalid or about other tools."""
    try:
        found = json.loads(text)
        calls = tuple((call["tool"], call["arguments"]) for call in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
    fitting = all(tool in names and isinstance(arguments, dict) for tool, arguments in calls)
    return calls if fitting else ()


def written_calls(calls: Calls) -> str:
    return encode([{"tool": tool, "arguments": arguments} for tool, arguments in calls])


def _first_calls(subject: FuzzSubject) -> Iterator[CallIdea]:
    for arguments in read_examples(subject.described.examples[:_EXAMPLES]):
        yield CallIdea(((subject.name, arguments),), "example", mark=True)
    for arguments in (subject.simple, subject.complete):
        yield CallIdea(((subject.name, arguments),), "simple", mark=True)
    if subject.described.kind == "mcp":
        for path, files in subject.files.items():
            absolute = [file for file in files if file.startswith("/")]
            tried = dict.fromkeys((*files[:_FILES], *absolute[:_FILES]))
            for file in tried if path[0] in subject.simple else ():
                yield CallIdea(((subject.name, put(subject.simple, path, file)),), "simple")


def _taking_turns(plans: Iterable[Iterator[CallIdea]]) -> Iterator[CallIdea]:
    return (idea for idea in chain.from_iterable(zip_longest(*plans)) if idea is not None)


_SHARES = {"telling": 0.45, "pool": 0.3, "mutation": 0.25}
_TOOLKIT, _STATEFUL, _STATELESS = 0.4, 0.25, 0.02  # shares of sequences
_FURTHEST = 0.6  # chance of the preparation that got furthest, while no call was accepted
_WALKS = 0.15  # chance of a walk through a toolkit, which is as long as several other ideas
_FROM_POOL = 0.5  # chance of one value from a pool instead of mutations, if marks say nothing
_REDRAWS = 4
_REPEATS = 3
_BOLDER, _BOLDEST = 4, 40  # wasted ideas per additional mutation, and their maximum
_FINITE_CALLS = 200  # for a tool with few possible inputs


class Inspiration:
    """Generates ideas for calls of one or several tools, and holds what they are generated from."""

    def __init__(
        self,
        subjects: list[FuzzSubject],
        kept: list[str],
        dice: Dice,
        preparations: Sequence[Calls] = (),
    ) -> None:
        self._subjects = subjects
        self._dice = dice
        self._preparations = dict[str, Calls]()
        self._useful = Shares({})
        self._furthest = dict[str, int]()  # stages by preparation, while no call was accepted
        for calls in preparations:
            self.prepare_with(calls)
        self.corpus = Corpus()
        self.harvest = NamedValues()
        self.hazards = Hazards()
        self.stateful = len(subjects) > 1
        self._wasted = 0  # rejected ideas, less accepted ones
        self._sequences = Sequences({each.name: each for each in subjects}, self.corpus, self.harvest)
        self._shares = Shares({**_SHARES, "sequence": _TOOLKIT if self.stateful else _STATELESS}, floor=0.02)
        self._walks = Walks(subjects, self.harvest)
        self._telling = telling_plan(subjects)
        self._spaces = [every_input(subject) for subject in subjects]
        self.finite = all(space is not None for space in self._spaces)
        self._plan: Iterator[CallIdea] | None = self._first(kept)

    def next(self) -> CallIdea | None:
        if self._plan is not None:
            idea = next(self._plan, None)
            if idea is not None:
                return idea
            self._plan = None
        if self._preparations and self._dice.chance(self._subjects[0].acceptance.need):
            return self.prepared()
        if len(self._subjects) > 1 and self._dice.chance(_WALKS):
            return CallIdea(self._walks.make(self._dice), "walk")
        if not self.finite:
            return self._from(self._shares.pick(self._dice))
        return self._from("sequence" if self.stateful and self._dice.chance(0.7) else "pool")

    @property
    def prepares(self) -> bool:
        """Whether there are calls of other tools that may make what these need."""
        return bool(self._preparations)

    def prepare_with(self, calls: Calls, name: str = "") -> str:
        """Make these calls before some of a tool's own from now on, instead of those of this name, if any."""
        if name:
            self._preparations[name] = calls
            return name
        name = f"prepared {len(self._preparations)}"
        self._preparations[name] = calls
        self._useful = Shares(dict.fromkeys(self._preparations, 1 / len(self._preparations)))
        return name

    def related(self, subject: FuzzSubject, before: Calls) -> dict[str, Any]:
        """Arguments about the things of earlier calls, with all that these return and the tool may need."""
        arguments = self._sequences.related(subject, before, self._dice)
        return with_results_of(arguments, before, self.harvest, subject.required, self._dice, chance=1.0)

    def prepared(self, name: str = "") -> CallIdea:
        """A call about what other tools have made just before; `name` is that of a preparation."""
        if not name and self._furthest and self._dice.chance(_FURTHEST):
            name = max(self._furthest, key=lambda each: self._furthest[each])
        return self._prepared(name or self._useful.pick(self._dice))

    def is_spent(self, asked: int) -> bool:
        """Whether a tool with few possible inputs has been tried enough."""
        return self.finite and self._plan is None and asked > _FINITE_CALLS * len(self._subjects)

    def threatens(self, idea: CallIdea) -> bool:
        return any(self.hazards.threaten(tool, arguments) for tool, arguments in idea.calls)

    def credit_preparation(self, idea: CallIdea, accepted: bool, stage: int) -> None:
        """Prefer preparations after which the tool accepts calls, or else gets to the latest stage."""
        self._useful.reward(idea.source or "", float(accepted))
        if accepted:
            self._furthest.clear()
        elif not self._subjects[0].acceptance.accepted:
            self._furthest[idea.source or ""] = stage

    def reward(self, idea: CallIdea, gain: float) -> None:
        self._wasted = max(self._wasted - 1, 0)
        self._shares.reward(idea.origin if idea.source is None else idea.source, gain)

    def waste(self, idea: CallIdea) -> None:
        self._wasted = min(self._wasted + 1, _BOLDEST)
        self._shares.waste(idea.origin if idea.source is None else idea.source)

    def suspect_state(self) -> None:
        """Assume from now on that calls affect later ones."""
        if not self.stateful:
            self.stateful = True
            self._shares.settle("sequence", _STATEFUL)

    def _first(self, kept: list[str]) -> Iterator[CallIdea]:
        """The corpus of earlier runs, examples, simple calls, the most telling ones, lives, repetitions."""
        names = {subject.name for subject in self._subjects}
        stored = (_read_calls(text, names) for text in kept)
        yield from (CallIdea(calls, "corpus") for calls in stored if calls)
        yield from _taking_turns([_first_calls(subject) for subject in self._subjects])
        for name in [*self._preparations]:
            yield self._prepared(name)
        yield from islice(self._telling, _EARLY * len(self._subjects))
        if len(self._subjects) > 1:
            yield from (CallIdea(calls, "sequence") for calls in self._sequences.lives())
        for subject in self._subjects:
            yield CallIdea(((subject.name, subject.simple),) * 2, "again", again=True)
        if self.finite:
            for subject, space in zip(self._subjects, self._spaces, strict=True):
                for arguments in space or ():
                    yield CallIdea(((subject.name, arguments),), "enumeration")
                yield from neighbours(subject)
            for subject in self._subjects:
                yield CallIdea(((subject.name, subject.simple),) * _REPEATS, "again", again=True)

    def _from(self, source: str) -> CallIdea | None:
        if source == "telling":
            idea = next(self._telling, None)
            if idea is not None:
                return idea
            self._shares.retire("telling")
        if source in ("telling", "pool"):
            return self._drawn()
        if source == "sequence":
            return CallIdea(self._sequences.make(self._dice), "sequence")
        return self._mutant()

    def _prepared(self, name: str) -> CallIdea:
        subject, before = self._subjects[0], self._preparations[name]
        arguments = self._sequences.related(subject, before, self._dice)
        if self._dice.chance(0.5):
            drawn = subject.supply.draw(self._dice)
            if drawn.kind != "invalid":
                named = [each.name for each in subject.parameters if self.harvest.named(each)]
                told = {name: arguments[name] for name in named if name in arguments}
                arguments = {**drawn.arguments, **told, **related_values(subject.parameters, before)}
        arguments = with_files_of(with_names_of(arguments, before), before, subject, self._dice)
        arguments = with_results_of(arguments, before, self.harvest, subject.required, self._dice)
        return CallIdea((*before, (subject.name, arguments)), "prepared", again=True, source=name)

    def _drawn(self) -> CallIdea:
        subject = self._dice.pick(self._subjects)
        drawn = subject.supply.draw(self._dice)
        for _ in range(_REDRAWS):
            if drawn.kind != "invalid" or self._dice.chance(0.1):
                break
            drawn = subject.supply.draw(self._dice)
        subject.remember(drawn.arguments)
        broken = (drawn.broken or "schema") if drawn.kind == "invalid" else ""
        return CallIdea(((subject.name, drawn.arguments),), drawn.origin, broken=broken, source="pool")

    def _mutant(self) -> CallIdea | None:
        """A call of the corpus, mutated or mixed with another one."""
        entry = self.corpus.pick(self._dice)
        if entry is None:
            return None
        *before, (tool, arguments) = entry.calls
        subject = next(each for each in self._subjects if each.name == tool)
        other = self.corpus.any(self._dice)
        if other is not None and other.calls[-1][0] == tool and self._dice.chance(0.15):
            changed = spliced(arguments, other.calls[-1][1], self._dice)
        elif subject.parameters and not subject.marking and self._dice.chance(_FROM_POOL):
            name = self._dice.pick(subject.parameters).name
            drawn = subject.supply.value((name,), self._dice)
            changed = arguments if drawn is None else {**arguments, name: drawn.value}
        else:
            changed = mutated(arguments, subject, self._dice, more=self._wasted // _BOLDER)
        return CallIdea((*before, (tool, changed)), "mutation")
