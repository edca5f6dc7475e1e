"""Reads out of a function's code which values it compares a parameter with."""

import ast
from collections.abc import Iterator
from typing import Any

import msgspec

from misstep.tooling.lint.code.tables import constants_of, dicts_in, tables_in, values_of
from misstep.tooling.lint.subject import Function, arguments_of

_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_MAYBE = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Compared(msgspec.Struct, frozen=True):
    """Values of a parameter. `known` lead somewhere; `only` are all that are taken, None if that is open."""

    known: tuple[Any, ...] = ()
    only: tuple[Any, ...] | None = None


def compare(function: Function, module: ast.Module | None, name: str) -> Compared:
    """What the code of a function does with a parameter that it leaves as it is; nothing for others."""
    if name not in [each.arg for each in arguments_of(function)] or _is_rebound(function, name):
        return Compared()
    return _Reader(function, module, name).read()


class _Reader:
    """Goes through a function once."""

    def __init__(self, function: Function, module: ast.Module | None, name: str) -> None:
        self._body = function.body
        self._nodes = list(ast.walk(function))
        self._tables = {**tables_in(module), **tables_in(function)}
        self._dicts = dicts_in(module) | dicts_in(function)
        self._name = name

    def read(self) -> Compared:
        known = [value for node in self._nodes for value in self._taken(node)]
        for node in self._always(self._body):
            if (only := self._all_taken(node)) is not None:
                return Compared(_distinct([*known, *only]), _distinct(only))
        return Compared(_distinct(known))

    def _always(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that every call comes to in which it is given."""
        for statement in body:
            yield statement
            if isinstance(statement, ast.If) and not self._asks_for_it(statement.test):
                continue
            if isinstance(statement, ast.If | ast.With | ast.AsyncWith):
                yield from self._always(statement.body)

    def _asks_for_it(self, test: ast.expr) -> bool:
        """`if it:` and `if it is not None:`"""
        is_not = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot)
        return self._is_it(test.left if isinstance(test, ast.Compare) and is_not else test)

    def _taken(self, node: ast.AST) -> list[Any]:
        """Values for which a branch goes on."""
        if isinstance(node, ast.If | ast.IfExp) and not _refuses(node.body):
            return self._tested(node.test) or []
        if isinstance(node, ast.Match) and self._is_it(node.subject):
            cases = [case for case in node.cases if not _refuses(case.body)]
            return [value for case in cases for value in _pattern_values(case.pattern)]
        return []

    def _all_taken(self, node: ast.stmt) -> list[Any] | None:
        """All values with which a call gets past here, if it is a place that lets only some past."""
        if isinstance(node, ast.If) and _refuses(node.body) and isinstance(node.test, ast.Compare):
            return self._members(node.test, ast.NotIn)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            return self._members(node.test, ast.In)
        if isinstance(node, ast.If):
            return self._chain(node)
        if isinstance(node, ast.Match) and self._is_it(node.subject):
            return _match_values(node)
        return self._looked_up_in(node) if isinstance(node, _PLAIN) else None

    def _looked_up_in(self, statement: ast.stmt) -> list[Any] | None:
        inner = list(ast.walk(statement))
        if any(isinstance(each, _MAYBE) for each in inner):
            return None
        tables = [each.value for each in inner if isinstance(each, ast.Subscript) and self._is_it(each.slice)]
        return self._looked_up(tables[0]) if tables else None

    def _tested(self, test: ast.expr) -> list[Any] | None:
        """The values for which a test comes out true; None if it is about something else as well."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            parts = [self._tested(each) for each in test.values]
            return None if None in parts else [value for part in parts for value in part or ()]
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        if isinstance(test.ops[0], ast.Eq):
            sides = [test.left, test.comparators[0]]
            others = [side for side in sides if not self._is_it(side)]
            return constants_of(others) if len(others) == 1 else None
        return self._members(test, ast.In)

    def _members(self, test: ast.Compare, operator: type[ast.cmpop]) -> list[Any] | None:
        if len(test.ops) != 1 or not isinstance(test.ops[0], operator) or not self._is_it(test.left):
            return None
        return self._table(test.comparators[0])

    def _chain(self, node: ast.If) -> list[Any] | None:
        """The values of `if … elif … else: raise`, each branch of which asks for nothing but values."""
        found, last = list[Any](), node
        while True:
            values = self._tested(last.test)
            if values is None or _refuses(last.body):
                return None
            found += values
            if len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
                last = last.orelse[0]
                continue
            return found if _refuses(last.orelse) else None

    def _looked_up(self, table: ast.expr) -> list[Any] | None:
        """The keys of a table in which it is looked up with no second thought."""
        asked = any(isinstance(each, ast.Try) for each in self._nodes) or any(
            isinstance(each, ast.Compare) and self._is_it(each.left) for each in self._nodes
        )
        is_dict = isinstance(table, ast.Dict) or (isinstance(table, ast.Name) and table.id in self._dicts)
        return self._table(table) if is_dict and not asked else None

    def _table(self, node: ast.expr) -> list[Any] | None:
        if isinstance(node, ast.Name):
            return self._tables.get(node.id)
        return values_of(node)

    def _is_it(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self._name


def _match_values(node: ast.Match) -> list[Any] | None:
    """The values of cases, if whatever is none of them is refused."""
    last = node.cases[-1]
    rest = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    if not rest or last.guard is not None or not _refuses(last.body):
        return None
    values = [_pattern_values(case.pattern) for case in node.cases[:-1] if not _refuses(case.body)]
    return [value for each in values for value in each] if all(values) else None


def _pattern_values(pattern: ast.pattern) -> list[Any]:
    patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    return constants_of([each.value for each in patterns if isinstance(each, ast.MatchValue)]) or []


def _refuses(body: list[ast.stmt] | ast.expr) -> bool:
    """Whether a branch comes to nothing but an exception."""
    return isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Raise)


def _is_rebound(function: Function, name: str) -> bool:
    return any(_binds(node, name) for node in _inner(function))


def _inner(function: Function) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
        return node.name == name
    return isinstance(node, ast.arg) and node.arg == name


def _distinct(values: list[Any]) -> tuple[Any, ...]:
    return tuple({(type(value), value): value for value in values}.values())
