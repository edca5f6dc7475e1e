"""xllamacpp, imported in such a way that its threads give way to others."""

import ctypes
import os
import sys
from functools import cache
from typing import Any, NamedTuple

from misstep.core.model import Unavailable

MOST_READERS = 4  # threads that read a prompt together
POLICY = "OMP_WAIT_POLICY"


class Runtime(NamedTuple):
    """The library, and how many of its threads may read a prompt together."""

    library: Any
    readers: int


@cache
def runtime() -> Runtime:
    """Import it, with threads that sleep while they wait for each other wherever that can be had.

    By default they spin, and where other processes want the cores too, two are slower than one. OpenMP asks
    the environment about it when it is loaded, and never again; other programs are not to see it there.
    """
    undecided = sys.platform == "linux" and not (
        POLICY in os.environ or "xllamacpp" in sys.modules or _is_loaded("libgomp.so.1")
    )
    if undecided:
        os.environ[POLICY] = "passive"
    try:
        import xllamacpp
    except ImportError as error:
        raise Unavailable(f"the embedded model does not start: {error}") from error
    finally:
        if undecided:
            del os.environ[POLICY]
    is_passive = undecided and "OPENMP = 1" in xllamacpp.get_system_info()
    return Runtime(xllamacpp, min(MOST_READERS, usable_cores()) if is_passive else 1)


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True
