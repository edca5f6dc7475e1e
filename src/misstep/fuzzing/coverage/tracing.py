"""Follows a tool's own code with `sys.settrace`."""

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeAlias

from misstep.fuzzing.coverage.code import BITS, MOST_ERRORS, Errors, ReachedLines

Counts: TypeAlias = dict[int, int]  # how often each edge was taken
_Trace: TypeAlias = Callable[[FrameType, str, Any], Any]


class Tracing:
    """Follows the thread that starts it and threads started meanwhile; other tracers are restored.

    A thread that outlives the call is counted again when it enters a function of the tool in a later call.
    """

    def __init__(self, owns: Callable[[str], bool], places: ReachedLines) -> None:
        self._owned = _Owned(owns)
        self._places = places
        self._turn = 0
        self.errors = Errors()
        self._mine = Counts()
        self._trace, self._rewind = self._tracer(self._mine)
        self._others = list[Counts]()
        self._before: tuple[Any, Any] = (None, None)

    def start(self) -> None:
        self._before = (sys.gettrace(), threading.gettrace())
        self._turn += 1
        self._mine.clear()
        self.errors.clear()
        self._others.clear()
        self._rewind()
        threading.settrace(self._follow)
        sys.settrace(self._trace)

    def stop(self) -> Counts:
        sys.settrace(self._before[0])
        threading.settrace(self._before[1])
        if not self._others:
            return self._mine
        counts = self._mine.copy()
        for other in self._others:
            for edge, count in other.copy().items():
                counts[edge] = counts.get(edge, 0) + count
        return counts

    def close(self) -> None:
        """Nothing to undo."""

    def _follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The first trace event in a new thread."""
        counts = Counts()
        trace, rewind = self._tracer(counts)
        turn = 0

        def enter(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal turn
            if turn != self._turn:
                turn = self._turn
                counts.clear()
                rewind()
                self._others.append(counts)
            return trace(frame, event, arg)

        sys.settrace(enter)
        return enter(frame, event, arg)

    def _tracer(self, counts: Counts) -> tuple[_Trace, Callable[[], None]]:
        """A trace function for a thread, and a function that resets it."""
        owned, lines_of, errors = self._owned, self._places.lines_of, self.errors
        known = dict[int, tuple[CodeType, _Trace]]()
        last = 0

        def trace(frame: FrameType, _event: str, _arg: Any) -> Any:
            code = frame.f_code
            if not owned[code.co_filename]:
                return None
            found = known.get(id(code))
            if found is None:
                found = known[id(code)] = (code, tracer_of(code))
            return found[1]

        def tracer_of(code: CodeType) -> _Trace:
            lines = lines_of(code)

            def step(frame: FrameType, event: str, arg: Any) -> Any:
                nonlocal last
                if event == "line":
                    place = lines[frame.f_lineno]
                    edge = last << BITS | place
                    counts[edge] = counts.get(edge, 0) + 1
                    last = place
                elif event == "exception" and len(errors) < MOST_ERRORS:
                    errors[id(code), frame.f_lineno] = arg[1]
                return step

            return step

        def rewind() -> None:
            nonlocal last
            last = 0

        return trace, rewind


class _Owned(dict[str, bool]):
    """A fast cache for the results of `owns`."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        super().__init__()
        self._owns = owns

    def __missing__(self, filename: str) -> bool:
        answer = self[filename] = self._owns(filename)
        return answer
