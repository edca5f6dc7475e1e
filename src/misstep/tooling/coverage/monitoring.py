"""Follows a tool's own code by `sys.monitoring`, which Python has from 3.12 on."""

import sys
from _thread import get_ident
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

from misstep.tooling.coverage.places import BITS, Lines, Places

Counts: TypeAlias = dict[int, int]  # how often an edge was passed

# Not in the types of the oldest Python that misstep runs on.
_monitoring: Any = getattr(sys, "monitoring", None)
_TOOLS = (4, 3, 5, 2, 1, 0)  # those first that debuggers, coverage and profilers don't use


def free_tool() -> int | None:
    """A number that nobody monitors under; None where there is none or no monitoring."""
    if _monitoring is None:
        return None
    return next((tool for tool in _TOOLS if _monitoring.get_tool(tool) is None), None)


class Monitoring:
    """Follows all threads while it is started. Functions that are not the tool's own cost something once."""

    def __init__(self, owns: Callable[[str], bool], places: Places, tool: int) -> None:
        self._owns = owns
        self._places = places
        self._tool = tool
        self._counts = Counts()
        self._last = dict[int, int]()  # where each thread was
        self._lines = dict[int, Lines]()
        self._started = False
        _monitoring.use_tool_id(tool, "misstep")
        events = _monitoring.events
        _monitoring.register_callback(tool, events.PY_START, self._enter)
        _monitoring.register_callback(tool, events.LINE, self._stepper())
        _monitoring.set_events(tool, events.PY_START)
        _monitoring.restart_events()  # what an earlier user of the number had no interest in

    def start(self) -> None:
        self._counts.clear()
        self._last.clear()
        self._started = True

    def stop(self) -> Counts:
        self._started = False
        return self._counts

    def close(self) -> None:
        _monitoring.set_events(self._tool, 0)
        for event in (_monitoring.events.PY_START, _monitoring.events.LINE):
            _monitoring.register_callback(self._tool, event, None)
        _monitoring.free_tool_id(self._tool)

    def _enter(self, code: CodeType, _offset: int) -> Any:
        if self._owns(code.co_filename):
            self._lines[id(code)] = self._places.lines_of(code)
            _monitoring.set_local_events(self._tool, code, _monitoring.events.LINE)
        return _monitoring.DISABLE

    def _stepper(self) -> Callable[[CodeType, int], None]:
        counts, known, positions = self._counts, self._lines, self._last

        def step(code: CodeType, line: int) -> None:
            lines = known.get(id(code))
            if self._started and lines is not None:
                place = lines[line]
                thread = get_ident()
                edge = positions.get(thread, 0) << BITS | place
                counts[edge] = counts.get(edge, 0) + 1
                positions[thread] = place

        return step
