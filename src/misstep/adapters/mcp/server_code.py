"""Receives which of its own code a server runs, from scripts in `inside` that run in its process.

The server gets the writing end of a pipe, which is read after each reply. There are two kinds of lines in it:

    {"key": 3735928559, "file": "/server/tools.py", "functions": [[12, 13, 13], [21]]}
    15298366701568 1 3 2

The first names a file and the lines of the places in each of its functions, where places count from 1. The
second says that place 3 came right after place 1 (0 is the start) for the second time since a function was
entered; only powers of two are sent, and nothing twice. The function's number is `key << 12 | index`. The
server may be hostile: what is invalid is skipped, and there are limits.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec

from misstep.core.outcome import storable

CHANNEL = "_MISSTEP_COVERAGE"
INSIDE = Path(__file__).parent / "inside"  # what servers load
FUNCTION_BITS = 12
EDGE_BYTES = 6
ROOM = 1 << 20  # bytes in the pipe, so that all that a start runs fits
AT_ONCE = 1 << 16  # bytes
MOST = 1 << 22  # bytes after one call
MOST_FILES = 1_000
LONGEST_NAME = 1 << 12
LAST_PARTS = 3  # of a path, which identify a file wherever it is installed


class _SourceFile(msgspec.Struct, frozen=True):
    key: int
    file: str
    functions: list[list[int]]


_files = msgspec.json.Decoder(_SourceFile)


class ServerCode:
    """The pipe from all servers of a toolset. Nothing comes from a server in another language, or elsewhere.

    After `end`, `lines` are those that ran for the first time, and `functions` the lines of the functions in
    which the call took a new path, both by file.
    """

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        self._is_closed = False
        os.set_blocking(self._reading, False)
        os.set_blocking(self.writing, False)
        with suppress(AttributeError, OSError):  # not on this system, or more than the user may have
            fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, ROOM)
        self._files = dict[int, _SourceFile]()
        self._rest = b""
        self.lines = dict[str, set[int]]()
        self.functions = dict[str, dict[int, tuple[int, ...]]]()

    def close(self) -> None:
        for end in (self._reading, self.writing) if not self._is_closed else ():
            os.close(end)
        self._is_closed = True

    def variables(self) -> dict[str, str]:
        """What a server's process needs in its environment to send anything."""
        return {CHANNEL: f"{self.writing} {os.fstat(self.writing).st_ino}"}

    def begin(self) -> None:
        """Before a call: what ran until now is not due to it."""
        self.lines.clear()
        self._read()
        self.functions.clear()

    def end(self, everything: bool = False) -> tuple[int, ...]:  # noqa: ARG002 -- that is not known
        """The edges that the call reached and no earlier code did."""
        return tuple(self._read())

    def errors(self) -> list[BaseException]:
        """None: those of a server are seen in its replies only."""
        return []

    def _read(self) -> list[int]:
        edges = list[int]()
        for row in self._rows():
            with suppress(ValueError, TypeError, LookupError, RecursionError):
                if row[:1] == b"{":
                    self._learn(_files.decode(row))
                else:
                    edges.append(self._take(*map(int, row.split())))
        return edges

    def _take(self, number: int, before: int, place: int, count: int) -> int:
        source, index = self._files[number >> FUNCTION_BITS], number & (1 << FUNCTION_BITS) - 1
        places = source.functions[index]
        self.lines.setdefault(source.file, set()).add(places[place - 1])
        self.functions.setdefault(source.file, {})[index] = tuple(places)
        return _edge(source.file, index, before, place, count)

    def _learn(self, found: _SourceFile) -> None:
        if len(self._files) < MOST_FILES and len(found.file) <= LONGEST_NAME:
            self._files[found.key] = msgspec.structs.replace(found, file=storable(found.file))

    def _rows(self) -> Iterator[bytes]:
        """The lines in the pipe, as far as they are complete."""
        left = MOST
        while left > 0:
            try:
                data = os.read(self._reading, AT_ONCE)
            except BlockingIOError:
                return
            left -= len(data)
            *rows, self._rest = (self._rest + data).split(b"\n")
            if len(self._rest) > MOST:
                self._rest = b""
            yield from rows


def _edge(file: str, *numbers: int) -> int:
    """A number that is the same in every process for the same code."""
    name = "/".join(Path(file).parts[-LAST_PARTS:])
    text = f"{name} {numbers}".encode(errors="replace")
    return int.from_bytes(blake2b(text, digest_size=EDGE_BYTES).digest(), "big")


def environment_with(
    given: dict[str, str], command: Sequence[str], code: ServerCode | None
) -> dict[str, str]:
    """The variables for a server's process, so that it loads our scripts."""
    variables = {**given, **(code.variables() if code else {})}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (str(INSIDE), given.get("PYTHONPATH"))))
    # Node's permission model refuses to load a script from elsewhere, and the server would not start.
    if code and not any("permission" in word for word in command):
        required = f"--require {json.dumps(str(INSIDE / 'misstep_coverage.cjs'))}"
        variables["NODE_OPTIONS"] = " ".join(filter(None, (given.get("NODE_OPTIONS"), required)))
    return variables
