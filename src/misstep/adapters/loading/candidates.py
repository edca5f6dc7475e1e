"""Lists what in a Python file could be an agent, an MCP server or a tool, without importing the file."""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from misstep.adapters.loading.recognition import WORDS_FOR_A_REQUEST
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.errors import UsageError
from misstep.schemas.source import parse_module

CandidateKind: TypeAlias = Literal["agent", "server", "tool"]
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

KINDS = {"agent": ("agent",), "tool": ("tool", "server")}  # what is offered for what is wanted
LARGEST = 1 << 20  # bytes of a file that is read
MOST_LISTED = 8
LONGEST_LINE = 78
TIED = ("langchain",)  # frameworks whose agents can't be given other tools, only be built with them

_AGENT = re.compile(
    r"\w*Agent|create_\w*agent|initialize_agent|AgentExecutor|AgentWorkflow|Crew|\w+GroupChat|Swarm"
)
_AGENT_NAMES = re.compile(r"agent|assistant|crew|executor|graph|workflow")
_SERVER = re.compile(r"(mcp|fastmcp)(\.\w+)*\.(FastMCP|MCPServer|Server)")
_TOOL = re.compile(r"\w*(Tool|Toolkit|ToolSpec|Toolset)")
_TOOLS = re.compile(r"((make|get|build|create|load|all|my)_)*(tools|toolset|toolkit)")
_TOOL_DECORATORS = ("tool", "function_tool", "ai_function")
_HARMLESS = ("cache", "lru_cache", "wraps", "staticmethod", "traceable", "observe")  # decorators of a tool


class FileCandidate(msgspec.Struct, frozen=True):
    """Something in a file that may be what the user means."""

    name: str
    kind: CandidateKind
    line: int
    what: str
    framework: str = ""  # its name in the registry
    tied: bool = False  # usable only through a function that builds it with given tools

    def __str__(self) -> str:
        return f"{self.name} ({self.what}, line {self.line})"


def candidates_in(path: Path) -> list[FileCandidate]:
    """The candidates in a file, by line. Raises `UsageError` if it can't be read or parsed."""
    try:
        with open(path, "rb") as file:
            code = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=str(path)) from None
    if len(code) > LARGEST:
        raise UsageError(f"is larger than {LARGEST >> 20} MB", where=str(path))
    tree = parse_module(code)
    if tree is None:
        raise _not_python(code, path)
    return _Module(tree, path.parent).candidates()


def _not_python(code: bytes, path: Path) -> UsageError:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return UsageError(f"is not valid Python: {error.msg}", where=f"{path}:{error.lineno}")
    except (ValueError, RecursionError, MemoryError, SystemError):
        pass
    return UsageError("is not valid Python", where=str(path))


def nameless(spec: str, kind: Literal["agent", "tool"], expected: Sequence[str]) -> UsageError:
    """The error for a file without a name after it, which lists what the file has, or what is `expected`."""
    whole = spec.rstrip(":")
    framework, _, rest = whole.rpartition(":")
    path = rest if framework in FRAMEWORKS else whole
    if not Path(path).is_file():
        return UsageError("no such file", where=path)
    try:
        found = [each for each in candidates_in(Path(path)) if each.kind in KINDS[kind]]
    except UsageError as error:
        return error
    message = f"'{spec}' does not name {'an agent' if kind == 'agent' else 'a tool'}"
    if not found:
        return UsageError(message, f"none was found in {path}", *expected)
    best = preferred(found)
    example = f"'mcp:python {path}'" if best.kind == "server" else shlex.quote(f"{whole}:{best.name}")
    flag = "--agent " if kind == "agent" else ""
    return UsageError(message, *_listed(found, path), f"for example: {flag}{example}")


def _listed(found: Sequence[FileCandidate], path: str) -> list[str]:
    """On one line if that is short, else on a line each."""
    line = f"in {path}: {', '.join(map(str, found))}"
    if len(line) <= LONGEST_LINE:
        return [line]
    more = [f"  and {len(found) - MOST_LISTED} more"] if len(found) > MOST_LISTED else []
    return [f"in {path}:", *(f"  {each}" for each in found[:MOST_LISTED]), *more]


def preferred(found: Sequence[FileCandidate]) -> FileCandidate:
    """The most likely of some candidates: one that can be used as it is, and has a usual name."""
    usual = ("agent", "make_agent", "tools")
    return min(found, key=lambda each: (each.tied, each.kind == "server", each.name not in usual, each.line))


class _Module:
    """The names in a module and where they come from."""

    def __init__(self, tree: ast.Module, folder: Path) -> None:
        self._folder = folder
        self._body = list(_statements(tree.body))
        self._imports = dict(self._imported())
        self._made = dict[str, str]()  # names of objects, and what was called to make them

    def candidates(self) -> list[FileCandidate]:
        found = dict[str, FileCandidate]()  # the last definition of a name counts
        for statement in self._body:
            for candidate in self._of(statement):
                found.pop(candidate.name, None)
                found[candidate.name] = candidate
        return sorted(found.values(), key=lambda each: each.line)

    def _imported(self) -> Iterator[tuple[str, str]]:
        for node in self._body:
            if isinstance(node, ast.Import):
                for name in node.names:
                    first = name.name.partition(".")[0]
                    yield name.asname or first, name.name if name.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for name in node.names:
                    yield name.asname or name.name, f"{node.module}.{name.name}"

    def _of(self, node: ast.stmt) -> Iterator[FileCandidate]:
        if isinstance(node, _Function):
            yield from self._function(node)
        elif isinstance(node, ast.ClassDef):
            yield from self._class(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    yield from self._assigned(target.id, node.value, node.lineno)

    def _assigned(self, name: str, value: ast.expr, line: int) -> Iterator[FileCandidate]:
        if isinstance(value, ast.List | ast.Tuple | ast.Dict) and _TOOLS.fullmatch(name):
            yield FileCandidate(name, "tool", line, "list of tools")
            return
        origin = self._called(value)
        if not origin:
            return
        self._made[name] = origin
        if _SERVER.fullmatch(origin) and not self._is_own(origin):
            yield FileCandidate(name, "server", line, "MCP server", "mcp")
        elif agent := self._framework_agent(origin):
            framework, noun = agent
            what = f"{FRAMEWORKS[framework].title} {noun}"
            yield FileCandidate(name, "agent", line, what, framework, framework in TIED)
        elif any(_TOOL.fullmatch(part) for part in origin.split(".")[-2:]) and "." in origin:
            yield self._tool(name, origin, line)

    def _tool(self, name: str, origin: str, line: int) -> FileCandidate:
        framework = self._framework(origin)
        what = f"{FRAMEWORKS[framework].title} tool" if framework else "tool"
        return FileCandidate(name, "tool", line, what, framework)

    def _is_method(self, value: ast.expr) -> bool:
        """Whether it belongs to an object and not to a module: `@server.tool()`, `@agent.tool`."""
        return (
            isinstance(value, ast.Attribute)
            and isinstance(value.value, ast.Name)
            and value.value.id not in self._imports
        )

    def _function(self, node: _Function) -> Iterator[FileCandidate]:
        if node.name.startswith(("_", "test_")) or node.name == "main":
            return
        for each in node.decorator_list:
            decorator = each.func if isinstance(each, ast.Call) else each
            origin = self._origin(decorator)
            name = origin.rpartition(".")[2]
            if name in _TOOL_DECORATORS and not self._is_method(decorator):
                yield self._tool(node.name, origin, node.lineno)
            if name not in _HARMLESS:
                return  # a tool, or a command, a route, a fixture, a tool of a server
        if what := self._as_agent(node):
            framework = self._returned(node)
            tied = what == "function" and framework in TIED and not _required(node)
            yield FileCandidate(node.name, "agent", node.lineno, what, framework, tied)
        elif _TOOLS.fullmatch(node.name) and not _required(node):
            yield FileCandidate(node.name, "tool", node.lineno, "function that makes tools")
        elif ast.get_docstring(node) and _is_typed(node):
            yield FileCandidate(node.name, "tool", node.lineno, "function")

    def _as_agent(self, node: _Function) -> str:
        """What kind of agent a function is; empty if it takes no tools and returns no agent."""
        names, required = [each.arg for each in _positional(node)], _required(node)
        sounds_right = bool(_AGENT_NAMES.search(node.name))
        if len(names) >= 2 and set(required) <= set(names[:2]):
            request, tools = names[:2] if names[0] != "tools" else (names[1], names[0])
            if "tool" in tools and (sounds_right or any(word in request for word in WORDS_FOR_A_REQUEST)):
                return "function"
        if required == ["tools"] and isinstance(node, ast.FunctionDef):
            makes = sounds_right or self._returned(node) or _returns_function(node)
            return "function of the tools" if makes else ""
        return "function" if not required and self._returned(node) else ""

    def _returned(self, node: _Function) -> str:
        """The framework whose agent a function returns, or an empty text."""
        made = dict[str, str]()
        for inner in _statements(node.body):
            if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
                made[inner.targets[0].id] = self._called(inner.value)
            elif isinstance(inner, ast.Return) and inner.value:
                value = inner.value
                origin = made.get(value.id, "") if isinstance(value, ast.Name) else self._called(value)
                if agent := self._framework_agent(origin):
                    return agent[0]
        return ""

    def _class(self, node: ast.ClassDef) -> Iterator[FileCandidate]:
        """A class with a name and `async def run(self, assignment, toolbox)`, which is our own protocol."""
        if any(self._origin(base).rpartition(".")[2] in ("Protocol", "ABC") for base in node.bases):
            return
        methods = {each.name: each for each in node.body if isinstance(each, _Function)}
        run = methods.get("run")
        makes = len(_required(methods["__init__"])) == 1 if "__init__" in methods else True
        stored = [each for each in ast.walk(node) if isinstance(getattr(each, "ctx", None), ast.Store)]
        has_name = any("name" in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in stored)
        if has_name and makes and isinstance(run, ast.AsyncFunctionDef) and len(_required(run)) == 3:
            yield FileCandidate(node.name, "agent", node.lineno, "class")

    def _called(self, value: ast.expr) -> str:
        """Where the called function or class comes from, such as `crewai.Crew`; empty for anything else."""
        if isinstance(value, ast.Await):
            value = value.value
        return self._origin(value.func) if isinstance(value, ast.Call) else ""

    def _origin(self, value: ast.expr) -> str:
        if isinstance(value, ast.Name):
            return self._imports.get(value.id, value.id)
        if isinstance(value, ast.Attribute):
            if isinstance(value.value, ast.Name) and value.value.id in self._made:
                return f"{self._made[value.value.id]}.{value.attr}"
            before = self._origin(value.value)
            return f"{before}.{value.attr}" if before else ""
        if isinstance(value, ast.Call | ast.Subscript):  # `Graph(…).compile`, `Agent[Deps]`
            return self._origin(value.func if isinstance(value, ast.Call) else value.value)
        return ""

    def _framework_agent(self, origin: str) -> tuple[str, str] | None:
        """The framework and kind of the agent that a call makes."""
        framework, parts = self._framework(origin), origin.split(".")
        if not framework:
            return None
        if parts[-1] == "compile" and parts[-2].endswith("Graph"):
            return framework, "graph"
        # Alternative constructors: `ReActAgent.from_tools`.
        made = next((part for part in parts[-2:] if _AGENT.fullmatch(part)), "")
        noun = {"Crew": "crew", "AgentWorkflow": "workflow"}.get(made, "agent")
        return (framework, noun) if made else None

    def _framework(self, origin: str) -> str:
        """The framework that a dotted name belongs to; empty if it is none, or a module of the user's own."""
        for framework in FRAMEWORKS.values():
            if any(f"{origin}.".startswith(f"{package}.") for package in framework.packages):
                return "" if self._is_own(origin) else framework.word
        return ""

    def _is_own(self, origin: str) -> bool:
        """Whether a dotted name starts with a module next to this one, which hides installed packages."""
        first = origin.partition(".")[0]
        return any((self._folder / name).exists() for name in (f"{first}.py", f"{first}/__init__.py"))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or function, also those under `if`, `try` and `with`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.AsyncWith):
            if isinstance(node, ast.If) and _is_main(node.test):
                continue
            yield from _statements(node.body)
            yield from _statements(getattr(node, "orelse", ()))
            for handler in getattr(node, "handlers", ()):
                yield from _statements(handler.body)


def _is_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`: names there exist only in a script."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _positional(node: _Function) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args]


def _required(node: _Function) -> list[str]:
    """The names of parameters without a default, keywords included."""
    names = [each.arg for each in _positional(node)]
    optional = len(node.args.defaults)
    keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [*names[: len(names) - optional], *(each.arg for each, default in keywords if default is None)]


def _returns_function(node: _Function) -> bool:
    inner = list(_statements(node.body))
    defined = {each.name for each in inner if isinstance(each, _Function)}
    returned = [each.value for each in inner if isinstance(each, ast.Return)]
    return any(
        isinstance(each, ast.Lambda) or (isinstance(each, ast.Name) and each.id in defined)
        for each in returned
    )


def _is_typed(node: _Function) -> bool:
    """Whether all parameters have types; without parameters, the result has to have one."""
    parameters = [*_positional(node), *node.args.kwonlyargs]
    return all(each.annotation for each in parameters) and bool(parameters or node.returns)
