"""Knows tools that carry out code which they are given, whose errors are then the code's."""

import re
from functools import lru_cache

from misstep.core.tool import Described
from misstep.tooling.judging.words.wording import load_wording


def runs_what_it_is_given(described: Described) -> bool:
    """Whether the tool runs code, commands or queries, going by its name and its parameters."""
    parameters = described.tool.parameters.get("properties")
    names = (
        tuple(name for name in parameters if isinstance(name, str)) if isinstance(parameters, dict) else ()
    )
    return _runs(described.name, names)


@lru_cache(maxsize=1024)
def _runs(name: str, parameters: tuple[str, ...]) -> bool:
    runners = load_wording().runners
    return not {*runners.parameters}.isdisjoint(parameters) or re.search(runners.names, name) is not None
