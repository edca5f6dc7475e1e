"""References within JSON schemas, which models, agents and cases all have to follow."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

LONGEST_INDEX = 9  # digits; no list is longer


def find_reference(reference: object, root: Any) -> Any:
    """What a local reference like `#/$defs/City` leads to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    anchor, *steps = unquote(reference[1:]).split("/")
    if anchor:
        return None
    found: Any = root
    for step in steps:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and _is_index(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


def _is_index(key: str) -> bool:
    return key.isdecimal() and len(key) <= LONGEST_INDEX
