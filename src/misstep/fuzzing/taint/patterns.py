"""Regular expressions that record which marked texts are matched against them."""

import re
from collections.abc import Iterator
from functools import partialmethod
from typing import Any

from misstep.fuzzing.taint.marked import origin_of
from misstep.fuzzing.taint.record import ValueOrigin
from misstep.fuzzing.taint.text import MarkedText, plain_text, text
from misstep.fuzzing.taint.values import row

_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII


class Watched:
    """Behaves like a compiled pattern; results for marked texts are marked."""

    __slots__ = ("_pattern",)
    __class__ = property(lambda _: re.Pattern)

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def __eq__(self, other: object) -> bool:
        return bool(self._pattern == (other._pattern if type(other) is Watched else other))

    def __hash__(self) -> int:
        return hash(self._pattern)

    def __repr__(self) -> str:
        return repr(self._pattern)

    def __copy__(self) -> "Watched":
        return self

    def __deepcopy__(self, memo: object) -> "Watched":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return re.compile, (self._pattern.pattern, self._pattern.flags)

    def finditer(self, string: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        found = self._pattern.finditer(string, *args, **kwargs)
        origin = self._noted(string)
        return (MarkedMatch(match, origin, "search") for match in found) if origin else found

    def _taken_apart(self, how: str, string: Any, *args: Any, **kwargs: Any) -> Any:
        parts = getattr(self._pattern, how)(string, *args, **kwargs)
        origin = self._noted(string)
        step = origin.step("changed") if origin else None
        return row([text(part, step) for part in parts], step) if step else parts

    findall = partialmethod(_taken_apart, "findall")
    split = partialmethod(_taken_apart, "split")

    def sub(self, replacement: Any, string: Any, *args: Any, **kwargs: Any) -> Any:
        made = self._pattern.sub(replacement, string, *args, **kwargs)
        origin = self._noted(string)
        return text(made, origin.step("changed")) if origin else made

    def _noted(self, string: Any) -> ValueOrigin | None:
        origin = origin_of(string)
        if origin and type(string) is MarkedText:
            found = self._pattern.search(plain_text(string)) is not None
            origin.note("search", self._operand, found)
        return origin

    def _tested(self, how: str, string: Any, *args: Any, **kwargs: Any) -> Any:
        match = getattr(self._pattern, how)(string, *args, **kwargs)
        origin = origin_of(string)
        if origin is None:
            return match
        origin.note(how, self._operand, match is not None)
        return MarkedMatch(match, origin, how) if match else None

    match = partialmethod(_tested, "match")
    fullmatch = partialmethod(_tested, "fullmatch")
    search = partialmethod(_tested, "search")

    @property
    def _operand(self) -> list[Any]:
        return [self._pattern.pattern, int(re.RegexFlag(self._pattern.flags) & _FLAGS)]


class MarkedMatch:
    """Behaves like a match; its groups are marked."""

    __slots__ = ("_how", "_match", "_origin")
    __class__ = property(lambda _: re.Match)

    def __init__(self, match: re.Match[str], origin: ValueOrigin, how: str) -> None:
        self._match = match
        self._origin = origin
        self._how = how

    def __getattr__(self, name: str) -> Any:
        return getattr(self._match, name)

    def __repr__(self) -> str:
        return repr(self._match)

    def __copy__(self) -> "MarkedMatch":
        return self

    def __deepcopy__(self, memo: object) -> "MarkedMatch":
        return self

    @property
    def re(self) -> Any:
        return self._match.re

    def __getitem__(self, group: Any) -> Any:
        return self._marked(self._match[group], group)

    def group(self, *groups: Any) -> Any:
        found = self._match.group(*groups)
        if len(groups) > 1:
            return tuple(self._marked(part, group) for part, group in zip(found, groups, strict=True))
        return self._marked(found, groups[0] if groups else 0)

    def groups(self, *args: Any, **kwargs: Any) -> Any:
        found = self._match.groups(*args, **kwargs)
        return tuple(self._marked(part, place) for place, part in enumerate(found, 1))

    def groupdict(self, *args: Any, **kwargs: Any) -> Any:
        found = self._match.groupdict(*args, **kwargs)
        return {name: self._marked(part, name) for name, part in found.items()}

    def _marked(self, part: Any, group: Any) -> Any:
        pattern: Any = self._match.re
        number = group if isinstance(group, int) else pattern.groupindex.get(group, 0)
        flags = int(re.RegexFlag(pattern.flags) & _FLAGS)
        return text(part, self._origin.step("group", self._how, pattern.pattern, flags, number))


_STAND_INS: dict[re.Pattern[str], Watched] = {}
MOST_STAND_INS = 10_000


def watched_pattern(pattern: Any) -> Any:
    """The replacement for a compiled pattern, always the same object."""
    if type(pattern) is not re.Pattern:
        return pattern
    if pattern not in _STAND_INS and len(_STAND_INS) < MOST_STAND_INS:
        _STAND_INS[pattern] = Watched(pattern)
    return _STAND_INS.get(pattern, pattern)
