"""Finds all tools in an object or a JSON file, those of frameworks without importing any framework."""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from misstep.adapters.loading.recognition import required_parameters
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.adapters.loading.source import settled
from misstep.adapters.mcp.entries import McpServer, servers_in
from misstep.adapters.toolset.call_interceptor import slot_of
from misstep.adapters.toolset.found import FoundTool
from misstep.adapters.toolset.functions import is_callable_object, is_function, signature_of, tool_of_function
from misstep.adapters.toolset.outputs import output_of
from misstep.core.tool import ToolKind
from misstep.errors import UsageError, did_you_mean

SINGLE = "tool_input"  # LangChain's name for the parameter of tools that take a single text
UNTYPED = ("any", "image", "audio")  # types of smolagents that JSON does not have
CLOSED = {"additionalProperties": False}
TOOL_CLASSES = ("_run", "forward", "run_json", "_get_declaration")  # methods that only tool classes have

SCHEMAS = ("parameters", "input_schema", "inputSchema")  # where a definition has its schema

# Name, description and schema.
_Told: TypeAlias = tuple[Any, Any, Any]


def tool_of_object(value: Any, where: str) -> FoundTool | None:
    for kind, read in _READERS:
        if (told := read(value)) is not None:
            return _found(value, kind, told, where)
    return None


def _found(value: Any, kind: ToolKind, told: _Told, where: str) -> FoundTool:
    name, description, schema = told
    if not isinstance(name, str):
        raise UsageError(f"a tool of the type {type(value).__name__} has no name", where=where)
    slot = slot_of(kind, value)
    code = slot.function if slot else type(value)
    # CrewAI rewrites names, which may be headings; the model would see those.
    rewrite = getattr(sys.modules.get("crewai.utilities.string_utils"), "sanitize_tool_name", None)
    if callable(rewrite) and FRAMEWORKS["crewai"].made(value):
        name = str(rewrite(name))
    callable_value = None if kind == "definition" else value
    output = output_of(code) if slot else None
    return FoundTool(where, name, str(description or ""), schema, kind, callable_value, code, output)


def model_schema(model: Any) -> Any:
    """The JSON schema of a Pydantic model of any version, or a given schema; None for anything else."""
    if isinstance(model, Mapping):
        return model
    for method in ("model_json_schema", "schema"):
        if isinstance(model, type) and callable(write := getattr(model, method, None)):
            return write()
    return None


def _openai_agents(value: Any) -> _Told | None:
    schema = getattr(value, "params_json_schema", None)
    return _told(value, schema) if isinstance(schema, Mapping) else None


def _pydantic_ai(value: Any) -> _Told | None:
    definition = getattr(value, "tool_def", value)
    schema = getattr(definition, "parameters_json_schema", None)
    return _told(definition, schema) if isinstance(schema, Mapping) else None


def _llama_index(value: Any) -> _Told | None:
    metadata = getattr(value, "metadata", None)
    write = getattr(metadata, "get_parameters_dict", None)
    return _told(metadata, _closed(write(), "llama-index", value)) if callable(write) else None


def _langchain(value: Any) -> _Told | None:
    """The arguments that the model has to provide, without injected ones."""
    asked = getattr(value, "tool_call_schema", None)
    arguments = getattr(value, "args", None) if getattr(value, "args_schema", None) is None else None
    if isinstance(arguments, Mapping) and [*arguments] == [SINGLE]:
        asked = {"type": "object", "properties": arguments, "required": [SINGLE], **CLOSED}
    elif isinstance(asked, Mapping):
        asked = _closed(asked, "langchain", value)
    return None if asked is None else _told(value, model_schema(asked))


def _crewai(value: Any) -> _Told | None:
    schema = model_schema(getattr(value, "args_schema", None))
    return None if schema is None else _told(value, schema)


def _autogen(value: Any) -> _Told | None:
    schema = getattr(value, "schema", None)
    found = tool_defined(schema, "") if isinstance(schema, Mapping) and "parameters" in schema else None
    return (found.name, found.description, found.parameters) if found else None


def _ag2(value: Any) -> _Told | None:
    function = getattr(getattr(value, "schema", None), "function", None)
    schema = getattr(function, "parameters", None)
    return _told(function, schema) if isinstance(schema, Mapping) else None


def _smolagents(value: Any) -> _Told | None:
    inputs = getattr(value, "inputs", None)
    if not isinstance(inputs, Mapping) or not all(isinstance(each, Mapping) for each in inputs.values()):
        return None
    properties = {
        name: {key: each for key, each in schema.items() if key != "type" or each not in UNTYPED}
        for name, schema in inputs.items()
    }
    required = [name for name, schema in inputs.items() if not schema.get("nullable")]
    return _told(value, {"type": "object", "properties": properties, "required": required, **CLOSED})


def _adk(value: Any) -> _Told | None:
    write = getattr(value, "_get_declaration", None)
    declaration = write() if callable(write) else None
    if declaration is None:
        return None
    schema = declaration.parameters_json_schema
    if schema is None and declaration.parameters is not None:
        schema = declaration.parameters.json_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _told(declaration, schema)


def _composio(value: Any) -> _Told | None:
    if not _is_action(value):
        return None
    return getattr(value, "enum", None), getattr(value, "description", None), value.request.schema()


def _is_action(value: Any) -> bool:
    request = getattr(value, "request", None)
    parses = callable(getattr(request, "parse", None)) and callable(getattr(request, "schema", None))
    return parses and hasattr(value, "response") and callable(getattr(value, "execute", None))


def _agent_framework(value: Any) -> _Told | None:
    return _plain(value) if FRAMEWORKS["agent_framework"].made(value) else None


def _plain(value: Any) -> _Told | None:
    """MCP, Anthropic, our own: a name, and a schema under one of the usual names."""
    if not isinstance(getattr(value, "name", None), str):
        return None
    for key in SCHEMAS:
        schema = getattr(value, key, None)
        schema = schema() if callable(schema) else schema
        if isinstance(schema, Mapping):
            return _told(value, schema)
    return None


_READERS: tuple[tuple[ToolKind, Callable[[Any], _Told | None]], ...] = (
    ("openai-agents", _openai_agents),
    ("pydantic-ai", _pydantic_ai),
    ("llama-index", _llama_index),
    ("langchain", _langchain),
    ("crewai", _crewai),
    ("autogen", _autogen),
    ("ag2", _ag2),
    ("smolagents", _smolagents),
    ("adk", _adk),
    ("composio", _composio),
    ("agent-framework", _agent_framework),
    ("definition", _plain),
)


def _closed(schema: Mapping[str, Any], kind: ToolKind, value: Any) -> Mapping[str, Any]:
    """The schema of a tool whose framework passes on all arguments, closed if its function takes no more."""
    slot = slot_of(kind, value)
    signature = signature_of(slot.function) if slot else None
    if signature is None or any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()):
        return schema
    return {**CLOSED, **schema}


def _told(tool: Any, schema: Any) -> _Told:
    return getattr(tool, "name", None), getattr(tool, "description", None), schema


KINDS = (
    "a function, or a tool of a supported framework",
    "a tool definition in OpenAI's, Anthropic's or MCP's format",
    "a list, tuple or dict of those, or a toolkit",
    "def make_tools() -> list[Tool], or any function with () after its name",
)
LISTING = ("get_tools", "to_tool_list", "list_tools", "actions")  # methods of toolkits without parameters
DEEPEST = 8  # nesting of lists


def collect(value: Any, where: str, deep: int = 0) -> Iterator[FoundTool]:
    """All tools in the value. Raises `UsageError` for the first thing in it that is not a tool."""
    if deep > DEEPEST:
        raise UsageError("lists nested too deeply", where=where)
    if isinstance(value, Mapping):
        yield from _in_mapping(value, where, deep)
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from collect(each, f"{where}[{place}]", deep + 1)
    elif isinstance(value, set | frozenset):
        unsorted = [tool for each in value for tool in collect(each, where, deep + 1)]
        yield from sorted(unsorted, key=lambda tool: tool.name)  # the order of sets varies
    elif inspect.isclass(value):
        yield from _in_class(value, where, deep)
    elif found := tool_of_object(value, where):
        yield found
    elif is_function(value):
        yield _function(value, where)
    elif (members := _members(value)) is not None:
        yield from collect(members, where, deep + 1)
    elif is_callable_object(value):
        yield _function(value, where, type(value).__name__)
    else:
        message = f"something of the type {type(value).__name__} is not a tool with a schema"
        raise UsageError(message, *expected(), where=where)


def _function(value: Any, where: str, name: str = "") -> FoundTool:
    """The function as a tool, or with the problem that makes it unusable."""
    try:
        return tool_of_function(value, where, name)
    except UsageError as problem:
        name = name or str(getattr(value, "__name__", type(value).__name__))
        return FoundTool(where, name, None, None, "function", problem=problem)


def _in_mapping(value: Mapping[Any, Any], where: str, deep: int) -> Iterator[FoundTool]:
    """The tool that it defines, or its values as tools; functions then get the keys as names."""
    if found := tool_defined(value, where):
        yield found
        return
    for name, each in value.items():
        place = f"{where}[{name!r}]"
        if isinstance(name, str) and (is_function(each) or is_callable_object(each)):
            yield _function(each, place, name)
        else:
            yield from collect(each, place, deep + 1)


def _in_class(value: type, where: str, deep: int) -> Iterator[FoundTool]:
    """What an instance of the class is or holds, or the tool whose arguments a model class describes."""
    if any(hasattr(value, name) for name in (*TOOL_CLASSES, *LISTING)) or _is_action(value):
        if required_parameters(value):
            raise UsageError(f"{value.__name__} is a class", "pass an instance", where=where)
        yield from collect(value(), where, deep + 1)
    elif (schema := model_schema(value)) is not None:
        yield FoundTool(where, value.__name__, value.__doc__, schema)
    else:
        raise UsageError(f"{value.__name__} is a class, not a tool", *expected(), where=where)


def _members(value: Any) -> Iterable[Any] | None:
    for name in LISTING:
        listing = getattr(value, name, None)
        if callable(listing) and not required_parameters(listing):
            return _held(settled(listing()))
    return _held(getattr(value, "tools", None))


def _held(value: Any) -> Iterable[Any] | None:
    return value if isinstance(value, Mapping | list | tuple) else None


def expected() -> list[str]:
    return ["expected one of:", *(f"  {kind}" for kind in KINDS)]


def tool_defined(value: Mapping[str, Any], where: str) -> FoundTool | None:
    """The tool that a mapping defines, or None if it is something else, such as tools by name."""
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return tool_defined(inner, where)
    name, kind = value.get("name"), value.get("type")
    key = next((key for key in SCHEMAS if key in value), None)
    if key is None and isinstance(kind, str) and kind != "function":
        raise UsageError(f"a '{kind}' runs at its provider and has no schema", where=where)
    if not isinstance(name, str):
        if key is None and kind is None:
            return None
        raise UsageError("a tool definition has no name", where=where)
    description = value.get("description")
    told = description if isinstance(description, str) else None
    return FoundTool(where, name, told, value[key] if key else None)


SERVERS = ("mcpServers", "servers")
EXPECTED = 'expected a list of tool definitions, or {"mcpServers": {…}}'


def servers_in_file(path: str, only: str = "") -> list[McpServer] | None:
    """The servers in a file, or `only` the one with this name; None if it holds tools instead."""
    entries, inputs = _servers_read(path)
    if entries is None or not only:
        return None if entries is None else servers_in(entries, path, inputs)
    if not isinstance(entries, Mapping) or only not in entries:
        known = list(entries) if isinstance(entries, Mapping) else []
        hint = did_you_mean(only, known) or f"it has {', '.join(known[:10])}"
        raise UsageError(f"has no server '{only}'", hint, where=path)
    return servers_in({only: entries[only]}, path, inputs)


def server_names_in(path: str) -> list[str]:
    """The names of the servers in a file, whether or not they can be used, except disabled ones."""
    entries, _ = _servers_read(path)
    if not isinstance(entries, Mapping):
        return []
    return [
        name for name, about in entries.items() if not (isinstance(about, Mapping) and about.get("disabled"))
    ]


def _servers_read(path: str) -> tuple[Any, Any]:
    """The entries of an `mcp.json` and the inputs it asks for; None if the file holds anything else."""
    value = _read(path)
    if isinstance(value, Mapping) and isinstance(value.get("mcp"), Mapping):
        value = value["mcp"]  # in settings of VS Code
    key = next((key for key in SERVERS if key in value), None) if isinstance(value, Mapping) else None
    return (None, None) if key is None else (value[key], value.get("inputs"))


def tools_in_file(path: str) -> list[FoundTool]:
    value = _read(path)
    if isinstance(value, Mapping):
        # The list in a request or reply, or the single tool in the file.
        result = value.get("result")
        inner = result if isinstance(result, Mapping) else value
        value = inner.get("tools", [value])
    if not isinstance(value, list):
        raise UsageError("contains no tools", EXPECTED, where=path)
    return [_defined(each, f"{path}[{place}]") for place, each in enumerate(value)]


def _read(path: str) -> Any:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_without_comments(text))
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=path) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not JSON: {error}", where=path) from None


_TEXT = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])")


def _without_comments(text: str) -> str:
    """JSON without what editors allow beyond it: comments, and commas after the last item."""
    for pattern in (_COMMENT, _COMMA):
        text = pattern.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
    return text


def _defined(value: Any, where: str) -> FoundTool:
    found = tool_defined(value, where) if isinstance(value, Mapping) else None
    if found is None:
        hint = "expected OpenAI's, Anthropic's or MCP's format"
        raise UsageError("is not a tool definition", hint, where=where)
    return found
