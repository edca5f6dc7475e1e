"""Compares the values that a tool accepts, by its code and by its calls, with those its schema offers."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from misstep.core.results.fuzzing import Comparisons, Constant
from misstep.fuzzing.judging.endings import runs_what_it_is_given
from misstep.fuzzing.lint.answers import answers_of, want_of
from misstep.fuzzing.lint.subject import Function, LintSubject, Remark, SchemaPart, args_of

# Methods that change a collection.
_CHANGES = re.compile("add|append|clear|discard|extend|insert|pop|popitem|remove|setdefault|update")


def _tables_in(tree: ast.Module | Function) -> Iterator[tuple[str, list[Any]]]:
    """Names that are assigned a collection of constants once and never changed."""
    changed = _changed(tree)
    for name, value in _assigned(tree):
        if changed.count(name) == 1 and (values := values_of(value)):
            yield name, values


def _assigned(tree: ast.Module | Function) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _changed(tree: ast.AST) -> list[str]:
    """Names that are assigned or modified, once for each time."""
    found = list[str]()
    for node in ast.walk(tree):
        inner = getattr(node, "value", None)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(inner, ast.Name):
            is_set = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
            if is_set or (isinstance(node, ast.Attribute) and _CHANGES.fullmatch(node.attr)):
                found.append(inner.id)
    return found


def values_of(node: ast.expr) -> list[Any] | None:
    """The constants in a collection literal; for a dict, its keys."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"frozenset", "set", "tuple", "list"}:
        return values_of(node.args[0]) if len(node.args) == 1 else None
    if isinstance(node, ast.Dict):
        return constants_of([key for key in node.keys if key is not None]) if None not in node.keys else None
    return constants_of(node.elts) if isinstance(node, ast.Tuple | ast.List | ast.Set) else None


def constants_of(nodes: list[ast.expr]) -> list[Any] | None:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    fit = len(values) == len(nodes) and all(isinstance(each, str | int) for each in values)
    return values if fit else None


_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_MAYBE = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Compared(msgspec.Struct, frozen=True):
    """Values of a parameter: `known` ones have a branch; `only` are all accepted ones, None if open."""

    known: tuple[Any, ...] = ()
    only: tuple[Any, ...] | None = None


class _Reader:
    """Reads the comparisons of one parameter in a function."""

    def __init__(self, function: Function, module: ast.Module | None, name: str) -> None:
        self._body = function.body
        self._nodes = list(ast.walk(function))
        trees = (function,) if module is None else (module, function)
        self._tables = dict(table for tree in trees for table in _tables_in(tree))
        assigned = [each for tree in trees for each in _assigned(tree)]
        self._dicts = {name for name, value in assigned if isinstance(value, ast.Dict)}
        self._name = name

    def read(self) -> Compared:
        known = [value for node in self._nodes for value in self._taken(node)]
        for node in self._always(self._body):
            if (only := self._all_taken(node)) is not None:
                return Compared(_distinct([*known, *only]), _distinct(only))
        return Compared(_distinct(known))

    def _always(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that every call with this parameter executes."""
        for statement in body:
            yield statement
            if isinstance(statement, ast.If):  # `if parameter:` or `if parameter is not None:`
                test = statement.test
                if isinstance(test, ast.Compare) and [type(each) for each in test.ops] == [ast.IsNot]:
                    test = test.left
                if not self._is_it(test):
                    continue
            if isinstance(statement, ast.If | ast.With | ast.AsyncWith):
                yield from self._always(statement.body)

    def _taken(self, node: ast.AST) -> list[Any]:
        """Values for which a branch does not raise."""
        if isinstance(node, ast.If | ast.IfExp) and not _refuses(node.body):
            return self._tested(node.test) or []
        if isinstance(node, ast.Match) and self._is_it(node.subject):
            cases = [case for case in node.cases if not _refuses(case.body)]
            return [value for case in cases for value in _pattern_values(case.pattern)]
        return []

    def _all_taken(self, node: ast.stmt) -> list[Any] | None:
        """The complete set of values that pass this statement, if it rejects all others."""
        if isinstance(node, ast.If) and _refuses(node.body) and isinstance(node.test, ast.Compare):
            return self._members(node.test, ast.NotIn)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            return self._members(node.test, ast.In)
        if isinstance(node, ast.If):
            return self._chain(node)
        if isinstance(node, ast.Match) and self._is_it(node.subject):
            *cases, last = node.cases
            rest = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
            if not rest or last.guard is not None or not _refuses(last.body):
                return None
            values = [_pattern_values(case.pattern) for case in cases if not _refuses(case.body)]
            return [value for each in values for value in each] if all(values) else None
        return self._looked_up(node) if isinstance(node, _PLAIN) else None

    def _looked_up(self, statement: ast.stmt) -> list[Any] | None:
        """The keys of a dict indexed by the parameter, if nothing handles missing keys."""
        inner = list(ast.walk(statement))
        tables = [each.value for each in inner if isinstance(each, ast.Subscript) and self._is_it(each.slice)]
        if not tables or any(isinstance(each, _MAYBE) for each in inner):
            return None
        is_handled = any(
            isinstance(each, ast.Try) or (isinstance(each, ast.Compare) and self._is_it(each.left))
            for each in self._nodes
        )
        table = tables[0]
        is_dict = isinstance(table, ast.Dict) or (isinstance(table, ast.Name) and table.id in self._dicts)
        return self._table(table) if is_dict and not is_handled else None

    def _tested(self, test: ast.expr) -> list[Any] | None:
        """The values for which a test is true; None if it tests something else as well."""
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
        """The values of `if … elif … else: raise`, if every branch tests only values."""
        found, rest = list[Any](), list[ast.stmt]([node])
        while len(rest) == 1 and isinstance(last := rest[0], ast.If):
            values = self._tested(last.test)
            if values is None or _refuses(last.body):
                return None
            found += values
            rest = last.orelse
        return found if _refuses(rest) else None

    def _table(self, node: ast.expr) -> list[Any] | None:
        return self._tables.get(node.id) if isinstance(node, ast.Name) else values_of(node)

    def _is_it(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self._name


def _pattern_values(pattern: ast.pattern) -> list[Any]:
    patterns = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    return constants_of([each.value for each in patterns if isinstance(each, ast.MatchValue)]) or []


def _refuses(body: list[ast.stmt] | ast.expr) -> bool:
    return isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Raise)


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
        return node.name == name
    return isinstance(node, ast.arg) and node.arg == name


def _distinct(values: list[Any]) -> tuple[Any, ...]:
    return tuple({(type(value), value): value for value in values}.values())


MOST_COMPARED = 30  # values of a collection of choices; a larger one is data
ENOUGH_TAKEN = 2  # values with which calls succeeded
ENOUGH_REFUSED = 3  # other values with which all calls failed

# Names of parameters that identify one of many things, instead of being a choice.
_THINGS = re.compile(r"(?i)(?:^|_)(?:ids?|name|key|path|file|filename|title|user|url|email|number)$")
# Words in refusals that are about the environment or about syntax, not about the choice.
_ELSEWHERE = re.compile(
    r"(?i)\bnot found\b|\bnot exist|n't exist|\bErrno\b|\bdenied\b|\balready\b|\bavailable\b|\bunable to\b"
    r"|\bfailed\b|\bcould(?: not|n't)\b|\bconnect|\bnetwork\b|\btime[ds]? ?out\b|\bauthori[sz]|\bcredential"
    r"|\bapi key\b|\bpars(?:e|ing)\b|\b\w*format\b|\bconver(?:t|sion)\b|\bsyntax|ConversionSyntax"
)


def values_seen(subject: LintSubject, part: SchemaPart) -> Compared:
    """The accepted values, as far as calls prove them.

    If one value of a compared collection is offered by the schema, all of them count. Single constants count
    only if calls succeed with these and with no other values.
    """
    found = next((each for each in subject.compared if each.path == part.path), None)
    if found is None or runs_what_it_is_given(subject.described):
        return Compared()
    enough = len(found.taken) >= ENOUGH_TAKEN and len(found.others_refused) >= ENOUGH_REFUSED
    closed = enough and not found.others_taken and not found.more
    known = tuple(dict.fromkeys([*_together(found, part), *(found.taken if closed else ())]))
    if part.choices:
        offered = [each.casefold() if isinstance(each, str) else each for each in part.choices]
        folded = {each: each.casefold() if isinstance(each, str) else each for each in known}
        return Compared(tuple(each for each in known if folded[each] not in offered))
    # Other values may just not exist at the moment, or be written in the wrong format.
    if not closed or _THINGS.search(part.name):
        return Compared(known)
    refused = [each for each in answers_of(subject) if each.values.get(part.path[0]) not in found.taken]
    is_elsewhere = any(_ELSEWHERE.search(each.message) or want_of(each) for each in refused)
    return Compared(known, None if is_elsewhere else known)


def _together(found: Comparisons, part: SchemaPart) -> list[Constant]:
    """Values of collections that contain an accepted (and offered) value, without refused ones."""
    offered = [value for value in found.taken if value in (part.choices or found.taken)]
    small = [each for each in found.collections if len(each) <= MOST_COMPARED]
    shared = [each for each in small if any(one in offered for one in each)]
    return [value for each in shared for value in each if value not in found.refused]


MOST_LISTED = 30  # values that can reasonably be listed
SEEN = ", seen while it was called"


def wrong_choices(subject: LintSubject) -> Iterator[Remark]:
    """Values that the code accepts but the schema hides, or that the schema offers but the code refuses."""
    for part in subject.parts:
        read, seen = read_code(subject, part), values_seen(subject, part)
        if part.choices:
            yield from _hidden_choices(part, read.known)
            only = read.only or part.choices
            if refused := [each for each in part.choices if each is not None and each not in only]:
                message = f"the schema lists {_listed(refused)}, which the code refuses"
                evidence = f"the code accepts {_listed(only)}"
                yield Remark("choices", "ill", part.where, message, evidence, "remove it from the schema")
            yield from _hidden_choices(part, [each for each in seen.known if each not in read.known], SEEN)
        elif part.types <= {"string", "integer", "null"}:
            yield from _hidden(subject, part, read) if read.only else _hidden(subject, part, seen, SEEN)


def taken_values(subject: LintSubject) -> dict[str, tuple[Any, ...]]:
    """All values that the code accepts, for parameters that accept only certain ones."""
    found = {
        each.name: read_code(subject, each).only or values_seen(subject, each).only for each in subject.top
    }
    return {name: only for name, only in found.items() if only}


def read_code(subject: LintSubject, part: SchemaPart) -> Compared:
    """How the function compares a parameter; empty if the parameter is reassigned."""
    function, name = subject.function, part.name
    if function is None or len(part.path) != 1 or name not in [each.arg for each in args_of(function)]:
        return Compared()
    nodes = (node for statement in function.body for node in ast.walk(statement))
    is_bound = any(_binds(node, name) for node in nodes)
    return Compared() if is_bound else _Reader(function, subject.module, name).read()


def _hidden_choices(part: SchemaPart, known: Sequence[Any], how: str = "") -> Iterator[Remark]:
    kinds = {type(each) for each in part.choices}
    hidden = [each for each in known if type(each) in kinds and each != "" and each not in part.choices]
    if hidden:
        message = f"the code accepts {_listed(hidden)}, which the schema does not list"
        advice = "add it to the schema, or remove it from the code"
        evidence = f"the schema has {_listed(part.choices)}{how}"
        yield Remark("choices", "under", part.where, message, evidence, advice)


def _hidden(subject: LintSubject, part: SchemaPart, compared: Compared, how: str = "") -> Iterator[Remark]:
    only, said = [each for each in compared.only or () if each != ""], subject.said
    told = [re.search(rf"(?<!\w){re.escape(str(each))}(?!\w)", said, re.IGNORECASE) for each in only]
    missing = [each for each, found in zip(only, told, strict=True) if not found]
    if not missing or len(only) > MOST_LISTED:
        return
    are = "is" if len(missing) == 1 else "are"
    message = f"accepts only certain values, but {_listed(missing)} {are} not documented"
    advice = "list them as an enum (a Literal in Python)"
    yield Remark("choices", "under", part.where, message, f"the code accepts {_listed(only)}{how}", advice)


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(json.dumps(each, ensure_ascii=False) for each in values)
