"""Regular expressions and CSV readers whose results for marked texts are marked."""

import csv
import functools
import io
import re
from collections.abc import Callable, Iterator
from functools import partialmethod
from typing import Any

from misstep.fuzzing.taint import record
from misstep.fuzzing.taint.record import ValueOrigin, calling
from misstep.fuzzing.taint.text import MarkedText, mark, plain, plain_text, text
from misstep.fuzzing.taint.values import MarkedList, origin_of, row, table

_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII


class _StandIn:
    """Behaves like the library object that it wraps, except where a subclass says otherwise."""

    __slots__ = ("_real",)

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __repr__(self) -> str:
        return repr(self._real)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


class Watched(_StandIn):
    """Behaves like a compiled pattern; results for marked texts are marked."""

    __slots__ = ()
    __class__ = property(lambda _: re.Pattern)

    def __eq__(self, other: object) -> bool:
        return bool(self._real == (other._real if type(other) is Watched else other))

    def __hash__(self) -> int:
        return hash(self._real)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return re.compile, (self._real.pattern, self._real.flags)

    def finditer(self, string: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        found = self._real.finditer(string, *args, **kwargs)
        origin = self._noted(string)
        return (MarkedMatch(match, origin, "search") for match in found) if origin else found

    def _taken_apart(self, how: str, string: Any, *args: Any, **kwargs: Any) -> Any:
        parts = getattr(self._real, how)(string, *args, **kwargs)
        origin = self._noted(string)
        step = origin.step("changed") if origin else None
        return row([text(part, step) for part in parts], step) if step else parts

    findall = partialmethod(_taken_apart, "findall")
    split = partialmethod(_taken_apart, "split")

    def sub(self, replacement: Any, string: Any, *args: Any, **kwargs: Any) -> Any:
        made = self._real.sub(replacement, string, *args, **kwargs)
        origin = self._noted(string)
        return text(made, origin.step("changed")) if origin else made

    def _noted(self, string: Any) -> ValueOrigin | None:
        origin = origin_of(string)
        if origin and type(string) is MarkedText:
            found = self._real.search(plain_text(string)) is not None
            origin.note("search", self._operand, found)
        return origin

    def _tested(self, how: str, string: Any, *args: Any, **kwargs: Any) -> Any:
        match = getattr(self._real, how)(string, *args, **kwargs)
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
        return [self._real.pattern, int(re.RegexFlag(self._real.flags) & _FLAGS)]


class MarkedMatch(_StandIn):
    """Behaves like a match; its groups are marked."""

    __slots__ = ("_how", "_origin")
    __class__ = property(lambda _: re.Match)

    def __init__(self, match: re.Match[str], origin: ValueOrigin, how: str) -> None:
        super().__init__(match)
        self._origin = origin
        self._how = how

    def __getitem__(self, group: Any) -> Any:
        return self._marked(self._real[group], group)

    def group(self, *groups: Any) -> Any:
        found = self._real.group(*groups)
        if len(groups) > 1:
            return tuple(self._marked(part, group) for part, group in zip(found, groups, strict=True))
        return self._marked(found, groups[0] if groups else 0)

    def groups(self, *args: Any, **kwargs: Any) -> Any:
        found = self._real.groups(*args, **kwargs)
        return tuple(self._marked(part, place) for place, part in enumerate(found, 1))

    def groupdict(self, *args: Any, **kwargs: Any) -> Any:
        found = self._real.groupdict(*args, **kwargs)
        return {name: self._marked(part, name) for name, part in found.items()}

    def _marked(self, part: Any, group: Any) -> Any:
        pattern: Any = self._real.re
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


FARTHEST = 12  # frames searched for the text
MOST_ROWS = 6  # rows that are marked: code treats the others in the same way

Function = Callable[..., Any]


class MarkedReader(_StandIn):
    """A reader that knows where its rows come from, although it reads from a plain copy of the text.

    `first` is the first row. Rows are plain if the csv module itself uses the reader.
    """

    def __init__(self, reader: Any, origin: ValueOrigin | None, bare: bool) -> None:
        super().__init__(reader)
        self._bare = bare
        self._count = 0
        self.objects = 0
        self.first: Any = None
        self.origin = origin

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        found = next(self._real)
        self.first = found if not self._count else self.first
        place, self._count = self._count, self._count + 1
        return found if self._bare or place >= MOST_ROWS else self.marked(found, place)

    def marked(self, found: list[str], place: int) -> Any:
        rows = self._step("csv rows")
        return mark(found, rows.below(place)) if rows else found

    def marked_object(self, members: dict[Any, Any]) -> Any:
        """The latest row as a marked dict, with the names of the first row."""
        place, self.objects = self.objects, self.objects + 1
        rows = self._step("csv table") if place < MOST_ROWS else None
        origin = rows.below(place) if rows else None
        named = {plain(name): value for name, value in members.items()}
        if origin is None:
            return named
        marked = {
            name: text(value, origin.below(name)) if isinstance(name, str) else value
            for name, value in named.items()
        }
        return table(marked, origin)

    def _step(self, name: str) -> ValueOrigin | None:
        return self.origin.step(name, self.dialect.delimiter) if self.origin else None


def watch_reading(original: Function) -> Function:
    """Watch `csv.reader`, which gets lines or a file in memory."""

    @functools.wraps(original)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        reader = original(*args, **kwargs)
        lines = args[0] if args else None
        origin = origin_of(lines) if type(lines) is MarkedList else _origin_of_file(lines)
        noted = origin or _origin_mentioned()
        if noted:
            is_divided = bool(noted.via) and noted.via[-1][0] in ("splitlines", "split")
            before = noted._replace(via=noted.via[:-1]) if is_divided else noted
            before.note("csv", reader.dialect.delimiter)
        if origin is None:
            return reader
        frame = calling()
        bare = frame is not None and frame.f_globals.get("__name__") == csv.__name__
        return MarkedReader(reader, origin, bare)

    return stand_in


def watch_objects(original: Function) -> Function:
    """Watch `DictReader.__next__`, which makes a dict from each row."""

    def __next__(self: Any) -> Any:
        members = original(self)
        lines = self.reader
        is_told = type(lines) is MarkedReader and lines.first is self._fieldnames
        return lines.marked_object(members) if is_told else members

    return __next__


def watch_names(original: Any) -> Any:
    """Watch `DictReader.fieldnames`, which is the first row unless given."""

    def fieldnames(self: Any) -> Any:
        names = original.fget(self)
        lines = self.reader
        is_told = type(lines) is MarkedReader and lines.first is names and names is not None
        return lines.marked(names, 0) if is_told else names

    return property(fieldnames, original.fset)


def _origin_of_file(file: Any) -> ValueOrigin | None:
    """The origin of a file in memory: a marked text with the same content in one of the calling frames."""
    if type(file) is not io.StringIO or file.closed:
        return None
    content = file.getvalue()
    for each in _texts_at_hand():
        known, origin = plain_text(each), each._misstep_origin
        if known == content:
            return origin
        if content.strip() and known.strip() == content.strip():
            return origin.step("strip")
    return None


def _origin_mentioned() -> ValueOrigin | None:
    """The origin of a text that is used in the expression which creates the reader."""
    use = record.current_use()
    found = (origin_of(value) for value in (record.values_mentioned(use) if use else ()))
    return next(filter(None, found), None)


def _texts_at_hand() -> Iterator[MarkedText]:
    frame = calling()
    for _ in range(FARTHEST):
        if frame is None:
            return
        for value in list(frame.f_locals.values()):
            inner = list(dict.values(value)) if isinstance(value, dict) else [value]
            yield from (each for each in inner if type(each) is MarkedText)
        frame = frame.f_back
