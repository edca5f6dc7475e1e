"""Remembers what made calls hang or die, which cost the time of thousands of others."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

_ENOUGH = 2

_Kind: TypeAlias = tuple[str, str, str, bool]  # tool, parameter, type, whether it is less than nothing


class Hazards:
    """Sizes of values that calls did not come back from, while none came back with one so large."""

    def __init__(self) -> None:
        self._costly = dict[_Kind, dict[float, int]]()  # sizes, with how often
        self._harmless = dict[_Kind, float]()  # the largest one

    def note(self, tool: str, arguments: Mapping[str, Any], costly: bool) -> None:
        if costly:
            for kind, size in _sizes(tool, arguments):
                sizes = self._costly.setdefault(kind, {})
                sizes[size] = sizes.get(size, 0) + 1
        elif self._costly:
            for kind, size in _sizes(tool, arguments):
                self._harmless[kind] = max(size, self._harmless.get(kind, -1))

    def threaten(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether there is a value as large as those of several calls that were never heard of again."""
        return bool(self._costly) and any(self._threatens(*each) for each in _sizes(tool, arguments))

    def _threatens(self, kind: _Kind, size: float) -> bool:
        harmless = self._harmless.get(kind, -1)
        if size <= harmless:
            return False
        sizes = self._costly.get(kind, {})
        return sum(times for each, times in sizes.items() if harmless < each <= size) >= _ENOUGH


def _sizes(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[_Kind, float]]:
    for name, value in arguments.items():
        negative = isinstance(value, int | float) and value < 0
        yield (tool, name, type(value).__name__, negative), _size(value)


def _size(value: Any) -> float:
    if isinstance(value, str | list | dict):
        return len(value)
    return abs(value) if isinstance(value, int | float) else 0
