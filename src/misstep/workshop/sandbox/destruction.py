"""Refuses to try tools that look as if they could do harm, where nothing would keep them from it."""

import ast
import functools
import re
import tomllib
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.workshop.conditions import Conditions
from misstep.workshop.sandbox.reached import Unseen, code_reached
from misstep.workshop.sandbox.sandbox import INSTALL, Sandbox

SHOWN = 12  # tools that are named
MEANT = "--sandbox none calls them all the same, if you mean it"
# What nobody mentions without a reason, unless something in it is named or it is called to open a file.
RUNNING = {"eval", "exec", "compile", "__import__"}
MIGHTY = {"os", "posix", "shutil", "open", *RUNNING}
OPENERS = {"io", "codecs", "gzip", "bz2", "lzma", "tokenize"}  # which open what is named first
_WRITING = re.compile(r"[rbtU]*[wax+][rwaxbtU+]*")
_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")


def refuse_destruction(
    tools: Sequence[Described], sandbox: Sandbox, conditions: Conditions, remote: bool = False
) -> None:
    """Raise a `UsageError` that names the tools which had better not be called here, of those that will."""
    if conditions.shelter == "none" or (sandbox.holds and not remote):
        return
    called = [tool for tool in tools if not conditions.only or tool.name in conditions.only]
    found = {tool.name: why for tool in called if (why := looks_destructive(tool))}
    if not found:
        return
    named = [f"  {name}: {why}" for name, why in list(found.items())[:SHOWN]]
    more = [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    reason = "they are on a server that no sandbox reaches" if remote else sandbox.why_not
    hints = [*named, *more, *([] if remote else [INSTALL]), MEANT]
    raise UsageError(f"tools that look destructive are not called without a sandbox: {reason}", *hints)


def looks_destructive(tool: Described) -> str:
    """Why a tool looks as if it could do harm, going by its words and its code; empty if it does not."""
    promises = tool.promises
    if promises.destructive:
        return "it says that it is destructive"
    if promises.read_only:
        return ""
    signs = _signs()
    words = {word.lower() for word in _SPLIT.split(tool.name)}
    if found := sorted(words & signs.names):
        return f"its name says '{found[0]}'"
    if said := signs.descriptions.search(tool.tool.description):
        return f"its description says '{said[0]}'"
    if done := signs.sources.search(tool.source.text if tool.source else ""):
        return f"its code says '{done[0].strip()}'"
    return "" if tool.kind == "mcp" else _harm_reached(tool)


def _harm_reached(tool: Described) -> str:
    """The first thing in all the code that the tool may run which could do harm."""
    try:
        for place in code_reached(tool):
            if done := _harm_in(place.tree):
                return f"code that it may run says '{done}' ({place.where})"
    except (Unseen, RecursionError) as problem:
        return f"what it runs can't be seen: {problem}"
    return ""


def _harm_in(tree: ast.AST) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (_opens_for_writing(node) or _replaces_file(node)):
            return ast.unparse(node)
    opened = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    owners = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    fine = {id(node) for node in (*opened, *owners) if getattr(node, "id", "") not in RUNNING}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in MIGHTY and id(node) not in fine:
            return node.id
    found = _signs().sources.search(ast.unparse(_Wordless().visit(tree)))
    return found[0].strip() if found else ""


def _opens_for_writing(call: ast.Call) -> bool:
    """Whether a file may be opened in another way than for reading."""
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    return name == "open" and any(
        not isinstance(mode, ast.Constant) or bool(_WRITING.fullmatch(str(mode.value)))
        for mode in _modes(call)
    )


def _modes(call: ast.Call) -> list[ast.expr]:
    """The arguments that may say in which way a file is opened: a path's own `open` takes no path first."""
    modes = [each.value for each in call.keywords if each.arg in ("mode", None)]
    base = getattr(call.func, "value", None)
    owner = str(getattr(base, "id", "") or getattr(base, "attr", ""))
    if base is None or owner in OPENERS or owner[:1].isupper():
        return [*modes, *call.args[1:2]]
    return [*modes, *call.args[:2]]


def _replaces_file(call: ast.Call) -> bool:
    """Whether it looks like a path's `replace`: a text's takes more than one argument."""
    return getattr(call.func, "attr", "") == "replace" and len(call.args) + len(call.keywords) == 1


class _Wordless(ast.NodeTransformer):
    """Takes the texts out of code: what they say is not done."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node


class _Signs(NamedTuple):
    """What gives a tool away."""

    names: frozenset[str]
    descriptions: re.Pattern[str]
    sources: re.Pattern[str]


@functools.cache
def _signs() -> _Signs:
    text = resources.files(__package__).joinpath("data/destruction.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    said, done = "|".join(read["descriptions"]), "|".join(read["sources"])
    return _Signs(frozenset(read["names"]), re.compile(said, re.IGNORECASE), re.compile(done))
