"""Records which paths through a tool's own code a call takes."""

from collections.abc import Callable, Set
from pathlib import PurePath

from misstep.core.results.finding import CodeReach
from misstep.fuzzing.coverage.code import ReachedLines, ranges, runnable_lines
from misstep.fuzzing.coverage.monitoring import Monitoring, free_tool
from misstep.fuzzing.coverage.tracing import Tracing

_CLASSES = 4  # bits for the class of a count
_MOST = 128  # counts from here on are one class


class Coverage:
    """The edges that calls reach: pairs of lines of the tool's own code that ran one after the other.

    Edges are numbers that are the same in every process for the same code. Running an edge more often is a
    different edge, in the classes 1, 2, 3-4, 5-8 and so on. `begin` and `end` must be called in the thread
    that calls the tool. Python 3.11 has only one tracer at a time: another one is suspended and restored
    afterwards.
    """

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._places = ReachedLines()
        tool = free_tool()
        self._watch: Monitoring | Tracing
        if tool is None:
            self._watch = Tracing(owns, self._places)
        else:
            self._watch = Monitoring(owns, self._places, tool)
        self._seen = set[int]()

    def begin(self) -> None:
        self._watch.start()

    def end(self, everything: bool = False) -> tuple[int, ...]:
        """The edges of the call that no earlier call had reached, or all of them."""
        counts = self._watch.stop()
        edges = [edge << _CLASSES | min(count - 1, _MOST).bit_length() for edge, count in counts.items()]
        fresh = [edge for edge in edges if edge not in self._seen]
        if fresh:
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
        """The lines of a file that have run."""
        return self._places.run_in(file)

    def reach(self, file: str, first_line: int, text: str) -> CodeReach:
        """How much has run of the function with this source, and of those in its file that it may call."""
        return reach_of(file, first_line, text, self.lines(file))

    def close(self) -> None:
        """Undo all changes to the interpreter."""
        self._watch.close()


def reach_of(file: str, first_line: int, text: str, run: Set[int]) -> CodeReach:
    """How much of a function, and of those in its file that it may call, the lines in `run` cover."""
    functions = runnable_lines(file, first_line, text)
    name = PurePath(file).name
    missed = sorted(each for lines in functions for each in ranges(lines - run, lines))
    return CodeReach(
        sum(len(lines & run) for lines in functions),
        sum(map(len, functions)),
        tuple(f"{name}:{a}-{b}" if a != b else f"{name}:{a}" for a, b in missed),
    )
