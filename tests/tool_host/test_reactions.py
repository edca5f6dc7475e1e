"""Whatever a process says of calls, no more of it is taken in than an honest one has to say."""

from typing import Any

import msgspec
import pytest

from misstep.core.tool import Observation
from misstep.tool_host.reactions import MOST_EDGES, MOST_LINES, MOST_LISTED, ReactionDecoder

FRAME = {"file": "f.py", "line": 1, "function": "f", "own": True}
SEEN = msgspec.to_builtins(Observation(("a",), "=="))


def row(lines: dict[str, list[int]] | None = None, **fields: Any) -> bytes:
    return msgspec.json.encode([{"ended": "returned", **fields}, lines or {}])


def test_an_honest_report_is_taken_as_it_is() -> None:
    intake = ReactionDecoder()
    reaction = intake.take(row({"f.py": [1, 2]}, text="a", size=1, edges=[4, 5], memory=9, structured="{}"))
    assert (reaction.text, reaction.size, reaction.edges, reaction.memory) == ("a", 1, (4, 5), 9)
    assert reaction.structured == "{}"
    assert intake.lines_of("f.py") == {1, 2}
    intake.forget()
    assert not intake.lines_of("f.py")


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 5_000_000},
        {"detail": "x" * 5_000_000},
        {"structured": "1" * 5_000_000},
        {"observations": [SEEN] * 50_000},
        {"observations": [{**SEEN, "operand": "1" * 5_000_000}]},
        {"raised": {"kind": "K", "message": "m" * 5_000_000}},
        {"raised": {"kind": "K", "message": "m", "frames": [FRAME] * 50_000}},
        {"raised": {"kind": "K", "message": "m", "bases": ["b"] * 1_000_000}},
    ],
)
def test_a_part_that_is_too_large_is_cut_or_left_out(fields: dict[str, Any]) -> None:
    assert len(msgspec.json.encode(ReactionDecoder().take(row(**fields)))) < 100_000


def test_numbers_beyond_all_measure_are_left_out() -> None:
    reaction = ReactionDecoder().take(row(size=10**30, memory=-(10**30), edges=[10**30, -1, 7]))
    assert (reaction.size, reaction.memory, reaction.edges) == (0, 0, (7,))


def test_however_much_is_said_what_is_remembered_is_bounded() -> None:
    intake, part = ReactionDecoder(), MOST_EDGES // 2
    for turn in range(3):
        numbers = list(range(turn * part, (turn + 1) * part))
        taken = intake.take(row({"f.py": numbers}, edges=numbers)).edges
        assert len(taken) == (part if turn < 2 else 0)
    assert intake.take(row(edges=[5, MOST_EDGES + 5])).edges == (5,)
    assert len(intake.lines_of("f.py")) < MOST_LINES
    intake.take(row({f"{number}.py": [1] for number in range(10_000)}))
    assert not intake.lines_of("9999.py")


def test_functions_without_a_line_are_left_out() -> None:
    intake = ReactionDecoder()
    told = {"f.js": [[0], [], [MOST_LINES], [1, 2]], "unknown.js": [[1]]}
    intake.take(msgspec.json.encode([{"ended": "returned"}, {"f.js": [1]}, told]))
    reach = intake.reach()
    assert reach is not None
    assert (reach.lines, reach.total) == (1, 2)


def test_of_many_functions_some_are_remembered() -> None:
    intake, wide = ReactionDecoder(), list(range(1, 1 << 15))
    for start in range(1, 100):
        intake.take(msgspec.json.encode([{"ended": "returned"}, {"f.js": [1]}, {"f.js": [wide[start:]]}]))
    assert sum(map(len, intake._functions["f.js"])) <= MOST_LISTED
