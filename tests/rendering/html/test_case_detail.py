"""The detail of a case, read back against the outcome by hand."""

import json
from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import (
    FAMILIES,
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Family,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Outcome, Transcript, Verdict
from misstep.core.results.diagnosis import Diagnosis
from misstep.rendering.case import actions_of
from misstep.rendering.html.cases import FIRST_CALLS, CallEffect, CaseOrigin, detail_of
from misstep.runs.reporting.case_bundles import moves_of
from tests.rendering.html.outcomes import played

KINDS: tuple[tuple[str, tuple[Family, ...], int], ...] = (
    ("sim:greedy", ("order",), 4),
    ("sim:random", ("order",), 4),
    ("sim:stubborn", ("order", "time"), 4),
    ("sim:greedy", FAMILIES, 8),
    ("sim:idle", ("order",), 3),
)


def detail(outcome: Outcome, **more: Any) -> Any:
    moves = moves_of(outcome.case, outcome.transcript.calls)
    return json.loads(json.dumps(detail_of(outcome, moves, CaseOrigin("run1", " --store x.db"), **more)))


@pytest.mark.full(after=2)
@pytest.mark.parametrize(("agent", "families", "low"), KINDS)
def test_a_detail_is_that_of_its_outcome(agent: str, families: tuple[Family, ...], low: int) -> None:
    for outcome in played(agent, 25, families, low):
        told, case, verdict = detail(outcome), outcome.case, outcome.verdict
        assert (told["id"], told["topic"], told["seed"]) == (case.id, case.topic, case.seed)
        assert (told["verdict"], told["error"], told["step"]) == (
            verdict.verdict,
            verdict.error,
            verdict.step,
        )
        assert told["explanation"] == verdict.explanation
        assert told["replay"] == f"misstep replay run1/{case.id} --store x.db"
        assert [each["tool"] for each in told["actions"]] == [action.tool for action in case.actions]
        assert [each["action"] for each in told["nearest"]] == list(verdict.nearest)
        check_request(told, case)
        check_constraints(told, outcome)
        check_calls(told, outcome)


def check_request(told: Any, case: Case) -> None:
    assert "".join(piece["text"] for piece in told["request"]) == case.query
    for piece in told["request"]:
        if piece["sentence"] is not None:
            assert piece["text"] == case.sentences[piece["sentence"]]
    found = [piece["sentence"] for piece in told["request"] if piece["sentence"] is not None]
    announced = [number for number, text in enumerate(case.sentences) if text not in case.query]
    assert sorted(found + announced) == list(range(len(case.sentences)))
    for number, sentence in enumerate(told["sentences"]):
        own = [index for index, each in enumerate(case.constraints) if each.sentence == number]
        assert sentence == {"text": case.sentences[number], "constraints": own}


def check_constraints(told: Any, outcome: Outcome) -> None:
    names = {action.id: action.name for action in outcome.case.actions}
    raw = json.loads(msgspec.json.encode(outcome.case.constraints))
    assert [each["kind"] for each in told["constraints"]] == [each["kind"] for each in raw]
    for index, (each, own) in enumerate(zip(told["constraints"], raw, strict=True)):
        assert each["violated"] == (index in outcome.verdict.violated)
        assert each["core"] == (index in outcome.verdict.core)
        assert all(names[action] in each["text"] for action in each["first"] + each["then"])
        assert each["time"] == own.get("time")
        if own["kind"] == "before":
            assert (each["first"], each["then"]) == ([own["first"]], [own["then"]])


def check_calls(told: Any, outcome: Outcome) -> None:
    case, calls = outcome.case, outcome.transcript.calls
    by_tool = {action.tool: action.id for action in case.actions}
    stand_ins = {each.by for each in case.constraints if isinstance(each, StandIn)}
    assert len(told["calls"]) + told["left_out"] == len(calls)
    for each in told["calls"]:
        call = calls[each["step"] - 1]
        assert (each["tool"], each["result"]) == (call.tool, call.result)
        assert each["wrong"] == (each["step"] == outcome.verdict.step)
        assert json.loads(each["arguments"] or "{}") == call.arguments
        own = by_tool.get(call.tool)
        if own not in stand_ins and each["action"] is not None:
            assert each["action"] == own
            assert "successfully" in call.result
        if case.world.day and each["action"]:
            hours, minutes = call.arguments["start_time"].split(":")
            assert each["start"] == 60 * int(hours) + int(minutes)
            assert each["end"] == each["start"] + case.world.durations[own]
        else:
            assert each["start"] is each["end"] is None


def test_what_came_of_refused_and_repeated_calls() -> None:
    (outcome, *_) = played("sim:greedy", 1)
    tool = outcome.case.actions[0].tool
    calls = (Call(tool), Call(tool), Call("no_such_tool"), Call(tool, {"x": 1}), Call(tool, ran=-1))
    moves = moves_of(outcome.case, calls)
    assert [move.effect for move in moves] == ["done", "done", "refused", "refused", "never"]
    assert [bool(move.action) for move in moves] == [True, False, False, False, False]


def test_attempts_are_counted_from_each_start_over() -> None:
    timed = [one for one in played("sim:perfect", 20, ("order", "time")) if one.case.world.attempts > 1]
    again = [one for one in timed if any(call.tool == "start_over" for call in one.transcript.calls)]
    assert again
    for outcome in again:
        attempt = 1
        for each in detail(outcome)["calls"]:
            attempt += each["tool"] == "start_over"
            assert each["attempt"] == attempt
            assert each["effect"] == ("over" if each["tool"] == "start_over" else "done")


def test_between_which_actions_each_kind_stands() -> None:
    kinds: list[tuple[Constraint, tuple[str, ...], tuple[str, ...]]] = [
        (Before("a", "b"), ("a",), ("b",)),
        (Adjacent("a", "b"), ("a",), ("b",)),
        (Handover("a", "b", "code"), ("a",), ("b",)),
        (StandIn("a", "b"), ("a",), ("b",)),
        (Place("a", "first"), ("a",), ()),
        (Place("a", "last"), (), ("a",)),
        (Choice(("a", "b", "c")), ("a", "b", "c"), ()),
        (Condition("a", "fault", "b", "c"), ("a",), ("b", "c")),
        (Condition("a", "fault", "b"), ("a",), ("b",)),
        (Window("a", "start", "after", 600), (), ("a",)),
        (Repeat("a", 2), (), ("a",)),
        (Limit("a", 2), (), ("a",)),
        (Given("a", {}), (), ("a",)),
        (Spend(100), (), ()),
    ]
    for constraint, first, then in kinds:
        assert actions_of(constraint) == (first, then)


def a_case(**more: Any) -> Case:
    actions = (Action("a", "audit", "audit"), Action("b", "backup", "backup"))
    return msgspec.structs.replace(Case(CASE_VERSION, "c1", 0, "t", "q", actions, ()), **more)


def an_outcome(case: Case, calls: int = 1, step: int | None = None) -> Outcome:
    transcript = Transcript(case.id, tuple(Call(f"tool{number}") for number in range(1, calls + 1)))
    return Outcome(case, transcript, Verdict(case.id, "failed", "act", step))


def test_of_very_many_calls_the_first_and_those_around_the_misstep_are_shown() -> None:
    outcome = an_outcome(a_case(), 1000, 500)
    told = detail_of(outcome, [CallEffect()] * 1000, CaseOrigin("r"))
    steps = [each["step"] for each in told["calls"]]
    assert steps == [*range(1, FIRST_CALLS + 1), *range(495, 506)]
    assert told["left_out"] == 1000 - len(steps)
    assert [each["step"] for each in told["calls"] if each["wrong"]] == [500]


def test_a_sentence_that_is_said_twice_is_found_twice() -> None:
    case = a_case(query="Intro. A before B. A before B. End.", sentences=("A before B.", "A before B."))
    pieces = detail_of(an_outcome(case), [CallEffect()], CaseOrigin("r"))["request"]
    assert [(piece["text"], piece["sentence"]) for piece in pieces] == [
        ("Intro. ", None),
        ("A before B.", 0),
        (" ", None),
        ("A before B.", 1),
        (" End.", None),
    ]


def test_a_command_can_be_pasted_whatever_the_case_is_called() -> None:
    case = a_case(id="c1; rm -rf $HOME '`")
    told = detail_of(an_outcome(case), [CallEffect()], CaseOrigin("run1", " --store 'my db'"))
    assert told["replay"] == "misstep replay 'run1/c1; rm -rf $HOME '\"'\"'`' --store 'my db'"


def test_a_cause_is_told() -> None:
    found = Diagnosis("c1", "terminal", 0.97, "“prior to”", (0,), "9 of 9 against 0 of 9", 18)
    told = detail_of(an_outcome(a_case()), [CallEffect()], CaseOrigin("r"), 0.5, found)
    assert told["usd"] == 0.5
    assert told["cause"] == {
        "name": "terminal",
        "sure": "97 %",
        "guilty": "“prior to”",
        "evidence": "9 of 9 against 0 of 9",
    }
