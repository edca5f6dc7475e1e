"""Marked texts and bytes, whose parts are marked as well; adds marks to any JSON value and removes them."""

from collections.abc import Callable, Iterator
from typing import Any

from misstep.fuzzing.taint import values
from misstep.fuzzing.taint.record import ValueOrigin
from misstep.fuzzing.taint.values import no_dictionary, note_place, number, row, table

# Methods that answer yes or no about a whole text.
_QUESTIONS = (
    "isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle "
    "isupper"
)
# Methods that return a changed text.
_CHANGES = (
    "capitalize casefold center expandtabs ljust lower lstrip removeprefix removesuffix replace rjust rstrip "
    "strip swapcase title translate upper zfill"
)


@values.passes_for(str)
class MarkedText(str):
    __slots__ = ("_misstep_origin",)
    __class__ = property(values.class_asked_for)
    _misstep_origin: ValueOrigin

    def __str__(self) -> str:
        return self

    def __repr__(self) -> str:
        values.note_conversion(self)
        return str.__repr__(self)

    def __iter__(self) -> Iterator[str]:
        values.note_unpacking(self, str.__len__(self))
        origin = self._misstep_origin
        return (
            text(character, origin.step("slice", place, place + 1, 1))
            for place, character in enumerate(plain_text(self))
        )

    def __contains__(self, part: Any) -> bool:
        found = str.__contains__(self, part)
        _note_part(self, "contains", part, found)
        return found

    def __getitem__(self, place: Any) -> Any:
        length = str.__len__(self)
        note_place(self, place, length)
        found = str.__getitem__(self, place)
        if isinstance(place, slice):
            return text(found, self._misstep_origin.step("slice", *place.indices(length)))
        if not isinstance(place, int):
            return found
        start = int.__int__(place) % length
        return text(found, self._misstep_origin.step("slice", start, start + 1, 1))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, str):
            return _added_to_something_else(self, other)
        return text(str.__add__(self, other), self._misstep_origin.step("append", other))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, str):
            return NotImplemented
        return text(str.__add__(other, self), self._misstep_origin.step("prepend", other))

    def encode(self, *args: Any, **kwargs: Any) -> bytes:
        try:
            return str.encode(self, *args, **kwargs)
        except UnicodeEncodeError:
            self._misstep_origin.note("encode", args[0] if args else kwargs.get("encoding", "utf-8"), False)
            raise


def text(value: Any, origin: ValueOrigin | None) -> Any:
    """Mark a plain text; anything else is returned unchanged."""
    if origin is None or type(value) is not str:
        return value
    made = str.__new__(MarkedText, value)
    made._misstep_origin = origin
    return made


def plain_text(value: str) -> str:
    return str.__str__(value)


def _note_part(self: MarkedText, operation: str, part: Any, outcome: bool) -> None:
    self._misstep_origin.note(operation, part, outcome)
    theirs = values.origin_of(part)
    if theirs:
        theirs.note(f"{operation} in", self, outcome)


def _added_to_something_else(self: MarkedText, other: Any) -> Any:
    """Do what `+` does for a plain text: try the other side's `__radd__`, else raise.

    Python does not try that first for a class with its own `__add__`, so it is done here.
    """
    add = getattr(type(other), "__radd__", None)
    result = add(other, plain_text(self)) if add else NotImplemented
    return str.__add__(self, other) if result is NotImplemented else result


def _partition(name: str) -> Callable[..., Any]:
    divide = getattr(str, name)

    def method(self: MarkedText, *args: Any) -> Any:
        parts = divide(self, *args)
        _note_part(self, name, args[0], bool(parts[1]))
        origin = self._misstep_origin
        return tuple([text(part, origin.step(name, args[0], place)) for place, part in enumerate(parts)])

    return method


def _question(name: str) -> Callable[..., Any]:
    ask = getattr(str, name)

    def method(self: MarkedText, *args: Any) -> Any:
        answer = ask(self, *args)
        if args:
            _note_part(self, name, args[0], answer)
        else:
            self._misstep_origin.note(name, None, answer)
        return answer

    return method


def _search(name: str) -> Callable[..., Any]:
    search = getattr(str, name)

    def method(self: MarkedText, *args: Any) -> Any:
        if args and isinstance(args[0], str):
            _note_part(self, name, args[0], str.__contains__(self, args[0]))
        return search(self, *args)

    return method


def _change(name: str) -> Callable[..., Any]:
    change = getattr(str, name)

    def method(self: MarkedText, *args: Any, **kwargs: Any) -> Any:
        changed = change(self, *args, **kwargs)
        if name in ("removeprefix", "removesuffix", "replace"):
            _note_part(self, name, args[0], str.__contains__(self, args[0]))
        return text(changed, self._misstep_origin.step(name, *args, *kwargs.values()))

    return method


def _division(name: str) -> Callable[..., Any]:
    divide = getattr(str, name)

    def method(self: MarkedText, *args: Any, **kwargs: Any) -> Any:
        parts = divide(self, *args, **kwargs)
        given = dict(zip(("sep", "maxsplit"), args, strict=False)) | kwargs
        separator, most = given.get("sep"), given.get("maxsplit", -1)
        if name == "splitlines":
            separator, most = "\n", -1
        origin = self._misstep_origin.step(name, separator, most)
        self._misstep_origin.note(name, separator, len(parts) > 1)
        return mark(parts, origin)

    return method


_METHODS = {
    f"{_QUESTIONS} startswith endswith": _question,
    "find rfind index rindex count": _search,
    _CHANGES: _change,
    "split rsplit splitlines": _division,
    "partition rpartition": _partition,
}
for _names, _method in _METHODS.items():
    for _name in _names.split():
        setattr(MarkedText, _name, _method(_name))


@values.passes_for(bytes)
class Octets(bytes):
    __class__ = property(values.class_asked_for)
    __dict__ = property(no_dictionary)
    _misstep_origin: ValueOrigin

    fromhex = staticmethod(bytes.fromhex)  # type: ignore[assignment]

    def __contains__(self, part: Any) -> bool:
        found = bytes.__contains__(self, part)
        self._misstep_origin.note("contains", part, found)
        return found

    def startswith(self, *args: Any) -> bool:
        answer = bytes.startswith(self, *args)
        self._misstep_origin.note("startswith", args[0], answer)
        return answer

    def decode(self, *args: Any, **kwargs: Any) -> Any:
        try:
            decoded = bytes.decode(self, *args, **kwargs)
        except UnicodeDecodeError:
            self._misstep_origin.note("decode", args[0] if args else kwargs.get("encoding", "utf-8"), False)
            raise
        return text(decoded, self._misstep_origin.step("decode"))


def octets(value: bytes, origin: ValueOrigin | None) -> bytes:
    if origin is None:
        return value
    made = bytes.__new__(Octets, value)
    made._misstep_origin = origin
    return made


DEEPEST = 100

# By id: each value seen (kept alive so that its id is not reused) and its result.
_Done = dict[int, tuple[Any, Any]]


def mark(value: Any, origin: ValueOrigin | None, depth: int = DEEPEST) -> Any:
    """Mark the value and everything in it, up to a depth. Values that are not JSON stay unchanged."""
    kind = type(value)
    if origin is None or depth == 0:
        return value
    if kind is list:
        items = [mark(item, origin.below(place), depth - 1) for place, item in enumerate(value)]
        return row(items, origin)
    if kind is dict:
        named = {
            key: mark(item, origin.below(key), depth - 1) if isinstance(key, str) else item
            for key, item in value.items()
        }
        return table(named, origin)
    if kind is bytes:
        return octets(value, origin)
    return text(value, origin) if kind is str else number(value, origin)


def plain(value: Any) -> Any:
    """The value without marks; unmarked values are returned as they are."""
    return _plain(value, {}, DEEPEST)


def _plain(value: Any, done: _Done, depth: int) -> Any:
    kind = type(value)
    base: Any = values.KINDS.get(kind, kind)
    if base not in _CONTAINERS:
        return values.PLAIN[base](value) if kind in values.KINDS else value
    if depth == 0:
        return value
    if id(value) not in done:
        done[id(value)] = value, value  # a container may contain itself
        done[id(value)] = value, _plain_container(value, base, done, depth - 1)
    return done[id(value)][1]


_CONTAINERS = (list, dict, tuple, set, frozenset)


def _plain_container(value: Any, base: Any, done: _Done, depth: int) -> Any:
    old = list(dict.items(value)) if base is dict else list(base.__iter__(value))
    new = [_plain(item, done, depth) for item in old]
    if base is type(value) and all(one is other for one, other in zip(old, new, strict=True)):
        return value
    return base(new)
