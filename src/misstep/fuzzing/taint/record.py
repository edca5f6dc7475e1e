"""Records what code does with marked values, and reads from its source what it is about to do with one.

A container asks only for a value's hash, and `len` returns a plain number, so the rest has to be read from
the calling line. Nothing is evaluated that could run code: only names, constants, and attributes that can be
found without calling anything.
"""

import ast
import builtins
import dis
import inspect
import json
import linecache
import math
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any, NamedTuple

from misstep.core.tool import Observation, Path
from misstep.schemas.source import parse_module

MOST = 400  # observations per call
MOST_AT_ONE_PLACE = 24  # per line of code and operation
LONGEST_TEXT = 200
LONGEST_LIST = 40
LONGEST_WAY = 12  # steps from an argument to a value derived from it
LARGEST = 10**60

Step = tuple[str, str]

_HERE = __name__.rpartition(".")[0]


class ValueOrigin(NamedTuple):
    """Where a marked value comes from: its path in the arguments, and the steps from there."""

    record: "ObservationLog"
    path: Path
    via: tuple[Step, ...] = ()

    def step(self, name: str, *operands: Any) -> "ValueOrigin | None":
        """The origin of a derived value; None if it is too many steps away."""
        if len(self.via) >= LONGEST_WAY or self.record.closed:
            return None
        return ValueOrigin(self.record, self.path, (*self.via, (name, _as_list(operands))))

    def below(self, part: str | int) -> "ValueOrigin | None":
        if self.via:
            return self.step("at", part)
        return ValueOrigin(self.record, (*self.path, part))

    def note(self, operation: str, operand: Any = None, outcome: bool | None = None) -> None:
        self.record.note(self, operation, operand, outcome)


class ObservationLog:
    """The observations of one call, in order and without duplicates."""

    def __init__(self) -> None:
        self.closed = False
        self._noted: dict[Observation, None] = {}
        self._places: dict[tuple[object, ...], int] = {}

    @property
    def observations(self) -> tuple[Observation, ...]:
        return tuple(self._noted)

    def note(self, origin: ValueOrigin, operation: str, operand: Any, outcome: bool | None) -> None:
        if self.closed or len(self._noted) >= MOST:
            return
        frame = calling()
        place = (frame.f_code.co_filename, frame.f_lineno, operation) if frame else (operation,)
        heard = self._places.get(place, 0)
        if heard >= MOST_AT_ONE_PLACE:  # so that a loop does not use up the limit
            return
        observation = Observation(origin.path, operation, as_json(operand), outcome, origin.via)
        if observation not in self._noted:
            self._noted[observation] = None
            self._places[place] = heard + 1


def calling() -> FrameType | None:
    """The frame of the code that uses a marked value: the innermost one outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame and str(frame.f_globals.get("__name__", "")).startswith(_HERE):
        frame = frame.f_back
    return frame


def as_json(value: Any) -> str:
    """An operand as JSON; long values are truncated, and what JSON cannot represent becomes null."""
    return json.dumps(_bounded(value, 3))


def _as_list(operands: tuple[Any, ...]) -> str:
    """The operands as a JSON list, with a fast path for integers, which are the most frequent."""
    if all([type(operand) is int and -LARGEST < operand < LARGEST for operand in operands]):
        return str(list(operands))
    return as_json(list(operands))


def _bounded(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return str.__getitem__(value, slice(LONGEST_TEXT))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value) if -LARGEST < int.__int__(value) < LARGEST else None
    if isinstance(value, float):
        return float.__float__(value) if math.isfinite(float.__float__(value)) else None
    if isinstance(value, bytes):
        return bytes.decode(value, "latin-1")[:LONGEST_TEXT]
    return _bounded_container(value, depth - 1) if depth else None


def _bounded_container(value: Any, depth: int) -> Any:
    if isinstance(value, list | tuple):
        kind: Any = list if isinstance(value, list) else tuple
        items = [item for _, item in zip(range(LONGEST_LIST), kind.__iter__(value), strict=False)]
        return [_bounded(item, depth) for item in items]
    if isinstance(value, set | frozenset):
        kind_of_set: Any = set if isinstance(value, set) else frozenset
        items = [_bounded(item, depth) for item in kind_of_set.__iter__(value)]
        return sorted(items, key=lambda item: (type(item).__name__, json.dumps(item)))[:LONGEST_LIST]
    if isinstance(value, dict):
        pairs = [(key, dict.__getitem__(value, key)) for key in list(dict.keys(value))[:LONGEST_LIST]]
        return {_bounded(key, 1): _bounded(item, depth) for key, item in pairs if isinstance(key, str)}
    return None


UNKNOWN: Any = object()
LARGEST_FILE = 30_000  # lines

_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LOOKING_UP = {"get", "pop", "setdefault", "__getitem__", "__contains__"}

Span = tuple[int | None, int | None, int | None, int | None]


class ExpressionUse(NamedTuple):
    """An expression, or an assignment target, that is being evaluated."""

    node: ast.AST
    parent: ast.AST | None
    frame: FrameType


def current_use() -> ExpressionUse | None:
    """What the calling code is evaluating now, if its source is available."""
    frame = calling()
    if frame is None or frame.f_lasti < 0:
        return None
    nodes, parents = _source(frame.f_code.co_filename)
    node = nodes.get(_positions(frame.f_code)[frame.f_lasti // 2]) if nodes else None
    return ExpressionUse(node, parents.get(node), frame) if node else None


def current_instruction() -> tuple[str, int]:
    """The name and argument of the calling code's current instruction."""
    frame = calling()
    if frame is None or frame.f_lasti < 0:
        return "", 0
    code = frame.f_code.co_code
    return dis.opname[code[frame.f_lasti]], code[frame.f_lasti + 1]


def keys_in_question(use: ExpressionUse) -> list[Any] | None:
    """The keys or members of the container in which something is being looked up by hash."""
    match use.node:
        case ast.Subscript(value=container):
            return _keys(container, use.frame)
        case ast.Call(func=ast.Attribute(value=container, attr=name)) if name in _LOOKING_UP:
            return _keys(container, use.frame)
        case ast.Compare(ops=ops, comparators=comparators):
            for op, container in zip(ops, comparators, strict=True):
                if isinstance(op, ast.In | ast.NotIn):
                    return _keys(container, use.frame)
    return None


def lengths_in_question(use: ExpressionUse) -> Iterator[tuple[str, int]]:
    """The comparisons that the requested length is about to be used in: operator and bound."""
    if not (isinstance(use.node, ast.Call) and isinstance(use.parent, ast.Compare)):
        return
    sides = [use.parent.left, *use.parent.comparators]
    for left, op, right in zip(sides, use.parent.ops, sides[1:], strict=False):
        sign = _SIGNS.get(type(op))
        other = right if left is use.node else left if right is use.node else None
        bound = value_of(other, use.frame) if other else UNKNOWN
        if sign and isinstance(bound, int):
            yield (sign if left is use.node else MIRRORED[sign]), bound


def shape_in_question(use: ExpressionUse) -> tuple[list[str], int | None]:
    """The keys and the number of items that a `case` pattern requires."""
    match use.node:
        case ast.MatchMapping(keys=keys):
            names = [value_of(key, use.frame) for key in keys]
            return [name for name in names if isinstance(name, str)], None
        case ast.MatchSequence(patterns=patterns):
            return [], len([part for part in patterns if not isinstance(part, ast.MatchStar)])
    return [], None


def names_called(use: ExpressionUse) -> set[str]:
    """The names in the expression, or in the value that is being unpacked."""
    node = use.node
    if isinstance(use.parent, ast.Assign) and node in use.parent.targets:
        node = use.parent.value
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name | ast.Attribute):
        return set()
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def name_called(use: ExpressionUse) -> str:
    """The name of the function being called, without anything before its last dot."""
    match use.node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def values_mentioned(use: ExpressionUse) -> list[Any]:
    names = [part for part in ast.walk(use.node) if isinstance(part, ast.Name)]
    return [value_of(name, use.frame) for name in names]


def value_of(node: ast.AST, frame: FrameType) -> Any:
    """The value of an expression, or UNKNOWN if code would have to run."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            for names in (frame.f_locals, frame.f_globals, vars(builtins)):
                if name in names:
                    return names[name]
        case ast.Attribute(value=owner, attr=name):
            return _attribute(value_of(owner, frame), name)
        case ast.Set(elts=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            values = [value_of(item, frame) for item in items]
            return UNKNOWN if any(value is UNKNOWN for value in values) else values
    return UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    if owner is UNKNOWN:
        return UNKNOWN
    try:
        found = inspect.getattr_static(owner, name, UNKNOWN)
        return found.__get__(owner) if isinstance(found, MemberDescriptorType) else found
    except Exception:  # an empty slot, or an owner that fails on access
        return UNKNOWN


def _keys(container: ast.AST, frame: FrameType) -> list[Any] | None:
    match container:
        case ast.Dict(keys=keys):
            values = [value_of(key, frame) for key in keys if key is not None]
            return [value for value in values if value is not UNKNOWN]
        case ast.Call(func=ast.Attribute(value=owner, attr="keys")):
            return _keys(owner, frame)
    found = value_of(container, frame)
    kinds: tuple[Any, ...] = (dict, set, frozenset, list, tuple)
    for kind in kinds:
        if isinstance(found, kind):
            keys = list(kind.__iter__(found))
            return sorted(keys, key=as_json) if kind in (set, frozenset) else keys
    return None


@lru_cache(maxsize=128)
def _source(file: str) -> tuple[dict[Span, ast.AST], dict[ast.AST, ast.AST]]:
    """The expressions of a file by position, and the parent of each node; empty if it can't be read."""
    lines = linecache.getlines(file)
    tree = parse_module("".join(lines)) if 0 < len(lines) < LARGEST_FILE else None
    nodes: dict[Span, ast.AST] = {}
    parents: dict[ast.AST, ast.AST] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.expr | ast.pattern):
            nodes[node.lineno, node.end_lineno, node.col_offset, node.end_col_offset] = node
        parents.update((child, node) for child in ast.iter_child_nodes(node))
    return nodes, parents


@lru_cache(maxsize=512)
def _positions(code: CodeType) -> list[Span]:
    return list(code.co_positions())
