"""The mock world does nothing but say what came of a call."""

from typing import Any

import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import Condition, Constraint, Handover, StandIn
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
    tool = case.actions[0].tool
    assert MockWorld(case).answer(tool, arguments) == (
        f"Error: the arguments of '{tool}' have to be an empty JSON object: {{}}."
    )


def world(*constraints: Constraint, distractors: str = "", **rest: Any) -> MockWorld:
    names = {"a": "audit", "b": "backup", "c": "cleaning"}
    case = Case(
        CASE_VERSION,
        "x",
        0,
        "t",
        "q",
        tuple(Action(i, name, name) for i, name in names.items()),
        constraints,
        world=World(**rest),
        distractors=tuple(Action(name, f"{name} errand", name) for name in distractors),
    )
    return MockWorld(case)


DAY: dict[str, Any] = {"day": (480, 720), "durations": {"a": 60, "b": 150, "c": 45}}


def test_everything_that_a_result_tells() -> None:
    told = world(
        Condition("a", "a problem", "b"),
        Handover("a", "c", "release_key"),
        Handover("a", "b", "head_count"),
        findings={"a": True},
        values={"a": {"release_key": ("K1",), "head_count": (12,)}},
        costs={"a": 30, "b": 1},
        announcements={"a": "The cleaning comes first."},
        attempts=3,
        **DAY,
    )
    assert told.answer("audit", {"start_time": "08:00"}) == (
        "The audit has been carried out successfully. It took 1 hour."
        ' The release key is "K1". The head count is 12. It reported a problem. It cost 30 euros.'
        " New instruction: The cleaning comes first."
    )
    assert told.answer("backup", {"start_time": "09:00", "head_count": 12}) == (
        "The backup has been carried out successfully. It took 2 hours and 30 minutes. It cost 1 euro."
    )
    assert told.answer("ask_price", {"task": "audit"}) == "The audit costs 30 euros."
    assert "nothing has been carried out" in told.answer("start_over", {})


def test_no_finding() -> None:
    assert "It reported no problem." in world(Condition("a", "a problem", "b"), findings={"a": False}).answer(
        "audit", {}
    )
    assert "It reported nothing of the kind." in world(
        Condition("a", "a ghost", "b"), findings={"a": False}
    ).answer("audit", {})


def test_a_stand_in_tells_what_the_other_would_have() -> None:
    told = world(
        StandIn("a", "b"), Handover("a", "c", "code"), values={"a": {"code": ("K1",)}}, broken=("a",)
    )
    assert "out of service" in told.answer("audit", {})
    assert told.answer("backup", {}) == 'The backup has been carried out successfully. The code is "K1".'


def test_unavailable() -> None:
    told = world(failures={"a": 1}, retries=1)
    assert "temporarily unavailable" in told.answer("audit", {})
    assert told.answer("audit", {}) == "The audit has been carried out successfully."
    assert told.answer("audit", {}) == "The audit has been carried out successfully."


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("audit", {"start_time": "soon"}), "'soon' is not a time of day. Write it as HH:MM, for example 09:30."),
        (("audit", {"start_time": "s" * 500}), f"'{'s' * 80}…' is not a time of day"),
        (("audit", {"start_time": "07:00"}), "begins at 08:00 and ends at 12:00"),
        (("audit", {"start_time": "11:30"}), "begins at 08:00 and ends at 12:00"),
        (("audit", {"start_time": "08:00"}), "has not ended by then"),
        (("cleaning", {"start_time": "09:00", "code": "K1"}), "the value of 'code' is not the one"),
        (
            ("cleaning", {"start_time": "09:00"}),
            "the arguments of 'cleaning' do not fit: 'code' is missing. Nothing has been carried out.",
        ),
        (("start_over", {}), "this is already the last attempt."),
        (("start_over", {"x": 1}), "the tool 'start_over' takes no arguments"),
        (("ask_price", {"task": "cooking"}), "'task' has to be one of audit, backup"),
        (("ask_price", []), "they must be a JSON object"),
        (("nonsense", None), "there is no tool named 'nonsense'"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_what_is_wrong_is_said(call: tuple[str, Any], said: str) -> None:
    told = world(
        Handover("a", "c", "code"),
        values={"a": {"code": ("K1",)}},
        costs={"a": 1, "b": 2},
        attempts=2,
        **{**DAY, "durations": {"a": 60, "b": 45, "c": 30}},
    )
    told.answer("start_over", {})
    told.answer("backup", {"start_time": "08:00"})
    answer = told.answer(*call)
    assert answer.startswith("Error: ")
    assert said in answer
    assert len(answer) < 250


def test_tools_and_their_parameters() -> None:
    handed = world(
        Handover("a", "b", "head_count"), StandIn("b", "c"), values={"a": {"head_count": (1,)}}, **DAY
    )
    schemas = {tool.name: tool.parameters for tool in handed.tools}
    assert list(schemas) == ["audit", "backup", "cleaning"]
    assert list(schemas["audit"]["properties"]) == schemas["audit"]["required"] == ["start_time"]
    for name in ("backup", "cleaning"):
        properties = schemas[name]["properties"]
        assert {key: value["type"] for key, value in properties.items()} == {
            "start_time": "string",
            "head_count": "integer",
        }
        assert "head count" in properties["head_count"]["description"]
        assert schemas[name]["additionalProperties"] is False
    (described,) = [tool.description for tool in handed.tools if tool.name == "backup"]
    assert "`start_time`" in described
    assert "`head_count`" in described


def test_the_place_of_a_tool_does_not_tell_whether_it_is_needed() -> None:
    tools = [tool.name for tool in world(distractors="xbz", attempts=2, costs={"c": 5, "a": 3}).tools]
    assert tools == ["audit", "b", "backup", "cleaning", "x", "z", "start_over", "ask_price"]
    (price,) = [tool for tool in world(costs={"c": 5, "a": 3}).tools if tool.name == "ask_price"]
    assert price.parameters["properties"]["task"]["enum"] == ["audit", "cleaning"]


def test_a_distractor_answers_like_any_other() -> None:
    told = world(distractors="x")
    assert told.answer("x", {}) == "The x errand has been carried out successfully."


def test_schemas_are_the_callers_own() -> None:
    own: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    case = Case(CASE_VERSION, "x", 0, "t", "q", (Action("a", "a", "a", "Does it.", own),), ())
    told = MockWorld(case)
    told.tools[0].parameters["properties"].clear()
    assert told.tools[0].parameters == own
    assert told.tools[0].description == "Does it."
    assert "city must be a string" in told.answer("a", {"city": 1})
