"""Tells misstep's own code from everybody else's."""

import os
from pathlib import Path

_FOLDER = Path(__file__).parents[1]
_NAMES = tuple(f"{folder}{os.sep}" for folder in {_FOLDER, _FOLDER.resolve()})


def is_ours(file: str) -> bool:
    """Whether a file, by its whole path, is part of misstep."""
    return file.startswith(_NAMES)
