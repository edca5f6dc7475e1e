"""The mock world does nothing but say that it did."""

from typing import Any

import pytest

from misstep.planning.world.mock import MockWorld
from tests.planning.conftest import CaseMaker


def test_a_tool_for_every_action(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 5, 5)
    tools = MockWorld(case).tools
    assert [tool.name for tool in tools] == [action.name.replace(" ", "_") for action in case.actions]
    assert all(action.name in tool.description for action, tool in zip(case.actions, tools, strict=True))
    assert all(tool.parameters["additionalProperties"] is False for tool in tools)


def test_answers(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 3, 3)
    action, world = case.actions[0], MockWorld(case)
    assert world.answer(action.tool, {}) == f"The {action.name} has been carried out successfully."
    assert "no tool named 'nonsense'" in world.answer("nonsense", {"a": [1]})


def test_arguments_are_refused(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 3, 3)
    assert "takes no arguments" in MockWorld(case).answer(case.actions[0].tool, {"x": None})


@pytest.mark.parametrize("arguments", [None, 0, "", [], "{"])
def test_arguments_have_to_be_an_object(make_cases: CaseMaker, arguments: Any) -> None:
    (case,) = make_cases(1, 3, 3)
    assert "have to be a JSON object" in MockWorld(case).answer(case.actions[0].tool, arguments)
