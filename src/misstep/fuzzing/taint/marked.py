"""What all marked types share: they know their origin and behave like the type they are based on."""

import operator
from collections.abc import Callable
from typing import Any

from misstep.fuzzing.taint import caller
from misstep.fuzzing.taint.record import ValueOrigin

COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_HOLDS: dict[str, Callable[[int, int], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONVERSIONS = ("int", "float", "fromisoformat", "complex")

KINDS: dict[type, type] = {}  # marked types and their base types

# How a marked value of each base type is made plain; its items stay marked.
PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: bytes.__bytes__,
    int: int.__int__,
    float: float.__float__,
    list: list.copy,
    dict: dict.copy,
}


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

    def hash_of(self: Any) -> int:
        note_lookup(self)
        result: int = base.__hash__(self)
        return result

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
    use = caller.current_use()
    if use and caller.name_called(use) == "isinstance" and len(getattr(use.node, "args", ())) == 2:
        wanted = caller.value_of(use.node.args[1], use.frame)  # type: ignore[attr-defined]
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
            theirs.note(caller.MIRRORED[sign], self, outcome)
        return result

    method.__name__ = name
    return method


def note_lookup(self: Any) -> None:
    """Record the keys of the container that this value's hash is used for."""
    if self._misstep_origin.record.closed:
        return
    use = caller.current_use()
    keys = caller.keys_in_question(use) if use else None
    if keys:
        base: Any = KINDS[type(self)]
        self._misstep_origin.note("key of", keys, any(base.__eq__(self, key) is True for key in keys))


def note_length(self: Any, length: int) -> None:
    """Record what the length is compared with, or that it is used as a truth value."""
    if self._misstep_origin.record.closed:
        return
    instruction, _ = caller.current_instruction()
    if "JUMP" in instruction or instruction in ("UNARY_NOT", "TO_BOOL"):
        self._misstep_origin.note("truth", None, length > 0)
        return
    use = caller.current_use()
    if use is None:
        return
    if instruction == "GET_LEN":
        keys, items = caller.shape_in_question(use)
        for key in keys:
            self._misstep_origin.note("has key", key, isinstance(self, dict) and dict.__contains__(self, key))
        if items is not None:
            self._misstep_origin.note("unpack", items, length == items)
    for sign, bound in caller.lengths_in_question(use):
        self._misstep_origin.note("len", [sign, bound], bool(_HOLDS[sign](length, bound)))


def note_unpacking(self: Any, length: int) -> None:
    """Record how many parts this is being unpacked into, if it is."""
    if self._misstep_origin.record.closed:
        return
    instruction, argument = caller.current_instruction()
    if instruction == "UNPACK_SEQUENCE":
        self._misstep_origin.note("unpack", argument, length == argument)
    elif instruction == "UNPACK_EX":
        self._misstep_origin.note("unpack", argument & 0xFF, length >= argument & 0xFF)


def note_conversion(self: Any) -> None:
    """Record a failed conversion of a text: the error message uses its `repr`."""
    if self._misstep_origin.record.closed:
        return
    use = caller.current_use()
    if use is None or caller.name_called(use) in ("repr", "ascii", "format", "print"):
        return
    for name in _CONVERSIONS:
        if name in caller.names_called(use):
            self._misstep_origin.note(name, None, False)
            return
