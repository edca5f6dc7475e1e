"""What servers offer besides tools, under names that misstep gives them: resources, prompts, completion."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

from misstep.adapters.mcp.connections import Connection
from misstep.adapters.toolset.found import FoundTool
from misstep.core.text import cut
from misstep.errors import UsageError

# Makes a request from arguments, with the type of its result. Raises a `ValueError` or `TypeError`.
Question: TypeAlias = Callable[[dict[str, Any]], tuple[Any, type]]

OfferKind: TypeAlias = Literal["tool", "resources/read", "resource", "prompt", "completion"]
READ: OfferKind = "resources/read"
MOST_EXAMPLES = 20
LONGEST_DESCRIPTION = 2_000


async def offers_of(connection: Connection, patience: float, notes: list[str]) -> list[FoundTool]:
    """All that can be asked for. What a server declares and does not list is in `notes`."""

    async def listed(what: str, is_declared: object) -> Sequence[Any]:
        try:
            return await connection.listed(what, patience) if is_declared is not None else ()
        except UsageError as problem:
            notes.append(problem.message)
            return ()

    can = connection.capabilities
    resources = await listed("resources", can.resources)
    templates = await listed("resource_templates", can.resources)
    prompts = await listed("prompts", can.prompts)
    where = f"server {connection.server.name}"
    return [
        *_resources(where, resources),
        *_templates(where, templates),
        *_prompts(where, prompts),
        *(_completions(where, prompts, templates) if can.completions is not None else ()),
    ]


def offer_named(name: str) -> tuple[OfferKind, str]:
    """What a name stands for: a tool, a template or prompt, or an offer with arguments to complete."""
    if name == READ:
        return READ, ""
    kinds: dict[str, OfferKind] = {
        "resource": "resource",
        "prompt": "prompt",
        "completion": "completion",
    }
    kind, colon, rest = name.partition(":")
    return (kinds[kind], rest) if colon and kind in kinds else ("tool", name)


def _offer(
    where: str, name: str, about: Any, fields: dict[str, Any], ask: Question, required: Any
) -> FoundTool:
    described = cut(about or "", LONGEST_DESCRIPTION)
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return FoundTool(where, name, described, schema, "mcp", value=ask)


def _text(about: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "string"} | ({"description": about} if about else {}) | more


def _resources(where: str, resources: Sequence[Any]) -> Iterator[FoundTool]:
    if resources:
        known = [str(each.uri) for each in resources[:MOST_EXAMPLES]]
        uri = _text("URI of a resource", examples=known)
        yield _offer(where, READ, "Read a resource.", {"uri": uri}, _read, ["uri"])


def _read(arguments: dict[str, Any]) -> tuple[Any, type]:
    from mcp.types import ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult

    return ReadResourceRequest(params=ReadResourceRequestParams(uri=arguments["uri"])), ReadResourceResult


def _templates(where: str, templates: Sequence[Any]) -> Iterator[FoundTool]:
    for each in templates:
        if names := _variables(each.uri_template):
            ask = partial(_expanded, each.uri_template)
            fields = {name: _text() for name in names}
            yield _offer(where, f"resource:{each.uri_template}", each.description, fields, ask, names)


def _variables(template: str) -> list[str]:
    """The names in a URI template; none if it is not a valid one."""
    from mcp.shared.uri_template import UriTemplate

    try:
        return list(UriTemplate.parse(template).variable_names)
    except ValueError:
        return []


def _expanded(template: str, arguments: dict[str, Any]) -> tuple[Any, type]:
    from mcp.shared.uri_template import UriTemplate

    return _read({"uri": UriTemplate.parse(template).expand(arguments)})


def _prompts(where: str, prompts: Sequence[Any]) -> Iterator[FoundTool]:
    for each in prompts:
        known = each.arguments or []
        fields = {argument.name: _text(argument.description) for argument in known}
        required = [argument.name for argument in known if argument.required]
        yield _offer(
            where, f"prompt:{each.name}", each.description, fields, partial(_prompt, each.name), required
        )


def _prompt(name: str, arguments: dict[str, Any]) -> tuple[Any, type]:
    from mcp.types import GetPromptRequest, GetPromptRequestParams, GetPromptResult

    return GetPromptRequest(params=GetPromptRequestParams(name=name, arguments=arguments)), GetPromptResult


def _completions(where: str, prompts: Sequence[Any], templates: Sequence[Any]) -> Iterator[FoundTool]:
    from mcp.types import PromptReference, ResourceTemplateReference

    told = [
        (f"prompt:{each.name}", PromptReference(name=each.name), [one.name for one in each.arguments or []])
        for each in prompts
    ]
    told += [
        (
            f"resource:{each.uri_template}",
            ResourceTemplateReference(uri=each.uri_template),
            _variables(each.uri_template),
        )
        for each in templates
    ]
    for name, reference, names in told:
        if names:
            fields = {"argument": _text(enum=names), "value": _text("What has been typed so far")}
            about = f"Complete an argument of {name}."
            yield _offer(where, f"completion:{name}", about, fields, partial(_complete, reference), fields)


def _complete(reference: Any, arguments: dict[str, Any]) -> tuple[Any, type]:
    from mcp.types import CompleteRequest, CompleteRequestParams, CompleteResult, CompletionArgument

    typed = CompletionArgument(name=arguments["argument"], value=arguments["value"])
    return CompleteRequest(params=CompleteRequestParams(ref=reference, argument=typed)), CompleteResult


def parts_of(result: Any) -> Iterable[Any]:
    """The contents of a result: of tools and resources, of the messages of a prompt, or values as JSON."""
    from mcp.types import TextContent

    if hasattr(result, "messages"):
        return [message.content for message in result.messages]
    if hasattr(result, "completion"):
        return [TextContent(type="text", text=json.dumps(result.completion.values, ensure_ascii=False))]
    contents: Iterable[Any] = result.contents if hasattr(result, "contents") else result.content
    return contents
