"""Names of tools as MCP allows them, and the way back."""

import re
from collections.abc import Iterable

LONGEST = 128
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]")


def offered_names(names: Iterable[str]) -> dict[str, str]:
    """The names to offer, each with the name it stands for, in the order given."""
    offered = dict[str, str]()
    for name in names:
        offered[_free(NOT_ALLOWED.sub("_", name)[:LONGEST] or "tool", offered)] = name
    return offered


def _free(name: str, taken: Iterable[str]) -> str:
    """The name itself, or with the first number that nobody has."""
    number, free = 1, name
    while free in taken:
        number += 1
        ending = f"_{number}"
        free = name[: LONGEST - len(ending)] + ending
    return free
