"""Finds our adapter of the embedded model, which comes with the package."""

import hashlib
from functools import cache
from pathlib import Path

from misstep.errors import UsageError

FILE = Path(__file__).parent / "data" / "planner.gguf"
SIZE = 9_621_024
SHA256 = "3acb0c9a5da1e3052ec8e2b37455abdaed2a87da48a424b9a9beb1f7ead35ead"


@cache
def locate_adapter() -> Path:
    """The file with the adapter. Whether it is the one that was published is looked at once per process."""
    return checked_adapter(FILE)


def checked_adapter(path: Path) -> Path:
    """The path itself, if it leads to the adapter as it was published."""
    if not path.is_file():
        raise _unusable(f"is missing: {path}")
    size = path.stat().st_size
    if size != SIZE:
        raise _unusable(f"is damaged: {path} has {size:,} bytes, not {SIZE:,}")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unusable(f"can't be read: {error}") from error
    if digest != SHA256:
        raise _unusable(f"is damaged: {path} has the checksum {digest[:12]}…, not {SHA256[:12]}…")
    return path


def _unusable(what: str) -> UsageError:
    return UsageError(
        f"the adapter of the embedded model {what}",
        "install misstep again: pip install --force-reinstall --no-deps misstep",
        "or take --model local-base, which does without",
    )
