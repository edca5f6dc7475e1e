"""Requests that a model thinks of.

Arguments of a tool that a model is asked for, as a strict schema where there can be one.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.text import tidy
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import Models
from misstep.fuzzing.agent_tests.prompts import PLACES, Stage, documentation_of, listed
from misstep.schemas.answers import AnswerSchema, FormatError, Schema, form_of, texts
from misstep.schemas.shape import as_list, flatten, mapping

DEEPEST = 4  # objects and lists within each other
MOST_ITEMS = 20  # of a list

_NULL: Schema = {"type": "null"}


def arguments_schema(parameters: Mapping[str, Any]) -> Schema:
    """The arguments that a tool's schema allows, those that may be left out as null.

    Any object where that can't be said, for example with keys of the model's choice.
    """
    return _strict(parameters, parameters) or {"type": "object"}


def given_arguments(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null because a strict schema wants every parameter named."""
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
    # Within other values, all properties are asked for, so that no null has to be taken out of them.
    told = {name: each if deep or name in required else _any_of([each, _NULL]) for name, each in made.items()}
    return {"type": "object", "properties": told, "required": list(told), "additionalProperties": False}


def _any_of(options: list[Schema | None]) -> Schema | None:
    known = [each for each in options if each is not None]
    return {"anyOf": known} if len(known) == len(options) else None


MOST_REQUEST = 20_000  # characters

# Whether a model that is asked outright sees the documentation of a tool alone, or its source as well.
Outright: TypeAlias = Literal["greybox", "whitebox"]
Aim: TypeAlias = Literal["answers", "crashes"]

_STAGES: dict[tuple[Aim, Outright], Stage] = {
    ("answers", "greybox"): "answers-greybox",
    ("answers", "whitebox"): "answers-whitebox",
    ("crashes", "greybox"): "crashes-greybox",
    ("crashes", "whitebox"): "crashes-whitebox",
}


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[str, ...], Meta(min_length=1)]


def requests_form(count: int, used: Collection[str] = ()) -> AnswerSchema[tuple[str, ...]]:
    """Up to so many requests, each once, and none that has been used."""

    def make(form: _Requests) -> tuple[str, ...] | FormatError:
        good = [each for each in map(tidy, form.requests) if 0 < len(each) <= MOST_REQUEST]
        requests = tuple(dict.fromkeys(good))
        fresh = tuple(each for each in requests if each not in used)[:count]
        nothing = f"The messages are empty, or longer than {MOST_REQUEST:,} characters."
        return fresh or FormatError("All of these were used before." if requests else nothing)

    return form_of(_Requests, requests=texts(1, count)).then(make)


def lacking(means: Outright, tool: Described) -> str:
    """What keeps a model from being asked by these means; empty if nothing does."""
    return "the source of the tool is not known" if means == "whitebox" and tool.source is None else ""


async def ask_outright(
    aim: Aim, means: Outright, tool: Described, models: Models, count: int, used: Sequence[str] = ()
) -> tuple[str, ...]:
    """Up to so many requests with which a tool fails, none of which was used before. Raises `Unusable`."""
    stage = _STAGES[aim, means]
    places = {
        "tools": documentation_of([tool], with_source=means == "whitebox"),
        "used": listed(used),
        "count": str(count),
    }
    told = {name: places[name] for name in PLACES[stage]}
    return await models.ask("generator", stage, requests_form(count, used), **told)
