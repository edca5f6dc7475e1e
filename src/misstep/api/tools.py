"""The user's own tools, looked at and not called."""

from collections.abc import Sequence

import msgspec

from misstep.adapters.toolset.spec import read_tools
from misstep.api.workbenches import conditions_of
from misstep.core.descriptions import read_descriptions, refuse_strangers, reworded
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.tool_host.reading import read_apart, whole_environment
from misstep.tool_host.sandbox.places import is_server


class ToolList(msgspec.Struct, frozen=True):
    """All that is known about some tools.

    `skipped` tells of those that were left out and why, `notes` of what else was odd.
    """

    tools: tuple[Described, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def list_tools(specs: Sequence[str], settings: Settings | None = None) -> ToolList:
    """The tools that the specs mean, in order. Raises a `UsageError` for one that means none.

    Code is loaded in a process of its own, and nothing of that stays behind.
    """
    settings = settings or Settings()
    lists = [look_into(spec, settings) for spec in specs]
    tools = tuple(tool for each in lists for tool in each.tools)
    refuse_strangers(read_descriptions(settings.descriptions), [tool.name for tool in tools])
    return ToolList(
        tools,
        tuple(note for each in lists for note in each.skipped),
        tuple(note for each in lists for note in each.notes),
    )


def look_into(spec: str, settings: Settings) -> ToolList:
    """The tools of one spec; there may be words about those of others."""
    found, wordings = _listed(spec, settings), read_descriptions(settings.descriptions)
    return msgspec.structs.replace(found, tools=tuple(reworded(tool, wordings) for tool in found.tools))


def _listed(spec: str, settings: Settings) -> ToolList:
    serves = is_server(spec)
    if spec.endswith(".json") and not serves:
        skipped = list[str]()
        return ToolList(tuple(read_tools(spec, skipped)), tuple(skipped))
    conditions = conditions_of(settings)
    # Within the sandbox, a server gets no more of the environment than `tool fuzz` gives it.
    whole = settings.sandbox == "none" or not serves
    environment = whole_environment(serves) if whole else conditions.environment
    loaded = read_apart(spec, msgspec.structs.replace(conditions, environment=environment))
    return ToolList(loaded.tools, loaded.skipped, loaded.notes)
