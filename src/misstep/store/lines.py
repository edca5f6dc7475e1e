"""JSON lines: reading with the place of every mistake, writing whole files or nothing."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from misstep.errors import UsageError

T = TypeVar("T")


def read_lines(path: str, kind: type[T], name: str) -> Iterator[tuple[str, T]]:
    """Each line as a value, with its place; a `UsageError` for the first that can't be read.

    `name` is what people call the values. A file without any is an error as well.
    """
    decoder = msgspec.json.Decoder(kind)
    where = ""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    where = f"{path}:{number}"
                    yield where, _decode(decoder, line, name, where)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=path) from error
    if not where:
        raise UsageError(f"there is no {name} in it", f"expected one {name} per line, as JSON", where=path)


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
        cut = "" if line.endswith(b"\n") else "the line has no end: the file may have been cut short"
        raise UsageError(f"not JSON: {error}", f"expected one {name} per line", cut, where=where) from error
    except RecursionError as error:
        raise UsageError(f"nested too deeply to be a {name}", where=where) from error


def write_lines(path: str, values: Iterable[msgspec.Struct]) -> None:
    """Write one value per line, `-` for standard output; a file appears whole or not at all."""
    encoder = msgspec.json.Encoder()
    with _standard_output() if path in ("", "-") else _whole_file(Path(path)) as file:
        for value in values:
            file.write(encoder.encode(value) + b"\n")


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file under another name until it is complete."""
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise UsageError("can't be written", error.strerror or str(error), where=str(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except OSError as error:
        raise UsageError("can't be written", error.strerror or str(error), where=str(path)) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
