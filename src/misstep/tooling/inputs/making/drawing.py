"""Lets Hypothesis draw values that are the same in every process."""

from hashlib import shake_128
from pathlib import Path
from threading import RLock
from typing import TypeVar

from hypothesis import HealthCheck, Verbosity, given, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

BYTES = 6000  # of chance for one value
TRIES = 3  # for every value wanted

# Hypothesis leaves tables of characters in a directory where it can make one; in a file it can't.
NOWHERE = Path(__file__) / "nowhere"

# The directory is the same for all threads, and so is the state of chance that Hypothesis sets and puts back.
_TURN = RLock()


def draw_values(strategy: SearchStrategy[T], seed: int, count: int) -> list[T]:
    """Up to so many values, which depend on the strategy and the seed alone; fewer where few are found.

    They come from bytes of ours, as for an external fuzzer. Left to itself Hypothesis would look for
    constants in whatever modules happen to be loaded.
    """
    found = list[T]()

    @settings(
        database=None, deadline=None, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def keep(value: T) -> None:
        found.append(value)

    with _TURN:
        set_hypothesis_home_dir(NOWHERE)
        try:
            target = keep.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
            for attempt in range(count * TRIES):
                if len(found) >= count or (attempt >= 2 * TRIES and not found):
                    break
                target(shake_128(f"{seed}:{attempt}".encode()).digest(BYTES))
        finally:
            set_hypothesis_home_dir(None)
    return found[:count]
