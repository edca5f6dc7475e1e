"""Follows a tool's own code with `sys.monitoring` (Python 3.12 and later)."""

import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

from misstep.fuzzing.coverage.code import BITS, MOST_ERRORS, Errors, FunctionLines, ReachedLines

Counts: TypeAlias = dict[int, int]  # how often each edge was taken

# Missing from the type stubs of the oldest supported Python.
_monitoring: Any = getattr(sys, "monitoring", None)
_TOOLS = (4, 3, 5, 2, 1, 0)  # first those that debuggers, coverage and profilers don't use


def free_tool() -> int | None:
    """A free monitoring tool id; None if there is none, or no monitoring."""
    if _monitoring is None:
        return None
    return next((tool for tool in _TOOLS if _monitoring.get_tool(tool) is None), None)


class _Position(threading.local):
    """The last location of each thread; 0 at the start."""

    place = 0


class Monitoring:
    """Follows all threads while started. Functions that the tool does not own cost time only once."""

    def __init__(self, owns: Callable[[str], bool], places: ReachedLines, tool: int) -> None:
        self._owns = owns
        self._places = places
        self._tool = tool
        self._counts = Counts()
        self.errors = Errors()
        self._lines = dict[int, FunctionLines]()
        self._position: _Position | None = None  # while not started
        _monitoring.use_tool_id(tool, "misstep")
        events = _monitoring.events
        _monitoring.register_callback(tool, events.PY_START, self._enter)
        _monitoring.register_callback(tool, events.PY_RESUME, self._resume)
        _monitoring.register_callback(tool, events.LINE, self._stepper())
        _monitoring.register_callback(tool, events.RAISE, self._raise)
        _monitoring.set_events(tool, events.PY_START | events.PY_RESUME | events.RAISE)
        _monitoring.restart_events()  # an earlier user of this id may have disabled some

    def start(self) -> None:
        self._counts.clear()
        self.errors.clear()
        self._position = _Position()

    def stop(self) -> Counts:
        self._position = None
        return self._counts

    def close(self) -> None:
        _monitoring.set_events(self._tool, 0)
        events = _monitoring.events
        for event in (events.PY_START, events.PY_RESUME, events.LINE, events.RAISE):
            _monitoring.register_callback(self._tool, event, None)
        _monitoring.free_tool_id(self._tool)

    def _enter(self, code: CodeType, _offset: int) -> Any:
        if id(code) in self._lines:
            return None  # since Python 3.13, one-line functions report it only while their start is watched
        if not self._owns(code.co_filename):
            return _monitoring.DISABLE
        self._lines[id(code)] = self._places.lines_of(code)
        _monitoring.set_local_events(self._tool, code, _monitoring.events.LINE)
        return None

    def _resume(self, code: CodeType, offset: int) -> Any:
        """Generators may have started before monitoring did."""
        self._enter(code, offset)
        return _monitoring.DISABLE

    def _raise(self, code: CodeType, offset: int, error: BaseException) -> None:
        """An exception is raised in a function or propagates into it."""
        if self._position is not None and id(code) in self._lines and len(self.errors) < MOST_ERRORS:
            self.errors[id(code), offset] = error

    def _stepper(self) -> Callable[[CodeType, int], None]:
        counts, known = self._counts, self._lines

        def step(code: CodeType, line: int) -> None:
            position, lines = self._position, known.get(id(code))
            if position is not None and lines is not None:
                place = lines[line]
                edge = position.place << BITS | place
                counts[edge] = counts.get(edge, 0) + 1
                position.place = place

        return step
