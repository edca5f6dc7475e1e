"""The wall for cases from outside."""

from typing import Any

import msgspec
import pytest

from misstep.core.case import Case
from misstep.errors import UsageError
from misstep.planning.admission import admit
from tests.planning.conftest import CaseMaker

WRITTEN: dict[str, Any] = {
    "version": 1,
    "id": "mine",
    "seed": 0,
    "topic": "home",
    "query": "Bake before you wash up.",
    "actions": [
        {"id": "a1", "name": "baking", "tool": "bake"},
        {"id": "a2", "name": "washing up", "tool": "wash_up"},
        {"id": "a3", "name": "nap", "tool": "nap"},
    ],
    "constraints": [{"kind": "before", "first": "a1", "then": "a2"}],
}


def case_from(changes: dict[str, Any]) -> Case:
    return msgspec.convert({**WRITTEN, **changes}, Case)


def test_a_case_written_by_hand_gets_witness_and_chance() -> None:
    case = admit(case_from({}))
    assert case.witness == ("a1", "a2", "a3")
    assert case.chance == 0.5


def test_a_given_chance_is_not_believed() -> None:
    assert admit(case_from({"chance": 0.99})).chance == 0.5


def test_synthesised_cases_pass_unchanged(make_cases: CaseMaker) -> None:
    for case in make_cases(300, 2, 12):
        assert admit(case) == case


def action(number: int, tool: str | None = None, id: str | None = None) -> dict[str, str]:
    return {"id": id or f"a{number}", "name": f"task {number}", "tool": tool or f"task_{number}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "case version 2\n  this misstep reads version 1"),
        ({"id": ""}, "the case has no id"),
        ({"actions": []}, "the case has 0 actions\n  expected 1 to 20"),
        ({"actions": [action(i) for i in range(21)]}, "the case has 21 actions\n  expected 1 to 20"),
        (
            {"actions": [action(1), action(2, id="a1")]},
            "two actions share the action id 'a1'\n  each needs its own",
        ),
        (
            {"actions": [action(1), action(2, tool="task_1")]},
            "two actions share the tool 'task_1'\n  each needs its own",
        ),
        (
            {"actions": [action(1), action(2, tool="rm -rf")]},
            "tool name 'rm -rf' can't be offered to a model\n  expected 1 to 64 letters, digits, '_' or '-'",
        ),
        (
            {"constraints": [{"kind": "before", "first": "a1", "then": "a9"}]},
            "constraint 0 speaks of an unknown action 'a9'\n  known: a1, a2, a3",
        ),
        (
            {
                "sentences": ["One."],
                "constraints": [{"kind": "before", "first": "a1", "then": "a2", "sentence": 4}],
            },
            "constraint 0 comes from sentence 4\n  the case has sentences 0 to 0",
        ),
        (
            {
                "constraints": [
                    {"kind": "before", "first": "a1", "then": "a2"},
                    {"kind": "before", "first": "a1", "then": "a3"},
                    {"kind": "before", "first": "a2", "then": "a1"},
                ]
            },
            "no plan can satisfy the case: constraints 0, 2 contradict each other\n"
            "  a1 before a2; a2 before a1",
        ),
        (
            {"constraints": [{"kind": "before", "first": "a1", "then": "a1"}]},
            "no plan can satisfy the case: constraints 0 contradict each other\n  a1 before a1",
        ),
        (
            {"constraints": [{"kind": "before", "first": "a1", "then": "a2", "sentence": -1}]},
            "constraint 0 comes from sentence -1\n  expected 0 or more",
        ),
        ({"witness": ["a1"]}, "the witness is not an order of the case's actions\n  given: a1"),
        ({"witness": ["a2", "a1", "a3"]}, "the witness breaks constraint 0\n  a1 has to come before a2"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        admit(case_from(changes))
    assert str(error.value) == message
