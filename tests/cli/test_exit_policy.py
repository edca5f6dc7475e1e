"""Whether a run is good enough."""

import pytest

from misstep.cli.exit_policy import CommandResult, ExitPolicy, exit_code
from misstep.cli.output import INCONCLUSIVE
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
    assert ExitPolicy(Settings(fail_on=gate), "fuzz").close("run", passed, total, unknown).code == code


@pytest.mark.parametrize(
    ("gate", "passed", "judged", "said"),
    [
        ("threshold:0.9", 3, 4, "--fail-on threshold:0.9 failed: 3 of 4 passed (75.0 %), required: 90.0 %"),
        ("threshold:0.5", 0, 0, "--fail-on threshold:0.5 failed: nothing was judged, required: 50.0 %"),
        ("any", 1, 2, "--fail-on any failed: 1 of 2 passed (50.0 %), required: 100.0 %"),
        ("threshold:0.5", 1, 2, ""),
        ("none", 0, 2, ""),
        ("", 0, 2, ""),
    ],
)
def test_a_gate_that_failed_names_itself_last(
    gate: str, passed: int, judged: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = CommandResult.by_gate(Settings(fail_on=gate), passed, judged)
    assert ending.leave() == exit_code(Settings(fail_on=gate), passed, judged)
    assert capsys.readouterr().err.strip() == said


@pytest.mark.parametrize(
    ("gate", "code"), [("", INCONCLUSIVE), ("any", INCONCLUSIVE), ("none", 0), ("threshold:0.5", 1)]
)
def test_what_nobody_could_judge_has_a_code_of_its_own(gate: str, code: int) -> None:
    assert ExitPolicy(Settings(fail_on=gate), "consistency").close("run", 0, 0, unknown=2).code == code
    assert (
        ExitPolicy(Settings(fail_on=gate), "consistency").close("run", 0, 2, unknown=2).code != INCONCLUSIVE
    )
