"""The wall for cases from outside."""

from typing import Any

import msgspec
import pytest

from misstep.core.case import Case
from misstep.errors import UsageError
from misstep.planning.admission import admit
from misstep.planning.plans import search
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


def ruled(*constraints: dict[str, Any], **rest: Any) -> Case:
    return case_from({"constraints": list(constraints), **rest})


DAY = {"day": [480, 720], "durations": {"a1": 60, "a2": 30, "a3": 30}}
ORDER = {"kind": "before", "first": "a1", "then": "a2"}
CHOICE = {"kind": "choice", "options": ["a1", "a2"]}
CONDITION = {"kind": "condition", "asks": "a1", "finding": "a problem", "then": "a2"}
HANDOVER = {"kind": "data", "giver": "a1", "taker": "a2", "parameter": "code"}
STAND_IN = {"kind": "stand-in", "action": "a1", "by": "a2"}
VALUES = {"values": {"a1": {"code": ["K1", "K2"]}}}


@pytest.mark.parametrize(
    ("constraints", "world", "chance"),
    [
        (
            [{"kind": "time", "action": "a1", "edge": "start", "bound": "before", "time": 510}],
            DAY,
            1 / 3 + 1 / 3,
        ),
        ([HANDOVER], VALUES, 1 / 2),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}], {}, 1 / 3),
        ([{"kind": "place", "action": "a1", "place": "first"}], {}, 1 / 3),
        ([CHOICE], {}, 1.0),
        ([CONDITION], {"findings": {"a1": True}}, 1 / 4),
        ([CONDITION], {"findings": {"a1": False}}, 1 / 2),
        ([{"kind": "repeat", "action": "a1", "times": 2}, ORDER], {}, 1 / 3),
        ([{"kind": "limit", "action": "a1", "most": 1}], {}, 2 / 3),
        ([CHOICE, {"kind": "budget", "most": 5}], {"costs": {"a1": 9, "a2": 5}}, 1 / 2),
        ([STAND_IN, {**ORDER, "then": "a3"}], {"broken": ["a1"]}, 1 / 2),
        ([{**ORDER, "announced": "a3"}], {"announcements": {"a3": "First a1."}}, 5 / 6),
    ],
)
def test_cases_of_all_kinds_get_witness_and_chance(
    constraints: list[dict[str, Any]], world: dict[str, Any], chance: float
) -> None:
    case = admit(ruled(*constraints, world=world))
    assert case.chance == pytest.approx(chance)
    assert case.witness
    assert admit(case) == case


OWN = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "code": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OWN_ACTIONS = [
    {"id": "a1", "name": "weather", "tool": "get_weather", "parameters": OWN},
    *WRITTEN["actions"][1:],
]
GIVEN = {"kind": "given", "action": "a1", "arguments": {"city": "Paris"}}


def test_tools_of_ones_own() -> None:
    case = admit(ruled(GIVEN, actions=OWN_ACTIONS))
    assert case.witness == ("a1", "a2", "a3")


@pytest.mark.parametrize(
    ("constraints", "world", "message"),
    [
        ([{**ORDER, "announced": "a3"}], {}, "constraint 0 is announced by 'a3'\n  world.announcements has nothing of it"),
        ([{**ORDER, "announced": "a2"}], {"announcements": {"a2": "X."}}, "constraint 0 names an action twice\n  given: a1, a2, a2"),
        ([ORDER], {"announcements": {"a3": "X."}}, "world.announcements.a3 binds nobody\n  expected a constraint announced by it"),
        ([ORDER], {"announcements": {"a3": " "}}, "world.announcements.a3 is empty\n  expected a sentence"),
        ([{"kind": "time", "action": "a1", "edge": "end", "bound": "after", "time": 500}], {}, "constraint 0 speaks of a time\n  world.day says when the day begins and ends"),
        ([{"kind": "time", "action": "a1", "edge": "end", "bound": "after", "time": 721}], DAY, "constraint 0 speaks of minute 721\n  the day is from 480 to 720, 08:00 to 12:00"),
        ([HANDOVER], {}, "constraint 0 hands over 'code'\n  world.values.a1 has no such value"),
        ([{**HANDOVER, "parameter": "the code"}], VALUES, "constraint 0 has the parameter 'the code'\n  expected 1 to 64 letters, digits, '_' or '-', not start_time"),
        ([{**HANDOVER, "parameter": "start_time"}], {**VALUES, **DAY}, "constraint 0 has the parameter 'start_time'\n  expected 1 to 64 letters, digits, '_' or '-', not start_time"),
        ([HANDOVER, HANDOVER], VALUES, "constraint 1 says of 'a2', 'code' what constraint 0 has said\n  leave one out"),
        ([{**HANDOVER, "taker": "a1"}], VALUES, "constraint 0 names an action twice\n  given: a1, a1"),
        ([HANDOVER, {**CHOICE, "options": ["a1", "a3"]}], VALUES, "constraint 0 relies on 'a1'\n  constraint 1 says that it may be left out"),
        ([HANDOVER], {**VALUES, "broken": ["a1"]}, "constraint 0 relies on 'a1'\n  it is out of service, and nothing stands in for it"),
        ([HANDOVER, {**STAND_IN, "action": "a3"}], VALUES, "constraint 0 hands something to the stand-in 'a2'\n  name the action that it replaces"),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}, {"kind": "repeat", "action": "a2", "times": 2}], {}, "constraint 0 binds 'a2', which is repeated\n  expected one time only"),
        ([{"kind": "adjacent", "first": "a1", "then": "a3"}, CHOICE], {}, "constraint 0 relies on 'a1'\n  constraint 1 says that it may be left out"),
        ([{"kind": "adjacent", "first": "a1", "then": "a1"}], {}, "constraint 0 names an action twice\n  given: a1, a1"),
        ([{"kind": "place", "action": "a2", "place": "last"}, CHOICE], {}, "constraint 0 relies on 'a2'\n  constraint 1 says that it may be left out"),
        ([{"kind": "place", "action": "a2", "place": "last"}], {"broken": ["a2"]}, "constraint 0 relies on 'a2'\n  it is out of service, and nothing stands in for it"),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}], {"broken": ["a2"]}, "constraint 0 relies on 'a2'\n  it is out of service, and nothing stands in for it"),
        ([{"kind": "choice", "options": ["a1"]}], {}, "constraint 0 leaves no choice: a1\n  expected two options or more"),
        ([{"kind": "choice", "options": ["a1", "a1"]}], {}, "constraint 0 makes 'a1' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CHOICE, {**STAND_IN, "action": "a3"}], {}, "constraint 1 makes 'a2' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CHOICE], {"broken": ["a1"]}, "constraint 0 relies on 'a1'\n  it is out of service, and nothing stands in for it"),
        ([CONDITION], {}, "constraint 0 asks 'a1'\n  world.findings does not say what it reports"),
        ([{**CONDITION, "finding": ""}], {"findings": {"a1": True}}, "constraint 0 has no finding\n  expected words such as \"a problem\""),
        ([{**CONDITION, "otherwise": "a2"}], {"findings": {"a1": True}}, "constraint 0 makes 'a2' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CONDITION, {**CONDITION, "then": "a3"}], {"findings": {"a1": True}}, "constraint 1 says of 'a1' what constraint 0 has said\n  leave one out"),
        ([CONDITION, {**CHOICE, "options": ["a1", "a3"]}], {"findings": {"a1": True}}, "constraint 0 relies on 'a1'\n  constraint 1 says that it may be left out"),
        ([{"kind": "repeat", "action": "a1", "times": 1}], {}, "constraint 0 asks for 'a1' 1 times\n  expected 2 to 9"),
        ([{"kind": "repeat", "action": "a1", "times": 10}], {}, "constraint 0 asks for 'a1' 10 times\n  expected 2 to 9"),
        ([{"kind": "repeat", "action": "a1", "times": 2}] * 2, {}, "constraint 1 says of 'a1' what constraint 0 has said\n  leave one out"),
        ([{"kind": "repeat", "action": "a1", "times": 2}, CHOICE], {}, "constraint 0 repeats 'a1'\n  constraint 1 says that it may be left out"),
        ([{"kind": "limit", "action": "a1", "most": 0}], {}, "constraint 0 allows 0 actions before another\n  expected 1 or more"),
        ([{"kind": "budget", "most": -1}], {"costs": {"a1": 1}}, "constraint 0 bounds the costs by -1\n  expected 0 or more, and world.costs"),
        ([{"kind": "budget", "most": 9}], {}, "constraint 0 bounds the costs by 9\n  expected 0 or more, and world.costs"),
        ([STAND_IN], {"broken": ["a2"]}, "constraint 0 lets 'a2' stand in\n  world.broken says that it is out of service"),
        ([STAND_IN, {**STAND_IN, "by": "a3"}], {}, "constraint 1 says of 'a1' what constraint 0 has said\n  leave one out"),
        ([GIVEN], {}, "constraint 0 gives arguments to 'a1'\n  its tool has no parameters of its own"),
        ([STAND_IN | {"by": "a7"}], {}, "constraint 0 speaks of an unknown action 'a7'\n  known: a1, a2, a3"),
        ([CONDITION | {"otherwise": "a7"}], {}, "constraint 0 speaks of an unknown action 'a7'\n  known: a1, a2, a3"),
        ([], {"costs": {"a9": 1}}, "world.costs speaks of an unknown action 'a9'\n  known: a1, a2, a3"),
        ([], {"broken": ["a9"]}, "world.broken speaks of an unknown action 'a9'\n  known: a1, a2, a3"),
        ([], {"costs": {"a1": -1}}, "world.costs.a1 is -1\n  expected 0 to 1000000000"),
        ([], {"attempts": 0}, "world.attempts is 0\n  expected 1 to 99"),
        ([], {"retries": -1}, "world.retries is -1\n  expected 0 to 99"),
        ([], {"retries": 1, "failures": {"a1": 2}}, "world.failures.a1 is 2\n  expected 0 to 1, world.retries"),
        ([], {"values": {"a1": {"code": []}}}, "world.values.a1.code is []\n  expected one value or more, all texts or all integers"),
        ([], {"values": {"a1": {"code": ["K1", 1]}}}, "world.values.a1.code is ['K1', 1]\n  expected one value or more, all texts or all integers"),
        ([], {"durations": {"a1": 1}}, "world.durations without world.day\n  give the day, or leave the durations out"),
        ([], {**DAY, "day": [720, 480]}, "world.day is 720 to 480\n  expected minutes since midnight, the end at most 1440"),
        ([], {**DAY, "day": [480, 1441]}, "world.day is 480 to 1441\n  expected minutes since midnight, the end at most 1440"),
        ([], {"day": [480, 720], "durations": {"a1": 5, "a3": 5}}, "world.durations lacks 'a2'\n  in a timed case every action has one"),
        ([], {"day": [480, 720], "durations": {"a1": 0, "a2": 5, "a3": 5}}, "world.durations.a1 is 0\n  expected 1 to 1440"),
        ([], {"day": [480, 500], "durations": {"a1": 10, "a2": 5, "a3": 6}}, "no plan can satisfy the case\n  whatever is chosen, in whatever order it is done"),
        ([ORDER, {"kind": "place", "action": "a2", "place": "first"}], {}, "no plan can satisfy the case\n  whatever is chosen, in whatever order it is done"),
    ],
)  # fmt: skip
def test_constraints_and_worlds_that_make_no_sense(
    constraints: list[dict[str, Any]], world: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as error:
        admit(ruled(*constraints, world=world))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"constraints": [GIVEN | {"arguments": {}}], "actions": OWN_ACTIONS},
            "the tool 'get_weather' can't be called with what is said of it\n  as far as known: city is missing",
        ),
        (
            {"constraints": [GIVEN | {"arguments": {"city": "Paris", "x": 1}}], "actions": OWN_ACTIONS},
            "the tool 'get_weather' can't be called with what is said of it\n"
            "  as far as known: nothing called 'x' is expected",
        ),
        (
            {"constraints": [GIVEN], "actions": OWN_ACTIONS, "world": DAY},
            "the tool 'get_weather' can't be called with what is said of it\n"
            "  as far as known: nothing called 'start_time' is expected",
        ),
        (
            {"constraints": [GIVEN, GIVEN], "actions": OWN_ACTIONS},
            "constraint 1 says of 'a1' what constraint 0 has said\n  leave one out",
        ),
        (
            {"distractors": [action(4), action(4)]},
            "two actions share the action id 'a4'\n  each needs its own",
        ),
        ({"distractors": [action(4, tool="nap")]}, "two actions share the tool 'nap'\n  each needs its own"),
        (
            {"distractors": [action(i) for i in range(4, 25)]},
            "the case has 21 distractors\n  expected 0 to 20",
        ),
        (
            {"distractors": [action(4, tool="start_over")], "world": {"attempts": 2}},
            "tool name 'start_over' is taken\n  it is what misstep calls a tool of its own",
        ),
        (
            {"distractors": [action(4, tool="ask_price")], "world": {"costs": {"a1": 2}}},
            "tool name 'ask_price' is taken\n  it is what misstep calls a tool of its own",
        ),
        (
            {"constraints": [CHOICE], "witness": ["a1", "a2", "a3"]},
            "the witness is not a correct plan\n  given: a1, a2, a3",
        ),
        ({"constraints": [CHOICE], "witness": ["a9"]}, "the witness is not a correct plan\n  given: a9"),
        (
            {"solution": [{"tool": "bake"}, {"tool": "wash_up"}]},
            "the solution is not correct\n  The nap was never carried out.",
        ),
    ],
)
def test_tools_plans_and_solutions_that_make_no_sense(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        admit(case_from(changes))
    assert str(error.value) == message


def test_what_is_right_is_kept() -> None:
    solution = [{"tool": "nap"}, {"tool": "start_over"}, {"tool": "wash_up"}, {"tool": "nap"}]
    written = case_from(
        {
            "constraints": [CHOICE],
            "witness": ["a3", "a2"],
            "solution": solution,
            "world": {"attempts": 2},
            "distractors": [action(4)],
        }
    )
    case = admit(written)
    assert (case.witness, case.solution) == (written.witness, written.solution)


def test_nobody_else_takes_the_names_of_special_tools() -> None:
    actions = [action(1, tool="start_over"), action(2, tool="ask_price")]
    assert admit(case_from({"actions": actions})).witness == ("a1", "a2")


def test_a_case_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_STATES", 500)  # or it would take seconds to find out
    actions = [action(i) for i in range(1, 21)]
    limits = [{"kind": "limit", "action": f"a{i}", "most": 18} for i in range(1, 21)]
    with pytest.raises(UsageError, match="too large to be looked through"):
        admit(case_from({"actions": actions, "constraints": limits}))
