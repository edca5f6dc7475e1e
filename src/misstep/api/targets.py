"""What there is to fuzz in the tools that a user names."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from misstep.core.tool import Described
from misstep.errors import UsageError, did_you_mean

TOGETHER = "(together)"  # the name under which all tools of a spec are fuzzed in turns


class Target(msgspec.Struct, frozen=True):
    """One tool, or all tools of a spec together, under the name that the report gives them.

    `titles` are for tools whose names others have as well.
    """

    place: int
    name: str
    spec: str
    tools: tuple[str, ...]
    titles: dict[str, str] = {}

    def among(self, tools: Sequence[Described]) -> list[Described]:
        """Those of the tools that it means; a `UsageError` unless all of them are there."""
        found = [tool for tool in tools if tool.name in self.tools]
        if len(found) < len(self.tools):
            raise UsageError("its tools are not the same each time it is started", where=self.spec)
        return found


def find_targets(found: Mapping[str, Sequence[Described]], only: Sequence[str]) -> list[Target]:
    """Each tool by itself, then those of a spec together where it holds several: they may share state."""
    _check_names(found, only)
    counts = Counter(tool.name for tools in found.values() for tool in tools)
    ends = Counter(os.path.basename(spec) for spec in found)
    targets = list[Target]()
    for spec, tools in found.items():
        short = end if (end := os.path.basename(spec)) and ends[end] == 1 else spec
        names = [tool.name for tool in tools if not only or tool.name in only]
        wanted: list[tuple[str, tuple[str, ...]]]
        wanted = [(_label(name, short, counts[name] > 1), (name,)) for name in names]
        wanted += [(_label(TOGETHER, short, len(found) > 1), tuple(names))] if len(names) > 1 else []
        titles = {name: _label(name, short, True) for name in names if counts[name] > 1}
        targets += [
            Target(len(targets) + place, name, spec, some, titles)
            for place, (name, some) in enumerate(wanted)
        ]
    return targets


def _label(name: str, spec: str, ambiguous: bool) -> str:
    return f"{name} of {spec}" if ambiguous else name


def _check_names(found: Mapping[str, Sequence[Described]], only: Sequence[str]) -> None:
    known = [tool.name for tools in found.values() for tool in tools]
    for name in only:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known[:10])}"
            raise UsageError(f"there is no tool '{name}'", hint, where="--only")
