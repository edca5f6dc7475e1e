"""Puts marks on values, keeps them there for one call, and takes them off again."""

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from misstep.core.tool import Observation, Path
from misstep.tooling.taint.dressing import dress, plain
from misstep.tooling.taint.libraries import watched
from misstep.tooling.taint.record import Origin, Record

__all__ = ["Marks", "observe", "plain"]

DEEPEST = 30


class Marks:
    """The marks of one call."""

    def __init__(self) -> None:
        self._record = Record()

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
            return dress(value, Origin(self._record, path))
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
