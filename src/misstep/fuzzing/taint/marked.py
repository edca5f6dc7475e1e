"""What all marked types share: they know their origin and behave like the type they are based on."""

from collections.abc import Callable
from typing import Any

from misstep.fuzzing.taint import caller
from misstep.fuzzing.taint.record import ValueOrigin

COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONVERSIONS = ("int", "float", "fromisoformat", "complex")


def origin_of(value: Any) -> ValueOrigin | None:
    return getattr(value, "_misstep_origin", None) if type(value) in KINDS else None


KINDS: dict[type, type] = {}  # marked types and their base types


def passes_for(base: type) -> Callable[[type], type]:
    """Make a subclass pass as its base type, except for tests of the exact type."""

    def dress(kind: Any) -> type:
        KINDS[kind] = base
        kind.__name__ = kind.__qualname__ = base.__name__
        kind.__module__ = base.__module__
        kind.__doc__ = base.__doc__
        kind.__getattr__ = _attribute_missed
        for name in COMPARISONS:
            setattr(kind, name, _comparison(base, name))
        return kind  # type: ignore[no-any-return]

    return dress


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
    compare = getattr(base, name)
    sign = COMPARISONS[name]

    def method(self: Any, other: Any) -> Any:
        result = compare(self, other)
        outcome = result if isinstance(result, bool) else None
        note_comparison(self, sign, other, outcome)
        return result

    method.__name__ = name
    return method


def note_comparison(self: Any, sign: str, other: Any, outcome: bool | None) -> None:
    """Record a comparison, for both sides if both are marked."""
    self._misstep_origin.note(sign, other, outcome)
    theirs = origin_of(other)
    if theirs:
        theirs.note(MIRRORED[sign], self, outcome)


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
        _note_shape(self, use, length)
    for sign, bound in caller.lengths_in_question(use):
        self._misstep_origin.note("len", [sign, bound], HOLDS[sign](length, bound))


def _note_shape(self: Any, use: caller.ExpressionUse, length: int) -> None:
    keys, items = caller.shape_in_question(use)
    for key in keys:
        self._misstep_origin.note("has key", key, isinstance(self, dict) and dict.__contains__(self, key))
    if items is not None:
        self._misstep_origin.note("unpack", items, length == items)


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


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
