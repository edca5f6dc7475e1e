"""Which values of calls the documentation of their tools names."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from misstep.core.tool import Described, Invocation
from misstep.schemas.shape import mapping, resolve

SHORTEST = 3  # characters of a text that is not in a description by chance


def documented_values(calls: Sequence[Invocation], tools: Mapping[str, Described]) -> int:
    """How many arguments have a value that a schema, an example or a description names."""
    return sum(_named(tools[call.tool], call) for call in calls if call.tool in tools)


def _named(described: Described, call: Invocation) -> int:
    schema = described.tool.parameters
    examples = [mapping(json.loads(text)) for text in described.examples]
    count = 0
    for name, value in json.loads(call.arguments).items():
        own = mapping(resolve(mapping(schema.get("properties")).get(name), schema))
        known = [*_listed(own), *(each[name] for each in examples if name in each)]
        count += value in known or _is_in(f"{described.tool.description}\n{own.get('description')}", value)
    return count


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    lists = [schema.get(keyword) for keyword in ("enum", "examples")]
    single = [schema[keyword] for keyword in ("const", "default") if keyword in schema]
    return [*single, *(value for each in lists if isinstance(each, list) for value in each)]


def _is_in(text: str, value: Any) -> bool:
    if not isinstance(value, str) or len(value) < SHORTEST:
        return False
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
