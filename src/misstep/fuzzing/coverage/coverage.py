"""Records which paths through a tool's own code a call takes."""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any, TypeAlias

from misstep.core.results.fuzzing import CodeReach
from misstep.fuzzing.coverage.code import BITS, FunctionLines, ReachedLines, ranges, runnable_lines

MOST_ERRORS = 64  # exceptions remembered per call
_CLASSES = 4  # bits for the class of a count
_MOST = 128  # counts from here on are one class

Counts: TypeAlias = dict[int, int]  # how often each edge was taken
# The last exception that passed a location in a call, by function and line or instruction.
Errors: TypeAlias = dict[tuple[int, int], BaseException]
_Trace: TypeAlias = Callable[[FrameType, str, Any], Any]

# Missing from the type stubs of the oldest supported Python.
_monitoring: Any = getattr(sys, "monitoring", None)
_TOOLS = (4, 3, 5, 2, 1, 0)  # first those that debuggers, coverage and profilers don't use


class Coverage:
    """The edges that calls reach: pairs of lines of the tool's own code that ran one after the other.

    Edges are numbers that are the same in every process for the same code. Running an edge more often is a
    different edge, in the classes 1, 2, 3-4, 5-8 and so on. `begin` and `end` must be called in the thread
    that calls the tool. Python 3.11 has only one tracer at a time: another one is suspended and restored
    afterwards. Without `owns` no code is the tool's own, as with a server, and nothing is followed.
    """

    def __init__(self, owns: Callable[[str], bool] | None) -> None:
        self._places = ReachedLines()
        self._seen = set[int]()
        tool = free_tool()
        self._watch: Monitoring | Tracing | NoTracing
        if owns is None:
            self._watch = NoTracing()
        elif tool is None:
            self._watch = Tracing(owns, self._places)
        else:
            self._watch = Monitoring(owns, self._places, tool)

    def begin(self) -> None:
        self._watch.start()

    def end(self, everything: bool = False) -> tuple[int, ...]:
        """The edges of the call that no earlier call had reached, or all of them."""
        counts = self._watch.stop()
        edges = [edge << _CLASSES | min(count - 1, _MOST).bit_length() for edge, count in counts.items()]
        fresh = [edge for edge in edges if edge not in self._seen]
        self._seen.update(fresh)
        return tuple(edges if everything else fresh)

    def errors(self) -> list[BaseException]:
        """The exceptions that passed through the tool's own code in the call, handled or not, each once.

        They are dropped afterwards, because they keep the tool's local variables alive.
        """
        found = list({id(error): error for error in self._watch.errors.values()}.values())
        self._watch.errors.clear()
        return found

    def lines(self, file: str) -> set[int]:
        return self._places.run_in(file)

    def close(self) -> None:
        """Undo all changes to the interpreter."""
        self._watch.close()


def reach_of(file: str, first_line: int, text: str, run: Set[int]) -> CodeReach:
    """How much of a function, and of those in its file that it may call, the lines in `run` cover."""
    return reach_in({file: runnable_lines(file, first_line, text)}, {file: run})


def reach_in(functions: Mapping[str, Iterable[Set[int]]], run: Mapping[str, Set[int]]) -> CodeReach:
    """How much of these functions, by file, the lines in `run` cover; no line may be in two of them."""
    parts = [
        (PurePath(file).name, each, run.get(file, set())) for file in functions for each in functions[file]
    ]
    missed = sorted((name, *span) for name, lines, ran in parts for span in ranges(lines - ran, lines))
    return CodeReach(
        sum(len(lines & ran) for _, lines, ran in parts),
        sum(len(lines) for _, lines, _ in parts),
        tuple(f"{name}:{a}-{b}" if a != b else f"{name}:{a}" for name, a, b in missed),
    )


def free_tool() -> int | None:
    """A free monitoring tool id; None if there is none, or no monitoring."""
    if _monitoring is None:
        return None
    return next((tool for tool in _TOOLS if _monitoring.get_tool(tool) is None), None)


class _Position(threading.local):
    """The last location of each thread; 0 at the start."""

    place = 0


class Monitoring:
    """Follows the code with `sys.monitoring` (Python 3.12 and later): all threads, while started.

    Functions that the tool does not own cost time only once.
    """

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


class NoTracing:
    """Follows nothing: tracing makes all code slow, even code that it ignores."""

    def __init__(self) -> None:
        self.errors = Errors()

    def start(self) -> None:
        pass

    def stop(self) -> Counts:
        return {}

    def close(self) -> None:
        pass


class Tracing:
    """Follows the code with `sys.settrace`: the thread that starts it, and threads started meanwhile.

    A thread that outlives the call is counted again when it enters a function of the tool in a later call.
    """

    def __init__(self, owns: Callable[[str], bool], places: ReachedLines) -> None:
        self._owns = owns
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
        owns, lines_of, errors = self._owns, self._places.lines_of, self.errors
        known = dict[int, tuple[CodeType, _Trace]]()
        last = 0

        def trace(frame: FrameType, _event: str, _arg: Any) -> Any:
            code = frame.f_code
            if not owns(code.co_filename):
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
