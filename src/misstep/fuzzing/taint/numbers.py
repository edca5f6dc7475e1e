"""Marked numbers, which record comparisons, divisions and lookups."""

import operator
from collections.abc import Callable
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
    """A marked integer."""

    __class__ = property(marked.class_asked_for)
    __dict__ = property(no_dictionary)
    _misstep_origin: ValueOrigin

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return int(*args, **kwargs)  # called through the type of a marked value

    from_bytes = staticmethod(int.from_bytes)  # type: ignore[assignment]

    def __hash__(self) -> int:
        marked.note_lookup(self)
        return int.__hash__(self)

    def __bool__(self) -> bool:
        self._misstep_origin.note("truth", None, int.__bool__(self))
        return int.__bool__(self)

    def __copy__(self) -> "MarkedInt":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "MarkedInt":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return int, (int.__int__(self),)


@marked.passes_for(float)
class MarkedFloat(float):
    """A marked float."""

    __slots__ = ("_misstep_origin",)
    _misstep_origin: ValueOrigin
    __class__ = property(marked.class_asked_for)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return float(*args, **kwargs)

    fromhex = staticmethod(float.fromhex)  # type: ignore[assignment]

    def __hash__(self) -> int:
        marked.note_lookup(self)
        return float.__hash__(self)

    def __bool__(self) -> bool:
        self._misstep_origin.note("truth", None, float.__bool__(self))
        return float.__bool__(self)

    def is_integer(self, *args: Any) -> bool:
        answer = float.is_integer(self, *args)
        self._misstep_origin.note("is_integer", None, answer)
        return answer

    def __copy__(self) -> "MarkedFloat":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "MarkedFloat":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return float, (float.__float__(self),)


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
