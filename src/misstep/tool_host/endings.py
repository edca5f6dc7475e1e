"""What came of a call that got no answer."""

import signal

from misstep.core.tool import Raised, Reaction
from misstep.tool_host.protocol import BROKEN, LINE_CLOSED, MEGABYTE, MEMORY_FULL, Limits, Overrun, Stopped

MOST_OF_MEMORY = 0.8  # of what is allowed: who is ended with so much was ended for it


def hung(ended: Stopped | Overrun | None, limits: Limits, seconds: float) -> Reaction:
    """The call was given up on, and the process ended for it, unless there was another reason as well."""
    if isinstance(ended, Overrun):
        return _overran(ended, seconds)
    detail = f"it gave no answer within {limits.timeout:g} seconds"
    raised = Raised("Hang", detail, frames=ended.frames) if ended and ended.frames else None
    computed = ended.computed if ended else 0.0
    return Reaction("hung", detail=detail, raised=raised, seconds=seconds, computed=computed)


def died(ended: Stopped | Overrun | None, limits: Limits, seconds: float) -> Reaction:
    """The process ended while it made the call."""
    if isinstance(ended, Overrun):
        return _overran(ended, seconds)
    if ended is None:
        return Reaction("died", detail="it ended more than its own process", seconds=seconds)
    if ended.status == -signal.SIGXCPU:  # many threads use up the time of a call before it is over
        return hung(ended, limits, seconds)
    name, detail = _cause(ended.status)
    raised = Raised(name, detail, frames=ended.frames)
    if ended.status == MEMORY_FULL or (ended.status < 0 and ended.peak > limits.memory * MOST_OF_MEMORY):
        return Reaction("exhausted", detail=detail, raised=raised, seconds=seconds, memory=ended.peak)
    return Reaction("died", detail=detail, raised=raised, seconds=seconds)


def _overran(overrun: Overrun, seconds: float) -> Reaction:
    if overrun.what == "memory":
        detail = f"it had {overrun.amount // MEGABYTE:,} MB of memory"
        return Reaction("exhausted", detail=detail, seconds=seconds, memory=overrun.amount)
    detail = f"it had {overrun.amount:,} {overrun.what}, more than it was allowed"
    return Reaction("died", detail=detail, seconds=seconds)


def _cause(status: int) -> tuple[str, str]:
    """How a process ended, as a name and in words."""
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 0:
        return "Exit", f"it ended its process with status {status}"
    names = {each.value: each.name for each in signal.Signals}
    name = names.get(-status, f"signal {-status}")
    return name, f"its process was ended by {name}"


_STATUSES = {
    LINE_CLOSED: ("Closed", "it closed the files of its process, the way to us among them"),
    MEMORY_FULL: ("MemoryError", "it left no memory"),
    BROKEN: ("Broken", "it changed the interpreter so that its process could not go on"),
}
