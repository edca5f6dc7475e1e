"""JSON schemas as servers with strict structured output want them."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

# Of a text, in characters: servers that compile schemas to grammars refuse bounds of several thousand, and
# without a bound a small model never ends a text.
LONGEST = 1_000

_WITHIN = ("items",)
_LISTS = ("anyOf", "prefixItems")
_NAMED = ("properties", "$defs")
_DROPPED = ("title", "default", "discriminator")
_BOUNDED = ("pattern", "enum", "const", "format")  # a text with one of these is bounded by it


def seal(schema: Schema) -> Schema:
    """The schema with every property required, no others allowed, and a maximum length for every text."""
    kept = _mapped({key: part for key, part in schema.items() if key not in _DROPPED}, seal)
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    if "string" in _types(kept) and not any(key in kept for key in _BOUNDED):
        kept["maxLength"] = min(kept.get("maxLength", LONGEST), LONGEST)
    return kept


def is_strict(schema: Schema) -> bool:
    """Whether strict mode takes a schema: every object lists all its properties and requires each of them."""
    if "object" in _types(schema):
        named = schema.get("properties")
        if named is None or schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(named):
            return False
    return all(is_strict(part) for part in _parts(schema))


def without_lengths(schema: Schema) -> Schema:
    """The schema without bounds on the length of texts, which OpenAI's strict mode does not document."""
    kept = {key: part for key, part in schema.items() if key not in ("minLength", "maxLength")}
    return _mapped(kept, without_lengths)


def _mapped(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """The schema with every schema within it changed."""
    made = dict(schema)
    made |= {key: change(made[key]) for key in _WITHIN if isinstance(made.get(key), dict)}
    made |= {key: [change(each) for each in made[key]] for key in _LISTS if key in made}
    return made | {
        key: {name: change(each) for name, each in made[key].items()} for key in _NAMED if key in made
    }


def _types(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _parts(schema: Schema) -> Iterable[Schema]:
    yield from (schema[key] for key in _WITHIN if isinstance(schema.get(key), dict))
    for key in _LISTS:
        yield from schema.get(key, ())
    for key in _NAMED:
        yield from schema.get(key, {}).values()
