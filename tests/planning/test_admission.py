"""The wall for cases from outside."""

from typing import Any

import msgspec
import pytest

from misstep.core.case import Action, Case
from misstep.errors import UsageError
from misstep.planning.admission.validation import validate_case
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
    case = validate_case(case_from({}))
    assert case.witness == ("a1", "a2", "a3")
    assert case.chance == 0.5


def test_a_given_chance_is_not_believed() -> None:
    assert validate_case(case_from({"chance": 0.99})).chance == 0.5


def test_synthesised_cases_pass_unchanged(make_cases: CaseMaker) -> None:
    for case in make_cases(300, 2, 12):
        assert validate_case(case) == case


def action(number: int, tool: str | None = None, id: str | None = None) -> dict[str, str]:
    return {"id": id or f"a{number}", "name": f"task {number}", "tool": tool or f"task_{number}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "case version 2\n  this misstep reads version 1"),
        ({"id": ""}, "the case has no id"),
        ({"actions": [action(1), {**action(2), "id": ""}]}, "an action of the case has no id"),
        ({"distractors": [{**action(4), "id": ""}]}, "an action of the case has no id"),
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
            "constraint 0 refers to an unknown action 'a9'\n  known: a1, a2, a3",
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
        validate_case(case_from(changes))
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
COSTS = {"costs": {"a1": 1, "a2": 2, "a3": 999_999_999}}


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
        ([CHOICE, {"kind": "budget", "most": 5}], {"costs": {"a1": 9, "a2": 5, "a3": 0}}, 1 / 2),
        ([STAND_IN, {**ORDER, "then": "a3"}], {"broken": ["a1"]}, 1 / 2),
        ([{**ORDER, "announced": "a3"}], {"announcements": {"a3": "First a1."}}, 5 / 6),
    ],
)
def test_cases_of_all_kinds_get_witness_and_chance(
    constraints: list[dict[str, Any]], world: dict[str, Any], chance: float
) -> None:
    case = validate_case(ruled(*constraints, world=world))
    assert case.chance == pytest.approx(chance)
    assert case.witness
    assert validate_case(case) == case


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
HANDED = {"kind": "data", "giver": "a2", "taker": "a1", "parameter": "city"}
CITY = {"values": {"a2": {"city": ["Rome"]}}}


def test_tools_of_ones_own() -> None:
    case = validate_case(ruled(GIVEN, actions=OWN_ACTIONS))
    assert case.witness == ("a1", "a2", "a3")


@pytest.mark.parametrize(
    ("constraints", "world", "message"),
    [
        ([{**ORDER, "announced": "a3"}], {}, "constraint 0 is announced by 'a3'\n  world.announcements does not contain it"),
        ([{**ORDER, "announced": "a2"}], {"announcements": {"a2": "X."}}, "constraint 0 names an action twice\n  given: a1, a2, a2"),
        ([ORDER], {"announcements": {"a3": "X."}}, "world.announcements.a3 has no constraint\n  expected a constraint announced by it"),
        ([ORDER], {"announcements": {"a3": " "}}, "world.announcements.a3 is empty\n  expected a sentence"),
        ([{"kind": "time", "action": "a1", "edge": "end", "bound": "after", "time": 500}], {}, "constraint 0 mentions a time\n  world.day says when the day begins and ends"),
        ([{"kind": "time", "action": "a1", "edge": "end", "bound": "after", "time": 721}], DAY, "constraint 0 mentions minute 721\n  the day runs from 480 to 720, 08:00 to 12:00"),
        ([HANDOVER], {}, "constraint 0 hands over 'code'\n  world.values.a1 has no such value"),
        ([{**HANDOVER, "parameter": "the code"}], VALUES, "constraint 0 has the parameter 'the code'\n  expected 1 to 64 letters, digits, '_' or '-', not start_time"),
        ([{**HANDOVER, "parameter": "start_time"}], {**VALUES, **DAY}, "constraint 0 has the parameter 'start_time'\n  expected 1 to 64 letters, digits, '_' or '-', not start_time"),
        ([HANDOVER, HANDOVER], VALUES, "constraint 1 repeats constraint 0 for 'a2', 'code'\n  omit one"),
        ([{**HANDOVER, "taker": "a1"}], VALUES, "constraint 0 names an action twice\n  given: a1, a1"),
        ([HANDOVER, {**CHOICE, "options": ["a1", "a3"]}], VALUES, "constraint 0 relies on 'a1'\n  constraint 1 makes it optional"),
        ([HANDOVER], {**VALUES, "broken": ["a1"]}, "constraint 0 relies on 'a1'\n  it is out of service, and nothing stands in for it"),
        ([HANDOVER, {**STAND_IN, "action": "a3"}], VALUES, "constraint 0 passes a value to the stand-in 'a2'\n  name the action that it replaces"),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}, {"kind": "repeat", "action": "a2", "times": 2}], {}, "constraint 0 binds 'a2', which is repeated\n  expected one time only"),
        ([{"kind": "adjacent", "first": "a1", "then": "a3"}, CHOICE], {}, "constraint 0 relies on 'a1'\n  constraint 1 makes it optional"),
        ([{"kind": "adjacent", "first": "a1", "then": "a1"}], {}, "constraint 0 names an action twice\n  given: a1, a1"),
        ([{"kind": "place", "action": "a2", "place": "last"}, CHOICE], {}, "constraint 0 relies on 'a2'\n  constraint 1 makes it optional"),
        ([{"kind": "place", "action": "a2", "place": "last"}], {"broken": ["a2"]}, "constraint 0 relies on 'a2'\n  it is out of service, and nothing stands in for it"),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}], {"broken": ["a2"]}, "constraint 0 relies on 'a2'\n  it is out of service, and nothing stands in for it"),
        ([{"kind": "choice", "options": ["a1"]}], {}, "constraint 0 leaves no choice: a1\n  expected two options or more"),
        ([{"kind": "choice", "options": ["a1", "a1"]}], {}, "constraint 0 makes 'a1' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CHOICE, {**STAND_IN, "action": "a3"}], {}, "constraint 1 makes 'a2' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CHOICE], {"broken": ["a1"]}, "constraint 0 relies on 'a1'\n  it is out of service, and nothing stands in for it"),
        ([CONDITION], {}, "constraint 0 asks 'a1'\n  world.findings does not say what it reports"),
        ([{**CONDITION, "finding": ""}], {"findings": {"a1": True}}, "constraint 0 has no finding\n  expected words such as \"a problem\""),
        ([{**CONDITION, "otherwise": "a2"}], {"findings": {"a1": True}}, "constraint 0 makes 'a2' optional, as constraint 0 does already\n  an action is an option of one choice, a branch of one condition, or one stand-in"),
        ([CONDITION, {**CONDITION, "then": "a3"}], {"findings": {"a1": True}}, "constraint 1 repeats constraint 0 for 'a1'\n  omit one"),
        ([CONDITION, {**CHOICE, "options": ["a1", "a3"]}], {"findings": {"a1": True}}, "constraint 0 relies on 'a1'\n  constraint 1 makes it optional"),
        ([{"kind": "repeat", "action": "a1", "times": 1}], {}, "constraint 0 asks for 'a1' 1 times\n  expected 2 to 9"),
        ([{"kind": "repeat", "action": "a1", "times": 10}], {}, "constraint 0 asks for 'a1' 10 times\n  expected 2 to 9"),
        ([{"kind": "repeat", "action": "a1", "times": 2}] * 2, {}, "constraint 1 repeats constraint 0 for 'a1'\n  omit one"),
        ([{"kind": "repeat", "action": "a1", "times": 2}, CHOICE], {}, "constraint 0 repeats 'a1'\n  constraint 1 makes it optional"),
        ([{"kind": "limit", "action": "a1", "most": 0}], {}, "constraint 0 allows 0 actions before another\n  expected 1 or more"),
        ([{"kind": "budget", "most": -1}], COSTS, "constraint 0 bounds the costs by -1\n  expected 0 or more, and world.costs"),
        ([{"kind": "budget", "most": 9}], {}, "constraint 0 bounds the costs by 9\n  expected 0 or more, and world.costs"),
        ([STAND_IN], {"broken": ["a2"]}, "constraint 0 lets 'a2' stand in\n  world.broken says that it is out of service"),
        ([STAND_IN, {**STAND_IN, "by": "a3"}], {}, "constraint 1 repeats constraint 0 for 'a1'\n  omit one"),
        ([GIVEN], {}, "constraint 0 gives arguments to 'a1'\n  its tool has no parameters of its own"),
        ([STAND_IN | {"by": "a7"}], {}, "constraint 0 refers to an unknown action 'a7'\n  known: a1, a2, a3"),
        ([CONDITION | {"otherwise": "a7"}], {}, "constraint 0 refers to an unknown action 'a7'\n  known: a1, a2, a3"),
        ([], {"costs": {"a9": 1}}, "world.costs refers to an unknown action 'a9'\n  known: a1, a2, a3"),
        ([], {"broken": ["a9"]}, "world.broken refers to an unknown action 'a9'\n  known: a1, a2, a3"),
        ([], {"costs": {"a1": -1, "a2": 0, "a3": 0}}, "world.costs.a1 is -1\n  expected 0 to 999999999"),
        ([], {"costs": {"a1": 0, "a2": 10**9, "a3": 0}}, "world.costs.a2 is 1000000000\n  expected 0 to 999999999"),
        ([], {"costs": {"a1": 1, "a3": 1}}, "world.costs lacks 'a2'\n  where anything costs, every action has a cost"),
        ([], {"attempts": 0}, "world.attempts is 0\n  expected 1 to 99"),
        ([], {"retries": -1}, "world.retries is -1\n  expected 0 to 99"),
        ([], {"retries": 1, "failures": {"a1": 2}}, "world.failures.a1 is 2\n  expected 0 to 1, world.retries"),
        ([], {"values": {"a1": {"code": []}}}, "world.values.a1.code is []\n  expected one value or more, all texts or all integers"),
        ([], {"values": {"a1": {"code": ["K1", 1]}}}, "world.values.a1.code is ['K1', 1]\n  expected one value or more, all texts or all integers"),
        ([], {"durations": {"a1": 1}}, "world.durations without world.day\n  add the day, or omit the durations"),
        ([], {**DAY, "day": [720, 480]}, "world.day is 720 to 480\n  expected minutes since midnight, the end at most 1440"),
        ([], {**DAY, "day": [480, 1441]}, "world.day is 480 to 1441\n  expected minutes since midnight, the end at most 1440"),
        ([], {"day": [480, 720], "durations": {"a1": 5, "a3": 5}}, "world.durations lacks 'a2'\n  in a timed case every action has one"),
        ([], {"day": [480, 720], "durations": {"a1": 0, "a2": 5, "a3": 5}}, "world.durations.a1 is 0\n  expected 1 to 1440"),
        ([], {"day": [480, 500], "durations": {"a1": 10, "a2": 5, "a3": 6}}, "no plan can satisfy the case\n  whichever options are chosen, in any order"),
        ([ORDER, {"kind": "place", "action": "a2", "place": "first"}], {}, "no plan can satisfy the case\n  whichever options are chosen, in any order"),
    ],
)  # fmt: skip
def test_constraints_and_worlds_that_make_no_sense(
    constraints: list[dict[str, Any]], world: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as error:
        validate_case(ruled(*constraints, world=world))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"constraints": [GIVEN | {"arguments": {}}], "actions": OWN_ACTIONS},
            "the tool 'get_weather' can't be called with its arguments\n  as far as known: city is missing",
        ),
        (
            {"constraints": [GIVEN | {"arguments": {"city": "Paris", "x": 1}}], "actions": OWN_ACTIONS},
            "the tool 'get_weather' can't be called with its arguments\n"
            "  as far as known: 'x' is not expected",
        ),
        (
            {"constraints": [GIVEN], "actions": OWN_ACTIONS, "world": DAY},
            "the tool 'get_weather' can't be called with its arguments\n"
            "  as far as known: 'start_time' is not expected",
        ),
        (
            {"constraints": [GIVEN, HANDED], "actions": OWN_ACTIONS, "world": CITY},
            "constraint 1 repeats constraint 0 for 'a1', 'city'\n  omit one",
        ),
        (
            {"constraints": [HANDED, GIVEN], "actions": OWN_ACTIONS, "world": CITY},
            "constraint 1 repeats constraint 0 for 'a1', 'city'\n  omit one",
        ),
        (
            {
                "constraints": [
                    GIVEN,
                    {"kind": "stand-in", "action": "a3", "by": "a1"},
                    {**HANDED, "taker": "a3"},
                ],
                "actions": OWN_ACTIONS,
                "world": CITY,
            },
            "constraint 2 repeats constraint 0 for 'a1', 'city'\n  omit one",
        ),
        (
            {"constraints": [GIVEN, GIVEN], "actions": OWN_ACTIONS},
            "constraint 1 repeats constraint 0 for 'a1'\n  omit one",
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
            "tool name 'start_over' is taken\n  misstep uses it for one of its own tools",
        ),
        (
            {"distractors": [action(4, tool="ask_price")], "world": COSTS},
            "tool name 'ask_price' is taken\n  misstep uses it for one of its own tools",
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
        validate_case(case_from(changes))
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
    case = validate_case(written)
    assert (case.witness, case.solution) == (written.witness, written.solution)


def test_nobody_else_takes_the_names_of_special_tools() -> None:
    actions = [action(1, tool="start_over"), action(2, tool="ask_price")]
    assert validate_case(case_from({"actions": actions})).witness == ("a1", "a2")


def free_but_for_limits(count: int) -> dict[str, Any]:
    limits = [{"kind": "limit", "action": f"a{i}", "most": count - 2} for i in range(1, count + 1)]
    return {"actions": [action(i) for i in range(1, count + 1)], "constraints": limits}


def test_a_case_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="too large to check"):
        validate_case(case_from(free_but_for_limits(20)))
    small = case_from(free_but_for_limits(10))
    monkeypatch.setattr(search, "MOST_STATES", 500)  # as if times made more of it than order does
    with pytest.raises(UsageError, match="too large to check"):
        validate_case(small)


def test_many_ways_to_choose_are_looked_through_together() -> None:
    choices = [{"kind": "choice", "options": [f"a{i}", f"a{i + 1}"]} for i in range(1, 12, 2)]
    limit = {"kind": "limit", "action": "a20", "most": 12}
    actions = [action(i) for i in range(1, 21)]
    with pytest.raises(UsageError, match="too large to check"):
        validate_case(case_from({"actions": actions, "constraints": [*choices, limit]}))
    chain = [{**ORDER, "first": f"a{i}", "then": f"a{i + 1}"} for i in range(12, 20)]
    assert validate_case(case_from({"actions": actions, "constraints": [*choices, limit, *chain]})).witness


def test_what_has_but_one_order_may_be_large() -> None:
    pairs = [{"kind": "adjacent", "first": f"a{i}", "then": f"a{i + 1}"} for i in range(1, 20)]
    actions = [action(i) for i in range(1, 21)]
    assert len(validate_case(case_from({"actions": actions, "constraints": pairs})).witness) == 20


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([ORDER] * 201, "the case has 201 constraints\n  expected 0 to 200"),
        (
            [{"kind": "repeat", "action": f"a{i}", "times": 9} for i in (1, 2)],
            "with its repetitions the case has 30 actions\n  expected no more than 24",
        ),
        (
            [{"kind": "choice", "options": [f"a{2 * i}", f"a{2 * i + 1}"]} for i in range(1, 7)]
            + [{"kind": "choice", "options": ["a1", "a14"]}],
            "there are 128 ways to choose\n  expected no more than 64",
        ),
    ],
)
def test_what_would_take_long_to_look_through(constraints: list[dict[str, Any]], message: str) -> None:
    actions = [action(i) for i in range(1, 15)]
    with pytest.raises(UsageError) as error:
        validate_case(case_from({"actions": actions, "constraints": constraints}))
    assert str(error.value) == message


def test_what_just_can_be_looked_through() -> None:
    actions = [action(i) for i in range(1, 15)]
    choices = [{"kind": "choice", "options": [f"a{2 * i}", f"a{2 * i + 1}"]} for i in range(1, 7)]
    assert len(validate_case(case_from({"actions": actions, "constraints": choices})).witness) == 8
    repeats = [{"kind": "repeat", "action": "a1", "times": 9}, {"kind": "repeat", "action": "a2", "times": 3}]
    assert len(validate_case(case_from({"actions": actions, "constraints": repeats})).witness) == 24
    assert validate_case(case_from({"constraints": [ORDER] * 200})).chance == 0.5


def announced(first: str, then: str, by: str) -> dict[str, Any]:
    return {"kind": "before", "first": first, "then": then, "announced": by}


@pytest.mark.parametrize(
    ("constraints", "world", "voice", "bound"),
    [
        ([announced("a1", "a2", "a3"), announced("a2", "a1", "a3")], {}, "a3", "a1"),
        ([announced("a1", "a2", "a3"), {**ORDER, "first": "a2", "then": "a1"}], {}, "a3", "a2"),
        ([announced("a2", "a1", "a3"), HANDOVER], VALUES, "a3", "a1"),
        ([announced("a2", "a1", "a3"), CONDITION], {"findings": {"a1": True}}, "a3", "a1"),
        ([announced("a2", "a1", "a3"), {"kind": "adjacent", "first": "a1", "then": "a2"}], {}, "a3", "a1"),
        ([announced("a1", "a2", "a3"), {"kind": "place", "action": "a1", "place": "last"}], {}, "a3", "a2"),
        (
            [announced("a1", "a2", "a3"), announced("a2", "a4", "a3"), announced("a4", "a1", "a3")],
            {},
            "a3",
            "a1",
        ),
    ],
)
def test_announcements_that_can_not_be_kept(
    constraints: list[dict[str, Any]], world: dict[str, Any], voice: str, bound: str
) -> None:
    world = {**world, "announcements": {"a3": "So it is."}}
    actions = [*WRITTEN["actions"], action(4)]
    with pytest.raises(UsageError) as error:
        validate_case(ruled(*constraints, world=world, actions=actions))
    assert str(error.value) == (
        f"what {voice!r} announces contradicts something else\n"
        f"  it must be possible whenever it is announced, and affects {bound!r}"
    )


def test_announcements_that_bind_only_what_is_done() -> None:
    """An announcement about what is left out contradicts nothing, nor do options of which one is left out."""
    actions = [*WRITTEN["actions"], action(4)]
    world = {"announcements": {"a3": "So it is."}}
    chosen = [CHOICE, announced("a1", "a2", "a3"), {**ORDER, "first": "a2", "then": "a1"}]
    assert validate_case(ruled(*chosen, world=world, actions=actions)).witness
    around = [
        CHOICE,
        announced("a1", "a4", "a3"),
        {**ORDER, "first": "a4", "then": "a2"},
        {**ORDER, "first": "a2", "then": "a1"},
    ]
    assert validate_case(ruled(*around, world=world, actions=actions)).witness


def test_distractors_change_nothing_about_the_order(make_cases: CaseMaker) -> None:
    for case in make_cases(50, 2, 9):
        distracted = msgspec.structs.replace(case, distractors=(Action("d1", "idle errand", "idle_errand"),))
        assert validate_case(distracted) == distracted


@pytest.mark.parametrize(
    ("constraints", "world", "right", "wrong"),
    [
        ([CHOICE, {**ORDER, "then": "a3"}], {}, "13 23 32", "12 123 31 3 133"),
        ([{"kind": "repeat", "action": "a1", "times": 2}, ORDER], {}, "1123 1132 3112 1312", "1213 123 11123"),
        ([STAND_IN, {**ORDER, "then": "a3"}], {"broken": ["a1"]}, "23", "13 32 2 223"),
        ([{"kind": "adjacent", "first": "a1", "then": "a2"}], {}, "123 312", "132 213 321"),
        ([{"kind": "limit", "action": "a3", "most": 1}], {}, "312 132", "123 213"),
        ([announced("a1", "a2", "a3")], {"announcements": {"a3": "So."}}, "213 123 312", "321"),
        ([{"kind": "time", "action": "a1", "edge": "end", "bound": "before", "time": 570}], DAY, "123 213", "231"),
    ],
)  # fmt: skip
def test_a_witness_is_a_correct_plan(
    constraints: list[dict[str, Any]], world: dict[str, Any], right: str, wrong: str
) -> None:
    def given(plan: str) -> Case:
        return ruled(*constraints, world=world, witness=[f"a{number}" for number in plan])

    for plan in right.split():
        assert validate_case(given(plan)) == msgspec.structs.replace(
            given(plan), chance=validate_case(given(plan)).chance
        )
    for plan in wrong.split():
        with pytest.raises(UsageError, match="the witness is not a correct plan"):
            validate_case(given(plan))
