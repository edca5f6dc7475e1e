"""The mock world records everything and does nothing."""

from itertools import count
from typing import Any

import pytest

from misstep.core.agent import StepsExhausted
from misstep.planning.world import World
from tests.planning.conftest import CaseMaker


def test_a_tool_for_every_action(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 5, 5)
    tools = World(case, lambda: 0.0, 50).tools
    assert [tool.name for tool in tools] == [action.name.replace(" ", "_") for action in case.actions]
    assert all(action.name in tool.description for action, tool in zip(case.actions, tools, strict=True))
    assert all(tool.parameters["additionalProperties"] is False for tool in tools)


def test_calls_are_recorded_with_arguments_order_and_time(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 3, 3)
    ticks = count(100)
    world = World(case, lambda: float(next(ticks)), 50)
    first, second, _ = case.actions
    assert world.call(second.tool, {}) == f"The {second.name} has been carried out successfully."
    assert "no tool named 'nonsense'" in world.call("nonsense", {"a": [1]})
    assert "takes no arguments" in world.call(first.tool, "now", turn=2)
    recorded = [(call.tool, call.arguments, call.turn, call.at) for call in world.calls]
    assert recorded == [
        (second.tool, {}, 1, 1.0),
        ("nonsense", {"a": [1]}, 2, 2.0),
        (first.tool, "now", 2, 3.0),
    ]


def test_turns_are_bounded_not_the_calls_in_a_turn(make_cases: CaseMaker) -> None:
    (case,) = make_cases(1, 3, 3)
    world = World(case, lambda: 0.0, max_steps=2)
    for turn in (1, 1, 1, 2, 2):
        world.call("x", {}, turn=turn)
    with pytest.raises(StepsExhausted):
        world.call("x", {}, turn=3)
    assert len(world.calls) == 5


@pytest.mark.parametrize("arguments", [None, 0, "", [], {"x": None}, float("nan"), "\ud800"])
def test_any_argument_is_recorded(make_cases: CaseMaker, arguments: Any) -> None:
    (case,) = make_cases(1, 3, 3)
    world = World(case, lambda: 0.0, 50)
    assert world.call(case.actions[0].tool, arguments).startswith("Error")
    assert len(world.calls) == 1
