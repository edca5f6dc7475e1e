"""Details of very many cases in a file that stays small."""

import base64
import gzip
from typing import Any

import msgspec

BLOCK = 64  # details that are packed together, and unpacked when one of them is looked at
ROOM = 15_000_000  # bytes, for all of them in one file


class Archive:
    """Packs details in the order in which they come, as many as there is room for.

    `lines` are blocks of `BLOCK` details each, the last with what is left: a JSON array, compressed (gzip)
    and written in base 64. The first block without room closes the archive: those kept are the first.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._waiting = list[bytes]()
        self._lines = list[str]()
        self._is_full = False

    @property
    def is_full(self) -> bool:
        """Whether nothing more will be kept."""
        return self._is_full

    @property
    def kept(self) -> int:
        """How many are kept, those that wait to be packed included."""
        return BLOCK * len(self._lines) + len(self._waiting)

    @property
    def lines(self) -> list[str]:
        """All blocks; what waits is packed now."""
        waiting = [self._packed()] if self._waiting else []
        return [*self._lines, *waiting]

    def add(self, detail: dict[str, Any]) -> None:
        if self._is_full:
            return
        self._waiting.append(msgspec.json.encode(detail))
        if len(self._waiting) == BLOCK:
            self._pack()

    def _pack(self) -> None:
        line = self._packed()
        self._waiting.clear()
        self._room -= len(line)
        if self._room < 0:
            self._is_full = True
        else:
            self._lines.append(line)

    def _packed(self) -> str:
        return base64.b64encode(gzip.compress(b"[" + b",".join(self._waiting) + b"]", mtime=0)).decode()
