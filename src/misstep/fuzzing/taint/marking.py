"""Marks the arguments of one call, and watches standard library functions meanwhile.

A watched function is replaced in its own module and under every name by which other modules have imported it,
and restored at the end. Code that holds a reference in another way is not observed, and works as usual.
"""

import dataclasses
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from misstep.core.tool import Observation, Path
from misstep.fuzzing.taint.record import ObservationLog, ValueOrigin
from misstep.fuzzing.taint.stand_ins import watched_pattern
from misstep.fuzzing.taint.text import mark
from misstep.fuzzing.taint.watches import METHODS, functions, listen, particular, pydantic_methods

_OURS = __name__.partition(".")[0]

Namespace = dict[str, Any]


class _Switch:
    """Replaces the functions for as long as at least one user needs them replaced."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._wanted = 0
        self._undo: list[Callable[[], None]] = []
        self._places: list[tuple[Namespace, str]] = []
        self._modules = 0

    def on(self, namespaces: Iterable[Namespace]) -> None:
        with self._lock:
            self._wanted += 1
            for namespace, name in [*self._known_places(), *_places(namespaces)]:
                old = namespace.get(name)
                new = _stand_in(old)
                if new is not None:
                    namespace[name] = new
                    self._undo.append(partial(_put_back, namespace, name, old, new))
            if self._wanted == 1:
                for owner, name, watch in [*METHODS, *pydantic_methods()]:
                    old = owner.__dict__[name]
                    setattr(owner, name, watch(old))
                    self._undo.append(partial(setattr, owner, name, old))
                stop = listen()
                self._undo += [stop] if stop else []

    def off(self) -> None:
        with self._lock:
            self._wanted -= 1
            while self._undo and not self._wanted:
                self._undo.pop()()

    def _known_places(self) -> list[tuple[Namespace, str]]:
        """Where watched functions are bound; searched again only if modules were loaded or removed."""
        if self._modules != len(sys.modules):
            self._modules = len(sys.modules)
            for (owner, name), stand_in in particular().items():
                if (owner, name) not in _OWNED and not self._undo:
                    _OWNED[owner, name] = stand_in
                    _STAND_INS[id(getattr(owner, name))] = stand_in
            self._places = list(_places(_borrowers()))
        return self._places


def _borrowers() -> Iterator[Namespace]:
    """The globals of modules that define watched functions, and of modules that may have imported them."""
    owners = {owner.__name__ for owner, _ in _OWNED}
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if name in owners or not (top in sys.stdlib_module_names or top == _OURS) or name == "__main__":
            yield getattr(module, "__dict__", {})


def _places(namespaces: Iterable[Namespace]) -> Iterator[tuple[Namespace, str]]:
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            if _stand_in(value) is not None:
                yield namespace, name


def _stand_in(value: Any) -> Any:
    """The replacement of a watched function or compiled pattern; None for anything else."""
    if type(value) is re.Pattern:
        return watched_pattern(value) if isinstance(value.pattern, str) else None
    return _STAND_INS.get(id(value))


def _put_back(namespace: Namespace, name: str, old: Any, new: Any) -> None:
    if namespace.get(name) is new:
        namespace[name] = old


_OWNED = functions()
_STAND_INS = {id(getattr(owner, name)): stand_in for (owner, name), stand_in in _OWNED.items()}
_SWITCH = _Switch()


DEEPEST = 30


class Marks:
    def __init__(self) -> None:
        self._record = ObservationLog()

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Mark each argument of a call; the dict itself is not marked."""
        return {name: self.mark(value, (name,)) for name, value in arguments.items()}

    def mark(self, value: Any, path: Path = (), depth: int = DEEPEST) -> Any:
        """Mark everything in a value that can be marked, up to a depth.

        JSON values are copied. The fields of dataclasses and pydantic models are replaced in place.
        """
        if depth == 0:
            return value
        if type(value) in (str, int, float, list, dict):
            return mark(value, ValueOrigin(self._record, path))
        for name, field in _fields(value).items():
            _put(value, name, self.mark(field, (*path, name), depth - 1))
        return value

    @property
    def observations(self) -> tuple[Observation, ...]:
        return self._record.observations

    def close(self) -> None:
        """Stop recording. Values still in use stay marked, without effect."""
        self._record.closed = True


@contextmanager
def observe(namespaces: Iterable[dict[str, Any]] = ()) -> Iterator[Marks]:
    """Provide marks for one call, and watch library functions meanwhile.

    `namespaces` are globals of code that is not in `sys.modules` but may have imported such functions.
    """
    marks = Marks()
    try:
        _SWITCH.on(namespaces)
        try:
            yield marks
        finally:
            _SWITCH.off()
    finally:
        marks.close()


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or pydantic model; empty for anything else."""
    if isinstance(value, type):
        return {}
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    known = getattr(type(value), "model_fields", None)  # pydantic's, which may not be installed
    if isinstance(known, dict) and isinstance(getattr(value, "__dict__", None), dict):
        return {name: value.__dict__[name] for name in known if name in value.__dict__}
    return {}


def _put(value: Any, name: str, field: Any) -> None:
    """Replace a field without validation or immutability checks: the new value equals the old one."""
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict) and name in attributes:
        attributes[name] = field
        return
    try:
        object.__setattr__(value, name, field)
    except (AttributeError, TypeError):
        return
