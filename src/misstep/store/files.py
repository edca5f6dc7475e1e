"""Files that are written whole or not at all."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from misstep.errors import UsageError


def write_text(path: str, text: str) -> None:
    """Write a text, `-` for standard output; a file appears whole or not at all."""
    with opened(path) as file:
        file.write(text.encode("utf-8", "replace"))


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Standard output, a device or pipe as it is, and a file that appears only when it is complete."""
    if path in ("", "-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    try:
        with open(target, "wb") if target.exists() and not target.is_file() else _whole_file(target) as file:
            yield file
    except OSError as error:
        raise UsageError("can't be written", error.strerror or str(error), where=path) from error


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file under another name until it is complete; it keeps the rights of the one it replaces."""
    rights = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, stat.S_IMODE(rights))
        os.replace(partial, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
