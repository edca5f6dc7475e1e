"""Replies kept on disk, so that the same request need not be paid twice."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from misstep.errors import UsageError


class ReplyCache:
    """One file per request in a folder; any number of processes may share it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError("the cache can't be made", error.strerror or str(error), where=folder) from error

    def get(self, request: Any) -> Any:
        """The reply to the very same request, or None."""
        try:
            return msgspec.json.decode(self._path(request).read_bytes())
        except (OSError, ValueError):  # no such file, or not what was written
            return None

    def put(self, request: Any, reply: Any) -> None:
        """Keep a reply; a full disk costs the reply its place and nothing else."""
        try:
            path, content = self._path(request), msgspec.json.encode(reply)
            path.parent.mkdir(exist_ok=True)
            _write(path, content)
        except (OSError, ValueError):
            return

    def _path(self, request: Any) -> Path:
        content = msgspec.json.encode(request, order="deterministic")
        name = hashlib.blake2b(content, digest_size=20).hexdigest()
        return self._folder / name[:2] / f"{name[2:]}.json"


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing, whoever else writes the same."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
