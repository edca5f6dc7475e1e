"""Settings given as keyword arguments, over those of files and environment."""

from collections.abc import Collection, Mapping
from typing import Any

from misstep.api.groups import AGENTS, CALLING, FUZZING, LIMITS, SYNTHESIS, TRYING
from misstep.core.settings import BUDGETS, FIELDS, Settings, parse_setting
from misstep.errors import UsageError, did_you_mean

_RUN = (*BUDGETS, "store", "on", "ray_address")
OF_PLANNING = tuple(name for name in (*AGENTS, *SYNTHESIS, "cases", *LIMITS, *_RUN) if name != "agent")
OF_TOOLS = (
    *FUZZING,
    *TRYING,
    *CALLING,
    "requests_per_crash",
    "tool_method",
    "skip_sanity",
    "count",
    "timeout",
    "store",
)


def overlaid(
    settings: Settings,
    given: Mapping[str, Any],
    known: Collection[str],
    where: str,
    also: Collection[str] = (),
) -> Settings:
    """The settings with those given in their place; `also` are words that mean something else there."""
    for name in given:
        if name not in known:
            hint = (
                "that setting is for something else"
                if name in FIELDS
                else did_you_mean(name, [*known, *also])
            )
            takes = "" if hint else f"it takes {', '.join(sorted([*known, *also]))}"
            raise UsageError(f"there is no '{name}' here", hint, takes, where=where)
    return settings.overlay(
        {name: parse_setting(name, _written(name, value), where) for name, value in given.items()}
    )


def _written(name: str, value: Any) -> Any:
    """A value as a file would have it."""
    if name == "actions" and isinstance(value, tuple | list) and len(value) == 2:
        return f"{value[0]}-{value[1]}"
    if name == "actions" and not isinstance(value, bool | int):
        return str(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value
