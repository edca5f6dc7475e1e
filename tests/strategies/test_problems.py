"""Cases drawn by Hypothesis: sound, the same each time, and small where something fails."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from misstep import Call, Case, Transcript, UsageError, check
from misstep.core.case import families_of
from misstep.errors import install_command
from misstep.strategies import problems

QUICK = settings(max_examples=60, database=None, deadline=None, derandomize=True)
SLOW = settings(QUICK, max_examples=2000, suppress_health_check=list(HealthCheck))


@QUICK
@given(problems(actions=(2, 6)))
def test_every_witness_passes_and_its_reverse_breaks_something(case: Case) -> None:
    tools = {action.id: action.tool for action in case.actions}
    calls = tuple(Call(tools[action]) for action in case.witness)
    assert check(case, Transcript(case.id, calls)).verdict == "passed"
    assert check(case, Transcript(case.id, calls[::-1])).error == "order"


@settings(QUICK, max_examples=20)
@given(problems(actions="3-4", family="order,data", distractors=1))
def test_settings_say_what_cases_are_like(case: Case) -> None:
    assert 3 <= len(case.actions) <= 4
    assert families_of(case) == ["order", "data"]
    assert len(case.distractors) == 1


@pytest.mark.full
def test_failures_shrink_to_fewer_actions_and_a_smaller_seed() -> None:
    smallest = find(problems(actions=(2, 9)), lambda case: True, settings=SLOW)
    assert (len(smallest.actions), smallest.seed) == (2, 0)
    larger = find(problems(actions=(2, 9)), lambda case: len(case.constraints) >= 4, settings=SLOW)
    sizes = [size for size in range(2, 10) if _can_have(size, 4)]
    assert len(larger.actions) == sizes[0]


def _can_have(size: int, constraints: int) -> bool:
    """Whether any of many problems of this size has so many constraints."""
    drawn = list[int]()

    @settings(QUICK, max_examples=300, phases=[Phase.generate])
    @given(problems(actions=size))
    def draw(case: Case) -> None:
        drawn.append(len(case.constraints))

    draw()
    return max(drawn) >= constraints


def test_the_same_example_is_the_same_case() -> None:
    def one() -> Case:
        return find(problems(actions=(3, 5)), lambda case: "which" in case.query, settings=SLOW)

    assert one() == one()


@pytest.mark.parametrize(
    ("given_settings", "words"),
    [
        ({"actoins": 3}, "Did you mean 'actions'"),
        ({"seed": 3}, "that setting does not apply here"),
        ({"actions": 99}, "is out of range"),
        ({"family": "tiem"}, "invalid value 'tiem' for family"),
    ],
)
def test_what_is_wrong_is_said_at_once(given_settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        problems(**given_settings)


def test_hypothesis_is_loaded_when_it_is_used_and_named_where_it_is_missing() -> None:
    script = """
import sys
sys.modules["hypothesis"] = None
from misstep.strategies import problems
try:
    problems()
except Exception as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == f"Hypothesis is not installed\n  install it with {install_command('fuzz')}\n"
