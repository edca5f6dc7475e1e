"""Examples to train on: the right side is right, the wrong side is what happened, and both are conversations."""

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World, families_of, plain_order
from misstep.core.constraint import FAMILIES, Adjacent, Before, Choice, Given, Repeat, StandIn
from misstep.core.outcome import Call, Outcome, Transcript
from misstep.errors import InternalError, UsageError
from misstep.planning.admission.validation import validate_case
from misstep.planning.judging.check import check, judge
from misstep.planning.judging.verification import verify
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.training import (
    CLOSING,
    NEVER_CARRIED_OUT,
    Example,
    demonstrate,
    prefer,
    shows_fault,
    solve,
)
from misstep.planning.world.mock import MockWorld
from tests.planning.judging.random_cases import OWN_ARGUMENTS, OWN_SCHEMA, random_case, random_transcript
from tests.scripted.chat import check_pairs

INSTRUCTIONS = "Do it."


def outcome_of(case: Case, *calls: Call, ended: Any = "answered", answer: str = "done") -> Outcome:
    transcript = Transcript(case.id, calls, ended, answer)
    return Outcome(case, transcript, check(case, transcript))


def written(example: Example) -> Any:
    """An example as a line of a file gives it back."""
    line = msgspec.json.encode(example)
    assert b"\n" not in line
    return json.loads(line)


def read_calls(messages: list[dict[str, Any]]) -> tuple[Call, ...]:
    """The calls of a conversation, read without the code that wrote it."""
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    return tuple(
        Call(call["function"]["name"], json.loads(call["function"]["arguments"]), results[call["id"]], turn)
        for turn, message in enumerate([m for m in messages if m["role"] == "assistant"], 1)
        for call in message.get("tool_calls", ())
    )


def failures(count: int, *suites: Suite) -> Iterator[Outcome]:
    random = Random(5)
    for suite in suites:
        for index in range(count):
            case = make_case(suite, index)
            for _ in range(2):
                transcript = random_transcript(case, random)
                outcome = Outcome(case, transcript, check(case, transcript))
                if outcome.verdict.verdict == "failed":
                    yield outcome


SUITES = (
    Suite(1, 3, 6),
    Suite(2, 4, 6, families=("order", "adjacent", "choice", "repeat")),
    Suite(3, 7, 8, families=FAMILIES),
    Suite(4, 4, 5, families=("order", "time"), distractors=2),
    Suite(5, 5, 6, families=("order", "budget", "dynamic")),
)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: "-".join(suite.families))
def test_what_is_chosen_is_correct_and_z3_says_so_too(suite: Suite) -> None:
    kinds = Counter[str | None]()
    for outcome in failures(12, suite):
        calls = solve(outcome)
        assert calls is not None
        example = written(demonstrate(outcome, calls, INSTRUCTIONS))
        case, chosen = outcome.case, read_calls(example["messages"])
        transcript = Transcript(case.id, chosen)
        verdict = judge(case, transcript, parallel="forbid")
        assert verdict.verdict == "passed"
        verify(case, transcript, verdict)
        world = MockWorld(case)
        assert [world.answer(call.tool, call.arguments) for call in chosen] == [
            call.result for call in chosen
        ]
        kinds[outcome.verdict.error] += 1
    assert kinds.total() > 10


def test_where_nothing_is_hidden_it_is_the_nearest_correct_plan() -> None:
    seen = Counter[bool]()
    for outcome in failures(50, *SUITES[:2]):
        calls, case = solve(outcome) or (), outcome.case
        if case.world != World():
            continue  # a condition may have to be found out
        tools = {action.id: action.tool for action in case.actions}
        assert [call.tool for call in calls] == [tools[action] for action in outcome.verdict.nearest]
        seen[plain_order(case) is None] += 1
    assert min(seen[True], seen[False]) > 10


def test_what_has_to_be_found_out_is_not_guessed() -> None:
    """The broken tool is tried before the one that stands in for it, though the nearest plan knows better."""
    actions = tuple(Action(name, name, name) for name in ("a1", "a2", "a3"))
    constraints = (StandIn("a1", "a3"), Before("a1", "a2"))
    case = validate_case(
        Case(CASE_VERSION, "x", 0, "", "", actions, constraints, world=World(broken=("a1",), retries=1))
    )
    outcome = outcome_of(case, Call("a2"), Call("a3"))
    assert outcome.verdict.nearest == ("a3", "a2")
    assert [call.tool for call in solve(outcome) or ()] == ["a1", "a3", "a2"]


def test_cases_of_others_that_bring_no_solution() -> None:
    random, solved = Random(11), Counter[bool]()
    while solved.total() < 90:
        try:
            case = validate_case(random_case(random))
        except UsageError:
            continue
        transcript = random_transcript(case, random)
        outcome = Outcome(case, transcript, check(case, transcript))
        if outcome.verdict.verdict in ("passed", "failed"):
            calls = solve(outcome)  # which raises where they are not right
            solved[calls is not None] += 1
            if calls:
                judged = Transcript(case.id, calls)
                verify(case, judged, judge(case, judged))
    assert solved[True] > 60


def test_arguments_that_the_request_gives_are_in_the_calls() -> None:
    own = Action("a1", "weather call", "weather", "Tells it.", OWN_SCHEMA)
    actions = (own, Action("a2", "two", "two"), Action("a3", "three", "three"))
    constraints = (
        Given("a1", OWN_ARGUMENTS),
        Adjacent("a1", "a2"),
        Repeat("a3", 2),
    )
    case = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, constraints))
    calls = solve(outcome_of(case, Call("two"), Call("weather", OWN_ARGUMENTS))) or ()
    assert [call.arguments for call in calls if call.tool == "weather"] == [OWN_ARGUMENTS]
    assert Counter(call.tool for call in calls) == {"weather": 1, "two": 1, "three": 2}


def test_a_passed_case_keeps_the_agent_s_own_calls() -> None:
    """Its choice and its order, not those of the witness; what was never carried out is not among them."""
    actions = tuple(Action(name, name, name) for name in ("a1", "a2", "a3"))
    case = validate_case(Case(CASE_VERSION, "x", 0, "", "", actions, (Choice(("a1", "a2")),)))
    outcome = outcome_of(case, Call("a3", turn=1), Call("a2", turn=1), Call("a3", turn=1, ran=-1))
    assert outcome.verdict.verdict == "passed"
    example = written(demonstrate(outcome, solve(outcome) or (), INSTRUCTIONS))
    assert [call.tool for call in read_calls(example["messages"])] == ["a3", "a2"]
    assert example["misstep"] == {
        "case": "x",
        "families": ["choice"],
        "actions": 3,
        "part": [],
        "kind": None,
    }


def test_a_wrong_example_is_our_own_bug() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    outcome = outcome_of(case)
    lie = msgspec.structs.replace(outcome.verdict, nearest=outcome.verdict.nearest[:1])
    with pytest.raises(InternalError, match="lost"):
        solve(msgspec.structs.replace(outcome, verdict=lie))


def test_the_conversation_has_openai_s_shape() -> None:
    for outcome in failures(6, *SUITES):
        calls = solve(outcome) or ()
        example = written(demonstrate(outcome, calls, INSTRUCTIONS))
        messages = example["messages"]
        check_pairs(messages)  # the rules that a server holds requests to
        assert [message["role"] for message in messages[:2]] == ["system", "user"]
        assert (messages[0]["content"], messages[1]["content"]) == (INSTRUCTIONS, outcome.case.query)
        assert messages[-1] == {"role": "assistant", "content": CLOSING}
        assert all(len(message.get("tool_calls", ())) <= 1 for message in messages)
        assert [tool["function"]["name"] for tool in example["tools"]] == [
            tool.name for tool in MockWorld(outcome.case).tools
        ]
        assert all(tool["type"] == "function" and tool["function"]["parameters"] for tool in example["tools"])
        origin = example["misstep"]
        assert (origin["case"], origin["kind"]) == (outcome.case.id, outcome.verdict.error)
        assert origin["actions"] == len(outcome.case.actions)
        assert (origin["families"], origin["part"]) == (families_of(outcome.case), [])


def test_what_is_rejected_is_what_the_agent_did() -> None:
    for outcome in failures(6, *SUITES):
        if not all(isinstance(call.arguments, dict) for call in outcome.transcript.calls):
            continue
        told = [msgspec.structs.replace(call, result="so") for call in outcome.transcript.calls]
        outcome = msgspec.structs.replace(
            outcome, transcript=msgspec.structs.replace(outcome.transcript, calls=tuple(told))
        )
        example = written(prefer(outcome, solve(outcome) or (), INSTRUCTIONS))
        check_pairs([*example["prompt"], *example["chosen"]])
        check_pairs([*example["prompt"], *example["rejected"]])
        assert example["rejected"] != example["chosen"]
        rejected = read_calls(example["rejected"])
        assert [(call.tool, call.arguments) for call in rejected] == [
            (call.tool, call.arguments) for call in told
        ]
        for call, original in zip(rejected, told, strict=True):
            assert call.result == ("so" if original.ran >= 0 else NEVER_CARRIED_OUT)


def test_turns_and_the_answer_are_the_agent_s() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    tools = [case.actions[int(action[1:]) - 1].tool for action in case.witness]
    calls = [Call(tools[2], turn=1), Call(tools[0], turn=1), Call(tools[1], turn=2)]
    rejected = written(prefer(outcome_of(case, *calls, answer="Fertig ✓"), (), INSTRUCTIONS))["rejected"]
    assert [len(message.get("tool_calls", ())) for message in rejected if message["role"] == "assistant"] == [
        2,
        1,
        0,
    ]
    assert rejected[-1] == {"role": "assistant", "content": "Fertig ✓"}


def test_in_one_shot_both_sides_ask_for_everything_at_once() -> None:
    """So that what is wrong with the rejected side is not that it took more turns."""
    for outcome in failures(6, SUITES[0]):
        calls = solve(outcome) or ()
        example = written(prefer(outcome, calls, INSTRUCTIONS, one_shot=True))
        for side, made in (("chosen", calls), ("rejected", outcome.transcript.calls)):
            check_pairs([*example["prompt"], *example[side]])
            turns = [message for message in example[side] if message.get("tool_calls")]
            assert len(turns) == bool(made)
            asked = [call["function"]["name"] for turn in turns for call in turn["tool_calls"]]
            assert asked == [call.tool for call in made]
        assert example["chosen"] != example["rejected"]


def test_calls_that_nobody_numbered_have_turns_of_their_own() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    calls = [Call(action.tool) for action in case.actions]
    rejected = written(prefer(outcome_of(case, *calls), (), INSTRUCTIONS))["rejected"]
    assert sum("tool_calls" in message for message in rejected) == 3


def test_an_agent_that_was_cut_off_gave_no_answer() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    cut = outcome_of(case, Call("nonsense"), ended="iterations", answer="")
    assert written(prefer(cut, (), INSTRUCTIONS))["rejected"][-1]["role"] == "tool"
    nothing = outcome_of(case, ended="timeout", answer="")
    assert written(prefer(nothing, (), INSTRUCTIONS))["rejected"] == [{"role": "assistant", "content": ""}]


HOSTILE = (
    "not JSON",
    "\u202e\0 ☃ \U0001f600",
    None,
    7,
    [[[[]]]],
    {"": {"deep": [None, 1e308, -0.0]}},
    {"x" * 1000: "y" * 100_000},
)


@pytest.mark.parametrize("arguments", HOSTILE, ids=lambda arguments: type(arguments).__name__)
def test_hostile_arguments_stay_text(arguments: Any) -> None:
    case = make_case(Suite(0, 3, 3), 0)
    outcome = outcome_of(case, Call('a"\n\u2028', arguments, "\ufffd" * 20_000), answer="\\")
    example = written(prefer(outcome, solve(outcome) or (), INSTRUCTIONS))
    function = example["rejected"][0]["tool_calls"][0]["function"]
    assert function["name"] == 'a"\n\u2028'
    given = function["arguments"] if isinstance(arguments, str) else json.loads(function["arguments"])
    assert given == arguments


def test_a_thousand_calls_in_one_turn() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    calls = [Call("x", {"n": number}, "no", turn=1) for number in range(1000)]
    example = written(prefer(outcome_of(case, *calls), (), INSTRUCTIONS))
    check_pairs([*example["prompt"], *example["rejected"]])
    assert len(example["rejected"]) == 1002


def test_a_slow_agent_that_began_well_is_not_rejected() -> None:
    case = make_case(Suite(0, 4, 4), 1)
    tools = {action.id: action.tool for action in case.actions}
    right = [Call(tools[action]) for action in case.witness]
    for done in range(5):
        slow = outcome_of(case, *right[:done], ended="timeout")
        assert slow.verdict.error == "timeout"
        assert not shows_fault(slow, "ordered")
    assert shows_fault(outcome_of(case, *right[:2]), "ordered")  # it said that it was done
    assert shows_fault(outcome_of(case, right[0], right[0], ended="iterations"), "ordered")
    assert shows_fault(outcome_of(case, *reversed(right), ended="timeout"), "ordered")
    same_turn = [msgspec.structs.replace(call, turn=1) for call in right[:2]]
    assert not shows_fault(outcome_of(case, *same_turn, ended="timeout"), "ordered")
    assert shows_fault(outcome_of(case, *same_turn, ended="timeout"), "forbid")


def test_what_was_wrong_only_by_its_turns_is_right_in_one_shot() -> None:
    case = make_case(Suite(0, 4, 4), 1)
    tools = {action.id: action.tool for action in case.actions}
    calls = tuple(Call(tools[action], turn=1) for action in case.witness)
    outcome = Outcome(case, Transcript(case.id, calls), check(case, Transcript(case.id, calls), "forbid"))
    assert outcome.verdict.error == "act"
    assert shows_fault(outcome, "forbid")
    assert not shows_fault(outcome, "ordered")


def test_a_refused_time_is_a_fault_too() -> None:
    case = make_case(Suite(0, 4, 4, families=("time",)), 0)
    refused = Call(case.solution[0].tool, {"start_time": "23:59"})
    assert shows_fault(outcome_of(case, refused, ended="timeout"), "ordered")
