"""How a command ends: exit codes that only the command line knows, and agents that try to end it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

INCONCLUSIVE = 4  # nothing wrong was found, but something was not tested or could not be judged


@contextmanager
def no_way_out() -> Iterator[None]:
    """While an agent runs, `os._exit` ends what called it, not the run: its code would be taken for ours.

    Children that agents fork end as they like.
    """
    real, ours = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != ours:
            real(status)
        raise SystemExit(f"os._exit({status}) was called")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = real
