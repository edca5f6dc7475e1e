"""Whether a run is good enough."""

import pytest

from misstep.cli.gate import Gate, exit_code
from misstep.core.settings import Settings


@pytest.mark.parametrize(
    ("gate", "passed", "judged", "met"),
    [
        ("any", 2, 2, True),
        ("any", 1, 2, False),
        ("any", 0, 0, True),
        ("none", 0, 2, True),
        ("none", 0, 0, True),
        ("threshold:0.5", 1, 2, True),
        ("threshold:0.6", 1, 2, False),
        ("threshold:0.07", 7, 100, True),
        ("threshold:0.07", 6, 100, False),
        ("threshold:0.5", 0, 0, False),
        ("threshold:1", 0, 0, False),
        ("threshold:0", 0, 0, True),
    ],
)
def test_what_a_gate_lets_through(gate: str, passed: int, judged: int, met: bool) -> None:
    assert exit_code(Settings(fail_on=gate), passed, judged) == int(not met)


@pytest.mark.parametrize(
    ("gate", "passed", "total", "unknown", "code"),
    [
        ("any", 2, 2, 1, 4),
        ("any", 0, 0, 1, 4),
        ("any", 1, 2, 1, 1),
        ("none", 0, 0, 1, 0),
        ("threshold:0.5", 1, 2, 1, 4),
        ("threshold:0.6", 1, 2, 1, 1),
    ],
)
def test_what_nobody_knows_ends_in_a_code_of_its_own(
    gate: str, passed: int, total: int, unknown: int, code: int
) -> None:
    assert Gate(Settings(fail_on=gate), "fuzz").close("run", passed, total, unknown).code == code
