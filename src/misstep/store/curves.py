"""Reads capability curves from files."""

import codecs
from itertools import pairwise

import msgspec

from misstep.core.results.capability import CURVE_VERSION, Capability, Point
from misstep.errors import UsageError

ENDING = ".json"
LARGEST = 1 << 20  # bytes
EXPECTED = "expected what plan capability --json has printed, or misstep show RUN --json of such a run"


class _Versioned(msgspec.Struct):
    version: int = CURVE_VERSION


def is_kept(name: str) -> bool:
    """Whether a name is a curve file; all other names are runs."""
    return name.endswith(ENDING)


def read_curve(path: str) -> Capability:
    """Read a curve; raises `UsageError` if the file is invalid."""
    curve = _parse(_read(path), path)
    if wrong := _wrong_with(curve):
        raise UsageError(f"is no capability curve: {wrong}", EXPECTED, where=path)
    return curve


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), EXPECTED, where=path) from error
    if len(data) > LARGEST:
        raise UsageError(f"is longer than {LARGEST:,} bytes", EXPECTED, where=path)
    return data.removeprefix(codecs.BOM_UTF8)


def _parse(data: bytes, path: str) -> Capability:
    """Check the version first, so that a newer format is not reported as invalid fields."""
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != CURVE_VERSION:
            raise UsageError(
                f"a curve of version {version}", f"this misstep reads version {CURVE_VERSION}", where=path
            )
        return msgspec.json.decode(data, type=Capability)
    except (ValueError, RecursionError) as error:  # ValueError: not JSON, or not of this format
        raise UsageError(f"is no capability curve: {error}", EXPECTED, where=path) from error


def _wrong_with(curve: Capability) -> str:
    """What is inconsistent about a curve; empty if nothing is."""
    sizes = [point.actions for point in curve.curve]
    if not sizes:
        return "it has no points"
    if any(one >= other for one, other in pairwise(sizes)):
        return "numbers of actions do not rise"
    for point in curve.curve:
        if wrong := _wrong_at(point):
            return f"{wrong} at {point.actions} actions"
    if curve.half and not sizes[0] <= curve.half.at <= sizes[-1]:
        return "its 50 % point is outside of what was tried"
    return ""


def _wrong_at(point: Point) -> str:
    judged = point.passed + point.failed
    if judged > point.cases:
        return f"{judged} of {point.cases} cases were judged"
    if (point.success is None) != (judged == 0):
        return "the rate does not belong to the counts"
    if point.success is not None and abs(point.success - point.passed / judged) > 1e-6:
        return "the rate does not belong to the counts"
    low, high = point.interval
    return "the interval ends before it begins" if low > high else ""
