"""Reads collections of constants out of code."""

import ast
from typing import Any

from misstep.tooling.lint.subject import Function

_CHANGES = frozenset(
    (
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "setdefault",
        "update",
    )
)


def tables_in(tree: ast.Module | Function | None) -> dict[str, list[Any]]:
    """Names that stand for one collection of constants from first to last."""
    if tree is None:
        return {}
    nodes = list(ast.walk(tree))
    changed = _changed(nodes)
    found = dict[str, list[Any]]()
    for node in tree.body:
        target, value = _assigned(node)
        values = values_of(value) if value is not None else None
        if target and values:
            found[target] = values
    return {name: values for name, values in found.items() if changed.count(name) == 1}


def dicts_in(tree: ast.Module | Function | None) -> frozenset[str]:
    """Names that a dict is given to, of which the values of other collections are no keys."""
    given = [_assigned(node) for node in tree.body] if tree is not None else []
    return frozenset(name for name, value in given if isinstance(value, ast.Dict))


def _assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _changed(nodes: list[ast.AST]) -> list[str]:
    """Names as often as they are given a value, or what they stand for is changed."""
    found = list[str]()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        inner = getattr(node, "value", None)
        if not isinstance(inner, ast.Name):
            continue
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found.append(inner.id)
        if isinstance(node, ast.Attribute) and node.attr in _CHANGES:
            found.append(inner.id)
    return found


def values_of(node: ast.expr) -> list[Any] | None:
    """The constants in a display of them; the keys of a dict."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"frozenset", "set", "tuple", "list"}:
        return values_of(node.args[0]) if len(node.args) == 1 else None
    if isinstance(node, ast.Dict):
        return constants_of([key for key in node.keys if key is not None]) if None not in node.keys else None
    return constants_of(node.elts) if isinstance(node, ast.Tuple | ast.List | ast.Set) else None


def constants_of(nodes: list[ast.expr]) -> list[Any] | None:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    fit = len(values) == len(nodes) and all(isinstance(each, str | int) for each in values)
    return values if fit else None
