"""The user's own tools, looked at and not called."""

from collections.abc import Sequence

import msgspec

from misstep.adapters.toolset.spec import read_tools
from misstep.core.tool import Described


class ToolList(msgspec.Struct, frozen=True):
    """All that is known about some tools."""

    tools: tuple[Described, ...]


def list_tools(specs: Sequence[str]) -> ToolList:
    """The tools that the specs mean, in order. Raises a `UsageError` for one that means none."""
    return ToolList(tuple(tool for spec in specs for tool in read_tools(spec)))
