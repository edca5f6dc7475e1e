"""Asks models for requests and arguments, with strict schemas where possible, and for groups of tools."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta

from misstep.core.model import Unusable, fenced
from misstep.core.results.crosstalk import ToolGroup, offered_beside
from misstep.core.text import cut, quoted, tidy
from misstep.core.tool import Described
from misstep.errors import did_you_mean
from misstep.fuzzing.agent_tests.parties import Models, told
from misstep.fuzzing.agent_tests.prompts import PLACES, Stage, documentation_of, listed
from misstep.schemas.answers import AnswerSchema, FormatError, Schema, form_of, texts
from misstep.schemas.shape import as_list, flatten, mapping

DEEPEST = 4  # nesting of objects and lists
MOST_ITEMS = 20  # items of a list

_NULL: Schema = {"type": "null"}


def arguments_schema(parameters: Mapping[str, Any]) -> Schema:
    """A strict schema in which optional arguments may be null; any object if it can't be strict."""
    return _strict(parameters, parameters) or {"type": "object"}


def given_arguments(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without optional ones that are null: a strict schema requires every parameter."""
    required = as_list(parameters.get("required"))
    return {name: value for name, value in arguments.items() if value is not None or name in required}


def _strict(schema: Any, root: Mapping[str, Any], deep: int = 0) -> Schema | None:
    flat = flatten(schema, root)
    if not flat or deep > DEEPEST:
        return None
    if values := as_list(flat.get("enum")):
        return {"enum": values}
    if options := as_list(flat.get("anyOf")) or as_list(flat.get("oneOf")):
        return _any_of([_strict(each, root, deep) for each in options])
    kind = flat.get("type", "object" if "properties" in flat else None)
    if isinstance(kind, list):
        return _any_of([_strict({**flat, "type": each}, root, deep) for each in kind])
    match kind:
        case "object":
            return _object(flat, root, deep)
        case "array":
            items = _strict(flat.get("items"), root, deep + 1)
            return items and {"type": "array", "items": items, "maxItems": MOST_ITEMS}
        case "string" | "integer" | "number" | "boolean" | "null":
            return {"type": kind}
    return None


def _object(flat: Schema, root: Mapping[str, Any], deep: int) -> Schema | None:
    properties, required = mapping(flat.get("properties")), as_list(flat.get("required"))
    made = {name: _strict(each, root, deep + 1) for name, each in properties.items()}
    if not properties or None in made.values():
        return None
    # Nested properties are all required, so that no nulls have to be removed inside values.
    told = {name: each if deep or name in required else _any_of([each, _NULL]) for name, each in made.items()}
    return {"type": "object", "properties": told, "required": list(told), "additionalProperties": False}


def _any_of(options: list[Schema | None]) -> Schema | None:
    known = [each for each in options if each is not None]
    return {"anyOf": known} if len(known) == len(options) else None


MOST_REQUEST = 20_000  # characters

# Whether a model that is asked directly sees only a tool's documentation, or its source as well.
Outright: TypeAlias = Literal["greybox", "whitebox"]
Aim: TypeAlias = Literal["answers", "crashes"]


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[str, ...], Meta(min_length=1)]


def requests_form(count: int, used: Collection[str] = ()) -> AnswerSchema[tuple[str, ...]]:
    """A schema for up to `count` distinct requests, none of them in `used`."""

    def make(form: _Requests) -> tuple[str, ...] | FormatError:
        good = [each for each in map(tidy, form.requests) if 0 < len(each) <= MOST_REQUEST]
        requests = tuple(dict.fromkeys(good))
        fresh = tuple(each for each in requests if each not in used)[:count]
        nothing = f"The messages are empty, or longer than {MOST_REQUEST:,} characters."
        return fresh or FormatError("All of these were used before." if requests else nothing)

    return form_of(_Requests, requests=texts(1, count)).then(make)


def lacking(means: Outright, tool: Described) -> str:
    """Why a model cannot be asked by these means; empty if it can."""
    return "the tool's source code is not available" if means == "whitebox" and tool.source is None else ""


async def ask_outright(
    aim: Aim, means: Outright, tool: Described, models: Models, count: int, used: Sequence[str] = ()
) -> tuple[str, ...]:
    """Ask for up to `count` requests that make a tool fail, none of them in `used`. Raises `Unusable`."""
    stage, documented = cast("Stage", f"{aim}-{means}"), documentation_of([tool], means == "whitebox")
    places = {"tools": documented, "used": listed(used), "count": str(count)}
    told = {name: places[name] for name in PLACES[stage]}
    return await models.ask("generator", stage, requests_form(count, used), **told)


async def make_requests(
    tools: Sequence[Described], models: Models, count: int
) -> tuple[tuple[str, ...], str]:
    """Up to `count` realistic messages, each of which needs one of the tools; or the reason for none."""
    about = {"tools": documentation_of(tools), "count": str(count)}
    try:
        return await models.ask("generator", "crosstalk", requests_form(count), **about), ""
    except Unusable as error:
        return (), f"no requests were generated: {told(error)}"


FEWEST = 2  # groups
LONGEST_NAME = 100
MOST_DESCRIPTION = 1_000


class _Groups(msgspec.Struct, frozen=True):
    groups: tuple[ToolGroup, ...]


async def propose_groups(tools: Sequence[Described], models: Models) -> tuple[ToolGroup, ...]:
    """Ask a model to group the tools; every tool is in at least one group."""
    known = [tool.name for tool in tools]

    def make(form: _Groups) -> tuple[ToolGroup, ...] | FormatError:
        groups = tuple(ToolGroup(tidy(each.name), tuple(dict.fromkeys(each.tools))) for each in form.groups)
        wrong = wrong_with_groups(groups, known)
        named = {tool for group in groups for tool in group.tools}
        wrong += [f"{quoted(tool)} is not in a group" for tool in known if tool not in named]
        return FormatError(". ".join(wrong) + ".") if wrong else groups

    said = [(tool.name, cut(tool.tool.description, MOST_DESCRIPTION) or "(no description)") for tool in tools]
    documented = fenced("\n\n".join("\n".join(each) for each in said))
    return await models.ask("generator", "groups", form_of(_Groups).then(make), tools=documented)


def wrong_with_groups(groups: Sequence[ToolGroup], known: Collection[str]) -> list[str]:
    """Reasons why these groups cannot be tested against each other; empty if they can."""
    times = Counter(group.name for group in groups)
    wrong = [f"the group {quoted(name)} appears twice" for name, count in times.items() if count > 1]
    for group in groups:
        name = quoted(group.name)
        if not group.name.strip() or len(group.name) > LONGEST_NAME:
            wrong.append(f"{name} is not a valid group name: use 1 to {LONGEST_NAME} characters")
        if not group.tools:
            wrong.append(f"the group {name} is empty")
        for tool in group.tools:
            if tool not in known:
                hint = did_you_mean(tool, known)
                wrong.append(f"there is no tool {quoted(tool)}{f' ({hint})' if hint else ''}")
    if len(groups) < FEWEST:
        wrong.append(f"at least two groups are needed, not {len(groups)}")
    if not wrong:
        wrong += [
            f"no tools are left to test the group {quoted(group.name)} with: "
            "every other tool shares a group with one of its tools"
            for group in groups
            if not offered_beside(group, groups)
        ]
    return wrong
