"""Reads tools defined as data (OpenAI, Anthropic, MCP), and JSON files of tools or servers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from misstep.adapters.mcp.entries import McpServer, servers_in
from misstep.adapters.toolset.found import FoundTool
from misstep.errors import UsageError

SCHEMAS = ("parameters", "input_schema", "inputSchema")
PLAIN_KINDS = (None, "function")


def tool_defined(value: Mapping[str, Any], where: str) -> FoundTool | None:
    """The tool that a mapping defines, or None if it is something else, such as tools by name."""
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return tool_defined(inner, where)
    name, kind = value.get("name"), value.get("type")
    key = next((key for key in SCHEMAS if key in value), None)
    if key is None and isinstance(kind, str) and kind not in PLAIN_KINDS:
        raise UsageError(f"a '{kind}' is carried out by its provider, and has no schema", where=where)
    if not isinstance(name, str):
        if key is None and kind is None:
            return None
        raise UsageError("the definition of a tool has no name", where=where)
    description = value.get("description")
    return FoundTool(
        where, name, description if isinstance(description, str) else None, value[key] if key else None
    )


SERVERS = ("mcpServers", "servers")
EXPECTED = 'expected a list of tool definitions, or {"mcpServers": {…}}'


def servers_in_file(path: str) -> list[McpServer] | None:
    """The servers in a file; None if it holds tools instead."""
    value = _read(path)
    key = next((key for key in SERVERS if key in value), None) if isinstance(value, Mapping) else None
    return None if key is None else servers_in(value[key], path)


def tools_in_file(path: str) -> list[FoundTool]:
    """The tools that a file defines."""
    value = _read(path)
    if isinstance(value, Mapping):
        value = _listed(value)
    if not isinstance(value, list):
        raise UsageError("holds no tools", EXPECTED, where=path)
    return [_defined(each, f"{path}[{place}]") for place, each in enumerate(value)]


def _read(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=path) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is no JSON: {error}", where=path) from None


def _listed(value: Mapping[str, Any]) -> Any:
    """The list in a request or reply, or a list of the single tool in the file."""
    result = value.get("result")
    inner = result if isinstance(result, Mapping) else value
    return inner.get("tools", [value])


def _defined(value: Any, where: str) -> FoundTool:
    found = tool_defined(value, where) if isinstance(value, Mapping) else None
    if found is None:
        raise UsageError(
            "is no definition of a tool", "expected OpenAI's, Anthropic's or MCP's shape", where=where
        )
    return found
