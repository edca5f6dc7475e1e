"""Details of very many cases in a file that stays small."""

import base64
import gzip
from typing import Any

import msgspec

BLOCK = 64  # details that are packed together, and unpacked when one of them is looked at
LEVEL = 6  # beyond it, packing takes half as long again for hardly any room
ROOM = 18_000_000  # bytes, for all details and the index in one file


class Archive:
    """Packs details in the order in which they come, as many as there is room for.

    A line is a block of `BLOCK` details, the last with what is left: a JSON array, compressed (gzip) and
    written in base 64. The first block without room closes the archive: those kept are the first.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._waiting = list[bytes]()
        self._lines = list[str]()
        self._used = 0
        self.is_full = False

    def add(self, detail: dict[str, Any]) -> None:
        """Keep a detail, unless the archive is full."""
        if self.is_full:
            return
        self._waiting.append(msgspec.json.encode(detail))
        if len(self._waiting) == BLOCK:
            self._pack()

    def close(self, taken: int = 0) -> tuple[tuple[str, ...], int]:
        """All lines for which there is room beside `taken` bytes, and how many details they hold."""
        left = len(self._waiting)
        if left:
            self._pack()
        sizes = [BLOCK] * len(self._lines)
        if left and not self.is_full:
            sizes[-1] = left
        while self._lines and self._used + taken > self._room:
            self._used -= len(self._lines.pop()) + 1
            sizes.pop()
        return tuple(self._lines), sum(sizes)

    def _pack(self) -> None:
        packed = gzip.compress(b"[" + b",".join(self._waiting) + b"]", LEVEL, mtime=0)
        line = base64.b64encode(packed).decode()
        self._waiting.clear()
        if self._used + len(line) + 1 > self._room:
            self.is_full = True
        else:
            self._lines.append(line)
            self._used += len(line) + 1
