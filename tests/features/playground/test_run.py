"""The playground: what a person does is judged exactly like what an agent does."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.cli import run
from misstep.core.case import Case, Planned
from misstep.core.constraint import FAMILIES
from misstep.core.outcome import Outcome
from misstep.errors import UsageError
from misstep.features.playground.pages import (
    PLAYERS,
    PlayerStep,
    ProblemChoice,
    command_for,
    detail,
    fitted,
    judge_calls,
    let_try,
    make_problem,
    play,
    right_calls,
    show_problem,
    sizes,
    tools_of,
)
from tests.tiers import examples, many_examples

FAMILY_SETS = [("order",), *(("order", family) for family in FAMILIES[1:]), ("choice",), FAMILIES]
# What stores can hold: of a name with anything else in it, a recorder keeps another one than a file has.
KEPT = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
wishes = st.builds(
    ProblemChoice,
    actions=st.integers(3, 12),
    family=st.sampled_from(FAMILY_SETS),
    distractors=st.integers(0, 3),
    seed=st.integers(0, 10_000),
)


def synthesised(folder: Path, wish: ProblemChoice) -> Case:
    """The same case by way of the command line."""
    flags = f"--actions {wish.actions} --seed {wish.seed} --count 1 --distractors {wish.distractors}"
    path = folder / "cases.jsonl"
    assert run(f"plan synth {flags} --family {','.join(wish.family)} --out {path}".split()) == 0
    return msgspec.json.decode(path.read_bytes(), type=Case)


def checked(folder: Path, case: Case, calls: tuple[PlayerStep, ...]) -> dict[str, Any]:
    """What `plan check` says of the same calls."""
    plans, verdicts = folder / "plans.jsonl", folder / "verdicts.jsonl"
    steps = [{"tool": call.tool, "arguments": call.arguments} for call in calls]
    plans.write_text(json.dumps({"case": case.id, "calls": steps}) + "\n")
    cases = folder / "cases.jsonl"
    run(f"plan check --cases {cases} --plans {plans} --out {verdicts} --fail-on none".split())
    verdict: dict[str, Any] = json.loads(verdicts.read_text())
    return verdict


def told(outcome: Outcome) -> dict[str, Any]:
    """A verdict as `plan check` writes it."""
    read: dict[str, Any] = json.loads(msgspec.json.encode(outcome.verdict))
    return read


@st.composite
def played(draw: st.DrawFn) -> tuple[ProblemChoice, tuple[PlayerStep, ...]]:
    """Calls of somebody who knows a right plan, and strays from it here and there."""
    wish = fitted(draw(wishes))
    case = make_problem(wish)
    right = [PlayerStep(call.tool, call.arguments) for call in right_calls(case)]
    names = [tool.name for tool in tools_of(case)]
    stray = st.one_of(
        st.sampled_from(right),
        st.builds(
            PlayerStep,
            st.one_of(st.sampled_from(names), st.text(KEPT, max_size=20)),
            st.dictionaries(
                st.sampled_from(["start_time", "task", "head_count", "x"]),
                st.one_of(st.sampled_from(["09:00", "25:00", names[0]]), st.integers(0, 99), st.none()),
                max_size=2,
            ),
        ),
    )
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(right)))
        match draw(st.sampled_from(["add", "drop", "swap"])):
            case "add":
                right.insert(place, draw(stray))
            case "drop":
                del right[place : place + 1]
            case "swap":
                right[place : place + 2] = reversed(right[place : place + 2])
    return wish, tuple(right)


@many_examples(100)
@given(played())
def test_the_verdict_is_that_of_plan_check(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[ProblemChoice, tuple[PlayerStep, ...]]
) -> None:
    wish, calls = given
    folder = tmp_path_factory.mktemp("checked")
    case = synthesised(folder, wish)
    assert case == make_problem(wish)
    assert told(judge_calls(case, calls)) == checked(folder, case, calls)


def test_what_no_store_can_hold_is_judged_all_the_same(tmp_path: Path) -> None:
    wish = ProblemChoice(3)
    case, calls = synthesised(tmp_path, wish), (PlayerStep("\0"),)
    ours, theirs = told(judge_calls(case, calls)), checked(tmp_path, case, calls)
    assert {**ours, "explanation": ""} == {**theirs, "explanation": ""}
    assert "there is no tool '\ufffd'" in ours["explanation"]


@many_examples(100)
@given(wishes)
def test_a_right_plan_passes_and_perfect_planners_do(wish: ProblemChoice) -> None:
    case = make_problem(fitted(wish))
    assert judge_calls(case, right_calls(case)).verdict.verdict == "passed"
    assert let_try(case, "sim:perfect").verdict.verdict == "passed"


TIMED = ("order", "time")


@pytest.mark.parametrize(
    "wish",
    [
        ProblemChoice(8, TIMED, 3, 306),
        ProblemChoice(10, TIMED, 2, 1832),
        ProblemChoice(9, TIMED, 1, 8306),
        ProblemChoice(10, TIMED, 3, 8939),
        ProblemChoice(10, FAMILIES, 2, 1194),
        ProblemChoice(10, FAMILIES, 2, 1332),
    ],
)
def test_perfect_planners_pass_when_their_first_two_attempts_have_failed(wish: ProblemChoice) -> None:
    outcome = let_try(make_problem(wish), "sim:perfect")
    assert outcome.verdict.verdict == "passed"
    assert [call.tool for call in outcome.transcript.calls].count("start_over") == 2


@pytest.mark.both
def test_perfect_planners_pass_large_timed_problems() -> None:
    for seed in range(examples(3000)):
        wish = fitted(ProblemChoice(8 + seed % 5, TIMED, seed // 5 % 4, seed))
        assert let_try(make_problem(wish), "sim:perfect").verdict.verdict == "passed", wish


@many_examples(100)
@given(wishes)
def test_whatever_is_wished_for_is_made_to_fit(wish: ProblemChoice) -> None:
    least, most = sizes(wish)
    assert 3 <= least <= fitted(wish).actions <= most <= 12
    assert fitted(fitted(wish)) == fitted(wish)
    for actions in (least, most):
        make_problem(ProblemChoice(actions, wish.family, wish.distractors, wish.seed))


def test_families_can_be_named_in_any_order_and_twice() -> None:
    assert fitted(ProblemChoice(5, ("time", "order", "time"))).family == ("order", "time")


def test_results_are_what_agents_are_told() -> None:
    case = make_problem(ProblemChoice(4, ("order", "time"), seed=7))
    planned = right_calls(case)
    calls = [PlayerStep(call.tool, call.arguments) for call in planned]
    results = play(case, calls)
    assert len(results) == len(calls)
    assert all("carried out successfully. It took" in result for result in results)
    assert play(case, calls[:2]) == results[:2]  # a step taken back leaves the others as they were
    assert "no tool" in play(case, [PlayerStep("no such tool", {})])[0]
    assert isinstance(planned[0], Planned)


def test_simulated_planners_do_the_same_each_time() -> None:
    case = make_problem(ProblemChoice(6, seed=3))
    for name in PLAYERS:
        first, again = (let_try(case, name).transcript.calls for _ in range(2))
        assert [call.tool for call in first] == [call.tool for call in again]


def test_an_agent_that_is_not_offered_is_refused() -> None:
    case = make_problem(ProblemChoice(3))
    for name in ("sim:idle", "file.py:agent", "react", ""):
        with pytest.raises(UsageError, match="is not available here"):
            let_try(case, name)


def test_the_command_makes_the_same_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wish = ProblemChoice(5, ("order", "data"), 2, 11)
    case = make_problem(wish)
    command = command_for(wish)
    arguments = command.split()
    assert arguments[0] == "misstep"
    store = tmp_path / "store.db"
    run([*arguments[1:], "--store", str(store), "--display", "none", "--json", "--fail-on", "none"])
    summary = json.loads(capsys.readouterr().out)
    from misstep.store.runs import Store

    with Store(str(store)) as kept:
        (outcome,) = kept.outcomes(summary["run"])
    assert outcome.case == case


def test_a_detail_says_how_to_put_the_problem_to_an_agent() -> None:
    wish = ProblemChoice(4)
    case = make_problem(wish)
    shown = detail(wish, judge_calls(case, ()))
    assert shown["verdict"] == "failed"
    assert shown["error"] == "lost"
    assert len(shown["missing"]) == 4
    assert shown["replay"] == command_for(wish)
    assert shown["seconds"] is None  # nobody's time is taken


def test_fields_of_tools_have_kinds() -> None:
    wish = ProblemChoice(8, FAMILIES, 1, 5)
    tools = {tool["name"]: tool["fields"] for tool in show_problem(wish)["tools"]}
    names = [tool.name for tool in tools_of(make_problem(wish))]
    assert list(tools) == names  # in the order of the agent's list
    assert tools["start_over"] == []
    (task,) = tools["ask_price"]
    assert task["kind"] == "choice"
    assert set(task["choices"]) <= set(names)
    kinds = {field["name"]: field["kind"] for fields in tools.values() for field in fields}
    assert kinds["start_time"] == "time"
    assert {"text", "number"} & set(kinds.values())


@many_examples(100)
@given(wishes)
def test_the_request_is_the_agents_paragraph_by_paragraph(wish: ProblemChoice) -> None:
    wish = fitted(wish)
    case, shown = make_problem(wish), show_problem(wish)
    assert "\n\n".join(part["text"] for part in shown["request"]) == case.query
    (told,) = [part["text"] for part in shown["request"] if part["told"]]
    assert all(sentence in told for sentence in case.sentences if sentence in case.query)
    assert shown["timed"] == ("time" in wish.family)


def test_a_problem_tells_nothing_of_its_solution() -> None:
    shown = show_problem(ProblemChoice(6, FAMILIES, 0, 2))
    assert not {"witness", "solution", "constraints", "world", "skeleton"} & set(shown)
