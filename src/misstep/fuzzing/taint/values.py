"""Marked numbers, lists and dicts, and what all marked types share.

They know their origin, record what is done with them, and behave like the type they are based on.
"""

import operator
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from misstep.fuzzing.taint import record
from misstep.fuzzing.taint.record import ValueOrigin

COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_HOLDS = {sign: getattr(operator, name) for name, sign in COMPARISONS.items()}
_CONVERSIONS = ("int", "float", "fromisoformat", "complex")

KINDS: dict[type, type] = {}  # marked types and their base types

# How a marked value of each base type is made plain; its items stay marked.
PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__, bytes: bytes.__bytes__, int: int.__int__, float: float.__float__,
    list: list.copy, dict: dict.copy,
}  # fmt: skip


def origin_of(value: Any) -> ValueOrigin | None:
    return getattr(value, "_misstep_origin", None) if type(value) in KINDS else None


def passes_for(base: Any) -> Callable[[type], type]:
    """Make a subclass pass as its base type, except for tests of the exact type."""

    def mark(kind: Any) -> type:
        KINDS[kind] = base
        kind.__name__ = kind.__qualname__ = base.__name__
        kind.__module__ = base.__module__
        kind.__doc__ = base.__doc__
        methods = _methods_of(base) | {name: _comparison(base, name) for name in COMPARISONS}
        for name, method in methods.items():
            setattr(kind, name, method)
        return kind  # type: ignore[no-any-return]

    return mark


def _methods_of(base: Any) -> dict[str, Any]:
    """The methods that marked types have in common, as far as the base type has them."""

    def make(_: Any, *args: Any, **kwargs: Any) -> Any:
        return base(*args, **kwargs)  # called through the type of a marked value

    def reduce(self: Any, _protocol: Any) -> Any:
        return base, (PLAIN[base](self),)

    def length(self: Any) -> int:
        result: int = base.__len__(self)
        note_length(self, result)
        return result

    def truth(self: Any) -> bool:
        result: bool = base.__bool__(self)
        self._misstep_origin.note("truth", None, result)
        return result

    def hash_of(self: Any) -> Any:
        note_lookup(self)
        return base.__hash__(self)

    methods = {"__new__": staticmethod(make), "__reduce_ex__": reduce, "__getattr__": _attribute_missed}
    if hasattr(base, "__len__"):
        methods["__len__"] = length
    if hasattr(base, "__bool__"):
        methods["__bool__"] = truth
    if base.__hash__ is not None:  # it can't be changed either
        methods |= {"__hash__": hash_of, "__copy__": lambda self: self, "__deepcopy__": lambda self, _: self}
    return methods


def class_asked_for(self: Any) -> type:
    """The `__class__` of a marked value; `isinstance` reads it only if the type itself does not match."""
    base = KINDS[type(self)]
    use = record.current_use()
    if use and record.name_called(use) == "isinstance" and len(getattr(use.node, "args", ())) == 2:
        wanted = record.value_of(use.node.args[1], use.frame)  # type: ignore[attr-defined]
        kinds = wanted if isinstance(wanted, list | tuple) else [wanted]
        names = [kind.__name__ for kind in kinds if isinstance(kind, type) and not issubclass(base, kind)]
        if names:
            self._misstep_origin.note("isinstance", names, False)
    return base


def _attribute_missed(self: Any, name: str) -> Any:
    if not name.startswith("_"):
        self._misstep_origin.note("attribute", name, False)
    base = KINDS[type(self)]
    raise AttributeError(f"{base.__name__!r} object has no attribute {name!r}", name=name, obj=self)


def _comparison(base: type, name: str) -> Callable[[Any, Any], Any]:
    """A method that records a comparison, for both sides if both are marked."""
    compare = getattr(base, name)
    sign = COMPARISONS[name]

    def method(self: Any, other: Any) -> Any:
        result = compare(self, other)
        outcome = result if isinstance(result, bool) else None
        self._misstep_origin.note(sign, other, outcome)
        if theirs := origin_of(other):
            theirs.note(record.MIRRORED[sign], self, outcome)
        return result

    method.__name__ = name
    return method


def note_lookup(self: Any) -> None:
    """Record the keys of the container that this value's hash is used for."""
    if self._misstep_origin.record.closed:
        return
    use = record.current_use()
    keys = record.keys_in_question(use) if use else None
    if keys:
        base: Any = KINDS[type(self)]
        self._misstep_origin.note("key of", keys, any(base.__eq__(self, key) is True for key in keys))


def note_length(self: Any, length: int) -> None:
    """Record what the length is compared with, or that it is used as a truth value."""
    if self._misstep_origin.record.closed:
        return
    instruction, _ = record.current_instruction()
    if "JUMP" in instruction or instruction in ("UNARY_NOT", "TO_BOOL"):
        self._misstep_origin.note("truth", None, length > 0)
        return
    use = record.current_use()
    if use is None:
        return
    if instruction == "GET_LEN":
        keys, items = record.shape_in_question(use)
        for key in keys:
            self._misstep_origin.note("has key", key, isinstance(self, dict) and dict.__contains__(self, key))
        if items is not None:
            self._misstep_origin.note("unpack", items, length == items)
    for sign, bound in record.lengths_in_question(use):
        self._misstep_origin.note("len", [sign, bound], bool(_HOLDS[sign](length, bound)))


def note_unpacking(self: Any, length: int) -> None:
    """Record how many parts this is being unpacked into, if it is."""
    if self._misstep_origin.record.closed:
        return
    instruction, argument = record.current_instruction()
    if instruction == "UNPACK_SEQUENCE":
        self._misstep_origin.note("unpack", argument, length == argument)
    elif instruction == "UNPACK_EX":
        self._misstep_origin.note("unpack", argument & 0xFF, length >= argument & 0xFF)


def note_conversion(self: Any) -> None:
    """Record a failed conversion of a text: the error message uses its `repr`."""
    if self._misstep_origin.record.closed:
        return
    use = record.current_use()
    if use is None or record.name_called(use) in ("repr", "ascii", "format", "print"):
        return
    for name in _CONVERSIONS:
        if name in record.names_called(use):
            self._misstep_origin.note(name, None, False)
            return


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod")},
    "divmod": divmod,
}
_DIVISIONS = {"truediv", "floordiv", "mod", "divmod"}


def no_dictionary(self: Any) -> Any:
    raise AttributeError(f"{KINDS[type(self)].__name__!r} object has no attribute '__dict__'")


@passes_for(int)
class MarkedInt(int):
    __class__ = property(class_asked_for)
    __dict__ = property(no_dictionary)
    _misstep_origin: ValueOrigin

    from_bytes = staticmethod(int.from_bytes)  # type: ignore[assignment]


@passes_for(float)
class MarkedFloat(float):
    __slots__ = ("_misstep_origin",)
    __class__ = property(class_asked_for)
    _misstep_origin: ValueOrigin

    fromhex = staticmethod(float.fromhex)  # type: ignore[assignment]

    def is_integer(self, *args: Any) -> bool:
        answer = float.is_integer(self, *args)
        self._misstep_origin.note("is_integer", None, answer)
        return answer


_NUMBERS: dict[type, Callable[[Any], Any]] = {
    int: int, float: float, bool: bool, MarkedInt: int.__int__, MarkedFloat: float.__float__,
}  # fmt: skip


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
        theirs = origin_of(other)
        if theirs and name in _DIVISIONS and not reflected:
            theirs.note("divisor", self, bool(_NUMBERS[type(other)](other)))
        mine, others = _NUMBERS[type(self)](self), _NUMBERS[type(other)](other)
        result = calculate(others, mine) if reflected else calculate(mine, others)
        return number(result, self._misstep_origin.step(f"r{name}" if reflected else name, others))

    return method


def _sign_change(base: Any, name: str) -> Callable[[Any], Any]:
    change = getattr(base, f"__{name}__")

    def method(self: Any) -> Any:
        return number(change(self), self._misstep_origin.step(name))

    return method


for _kind, _base in ((MarkedInt, int), (MarkedFloat, float)):
    for _name in _OPERATIONS:
        setattr(_kind, f"__r{_name}__", _calculation(_base, _name, reflected=True))
        if _name != "divmod":  # only what divides is recorded
            setattr(_kind, f"__{_name}__", _calculation(_base, _name, reflected=False))
    for _name in ("neg", "pos", "abs"):
        setattr(_kind, f"__{_name}__", _sign_change(_base, _name))


@passes_for(list)
class MarkedList(list):  # type: ignore[type-arg]
    """A marked list. Its items are marked separately."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(class_asked_for)
    _misstep_origin: ValueOrigin

    def __iter__(self) -> Iterator[Any]:
        note_unpacking(self, list.__len__(self))
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


@passes_for(dict)
class MarkedDict(dict):  # type: ignore[type-arg]
    """A marked dict. Its values are marked separately, its keys are plain."""

    __slots__ = ("_misstep_origin",)
    __class__ = property(class_asked_for)
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
