"""The arguments of a call, as models and frameworks hand them over."""

import json
from typing import Any


def read_arguments(given: Any) -> Any:
    """Arguments out of JSON; what is no JSON stays the text it is, and nothing at all means none."""
    if given is None:
        return {}
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given
