"""Says when arguments may be refused though they fit the schema."""

import json
import re
from collections.abc import Mapping
from typing import Any

from misstep.schemas.breaches import find_breach
from misstep.tooling.judging.words.given import Given
from misstep.tooling.judging.words.reading import mentions
from misstep.tooling.judging.words.wording import load_wording

SAFE = 2**53  # beyond it not every integer is a number to everybody
DEEPEST = 30
_BEYOND_KEYWORDS = (
    '"format"',
    '"contentEncoding"',
    '"contentMediaType"',
    '"not"',
    '"pattern"',
    '"if"',
    '"dependentRequired"',
)


def excuse_for(schema: Mapping[str, Any], message: str, given: Given) -> str:
    """Why such a refusal does not make the schema a lie, to end "were refused, …"; empty if it does."""
    beyond = load_wording().beyond
    if mentions(beyond.own_words, message):
        return "by a rule of the tool's own that it put into words"
    if mentions(beyond.unknown_names, message):
        return "since they name what the tool does not know"
    if (breach := find_breach(schema, given.arguments, schema)) and breach[0] == "format":
        return f"since the schema asks for another format at {'.'.join(map(str, breach[1]))}"
    if _named_with_more_to_it(schema, message):
        return "and the schema asks for a format or pattern there"
    if _holds_no_text(given.arguments):
        return "since they hold a text that is not valid Unicode"
    if _is_extreme(given.arguments):
        return "since they hold a number or a depth that not every program takes"
    return ""


def _named_with_more_to_it(schema: Mapping[str, Any], message: str) -> bool:
    """Whether the message names a parameter with demands that nobody looks at when arguments are checked."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return False
    text = json.dumps(schema.get("$defs") or {}, default=str)
    for name, each in properties.items():
        words = json.dumps(each, default=str)
        words += text if '"$ref"' in words else ""
        if mentions(_BEYOND_KEYWORDS, words) and re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", message):
            return True
    return False


def _holds_no_text(arguments: dict[str, Any]) -> bool:
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False  # its depth is reason enough
    return False


def _is_extreme(value: Any, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return True
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return abs(value) > SAFE
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_extreme(each, depth + 1) for each in inner)
