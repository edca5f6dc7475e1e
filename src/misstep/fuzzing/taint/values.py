"""Marked numbers, lists and dicts, which record divisions and lookups."""

import operator
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from misstep.fuzzing.taint import marked
from misstep.fuzzing.taint.record import ValueOrigin

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}
_DIVISIONS = {"truediv", "floordiv", "mod", "divmod"}


def no_dictionary(self: Any) -> Any:
    raise AttributeError(f"{marked.KINDS[type(self)].__name__!r} object has no attribute '__dict__'")


@marked.passes_for(int)
class MarkedInt(int):
    __class__ = property(marked.class_asked_for)
    __dict__ = property(no_dictionary)
    _misstep_origin: ValueOrigin

    from_bytes = staticmethod(int.from_bytes)  # type: ignore[assignment]


@marked.passes_for(float)
class MarkedFloat(float):
    __slots__ = ("_misstep_origin",)
    __class__ = property(marked.class_asked_for)
    _misstep_origin: ValueOrigin

    fromhex = staticmethod(float.fromhex)  # type: ignore[assignment]

    def is_integer(self, *args: Any) -> bool:
        answer = float.is_integer(self, *args)
        self._misstep_origin.note("is_integer", None, answer)
        return answer


_NUMBERS: dict[type, Callable[[Any], Any]] = {
    int: int,
    float: float,
    bool: bool,
    MarkedInt: int.__int__,
    MarkedFloat: float.__float__,
}


def number(value: Any, origin: ValueOrigin | None) -> Any:
    """Mark a plain number; anything else is returned unchanged."""
    if origin is None or type(value) not in (int, float):
        return value
    made: Any = int.__new__(MarkedInt, value) if type(value) is int else float.__new__(MarkedFloat, value)
    made._misstep_origin = origin
    return made


def _calculation(base: Any, name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    """A method that calculates like the base type and marks the result."""
    calculate = _OPERATIONS[name]
    fallback = getattr(base, f"__r{name}__" if reflected else f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        if reflected and name in _DIVISIONS:
            self._misstep_origin.note("divisor", other, base.__bool__(self))
        if type(other) not in _NUMBERS:
            return fallback(self, other)
        theirs = marked.origin_of(other)
        if theirs and name in _DIVISIONS and not reflected:
            theirs.note("divisor", self, bool(_NUMBERS[type(other)](other)))
        mine, others = _NUMBERS[type(self)](self), _NUMBERS[type(other)](other)
        result = calculate(others, mine) if reflected else calculate(mine, others)
        return number(result, self._misstep_origin.step(f"r{name}" if reflected else name, others))

    return method


def _reflected_division(base: Any, name: str) -> Callable[[Any, Any], Any]:
    """A method that divides something by the marked number."""
    divide = getattr(base, name)

    def method(self: Any, other: Any) -> Any:
        self._misstep_origin.note("divisor", other, base.__bool__(self))
        return divide(self, other)

    return method


def _sign_change(base: Any, name: str) -> Callable[[Any], Any]:
    change = getattr(base, f"__{name}__")

    def method(self: Any) -> Any:
        return number(change(self), self._misstep_origin.step(name))

    return method


for _kind, _base in ((MarkedInt, int), (MarkedFloat, float)):
    for _name in _OPERATIONS:
        setattr(_kind, f"__{_name}__", _calculation(_base, _name, reflected=False))
        setattr(_kind, f"__r{_name}__", _calculation(_base, _name, reflected=True))
    for _name in ("neg", "pos", "abs"):
        setattr(_kind, f"__{_name}__", _sign_change(_base, _name))
    setattr(_kind, "__rdivmod__", _reflected_division(_base, "__rdivmod__"))  # noqa: B010


@marked.passes_for(list)
class MarkedList(list):  # type: ignore[type-arg]
    """A marked list. Its items are marked separately."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(marked.class_asked_for)
    _misstep_origin: ValueOrigin

    def __iter__(self) -> Iterator[Any]:
        marked.note_unpacking(self, list.__len__(self))
        return list.__iter__(self)

    def __getitem__(self, place: Any) -> Any:
        """An item or a slice; a lookup by a text key shows that a dict is expected."""
        note_place(self, place, list.__len__(self))
        found = list.__getitem__(self, place)
        if not isinstance(place, slice):
            return found
        return row(found, self._misstep_origin.step("slice", *place.indices(list.__len__(self))))

    def __contains__(self, item: Any) -> bool:
        found = list.__contains__(self, item)
        self._misstep_origin.note("contains", item, found)
        return found

    def index(self, *args: Any) -> int:
        if args:
            self._misstep_origin.note("contains", args[0], list.__contains__(self, args[0]))
        return list.index(self, *args)

    def pop(self, *args: Any) -> Any:
        if not args or isinstance(args[0], int):
            note_place(self, args[0] if args else -1, list.__len__(self))
        return list.pop(self, *args)

    def copy(self, *args: Any) -> Any:
        return row(list.copy(self, *args), self._misstep_origin)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return row([deepcopy(item, memo) for item in list.__iter__(self)], self._misstep_origin)


@marked.passes_for(dict)
class MarkedDict(dict):  # type: ignore[type-arg]
    """A marked dict. Its values are marked separately, its keys are plain."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(marked.class_asked_for)
    _misstep_origin: ValueOrigin

    fromkeys = staticmethod(dict.fromkeys)  # type: ignore[assignment]

    def copy(self, *args: Any) -> Any:
        return table(dict.copy(self, *args), self._misstep_origin)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        items = {deepcopy(key, memo): deepcopy(item, memo) for key, item in dict.items(self)}
        return table(items, self._misstep_origin)


def _lookup(name: str) -> Callable[..., Any]:
    """A method whose first argument is a key."""
    look_up = getattr(dict, name)

    def method(self: Any, *args: Any) -> Any:
        if args and isinstance(args[0], str):
            self._misstep_origin.note("has key", args[0], dict.__contains__(self, args[0]))
        return look_up(self, *args)

    return method


for _name in ("__getitem__", "__contains__", "get", "pop", "setdefault"):
    setattr(MarkedDict, _name, _lookup(_name))


def row(items: Any, origin: ValueOrigin | None) -> Any:
    if origin is None:
        return items
    made = list.__new__(MarkedList)
    list.extend(made, items)
    made._misstep_origin = origin
    return made


def table(items: Any, origin: ValueOrigin | None) -> Any:
    if origin is None:
        return items
    made = dict.__new__(MarkedDict)
    dict.update(made, items)
    made._misstep_origin = origin
    return made


def note_place(self: Any, place: Any, length: int) -> None:
    """Record a lookup by index, or by a text key, which shows that a dict is expected."""
    if isinstance(place, int):
        place = int.__int__(place)
        self._misstep_origin.note("index", [place, length], -length <= place < length)
    elif isinstance(place, str):
        self._misstep_origin.note("has key", place, False)
