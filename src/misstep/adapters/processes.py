"""The processes that there are, as Linux lists them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

PROCESSES = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")
_TIMES = slice(11, 15)  # user and system time, then that of children that have ended and been waited for


class Listed(NamedTuple):
    """A process that lives. `seconds` of processor time are its own and that of its buried children."""

    pid: int
    parent: int
    session: int
    seconds: float


def numbers() -> list[str]:
    """The numbers of all processes, those too that are dead but not buried; none where nobody lists them."""
    return [name for name in os.listdir(PROCESSES) if name.isdigit()] if os.path.isdir(PROCESSES) else []


def listed() -> Iterator[Listed]:
    """All processes that live."""
    for name in numbers():
        with suppress(OSError, ValueError), open(f"{PROCESSES}/{name}/stat", "rb") as file:
            # The name of the program stands in brackets and may hold anything, brackets as well.
            fields = file.read().rpartition(b")")[2].split()
            if fields and fields[0] not in b"ZX":
                seconds = sum(map(int, fields[_TIMES])) / _TICKS
                yield Listed(int(name), int(fields[1]), int(fields[3]), seconds)


def family_seconds(leader: int, skipped: int = 0) -> float:
    """Seconds of processor time of a process and its descendants, but for generations that are skipped.

    Those count as long as they have no children.
    """
    everybody = list(listed())
    generation, total, number = [each for each in everybody if each.pid == leader], 0.0, 0
    while generation:
        pids = {each.pid for each in generation}
        children = [each for each in everybody if each.parent in pids]
        if number >= skipped or not children:
            total += sum(each.seconds for each in generation)
        generation, number = children, number + 1
    return total


def held_up(pid: int) -> dict[tuple[int, int], float]:
    """The seconds for which each thread of a process could have run while others did."""
    found = dict[tuple[int, int], float]()
    with suppress(OSError):
        for thread in os.listdir(f"{PROCESSES}/{pid}/task"):
            with (
                suppress(OSError, ValueError, IndexError),
                open(f"{PROCESSES}/{pid}/task/{thread}/schedstat", "rb") as file,
            ):
                found[pid, int(thread)] = int(file.read().split()[1]) / 1e9
    return found
