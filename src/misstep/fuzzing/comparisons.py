"""Keeps which constants the code of tools was seen to compare their parameters with."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from misstep.core.results.finding import Comparisons, Constant
from misstep.core.results.trial import REFUSALS, Ruling
from misstep.core.tool import Described, Invocation, Observation
from misstep.fuzzing.judging.echoes import GivenValues

MOST = 50  # constants of one parameter
MOST_COLLECTIONS = 4  # that one parameter is looked up in; what shows itself as more is no constant
MOST_PARAMETERS = 300
MOST_GIVEN = 50  # values in one call
EXAMPLES = 5  # of other values
LONGEST = 100  # characters of a constant
LARGEST = 10**12
LONGEST_ARGUMENTS = 10_000  # characters; nobody gives longer ones to choose something
ENOUGH = 2_000  # calls of one tool, by which all has been seen that will be
SAME = frozenset({"lower", "upper", "casefold", "strip"})  # steps after which a choice is still the same
EQUALITY = frozenset({"==", "!=", "key of"})
HARMLESS = frozenset({"truth", "isinstance", "attribute", "len", "<", "<=", ">", ">="})
WELL: tuple[Ruling, ...] = ("fine", "acceptance")
BADLY: tuple[Ruling, ...] = ("crash", "schema", *REFUSALS)


class SeenComparisons:
    """What marked calls have shown, and which values went well in any call.

    What was given in a call before it was seen may have come out of that call: a cache holds such things. So
    it is no constant, unless the schema itself has it. `before` are those of an earlier sitting.
    """

    def __init__(self, tools: Mapping[str, Described], before: Iterable[Comparisons] = ()) -> None:
        schemas = {name: tool.tool.parameters for name, tool in tools.items()}
        self._told = {name: frozenset(_leaves(schema)) for name, schema in schemas.items()}
        self._names = {name: frozenset(_names(schema)) for name, schema in schemas.items()}
        self._given = set[Constant]()  # to any tool: what one keeps, another may find
        self._calls = dict.fromkeys(tools, 0)
        self._kept = {(each.tool, each.path): _Kept(each) for each in before}

    def add(self, call: Invocation, observations: Sequence[Observation], ruling: Ruling) -> None:
        """Note a call, what its arguments were compared with, and what became of it."""
        self._calls[call.tool] += 1
        if self._calls[call.tool] > ENOUGH or len(call.arguments) > LONGEST_ARGUMENTS:
            return
        leaves = list(islice(_placed(GivenValues.of(call).arguments), MOST_GIVEN))
        self._given.update(form for _, value in leaves for form in _forms(value))
        for observation in observations:
            self._see(call.tool, observation, ruling)
        for path, value in leaves:
            if value != "" and (kept := self._kept_at(call.tool, path)) is not None:
                kept.hear(value, ruling)

    def __iter__(self) -> Iterator[Comparisons]:
        """Those of parameters that were compared with anything."""
        for (tool, path), kept in self._kept.items():
            if (found := kept.comparisons(tool, path)) is not None:
                yield found

    def _see(self, tool: str, observation: Observation, ruling: Ruling) -> None:
        kept = self._kept_at(tool, tuple(step for step in observation.path if isinstance(step, str)))
        if kept is None:
            return
        same = all(name in SAME for name, _ in observation.via)
        if same and observation.operation in EQUALITY:
            kept.see(found := _operands(observation), self._new(tool, kept, found), observation.operation)
        elif ruling in BADLY and not (same and observation.operation in HARMLESS):
            kept.more = True

    def _new(self, tool: str, kept: "_Kept", found: list[Any]) -> list[Constant]:
        """Those that did not come out of arguments, or are no news."""
        told, given = self._told[tool], self._given
        constants = [each for each in found if _is_constant(each)]
        return [each for each in constants if each not in given or each in told or kept.has(each)]

    def _kept_at(self, tool: str, path: tuple[str, ...]) -> "_Kept | None":
        """What is known about a parameter that the schema names, unless there are too many."""
        place = (tool, path)
        if place not in self._kept and (
            len(self._kept) == MOST_PARAMETERS or not self._names[tool].issuperset(path)
        ):
            return None
        return self._kept.setdefault(place, _Kept())


class _Kept:
    """What is known about one parameter."""

    def __init__(self, before: Comparisons | None = None) -> None:
        self._alone = dict.fromkeys(before.alone if before else ())
        self._collections = dict.fromkeys(before.collections if before else ())
        self._well = dict.fromkeys((*before.taken, *before.others_taken) if before else ())
        self._badly = dict.fromkeys((*before.refused, *before.others_refused) if before else ())
        self.more = before.more if before else False

    def has(self, value: Constant) -> bool:
        return value in self._alone or any(value in each for each in self._collections)

    def see(self, found: list[Any], constants: list[Constant], operation: str) -> None:
        if operation != "key of" or len(constants) < len(found):
            self._alone.update(dict.fromkeys(constants[: MOST - len(self._alone)]))
        elif 0 < len(constants) <= MOST and len(self._collections) <= MOST_COLLECTIONS:
            self._collections[tuple(constants)] = None

    def hear(self, value: Constant, ruling: Ruling) -> None:
        heard = self._well if ruling in WELL else self._badly
        if ruling in (*WELL, *BADLY) and len(heard) < ENOUGH:
            heard[value] = None

    def comparisons(self, tool: str, path: tuple[str, ...]) -> Comparisons | None:
        stable = tuple(self._collections) if len(self._collections) <= MOST_COLLECTIONS else ()
        constants = dict.fromkeys([*self._alone, *(value for each in stable for value in each)])
        if not constants:
            return None
        others = [value for value in self._well if constants.keys().isdisjoint(_forms(value))]
        badly = [value for value in self._badly if value not in self._well]
        return Comparisons(
            tool,
            path,
            alone=tuple(self._alone),
            collections=stable,
            taken=tuple(value for value in constants if value in self._well),
            refused=tuple(value for value in badly if value in constants),
            others_taken=tuple(others[:EXAMPLES]),
            others_refused=tuple(value for value in badly if value not in constants)[:EXAMPLES],
            more=self.more,
        )


def _operands(observation: Observation) -> list[Any]:
    """What it was compared with; this comes out of a process that runs the tool, and may be anything."""
    try:
        operand = json.loads(observation.operand)
    except (ValueError, RecursionError):
        return []
    return operand if observation.operation == "key of" and isinstance(operand, list) else [operand]


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) < LONGEST and value == _storable(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST


def _placed(value: Any) -> Iterator[tuple[tuple[str, ...], Constant]]:
    """All texts and whole numbers in arguments, each with where it stands, but for places in lists."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            waiting += [((*path, name), inner) for name, inner in each.items()]
        elif isinstance(each, list):
            waiting += [(path, inner) for inner in each]
        elif isinstance(each, str | int) and not isinstance(each, bool):
            yield path, _storable(each)


def _storable(value: Constant) -> Constant:
    """The value, or something like it where it is large or no proper text."""
    if isinstance(value, str):
        return value[:LONGEST].encode("utf-8", "replace").decode()
    return max(-LARGEST, min(value, LARGEST))


def _leaves(schema: Any) -> Iterator[Constant]:
    return (value for _, value in _placed(schema))


def _names(schema: Any) -> Iterator[str]:
    """The keys of all objects in a schema, those of properties among them."""
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield from each
        if isinstance(each, dict | list):
            waiting += each.values() if isinstance(each, dict) else each


def _forms(value: Constant) -> list[Constant]:
    """The value, and what is easily made of it."""
    if not isinstance(value, str):
        return [value]
    short = value.strip()
    return [value, short, short.lower(), short.upper(), short.casefold()]
