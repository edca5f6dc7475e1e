"""JSON lines: reading them with the place of every mistake, writing them."""

import codecs
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec

from misstep.errors import UsageError
from misstep.store.files import opened

T = TypeVar("T")


class _Versioned(msgspec.Struct):
    version: int | None = None


def read_lines(path: str, kind: type[T], name: str, version: int | None = None) -> Iterator[tuple[str, T]]:
    """Each line as a value, with its place; a `UsageError` for the first that can't be read.

    `name` is what people call the values, `version` the one that each must have. A file without any is an
    error as well.
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
        raise UsageError(f"there is no {name} in it", f"expected one {name} per line, as JSON", where=path)


def _check_version(line: bytes, name: str, version: int, where: str) -> None:
    """Tell a newer form by its version, before its fields are called unknown."""
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
        cut = "" if line.endswith(b"\n") else "the line has no end: the file may have been cut short"
        raise UsageError(f"not JSON: {error}", f"expected one {name} per line", cut, where=where) from error
    except RecursionError as error:
        raise UsageError(f"nested too deeply to be a {name}", where=where) from error


def write_lines(path: str, values: Iterable[msgspec.Struct]) -> None:
    """Write one value per line, `-` for standard output; a file appears whole or not at all."""
    encoder = msgspec.json.Encoder()
    with opened(path) as file:
        for value in values:
            file.write(encoder.encode(value) + b"\n")
