"""How a case is played, rule by rule, and retold in another way."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Repeat,
    StandIn,
    Window,
)
from misstep.planning.judging.check import replay
from misstep.planning.world.simulator import ActSlip, Deed, ParameterSlip, Simulator, StepResult, minutes_of
from tests.planning.judging.random_cases import random_case, random_transcript
from tests.planning.world.retelling import Retelling


def case(*constraints: Constraint, names: str = "abcd", distractors: str = "", **world: Any) -> Case:
    return Case(
        CASE_VERSION,
        "x",
        0,
        "t",
        "q",
        tuple(Action(name, f"task {name}", name) for name in names),
        constraints,
        world=World(**world),
        distractors=tuple(Action(name, f"extra {name}", name) for name in distractors),
    )


def play(stage: Simulator, *calls: str | tuple[str, Any]) -> list[StepResult]:
    return [stage.play(call, {}) if isinstance(call, str) else stage.play(*call) for call in calls]


def faults(stage: Simulator) -> list[tuple[int, str]]:
    history = stage.history
    return sorted((slip.step, slip.fault) for slip in (*history.acts, *history.parameters))


def roles(stage: Simulator) -> list[str]:
    return [deed.action for deed in stage.history.deeds]


@pytest.mark.full(after=1)
@pytest.mark.parametrize("part", range(4))
def test_cases_of_all_kinds_are_played_as_they_are_retold(part: int) -> None:
    random, seen = Random(part), Counter[str]()
    for _ in range(800):
        drawn = random_case(random)
        for _ in range(3):
            calls = random_transcript(drawn, random).calls
            history, told = replay(drawn, calls), Retelling(drawn, calls)
            assert [(d.action, d.step, d.start, d.end, d.by) for d in history.deeds] == told.deeds()
            assert [(slip.step, slip.fault, slip.action) for slip in history.acts] == told.acts()
            slips = [(s.step, s.fault, s.action, s.parameter) for s in history.parameters]
            assert slips == told.slips()
            worked = Counter(event.action for event in told.last() if event.came == "done" and event.role)
            assert history.calls_of == worked
            assert history.attempt == told.attempt
            seen.update(slip.fault for slip in (*history.acts, *history.parameters))
            seen.update("stand-in" for deed in history.deeds if deed.by)
    wanted = ["unknown", "arguments", "repeated", "distractor", "attempts", "stand-in"]
    wanted += ["no time", "outside", "early", "value", "stale", "swapped"]
    assert all(seen[fault] > 3 for fault in wanted), seen


def test_plain_calls() -> None:
    stage = Simulator(case())
    scenes = play(stage, "a", "b", "a", "nonsense", ("c", {"x": 1}), ("d", None))
    assert [scene.kind for scene in scenes] == ["done", "done", "done", "refused", "refused", "refused"]
    assert stage.history.deeds == (Deed("a", 1), Deed("b", 2))
    assert stage.history.acts == (
        ActSlip(3, "repeated", "a"),
        ActSlip(4, "unknown"),
        ActSlip(5, "arguments"),
        ActSlip(6, "arguments"),
    )
    assert stage.history.calls_of == {"a": 2, "b": 1}


DAY: dict[str, Any] = {"day": (480, 720), "durations": {"a": 60, "b": 90, "c": 30, "d": 30}}


def at(tool: str, time: Any) -> tuple[str, dict[str, Any]]:
    return tool, {"start_time": time}


def test_time_passes() -> None:
    stage = Simulator(case(**DAY))
    first, second = play(stage, at("a", "08:00"), at("b", "9:30"))
    assert (first.deed, first.minutes) == (Deed("a", 1, 480, 540), 60)
    assert second.deed == Deed("b", 2, 570, 660)
    assert faults(stage) == []


@pytest.mark.parametrize(
    ("time", "fault"),
    [
        ("07:59", "outside"),
        ("08:59", "early"),
        ("00:00", "outside"),
        ("11:31", "outside"),
        ("23:59", "outside"),
        ("24:00", "no time"),
        ("12:60", "no time"),
        ("9", "no time"),
        ("", "no time"),
        ("09:00\n", "no time"),
        (" 09:00", "no time"),
        ("٠٩:٠٠", "no time"),
        ("009:00", "no time"),
        ("9:0", "no time"),
        ("09:00:00", "no time"),
        ("-9:00", "no time"),
    ],
)
def test_a_time_that_can_not_be(time: str, fault: str) -> None:
    stage = Simulator(case(**DAY))
    scene = play(stage, at("a", "08:00"), at("c", time))[1]
    assert scene == StepResult("refused", ParameterSlip(2, fault, "c", "start_time"))  # type: ignore[arg-type]
    assert play(stage, at("c", "11:30"))[0].kind == "done"


@pytest.mark.parametrize(
    "arguments", [{}, {"start_time": 9}, {"start_time": None}, {"start_time": "09:00", "x": 1}, []]
)
def test_the_start_is_a_text_and_alone(arguments: Any) -> None:
    stage = Simulator(case(**DAY))
    play(stage, ("a", arguments))
    assert faults(stage) == [(1, "arguments")]


def test_a_whole_day_has_its_minutes() -> None:
    assert [minutes_of(time) for time in ("0:00", "00:00", "23:59", "7:05")] == [0, 0, 1439, 425]
    assert [minutes_of(time) for time in (None, 9, b"09:00", ["09:00"])] == [None] * 4


def test_what_was_refused_or_superfluous_takes_no_time() -> None:
    stage = Simulator(case(**DAY))
    play(stage, at("a", "08:00"), at("a", "09:00"), at("b", "11:00"), at("c", "09:00"))
    assert stage.history.deeds[-1] == Deed("c", 4, 540, 570)
    assert faults(stage) == [(2, "repeated"), (3, "outside")]


def test_starting_over() -> None:
    stage = Simulator(case(Repeat("b", 2), attempts=2, failures={"c": 1}, broken=("d",)))
    play(stage, "a", "a", "nonsense", "b", "c", "d")
    assert (stage.history.attempt, stage.history.began) == (1, 1)
    scene = play(stage, "start_over")[0]
    assert (scene.kind, scene.left) == ("over", 0)
    history = stage.history
    assert (history.deeds, history.acts, history.calls_of) == ((), (), {})
    assert (history.attempt, history.began) == (2, 8)
    assert [scene.kind for scene in play(stage, "c", "b", "b", "start_over")] == [
        "done",
        "done",
        "done",
        "refused",
    ]
    assert faults(stage) == [(11, "attempts")]
    assert roles(stage) == ["c", "b", "b"]


def test_one_attempt_leaves_nothing_to_start_over() -> None:
    stage = Simulator(case())
    play(stage, "start_over")
    assert faults(stage) == [(1, "unknown")]


def test_starting_over_and_prices_take_fitting_arguments() -> None:
    stage = Simulator(case(attempts=3, costs={"a": 5, "c": 7}))
    scenes = play(
        stage,
        ("start_over", {"x": 1}),
        ("ask_price", {"task": "c"}),
        ("ask_price", {"task": "b"}),
        ("ask_price", {"task": ["a"]}),
        ("ask_price", {}),
    )
    assert [(scene.kind, scene.cost) for scene in scenes[1:2]] == [("price", 7)]
    assert faults(stage) == [(1, "arguments"), (3, "arguments"), (4, "arguments"), (5, "arguments")]
    assert stage.history.attempt == 1


VALUES = {"a": {"code": ("K1", "K2")}, "c": {"size": (3, 4)}}
HANDED = (Handover("a", "b", "code"), Handover("c", "d", "size"))


def test_values_are_handed_over() -> None:
    stage = Simulator(case(*HANDED, values=VALUES))
    scenes = play(stage, "a", ("b", {"code": "K1"}), "c", ("d", {"size": 3}))
    assert [scene.values for scene in scenes] == [{"code": "K1"}, {}, {"size": 3}, {}]
    assert faults(stage) == []


@pytest.mark.parametrize(
    ("passed", "fault"),
    [
        ("K2", "value"),
        ("k1", "value"),
        ("", "value"),
        (1, "arguments"),
        (None, "arguments"),
        (["K1"], "arguments"),
    ],
)
def test_a_wrong_value(passed: Any, fault: str) -> None:
    stage = Simulator(case(*HANDED, values=VALUES))
    play(stage, "a", ("b", {"code": passed}))
    assert faults(stage) == [(2, fault)]
    assert roles(stage) == ["a"]


@pytest.mark.parametrize("passed", [True, 3.0, "3"])
def test_a_number_is_a_whole_number(passed: Any) -> None:
    stage = Simulator(case(*HANDED, values=VALUES))
    play(stage, "c", ("d", {"size": passed}))
    assert faults(stage) == [(2, "arguments")]


def test_a_value_that_nobody_has_returned_yet() -> None:
    stage = Simulator(case(*HANDED, values=VALUES))
    play(stage, ("b", {"code": "K1"}))
    assert stage.history.parameters == (ParameterSlip(1, "value", "b", "code"),)


def test_stale_values() -> None:
    stage = Simulator(case(*HANDED, Repeat("a", 2), values=VALUES, attempts=2))
    play(stage, "a", "a", ("b", {"code": "K1"}))
    assert faults(stage) == [(3, "stale")]
    play(stage, "start_over", ("b", {"code": "K2"}), "a", ("b", {"code": "K2"}))
    assert faults(stage) == [(5, "stale")]  # beyond the last value the last one stays
    assert roles(stage) == ["a", "b"]


def test_swapped_values() -> None:
    values = {"a": {"code": ("K1", "K2")}, "c": {"key": ("P1",)}}
    stage = Simulator(case(Handover("a", "b", "code"), Handover("c", "b", "key"), values=values))
    play(stage, ("b", {"code": "P1", "key": "K1"}), "a", "c", ("b", {"code": "P1", "key": "K1"}))
    assert stage.history.parameters == (
        ParameterSlip(1, "value", "b", "code"),
        ParameterSlip(1, "value", "b", "key"),
        ParameterSlip(4, "swapped", "b", "code"),
        ParameterSlip(4, "swapped", "b", "key"),
    )


def test_another_value_of_the_same_giver_is_simply_wrong() -> None:
    values = {"a": {"code": ("K1",), "key": ("P1",)}}
    stage = Simulator(case(Handover("a", "b", "code"), Handover("a", "c", "key"), values=values))
    play(stage, "a", ("b", {"code": "P1"}))
    assert faults(stage) == [(2, "value")]


def test_values_come_before_time() -> None:
    stage = Simulator(case(*HANDED, values=VALUES, **DAY))
    play(stage, ("b", {"code": "K1", "start_time": "never"}))
    assert faults(stage) == [(1, "value")]


def test_a_tool_that_is_unavailable_at_first() -> None:
    stage = Simulator(case(failures={"a": 2}, retries=2))
    assert [scene.kind for scene in play(stage, "a", "a", "a")] == ["unavailable", "unavailable", "done"]
    assert stage.history.calls_of == {"a": 1}
    assert faults(stage) == []


def test_a_stand_in_takes_the_place_of_what_has_been_tried() -> None:
    stand_in = StandIn("a", "b")
    stage = Simulator(
        case(stand_in, *HANDED, values=VALUES, findings={"a": True}, broken=("a",), costs={"a": 1, "b": 2})
    )
    scenes = play(stage, "a", "b")
    assert [scene.kind for scene in scenes] == ["broken", "done"]
    assert scenes[1] == StepResult("done", None, Deed("a", 2, by="b"), 0, {"code": "K1"}, True, 2)


def test_a_stand_in_for_nothing_stands_for_itself() -> None:
    untried = Simulator(case(StandIn("a", "b"), broken=("a",)))
    play(untried, "b")
    assert roles(untried) == ["b"]
    whole = Simulator(case(StandIn("a", "b")))
    play(whole, "a", "b")
    assert roles(whole) == ["a", "b"]


def test_what_is_out_of_service_is_known_in_the_next_attempt() -> None:
    stage = Simulator(case(StandIn("a", "b"), broken=("a",), attempts=2))
    play(stage, "a", "start_over", "b")
    assert roles(stage) == ["a"]


def test_a_stand_in_does_it_as_often_as_the_other_is_due() -> None:
    stage = Simulator(case(StandIn("a", "b"), Repeat("a", 2), broken=("a",)))
    play(stage, "a", "b", "b", "b")
    assert roles(stage) == ["a", "a"]
    assert faults(stage) == [(4, "repeated")]


def test_a_stand_in_is_handed_what_the_other_is() -> None:
    stage = Simulator(case(StandIn("b", "d"), *HANDED[:1], values=VALUES, broken=("b",)))
    play(stage, "a", ("b", {"code": "K1"}), ("d", {}), ("d", {"code": "K9"}), ("d", {"code": "K1"}))
    assert stage.history.acts == (ActSlip(3, "arguments"),)
    assert stage.history.parameters == (ParameterSlip(4, "value", "d", "code"),)
    assert roles(stage) == ["a", "b"]


def test_distractors() -> None:
    stage = Simulator(case(distractors="x", **DAY))
    scenes = play(stage, at("x", "08:00"), ("x", {}), at("a", "08:00"))
    assert [scene.kind for scene in scenes] == ["done", "refused", "done"]
    assert stage.history.acts == (ActSlip(1, "distractor"), ActSlip(2, "arguments"))
    assert roles(stage) == ["a"]


def test_what_results_tell() -> None:
    told = case(
        Condition("a", "a problem", "b"),
        Before("c", "d", announced="a"),
        Repeat("a", 2),
        findings={"a": False},
        announcements={"a": "First the task c."},
        costs={"a": 30},
    )
    first, second, other = play(Simulator(told), "a", "a", "c")
    assert (first.finding, first.announcement, first.cost) == (False, "First the task c.", 30)
    assert (second.finding, second.announcement, second.cost) == (False, "", 30)
    assert (other.finding, other.announcement, other.cost) == (None, "", None)


OWN = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "number"}, "deep": {}},
    "required": ["city"],
}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"city": "Paris", "days": 3, "deep": [{"x": None}]}, None),
        ({"city": "Paris", "days": 3.0, "deep": [{"x": None}]}, None),
        ({"city": "Paris", "days": 3, "deep": [{"x": None}], "more": 1}, None),
        ({"city": "Paris", "days": 3, "deep": [{"x": False}]}, "value"),
        ({"city": "Paris", "days": 3, "deep": {"x": None}}, "value"),
        ({"city": "Paris", "days": 4, "deep": [{"x": None}]}, "value"),
        ({"city": "Rome", "days": 3, "deep": [{"x": None}]}, "value"),
        ({"city": "Paris", "deep": [{"x": None}]}, "value"),
        ({"days": 3, "deep": [{"x": None}]}, "arguments"),
        ({"city": 1, "days": 3}, "arguments"),
        ("Paris", "arguments"),
    ],
)
def test_arguments_that_are_told(arguments: Any, fault: str | None) -> None:
    told = Given("own", {"city": "Paris", "days": 3, "deep": [{"x": None}]})
    own = Case(CASE_VERSION, "x", 0, "t", "q", (Action("own", "own", "own", parameters=OWN),), (told,))
    stage = Simulator(own)
    stage.play("own", arguments)
    assert faults(stage) == ([] if fault is None else [(1, fault)])


@pytest.mark.parametrize("arguments", [[], None, "", 0, [["city", "Paris"]]])
@pytest.mark.parametrize("schema", [{}, {"type": "array"}, OWN])
def test_arguments_of_an_own_tool_are_an_object_too(schema: dict[str, Any], arguments: Any) -> None:
    own = Case(CASE_VERSION, "x", 0, "t", "q", (Action("own", "own", "own", parameters=schema),), ())
    stage = Simulator(own)
    assert stage.play("own", arguments).reason == "they must be a JSON object"
    assert stage.skip("own", arguments)
    assert faults(stage) == [(1, "arguments"), (2, "arguments")]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        nested(50_000),
        {"start_time": nested(50_000)},
        {"start_time": "9" * 1_000_000},
        {"start_time": "1" * 4_400 + ":00"},
        {"start_time": "\ud800"},
        {"start_time": "09:00", 1: 2},
        {None: 1},
        {"x" * 1_000_000: 1},
        float("nan"),
        10**5_000,
        {"code": "K1", "start_time": True},
    ],
    ids=range(11),
)
def test_hostile_arguments_are_refused(arguments: Any) -> None:
    stage = Simulator(
        case(*HANDED, Choice(("c", "d")), Window("a", "start", "after", 500), values=VALUES, **DAY)
    )
    for tool in ("a", "b", "c", "start_over", "\x00", ""):
        scene = stage.play(tool, arguments)
        assert scene.kind == "refused"
        assert len(scene.reason) < 200
    assert roles(stage) == []
