"""The code that a tool may run, followed from its own function through all code of the user's own.

In doubt it is too much: whatever has a name that is mentioned on the way counts as reached.
"""

import ast
import os
from collections import defaultdict
from collections.abc import Iterator

import msgspec

from misstep.core.tool import Described, Source
from misstep.workshop.sandbox.modules import Module, own_imports, read_module

MOST_FILES = 200
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PLAIN = ("staticmethod", "classmethod", "property")
# After any of these nobody can tell what is called.
BLIND = {"getattr", "globals", "locals", "vars", "__dict__", "__getattribute__", "attrgetter", "methodcaller"}


class Unseen(Exception):
    """Some of the code can't be looked at."""


class Place(msgspec.Struct, frozen=True):
    """A piece of code that may be run, with other names put back to what they were imported as."""

    where: str
    tree: ast.AST


def code_reached(tool: Described) -> Iterator[Place]:
    """All code of the user's own that a call may run. Raises `Unseen`."""
    if tool.source is None:
        raise Unseen("there is no source of it")
    return _Survey(tool.source, tool.kind == "function").places()


class _Survey:
    """Follows names from one function. `alone` if the methods beside it are tools, or nobody's."""

    def __init__(self, source: Source, alone: bool) -> None:
        self._source = source
        self._alone = alone
        self._definitions = defaultdict[str, list[tuple[Module, ast.AST]]](list)
        self._modules = [self._load(os.path.realpath(source.file))]
        self._spread()
        self._waiting = list[tuple[Module, ast.AST]]()
        self._known = set[int]()
        self._mentioned = set[str]()

    def places(self) -> Iterator[Place]:
        self._begin()
        while self._waiting:
            module, node = self._waiting.pop()
            tree = module.restored(node)
            yield Place(f"{os.path.basename(module.file)}:{getattr(node, 'lineno', 1)}", tree)
            if mentioned := _mentioned(tree):
                for name in mentioned - self._mentioned:
                    self._mention(name)
            else:
                self._take_all()

    def _load(self, file: str) -> Module:
        module = read_module(file)
        if module is None:
            raise Unseen(f"{file} can't be read")
        for name, node in _definitions(module.tree):
            self._definitions[name].append((module, node))
        return module

    def _spread(self) -> None:
        """Read all modules that lead on from the first."""
        files = {self._modules[0].file}
        for module in self._modules:  # which grows meanwhile
            for file in own_imports(module):
                if file not in files:
                    files.add(file)
                    if len(files) > MOST_FILES:
                        raise Unseen(f"it is in more than {MOST_FILES} files")
                    self._modules.append(self._load(file))

    def _begin(self) -> None:
        """Start with the function, with the class around it, and with whatever is made of it.

        Imports of everything are reached as well: what is meant by a name can't be told after them.
        """
        for each in self._modules:
            for node in ast.walk(each.tree):
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    self._take(each, node)
        module, line = self._modules[0], self._source.line
        starts = [node for node in ast.walk(module.tree) if _first_line(node) == line]
        around = [node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
        if not starts:  # a function without a name
            starts = [node for node in module.tree.body if node.lineno <= line <= (node.end_lineno or line)]
        for node in starts or [module.tree]:
            self._reach(module, node)
            for outer in (each for each in around if node in each.body):
                self._reach(module, outer) if self._alone else self._take(module, outer)
            if isinstance(node, FUNCTIONS):
                for each in self._modules:
                    for call in _calls_with(each.tree, node.name):
                        self._take(each, call)

    def _mention(self, name: str) -> None:
        self._mentioned.add(name)
        for module, node in self._definitions.get(name, ()):
            self._reach(module, node)

    def _reach(self, module: Module, node: ast.AST) -> None:
        """Of a class only what may run without being named; other methods are reached by their names."""
        if not isinstance(node, ast.ClassDef):
            self._take(module, node)
            return
        for each in [*node.bases, *node.keywords, *node.decorator_list, *node.body]:
            if not isinstance(each, FUNCTIONS) or each.name.startswith("__") or _is_hooked(each):
                self._take(module, each)

    def _take(self, module: Module, node: ast.AST) -> None:
        if id(node) not in self._known:
            self._known.add(id(node))
            self._waiting.append((module, node))

    def _take_all(self) -> None:
        for module in self._modules:
            self._take(module, module.tree)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """All that gets a name anywhere, with what gets it."""
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For) else node.value
            for target in (each for outer in targets for each in ast.walk(outer)):
                if value is not None and isinstance(target, ast.Name | ast.Attribute):
                    yield target.id if isinstance(target, ast.Name) else target.attr, value


def _is_hooked(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether somebody else gets to know of a method, such as Pydantic of a validator."""
    return any(getattr(each, "id", "") not in PLAIN for each in method.decorator_list)


def _first_line(node: ast.AST) -> int:
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return 0
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _calls_with(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    """Calls that are given the function: what they make of it is called in its place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = [*node.args, *(each.value for each in node.keywords)]
            if any(name in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in given):
                yield node


def _mentioned(tree: ast.AST) -> set[str]:
    """The names in a piece of code; none at all if others may be made up in it."""
    names = {""}
    plain = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        name = getattr(node, "id", "") or getattr(node, "attr", "")
        if name in BLIND:
            said = _said(plain.get(id(node))) if name == "getattr" else ""
            if not said:
                return set()
            name = said
        names.add(name)
    return names


def _said(call: ast.Call | None) -> str:
    """The attribute that is asked for in so many words."""
    second = call.args[1] if call and len(call.args) > 1 else None
    return second.value if isinstance(second, ast.Constant) and isinstance(second.value, str) else ""
