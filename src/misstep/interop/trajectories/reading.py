"""Detects the format of a file of trajectories from its content, and reads it."""

import codecs
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec

from misstep.core.outcome import Transcript
from misstep.errors import UsageError
from misstep.interop.trajectories import inspect_logs, traces
from misstep.interop.trajectories.trajectory import Trajectory, is_messages, read_messages

PACKED = b"PK\x03\x04"
LARGEST = 1 << 29  # bytes of a file that has to be read at once, because it is not split into lines
EXPECTED = "expected plans, message lists, an Inspect log or OTLP JSON, one to a line or one to a file"


def is_foreign(path: str) -> bool:
    """Whether a file holds something other than plans, one per line.

    An unknown format is not foreign: the reader of plans gives the better error message.
    """
    if not os.path.isfile(path):
        return False  # a pipe can be read only once
    try:
        if _is_packed(path):
            return True
        _, value = next(_values(path), ("", None))
    except (OSError, UsageError):
        return False
    one = value[0] if isinstance(value, list) and value and not is_messages(value) else value
    return is_messages(one) or inspect_logs.is_log(one) or traces.is_trace(one)


def read_trajectories(path: str) -> Iterator[Trajectory]:
    """Each trajectory of a file that `is_foreign`."""
    try:
        if _is_packed(path):
            yield from inspect_logs.read_packed(path)
            return
        values = _values(path)
        first = next(values)
        if traces.is_trace(first[1]):
            yield from traces.read_traces(chain([first], values), path)
            return
        for where, value in chain([first], values):
            yield from _trajectories(value, where)
    except RecursionError as error:
        raise UsageError("nested too deeply", EXPECTED, where=path) from error


def _is_packed(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(PACKED)) == PACKED


def _trajectories(value: Any, where: str) -> Iterator[Trajectory]:
    if inspect_logs.is_log(value):
        yield from inspect_logs.read_log(value, where)
    elif is_messages(value):
        yield read_messages(value, where)
    elif isinstance(value, list) and value:
        for number, each in enumerate(value, 1):
            yield from _trajectories(each, f"{where}, item {number}")
    else:
        try:
            plan = msgspec.convert(value, Transcript)
        except msgspec.ValidationError as error:
            raise UsageError("an unknown format", EXPECTED, where=where) from error
        yield Trajectory(where, plan.calls, (plan.case,), "", plan.ended, plan.answer, plan.error, plan.usage)


def _values(path: str) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file with their positions: one per line, or the whole file."""
    is_lined = None
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not line.strip():
                continue
            where = f"{path}:{number}"
            value, problem = _decoded(line)
            if is_lined is None and problem and line.lstrip()[:1] in (b"[", b"{"):
                break
            is_lined = True
            if problem:
                raise UsageError(problem, EXPECTED, where=where)
            yield where, value
        else:
            return
    yield path, _whole(path)


def _whole(path: str) -> Any:
    size = os.path.getsize(path)
    if size > LARGEST:
        hint = "write one JSON object per line: such a file may have any size"
        raise UsageError(f"{size:,} bytes, not in JSON lines", hint, where=path)
    with open(path, "rb") as file:
        value, problem = _decoded(file.read().removeprefix(codecs.BOM_UTF8))
    if problem:
        raise UsageError(problem, EXPECTED, where=path)
    return value


def _decoded(data: bytes) -> tuple[Any, str]:
    try:
        return msgspec.json.decode(data), ""
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        mended = _mended(data) if rb"\ud" in data.lower() else None
        return (None, f"not JSON: {error}") if mended is None else (mended, "")
    except RecursionError:
        return None, "nested too deeply"


def _mended(data: bytes) -> Any:
    """A value with lone surrogates replaced, which cannot be stored; None for invalid JSON."""
    with suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(data), ensure_ascii=False)
        return msgspec.json.decode(text.encode("utf-8", "replace"))
