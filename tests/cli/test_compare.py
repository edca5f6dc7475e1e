"""`misstep compare`, whole."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.snapshots import check_snapshot


def run(misstep: Command, agent: str, *more: str) -> str:
    """The id of a stored run."""
    result = misstep("plan", "test", "--agent", agent, "--count", "40", "--json", "--fail-on", "none", *more)
    return str(json.loads(result.out)["run"])


def test_two_runs(misstep: Command) -> None:
    first, second = run(misstep, "sim:greedy"), run(misstep, "sim:random")
    result = misstep("compare", first, second)
    assert (result.code, result.err) == (0, "")
    check_snapshot("compare", result.out.replace(first, "FIRST1").replace(second, "SECOND"))
    assert misstep("compare", first[:5], "last").out == result.out
    found = json.loads(misstep("compare", first, second, "--json").out)
    assert (found["first"], found["second"], found["pairing"]["cases"]) == (first, second, 40)


def test_the_case_in_full_is_one_that_the_other_failed(misstep: Command) -> None:
    first, second = run(misstep, "sim:greedy"), run(misstep, "sim:random")
    found = json.loads(misstep("compare", first, second, "--json").out)
    hints = [line for line in misstep("compare", first, second).out.splitlines() if "misstep show" in line]
    assert hints[0] == f"Details: misstep show {second} {found['lost'][0]}"
    assert "\n  failed: order" in misstep(*hints[0].split()[2:]).out


def test_equal_runs(misstep: Command) -> None:
    first, second = run(misstep, "sim:greedy"), run(misstep, "sim:greedy")
    result = misstep("compare", first, second)
    assert result.out.endswith("\nno difference: the same of 40 cases passed\n")


def test_runs_that_have_nothing_in_common(misstep: Command) -> None:
    first, second = run(misstep, "sim:greedy"), run(misstep, "sim:greedy", "--seed", "1")
    result = misstep("compare", first, second)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"runs {first} and {second} have no judged case in common\n"
        "  run both with the same seed and settings, or on the same --cases file\n"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("last", "last"), "both are run "),
        (("last", "zzzzzz"), "there is no run 'zzzzzz'"),
        (("last",), "missing argument 'SECOND'"),
    ],
)
def test_what_can_t_be_compared(misstep: Command, arguments: tuple[str, ...], complaint: str) -> None:
    run(misstep, "sim:perfect")
    result = misstep("compare", *arguments)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err


def test_without_a_store(misstep: Command, tmp_path: Path) -> None:
    result = misstep("compare", "a", "b")
    assert (result.code, result.out) == (2, "")
    assert "no store here yet" in result.err
    assert list(tmp_path.iterdir()) == []
