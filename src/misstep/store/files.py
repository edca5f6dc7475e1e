"""Writes files atomically, reads and writes JSON lines, and reads capability curves."""

import codecs
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from misstep.core.results.capability import CURVE_VERSION, Capability, Point
from misstep.errors import UsageError

ANYBODY_WRITES = 0o222  # permission bits of a file's mode


def write_text(path: str, text: str) -> None:
    """Write text to a file atomically, or to standard output for `-`."""
    with opened(path) as file:
        file.write(text.encode("utf-8", "replace"))


def refuse_unwritable(path: str, hint: str = "name another file") -> None:
    """Raise `UsageError` if a file can't be written or is marked read-only, even for root."""
    if path in ("", "-"):
        return
    target = Path(os.path.realpath(path))
    if why := _why_not(target):
        raise UsageError(f"can't be written: {why}", hint, where=path)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open standard output, a device or a pipe directly; a regular file appears only when it is complete."""
    if path in ("", "-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    refuse_unwritable(path)
    target = Path(os.path.realpath(path))
    try:
        with open(target, "wb") if target.exists() and not target.is_file() else _whole_file(target) as file:
            yield file
    except OSError as error:
        raise UsageError("can't be written", error.strerror or str(error), where=path) from error


def _why_not(path: Path) -> str:
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return "its folder does not exist"
    if path.is_file() and not (path.stat().st_mode & ANYBODY_WRITES and os.access(path, os.W_OK)):
        return "it is read-only"
    if (path.is_file() or not path.exists()) and not os.access(path.parent, os.W_OK):
        return "its folder is read-only"
    return ""


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write under a temporary name until complete; owner, permissions and extended attributes are kept."""
    with beside(path) as (file, partial):
        yield file
        _to_disk(file)
        if not path.exists():
            os.chmod(partial, 0o666 & ~_umask())
            os.replace(partial, path)
        elif path.stat().st_nlink == 1 and _is_given(partial, path.stat()) and _is_marked(partial, path):
            os.replace(partial, path)
        else:
            _write_over(path, partial)


@contextmanager
def beside(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    """A temporary file in the same folder, removed at the end unless it was renamed."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _is_given(file: str, like: os.stat_result) -> bool:
    """Copy owner and permissions from another file; False if that is not allowed."""
    own = os.stat(file)
    try:  # the owner first, because changing it clears some permission bits
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            os.chown(file, like.st_uid, like.st_gid)
    except PermissionError:
        return False
    os.chmod(file, stat.S_IMODE(like.st_mode))
    return True


def _is_marked(file: str, like: Path) -> bool:
    """Copy extended attributes, including access control lists; False if that is not possible."""
    if sys.platform != "linux":
        return True
    own, wanted = _attributes(file), _attributes(like)
    try:
        for name in own.keys() - wanted.keys():
            os.removexattr(file, name)
        for name, value in wanted.items():
            if own.get(name) != value:
                os.setxattr(file, name, value)
    except OSError:
        return False
    return True


def _attributes(path: str | Path) -> dict[str, bytes]:
    """Extended attributes; empty if the file system has none."""
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}


def _write_over(path: Path, complete: str) -> None:
    """Overwrite a file in place that can't be replaced.

    It may have other hard links, or an owner or attributes that would be lost. A copy of its old content is
    kept beside it meanwhile and restored if writing fails.
    """
    with beside(path) as (file, before):
        with open(path, "rb") as old:
            shutil.copyfileobj(old, file)
        _to_disk(file)
        try:
            _copy_into(path, complete)
        except BaseException:
            _put_back(path, before)
            raise


def _put_back(path: Path, before: str) -> None:
    try:
        _copy_into(path, before)
    except OSError as error:
        kept = f"{path}.before"
        os.replace(before, kept)
        raise UsageError(
            "was left incomplete", f"its previous content is in {kept}", where=str(path)
        ) from error


def _copy_into(path: Path, source: str) -> None:
    with open(source, "rb") as new, open(path, "r+b") as file:
        shutil.copyfileobj(new, file)
        file.truncate()
        _to_disk(file)


def _to_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


T = TypeVar("T")


class _Versioned(msgspec.Struct):
    version: int | None = None


def read_lines(path: str, kind: type[T], name: str, version: int | None = None) -> Iterator[tuple[str, T]]:
    """Decode each line, with its location; `UsageError` for the first that is invalid.

    `name` is what messages call the values, `version` the one that each must have. A file without any values
    is an error too.
    """
    decoder = msgspec.json.Decoder(kind)
    where = ""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip():
                    where = f"{path}:{number}"
                    if version is not None:
                        _check_version(line, name, version, where)
                    yield where, _decode(decoder, line, name, where)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=path) from error
    if not where:
        raise UsageError(f"it contains no {name}", f"expected one {name} per line, as JSON", where=path)


def _check_version(line: bytes, name: str, version: int, where: str) -> None:
    """Check the version first, so that a newer format is not reported as unknown fields."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        given = msgspec.json.decode(line, type=_Versioned).version
        if given not in (None, version):
            raise UsageError(
                f"a {name} of version {given}", f"this misstep reads version {version}", where=where
            )


def _decode(decoder: msgspec.json.Decoder[T], line: bytes, name: str, where: str) -> T:
    try:
        line.decode("utf-8")
        return decoder.decode(line)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1}"
        raise UsageError(problem, f"expected one {name} per line, as JSON in UTF-8", where=where) from error
    except msgspec.ValidationError as error:
        raise UsageError(f"not a {name}: {error}", where=where) from error
    except msgspec.DecodeError as error:
        cut = "" if line.endswith(b"\n") else "the last line is incomplete: the file may be truncated"
        raise UsageError(f"not JSON: {error}", f"expected one {name} per line", cut, where=where) from error
    except RecursionError as error:
        raise UsageError(f"nested too deeply to be a {name}", where=where) from error


def write_lines(path: str, values: Iterable[msgspec.Struct]) -> None:
    """Write one value per line, atomically, or to standard output for `-`."""
    encoder = msgspec.json.Encoder()
    with opened(path) as file:
        for value in values:
            file.write(encoder.encode(value) + b"\n")


CURVE_ENDING = ".json"
LARGEST_CURVE = 1 << 20  # bytes
CURVE_EXPECTED = "expected the output of plan capability --json, or of misstep show RUN --json for such a run"


def is_kept(name: str) -> bool:
    """Whether a name is a curve file; all other names are runs."""
    return name.endswith(CURVE_ENDING)


def read_curve(path: str) -> Capability:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_CURVE + 1).removeprefix(codecs.BOM_UTF8)
            if file.tell() > LARGEST_CURVE:
                raise UsageError(f"is longer than {LARGEST_CURVE:,} bytes", CURVE_EXPECTED, where=path)
        _check_version(data, "curve", CURVE_VERSION, path)
        curve = msgspec.json.decode(data, type=Capability)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), CURVE_EXPECTED, where=path) from error
    except (ValueError, RecursionError) as error:  # ValueError: not JSON, or not of this format
        raise UsageError(f"is not a capability curve: {error}", CURVE_EXPECTED, where=path) from error
    if wrong := _wrong_with(curve):
        raise UsageError(f"is not a capability curve: {wrong}", CURVE_EXPECTED, where=path)
    return curve


def _wrong_with(curve: Capability) -> str:
    """What is inconsistent about a curve; empty if nothing is."""
    sizes = [point.actions for point in curve.curve]
    if not sizes:
        return "it has no points"
    if any(one >= other for one, other in pairwise(sizes)):
        return "numbers of actions must increase"
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
        return "the rate does not match the counts"
    if point.success is not None and abs(point.success - point.passed / judged) > 1e-6:
        return "the rate does not match the counts"
    low, high = point.interval
    return "the interval ends before it begins" if low > high else ""
