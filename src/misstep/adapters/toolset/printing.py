"""Keeps what the user's code prints off standard output, where only results belong."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

OUTPUT, ERROR = 1, 2


@contextmanager
def printing_aside() -> Iterator[None]:
    """What is printed meanwhile, by this process or one that it starts, goes to standard error."""
    with suppress(AttributeError, OSError, ValueError):  # there is none, or it is closed
        sys.stdout.flush()
    ours = _diverted()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if ours is not None:
            os.dup2(ours, OUTPUT)
            os.close(ours)


def _diverted() -> int | None:
    """Where standard output led before; None if nothing could be done about it."""
    try:
        ours = os.dup(OUTPUT)
    except OSError:
        return None
    try:
        os.dup2(ERROR, OUTPUT)
    except OSError:
        os.close(ours)
        return None
    return ours
