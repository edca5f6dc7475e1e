"""Coverage against ways through planted functions that were written down by hand."""

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from misstep.core.results.fuzzing import CodeReach
from misstep.fuzzing.coverage import Coverage, Ownership, reach_of
from misstep.fuzzing.coverage.code import BITS, FunctionLines, ReachedLines
from misstep.fuzzing.coverage.coverage import Monitoring, Tracing, free_tool
from tests.fuzzing.coverage import namesakes, planted

OWNS = Ownership([planted.__file__]).owns
HAS_MONITORING = hasattr(sys, "monitoring")


def only_planted(filename: str) -> bool:
    return filename in (planted.__file__, namesakes.__file__)


@pytest.fixture
def coverage() -> Iterator[Coverage]:
    made = Coverage(only_planted)
    yield made
    made.close()


def edges_of(coverage: Coverage, function: Callable[..., Any], *arguments: Any) -> set[int]:
    """All edges of one call."""
    coverage.begin()
    try:
        function(*arguments)
    except ValueError:
        pass
    finally:
        edges = coverage.end(everything=True)
    return set(edges)


def edges(function: Callable[..., Any], *steps: tuple[int, int, int]) -> set[int]:
    """From-line, to-line and class of the count, as the numbers that they should have."""
    lines = FunctionLines(function.__code__)
    return {((lines[a] if a else 0) << BITS | lines[b]) << 4 | count for a, b, count in steps}


def test_edges_are_the_pairs_of_lines_that_were_run(coverage: Coverage) -> None:
    assert edges_of(coverage, planted.straight, 1) == edges(planted.straight, (0, 8, 0), (8, 9, 0))
    assert edges_of(coverage, planted.fork, 1) == edges(planted.fork, (0, 13, 0), (13, 14, 0))
    assert edges_of(coverage, planted.fork, 0) == edges(planted.fork, (0, 13, 0), (13, 15, 0))


@pytest.mark.parametrize(
    ("times", "count"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (500, 8)]
)
def test_edges_that_are_passed_more_often_are_others(coverage: Coverage, times: int, count: int) -> None:
    once = [(0, 19, 0), (19, 20, 0), (20, 22, 0)]
    assert edges_of(coverage, planted.loop, times) == edges(
        planted.loop, *once, (20, 21, count), (21, 20, count)
    )


def test_a_call_tells_only_what_is_new(coverage: Coverage) -> None:
    told = []
    for number in (1, 1, 0, 5):
        coverage.begin()
        planted.fork(number)
        told.append(len(coverage.end()))
    assert told == [2, 0, 1, 0]


def test_libraries_are_not_followed(coverage: Coverage) -> None:
    assert edges_of(coverage, planted.library, '{"a": [1, 2, {}]}') == edges(planted.library, (0, 26, 0))


def test_exceptions_end_a_call_like_anything_else(coverage: Coverage) -> None:
    assert edges_of(coverage, planted.raising) == edges(planted.raising, (0, 44, 0))
    assert edges_of(coverage, planted.raising) == edges(planted.raising, (0, 44, 0))


def test_threads_that_a_tool_starts_are_followed(coverage: Coverage) -> None:
    found = edges_of(coverage, planted.threaded)
    assert found == edges(planted.threaded, (0, 48, 0), (48, 49, 0), (49, 50, 0)) | edges(
        planted.fork, (0, 13, 0), (13, 14, 0)
    )


def test_a_thread_that_lives_on_counts_for_the_call_it_works_for(coverage: Coverage) -> None:
    jobs, done = threading.Semaphore(0), threading.Semaphore(0)

    def serve() -> None:
        for number in (1, 0):
            jobs.acquire(timeout=10)
            planted.fork(number)
            done.release()

    def ask() -> None:
        jobs.release()
        assert done.acquire(timeout=10)

    thread = threading.Thread(target=serve)

    def start() -> None:
        thread.start()
        ask()

    first, second = edges_of(coverage, start), edges_of(coverage, ask)
    thread.join()
    assert first == edges(planted.fork, (0, 13, 0), (13, 14, 0))
    assert second == edges(planted.fork, (0, 13, 0), (13, 15, 0))


def test_another_tracer_is_put_back(coverage: Coverage) -> None:
    seen = []

    def debugger(frame: FrameType, event: str, arg: Any) -> Any:
        seen.append(frame.f_code.co_name)

    before = sys.gettrace(), threading.gettrace()
    sys.settrace(debugger)
    threading.settrace(debugger)
    try:
        found = edges_of(coverage, planted.fork, 1)
        after = sys.gettrace(), threading.gettrace()
        planted.straight(1)
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])  # type: ignore[arg-type]
    assert found == edges(planted.fork, (0, 13, 0), (13, 14, 0))
    assert after == (debugger, debugger)
    assert "straight" in seen


@pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring comes with Python 3.12")
def test_both_ways_to_follow_code_see_the_same() -> None:
    tool = free_tool()
    assert tool is not None
    watches = [Tracing(only_planted, ReachedLines()), Monitoring(only_planted, ReachedLines(), tool)]
    calls = [
        (planted.straight, 1),
        (planted.fork, 0),
        (planted.loop, 7),
        (planted.outer, 3),
        (planted.keeping,),
    ]
    counted = []
    for watch in watches:
        for function, *arguments in calls:
            watch.start()
            function(*arguments)
            counted.append(dict(watch.stop()))
        watch.close()
    assert counted[: len(calls)] == counted[len(calls) :]
    assert free_tool() == tool


def test_numbers_are_the_same_in_every_process(coverage: Coverage) -> None:
    program = (
        "from misstep.fuzzing.coverage import Coverage\n"
        "from tests.fuzzing.coverage import planted\n"
        "coverage = Coverage(lambda name: name == planted.__file__)\n"
        "coverage.begin()\n"
        "planted.outer(1)\n"
        "print(sorted(coverage.end()))\n"
    )
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(["src", "."])}
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str(sorted(edges_of(coverage, planted.outer, 1)))


def reach(coverage: Coverage, function: Callable[..., Any]) -> CodeReach:
    text, line = inspect.getsource(function), inspect.getsourcelines(function)[1]
    file = inspect.getfile(function)
    return reach_of(file, line, text, coverage.lines(file))


def test_reach_counts_the_lines_of_a_function_and_of_those_it_calls(coverage: Coverage) -> None:
    assert reach(coverage, planted.outer) == CodeReach(0, 9, ("planted.py:13-15", "planted.py:34-40"))
    edges_of(coverage, planted.outer, 1)
    assert coverage.lines(planted.__file__) == {34, 13, 14, 35, 40}
    assert reach(coverage, planted.outer) == CodeReach(5, 9, ("planted.py:15", "planted.py:36-39"))
    edges_of(coverage, planted.outer, 0)
    assert reach(coverage, planted.outer) == CodeReach(6, 9, ("planted.py:36-39",))


def test_reach_follows_classes_to_their_methods(coverage: Coverage) -> None:
    edges_of(coverage, planted.keeping)
    assert reach(coverage, planted.keeping) == CodeReach(3, 3)


@pytest.mark.parametrize("name", ["load", "words", "write", "lower"])
def test_reach_leaves_out_namesakes_of_functions_of_other_modules(coverage: Coverage, name: str) -> None:
    function = getattr(namesakes, name)
    edges_of(coverage, function, '"text"')
    found = reach(coverage, function)
    assert (found.lines, found.missed) == (found.total, ())
    assert found.total == (2 if name == "lower" else 1)


def test_reach_has_the_methods_of_classes_that_a_function_uses(coverage: Coverage) -> None:
    assert reach(coverage, namesakes.commas) == CodeReach(
        0, 4, ("namesakes.py:19", "namesakes.py:23-24", "namesakes.py:40")
    )
    assert reach(coverage, namesakes.shared) == CodeReach(0, 3, ("namesakes.py:23-24", "namesakes.py:57"))


def test_reach_makes_do_with_the_text_where_there_is_no_file() -> None:
    text = "    def f(x):\n        if x:\n            return 1\n        return 2\n"
    assert reach_of("/nowhere/gone.py", 11, text, {12, 14}) == CodeReach(2, 3, ("gone.py:13",))
    assert reach_of("/nowhere/gone.py", 11, "lambda", set()) == CodeReach(0, 0)


def test_reach_leaves_out_the_function_that_python_3_14_makes_of_annotations() -> None:
    text = "def price(total: int) -> int:\n    return total\ndef __annotate__(_):\n    return {}\n"
    assert reach_of("/nowhere/gone.py", 1, text, {2}) == CodeReach(1, 1)
