"""Puts marks on values, keeps them there for one call, and takes them off again.

Watches functions of the standard library while marked values are about.

A function stands under its name in its module, and under any name by which other code has imported it; all
of these are replaced, and put back at the end. Code that holds one of them in another way is not heard, and
works as ever.
"""

import dataclasses
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from misstep.core.tool import Observation, Path
from misstep.fuzzing.taint.dressing import dress, plain
from misstep.fuzzing.taint.models import listen, methods
from misstep.fuzzing.taint.patterns import watched_pattern
from misstep.fuzzing.taint.record import ObservationLog, ValueOrigin
from misstep.fuzzing.taint.watches import METHODS, functions, particular

_OURS = __name__.partition(".")[0]

Namespace = dict[str, Any]


class _Switch:
    """Replaces the functions for as long as anybody wants them replaced."""

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
                self._replace(namespace, name)
            if self._wanted == 1:
                self._replace_methods()
                stop = listen()
                self._undo += [stop] if stop else []

    def off(self) -> None:
        with self._lock:
            self._wanted -= 1
            while self._undo and not self._wanted:
                self._undo.pop()()

    def _known_places(self) -> list[tuple[Namespace, str]]:
        """Where watched functions have names; looked for again only once modules have come or gone."""
        if self._modules != len(sys.modules):
            self._modules = len(sys.modules)
            self._stand_ins_for_latecomers()
            self._places = list(_places(_borrowers()))
        return self._places

    def _stand_ins_for_latecomers(self) -> None:
        for place, stand_in in particular().items():
            owner, name = place
            if place not in _OWNED and not self._undo:
                _OWNED[place] = stand_in
                _STAND_INS[id(getattr(owner, name))] = stand_in

    def _replace(self, namespace: Namespace, name: str) -> None:
        old = namespace.get(name)
        new = _stand_in(old)
        if new is not None:
            namespace[name] = new
            self._undo.append(lambda: _put_back(namespace, name, old, new))

    def _replace_methods(self) -> None:
        for owner, name, watch in [*METHODS, *methods()]:
            old = owner.__dict__[name]
            setattr(owner, name, watch(old))
            self._undo.append(lambda owner=owner, name=name, old=old: setattr(owner, name, old))  # type: ignore[misc]


def _borrowers() -> Iterator[Namespace]:
    """The globals of the modules that own watched functions, and of those that may have imported them."""
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
    """What stands in for a watched function or a compiled pattern; None for anything else."""
    if type(value) is re.Pattern:
        return watched_pattern(value) if isinstance(value.pattern, str) else None
    return _STAND_INS.get(id(value))


def _put_back(namespace: Namespace, name: str, old: Any, new: Any) -> None:
    if namespace.get(name) is new:
        namespace[name] = old


_OWNED = dict(functions())
_STAND_INS = {id(getattr(owner, name)): stand_in for (owner, name), stand_in in _OWNED.items()}
_SWITCH = _Switch()


@contextmanager
def watched(namespaces: Iterable[Namespace] = ()) -> Iterator[None]:
    """Have the functions watched; everything is as before at the end, also where it ends in an error."""
    _SWITCH.on(namespaces)
    try:
        yield
    finally:
        _SWITCH.off()


__all__ = ["Marks", "observe", "plain"]

DEEPEST = 30


class Marks:
    """The marks of one call."""

    def __init__(self) -> None:
        self._record = ObservationLog()

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, each marked; the object that holds them is none of the tool's business."""
        return {name: self.mark(value, (name,)) for name, value in arguments.items()}

    def mark(self, value: Any, path: Path = ()) -> Any:
        """The value with everything in it marked that can be; objects are marked where they stand.

        JSON values are copied. Of dataclasses and pydantic models the fields are replaced, in place.
        """
        return self._marked(value, path, DEEPEST)

    def _marked(self, value: Any, path: Path, depth: int) -> Any:
        if depth == 0:
            return value
        if type(value) in (str, int, float, list, dict):
            return dress(value, ValueOrigin(self._record, path))
        fields = _fields(value)
        for name, field in fields.items():
            _put(value, name, self._marked(field, (*path, name), depth - 1))
        return value

    @property
    def observations(self) -> tuple[Observation, ...]:
        return self._record.observations

    def close(self) -> None:
        """Write nothing down any more. Values that are still in use stay marked to no effect."""
        self._record.closed = True


@contextmanager
def observe(namespaces: Iterable[dict[str, Any]] = ()) -> Iterator[Marks]:
    """Marks for one call, with library functions watched for as long.

    `namespaces` are globals of code that is not in `sys.modules`, in which such functions have names too.
    """
    marks = Marks()
    try:
        with watched(namespaces):
            yield marks
    finally:
        marks.close()


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or of a pydantic model; nothing of anything else."""
    if isinstance(value, type):
        return {}
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    known = getattr(type(value), "model_fields", None)  # of pydantic, without having it here
    if isinstance(known, dict) and isinstance(getattr(value, "__dict__", None), dict):
        return {name: value.__dict__[name] for name in known if name in value.__dict__}
    return {}


def _put(value: Any, name: str, field: Any) -> None:
    """Replace a field past whatever checks or forbids it: what is put there is equal to what was."""
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict) and name in attributes:
        attributes[name] = field
        return
    try:
        object.__setattr__(value, name, field)
    except (AttributeError, TypeError):
        return
