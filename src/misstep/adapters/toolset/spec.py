"""Interprets the spec of `--tools`."""

import inspect
import re
from typing import Any

from misstep.adapters.loading.candidates import nameless
from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.loading.source import blaming, load_object, settled, stdout_to_stderr
from misstep.adapters.mcp.entries import McpServer, server_of
from misstep.adapters.mcp.packages import installed
from misstep.adapters.mcp.tools import tools_of_servers
from misstep.adapters.toolset.collecting import (
    collect,
    expected,
    server_names_in,
    servers_in_file,
    tools_in_file,
)
from misstep.adapters.toolset.found import FoundTool, admitted, usable
from misstep.core.agent import Tool
from misstep.core.tool import Described
from misstep.errors import UsageError

MCP = "mcp:"
CALLED = "()"  # after a name: use the result of calling it
# Names and return types of functions that make tools. A tool itself is never called.
_MAKER = re.compile(r"((make|get|build|create|load|all|my)_)*(tools|toolset|toolkit)")
_MADE = re.compile(r"\b\w*(Tool|Tools|Toolset|ToolSet|Toolkit|ToolKit|ToolSpec|Callable)\b")
_UNCLEAR = re.compile(
    r"(\w+\.)*(list|List|tuple|Tuple|dict|Dict|Sequence|Iterable|Any|object)"
    r"(\[.*\b(Any|dict|Dict|object)\b.*\])?"
)


def tools_from(spec: str) -> list[Tool]:
    """The tools of a spec, with complete schemas; they are never called.

    `file.py:name` and `package.module:name` mean a function, a tool of a known framework, a list, tuple or
    dict of those, a toolkit, or a function that makes any of them; `name()` makes the latter explicit.
    `mcp:COMMAND` and `mcp:https://…` mean a server, `mcp.json` several servers, `mcp.json:NAME` one of them,
    `tools.json` a list of definitions in the format of OpenAI, Anthropic or MCP. Raises `UsageError` if
    something is wrong.
    """
    return admitted(find(spec), spec)


def read_tools(
    spec: str, skipped: list[str] | None = None, notes: list[str] | None = None, beside: bool = False
) -> list[Described]:
    """The same tools with everything known about them, including names that no model accepts.

    If `skipped` is given, unreadable tools are reported in it, unless no other is left. If `notes` is given,
    other oddities are added to it, and a server may have no tools at all. With `beside`, what servers offer
    besides tools is included.
    """
    found = find(spec, notes, beside)
    if not found and notes is not None and servers_meant(spec) is not None:
        return []
    return [tool for tool, _ in usable(found, spec, skipped, notes)]


def file_of(spec: str) -> str:
    """The file of a spec; empty if it means a module or server."""
    if spec.startswith(MCP):
        return ""
    path = spec if spec.endswith(".json") else spec.rpartition(":")[0]
    return path if path.endswith((".json", ".py")) else ""


def refuse_nameless(spec: str) -> None:
    """Raise a `UsageError` that lists the tools of a file if the spec has no name after it."""
    if not spec.startswith(MCP) and spec.rstrip(":").endswith(".py"):
        raise nameless(spec, "tool", expected())


def find(spec: str, notes: list[str] | None = None, beside: bool = False) -> list[FoundTool]:
    if (servers := servers_to_start(spec)) is not None:
        return tools_of_servers(servers, notes=notes, beside=beside)
    if spec.endswith(".json"):
        return tools_in_file(spec)
    refuse_nameless(spec)
    with stdout_to_stderr():
        return _find_in_code(spec)


def servers_meant(spec: str) -> list[McpServer] | None:
    """The servers of a spec; None if it means anything else."""
    if spec.startswith(MCP):
        return [server_of(spec.removeprefix(MCP))]
    file = file_of(spec)
    return servers_in_file(file, spec.removeprefix(file)[1:]) if file.endswith(".json") else None


def each_server(spec: str) -> list[str]:
    """A spec for each server, if the spec means a file with several."""
    names = server_names_in(spec) if spec.endswith(".json") and spec == file_of(spec) else []
    return [f"{spec}:{name}" for name in names] if len(names) > 1 and ":" not in "".join(names) else [spec]


def servers_to_start(spec: str) -> list[McpServer] | None:
    """The same with commands that download nothing: packages are installed first, unless they are there."""
    servers = servers_meant(spec)
    return None if servers is None else [installed(server) for server in servers]


def _find_in_code(spec: str) -> list[FoundTool]:
    location = spec.removesuffix(CALLED)
    value = load_object(location)
    with blaming(location.rpartition(":")[0]):
        if location != spec or _makes_tools(value):
            if not callable(value) or required_parameters(value):
                hint = "a function that creates tools must take no arguments"
                raise UsageError(f"'{location}' can't be called without arguments", hint)
            value = settled(value())
        return list(collect(value, location))


def _makes_tools(value: Any) -> bool:
    """Whether a function makes tools instead of being one, by its return type or its name."""
    if not (inspect.isfunction(value) or inspect.ismethod(value)) or required_parameters(value):
        return False
    says = inspect.signature(value).return_annotation
    text = "" if says is inspect.Signature.empty else inspect.formatannotation(says).strip("'\"")
    if _MADE.search(text):
        return True
    return bool(_MAKER.fullmatch(value.__name__)) and (not text or bool(_UNCLEAR.fullmatch(text)))
