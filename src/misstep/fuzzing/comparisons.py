"""Records which constants a tool's code compares its parameters with, and which values it accepts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from misstep.core.results.fuzzing import Comparisons, Constant
from misstep.core.results.trial import REFUSALS, Ruling
from misstep.core.tool import Described, Invocation, Observation
from misstep.fuzzing.judging.echoes import GivenValues

MOST = 50  # constants per parameter
MOST_COLLECTIONS = 4  # collections per parameter; more than that are not constant
MOST_PARAMETERS = 300
MOST_GIVEN = 50  # values per call
EXAMPLES = 5  # of other values
LONGEST = 100  # characters of a constant
LARGEST = 10**12
LONGEST_ARGUMENTS = 10_000  # characters; choices are never that long
ENOUGH = 2_000  # calls per tool that are recorded
SAME = frozenset({"lower", "upper", "casefold", "strip"})  # steps that keep a choice the same
EQUALITY = frozenset({"==", "!=", "key of"})
HARMLESS = frozenset({"truth", "isinstance", "attribute", "len", "<", "<=", ">", ">="})
WELL: tuple[Ruling, ...] = ("fine", "acceptance")
BADLY: tuple[Ruling, ...] = ("crash", "schema", *REFUSALS)


class SeenComparisons:
    """What marked calls have shown, and which values were accepted in any call.

    A value that was passed in an earlier call may come back from a cache or stored state, so it is not taken
    for a constant unless the schema has it. `before` are the comparisons of an earlier session.
    """

    def __init__(self, tools: Mapping[str, Described], before: Iterable[Comparisons] = ()) -> None:
        schemas = {name: tool.tool.parameters for name, tool in tools.items()}
        self._told = {name: {value for _, value in _placed(schema)} for name, schema in schemas.items()}
        self._names = {name: frozenset(_names(schema)) for name, schema in schemas.items()}
        self._given = set[Constant]()  # to any tool, because tools may share state
        self._calls = dict.fromkeys(tools, 0)
        self._kept = {(each.tool, each.path): _Kept(each) for each in before}

    def add(self, call: Invocation, observations: Sequence[Observation], ruling: Ruling) -> None:
        """Record a call, what its arguments were compared with, and how it ended."""
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
        """The comparisons of each parameter that was compared with something."""
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
        """The constants that don't come from arguments, or that were known before."""
        told, given = self._told[tool], self._given
        constants = [each for each in found if _is_constant(each)]
        return [each for each in constants if each not in given or each in told or kept.has(each)]

    def _kept_at(self, tool: str, path: tuple[str, ...]) -> "_Kept | None":
        """The record of a parameter that the schema names, unless there are too many."""
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
    """What it was compared with. Untrusted: this comes from the process that runs the tool."""
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
    """All texts and integers in the arguments, each with its path (without list indexes)."""
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
    """The value, truncated or repaired if it is too large or invalid Unicode."""
    if isinstance(value, str):
        return value[:LONGEST].encode("utf-8", "replace").decode()
    return max(-LARGEST, min(value, LARGEST))


def _names(schema: Any) -> Iterator[str]:
    """The keys of all objects in a schema, including property names."""
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield from each
        if isinstance(each, dict | list):
            waiting += each.values() if isinstance(each, dict) else each


def _forms(value: Constant) -> list[Constant]:
    """The value and its simple variants, such as lower case."""
    if not isinstance(value, str):
        return [value]
    short = value.strip()
    return [value, short, short.lower(), short.upper(), short.casefold()]
