"""Tools written down as data: the shapes of OpenAI, Anthropic and MCP."""

from collections.abc import Mapping
from typing import Any

from misstep.adapters.toolset.found import Found
from misstep.errors import UsageError

SCHEMAS = ("parameters", "input_schema", "inputSchema")
PLAIN_KINDS = (None, "function")


def tool_defined(value: Mapping[str, Any], where: str) -> Found | None:
    """The tool that a mapping defines, or None where it is something else, such as tools by their names."""
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
    return Found(
        where, name, description if isinstance(description, str) else None, value[key] if key else None
    )
