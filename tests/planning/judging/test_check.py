"""The judge: verdict kinds, reasons, and agreement with Z3 and with brute force."""

from itertools import permutations
from random import Random
from typing import Any

import msgspec
import pytest

from misstep.core.case import CASE_VERSION, Action, Case, World, plain_order
from misstep.core.constraint import Before, Place, Repeat
from misstep.core.outcome import Call, Transcript, Verdict
from misstep.planning.judging import solver
from misstep.planning.judging.breaches import View
from misstep.planning.judging.check import check, judge, replay
from tests.planning.conftest import CaseMaker
from tests.tiers import examples

SHOP = Case(
    version=CASE_VERSION,
    id="shop",
    seed=0,
    topic="shop",
    query="…",
    actions=(
        Action("a1", "stock count", "stock_count"),
        Action("a2", "till check", "till_check"),
        Action("a3", "window display", "window_display"),
        Action("a4", "price update", "price_update"),
    ),
    constraints=(Before("a1", "a2", 0), Before("a2", "a3", 1), Before("a1", "a3", 1)),
    sentences=(
        "The stock count precedes the till check.",
        "The window display follows the till check and the stock count.",
    ),
)


def judged(*tools: str, **rest: Any) -> Verdict:
    return check(SHOP, Transcript("shop", tuple(Call(tool) for tool in tools), **rest))


def test_passed() -> None:
    assert judged("stock_count", "price_update", "till_check", "window_display") == Verdict("shop", "passed")


def test_order() -> None:
    verdict = judged("stock_count", "window_display", "price_update", "till_check")
    assert verdict == Verdict(
        case="shop",
        verdict="failed",
        error="order",
        step=2,
        violated=(1,),
        core=(1,),
        nearest=("a1", "a2", "a3", "a4"),
        explanation="Step 2, the window display, came too early:"
        " the till check has to be carried out before it."
        " Sentence 2 says so: “The window display follows the till check and the stock count.”",
    )


def test_the_misstep_is_the_first_call_made_too_early() -> None:
    verdict = judged("window_display", "till_check", "stock_count", "price_update")
    assert (verdict.step, verdict.violated, verdict.core) == (1, (0, 1, 2), (1,))
    assert verdict.explanation.endswith("2 more constraints are broken.")


def test_lost() -> None:
    verdict = judged("till_check", "price_update")
    assert (verdict.error, verdict.missing, verdict.violated) == ("lost", ("a1", "a3"), (0,))
    assert verdict.explanation == "The stock count and the window display were never carried out."
    assert verdict.nearest == ("a1", "a2", "a4", "a3")


def test_nothing_called_at_all_is_lost() -> None:
    verdict = judged()
    assert (verdict.error, len(verdict.missing), verdict.violated) == ("lost", 4, ())


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (Call("cook_dinner"), "there is no tool 'cook_dinner'"),
        (
            Call("price_update", {"price": 3}),
            "'price_update' was called with arguments that it does not take",
        ),
        (Call("price_update", "now"), "'price_update' was called with arguments that it does not take"),
        (Call("price_update", None), "'price_update' was called with arguments that it does not take"),
        (Call("stock_count"), "'stock_count' was called again, and each tool is to be called exactly once"),
        (Call("\x1b[31mred\n"), r"there is no tool '\x1b[31mred\n'"),
        (Call("x" * 500), f"there is no tool '{'x' * 80}…'"),
        (Call(""), "there is no tool ''"),
    ],
)
def test_act(call: Call, reason: str) -> None:
    good = [Call(tool) for tool in ("stock_count", "till_check", "window_display", "price_update")]
    verdict = check(SHOP, Transcript("shop", (*good[:2], call, *good[2:])))
    assert (verdict.verdict, verdict.error, verdict.step) == ("failed", "act", 3)
    assert verdict.explanation == f"Step 3 is not a valid call: {reason}."
    assert verdict.nearest == ("a1", "a2", "a3", "a4")


@pytest.mark.parametrize(("ended", "limit"), [("timeout", "time"), ("iterations", "steps")])
def test_timeout_comes_before_everything_else(ended: Any, limit: str) -> None:
    verdict = judged("cook_dinner", "till_check", ended=ended)
    assert (verdict.verdict, verdict.error) == ("failed", "timeout")
    assert verdict.explanation == f"The limit on {limit} was reached with 1 of 4 actions carried out."


def test_broken_plumbing_is_not_the_agents_failure() -> None:
    verdict = judged(ended="error", error="ConnectionError: refused")
    assert (verdict.verdict, verdict.error, verdict.explanation) == (
        "errored",
        None,
        "ConnectionError: refused",
    )


def test_precedence() -> None:
    """Act before lost before order."""
    assert judged("window_display", "nonsense").error == "act"
    assert judged("window_display", "till_check", "stock_count").error == "lost"
    assert judged("window_display", "till_check", "stock_count", "price_update").error == "order"


def test_parallel_calls() -> None:
    calls = tuple(
        Call(action.tool, turn=turn) for action, turn in zip(SHOP.actions, (1, 1, 2, 3), strict=True)
    )
    transcript = Transcript("shop", calls)
    assert check(SHOP, transcript).verdict == "passed"
    verdict = check(SHOP, transcript, parallel="forbid")
    assert (verdict.error, verdict.step) == ("act", 2)
    one_by_one = msgspec.structs.replace(
        transcript, calls=tuple(msgspec.structs.replace(call, turn=i) for i, call in enumerate(calls))
    )
    assert check(SHOP, one_by_one, parallel="forbid").verdict == "passed"


def test_only_tasks_need_turns_of_their_own() -> None:
    """Beginning again and asking for prices carry nothing out."""
    world = World(attempts=3, costs={action.id: 1 for action in SHOP.actions})
    rich = msgspec.structs.replace(SHOP, world=world)
    price = ("ask_price", {"task": "till_check"})

    def blamed(*turns: list[str | tuple[str, Any]]) -> list[int]:
        calls = [
            Call(*([call] if isinstance(call, str) else call), turn=turn)
            for turn, made in enumerate(turns)
            for call in made
        ]
        return [slip.step for slip in replay(rich, calls, "forbid").acts]

    assert blamed([price, price, price, "stock_count"], ["till_check", price]) == []
    assert blamed(["stock_count", price, "till_check"]) == [3]
    assert blamed(["stock_count", "start_over"], ["stock_count"]) == []
    assert blamed(["stock_count"], ["start_over", "stock_count"], ["till_check"]) == []
    assert blamed(["stock_count", "start_over", "till_check"]) == [3]
    assert blamed(["stock_count"], [("ask_price", {"task": "x"}), "till_check"]) == [2]


def test_a_tool_of_a_case_may_have_the_name_of_a_special_one() -> None:
    odd = msgspec.structs.replace(
        SHOP, actions=(Action("a1", "one", "ask_price"), Action("a2", "two", "start_over")), constraints=()
    )
    calls = (Call("ask_price", turn=1), Call("start_over", turn=1))
    assert [slip.step for slip in replay(odd, calls, "forbid").acts] == [2]
    assert judge(odd, Transcript("shop", calls), "forbid").step == 2


@pytest.mark.parametrize(("tool", "slips"), [("cook_dinner", [1, 2, 3]), ("stock_count", [3])])
def test_what_was_never_carried_out_shares_its_turn_only_if_it_counts(tool: str, slips: list[int]) -> None:
    calls = (Call(tool, turn=1, ran=-1), Call("till_check", turn=1), Call("stock_count", turn=1))
    assert [slip.step for slip in replay(SHOP, calls, "forbid").acts] == slips
    verdict = judge(SHOP, Transcript("shop", calls), "forbid")
    assert (verdict.error, verdict.step) == ("act", slips[0])


def test_every_witness_passes_and_breaking_one_constraint_is_named(make_cases: CaseMaker) -> None:
    for case in make_cases(1500, 2, 9, seed=21):
        tools = {action.id: action.tool for action in case.actions}
        plan = list(case.witness)
        assert check(case, Transcript(case.id, tuple(Call(tools[i]) for i in plan))).verdict == "passed"
        for index, constraint in enumerate(case.constraints):
            moved = [i for i in plan if i != constraint.then]
            moved.insert(moved.index(constraint.first), constraint.then)
            verdict = check(case, Transcript(case.id, tuple(Call(tools[i]) for i in moved)))
            assert verdict.error == "order"
            assert index in verdict.violated


def disturbed(plan: list[str], random: Random) -> list[str]:
    """The plan as it is, with two actions swapped, or shuffled."""
    kind = random.randrange(4)
    if kind == 0:
        return plan
    if kind == 1:
        return random.sample(plan, len(plan))
    i, j = random.sample(range(len(plan)), 2)
    swapped = list(plan)
    swapped[i], swapped[j] = plan[j], plan[i]
    return swapped


@pytest.mark.both
@pytest.mark.parametrize("part", range(4))
@pytest.mark.usefixtures("hurried_z3")
def test_ten_thousand_problems_and_plans_judged_as_z3_judges_them(make_cases: CaseMaker, part: int) -> None:
    """No disagreement between the bitsets, Z3 and, on small problems, trying everything."""
    random = Random(part)
    errors = set()
    for number, case in enumerate(make_cases(examples(2500), 2, 9, seed=100 + part)):
        tools = {action.id: action.tool for action in case.actions}
        plan = disturbed(list(case.witness), random)
        verdict = judge(case, Transcript(case.id, tuple(Call(tools[i]) for i in plan)))
        assert verdict.violated == solver.violated_by(case, plan)
        assert set(verdict.core) <= set(verdict.violated)
        if number % 4 == 0:
            assert len(verdict.core) == len(solver.conflict(case, plan))
            assert solver.satisfiable(case) == "yes"
        if len(tools) <= 5 or (len(tools) <= 7 and number % 50 == 0):
            assert (verdict.verdict == "passed") == (tuple(plan) in correct_orders(case))
        errors.add(verdict.error)
    assert errors == {None, "order"}


def correct_orders(case: Case) -> set[tuple[str, ...]]:
    """Every order that meets the constraints, found by trying all of them."""
    demanded = [(c.first, c.then) for c in case.constraints]
    return {
        order
        for order in permutations(action.id for action in case.actions)
        if all(order.index(first) < order.index(then) for first, then in demanded)
    }


def test_the_step_is_the_first_from_which_no_plan_can_be_right(make_cases: CaseMaker) -> None:
    """Brute force: the calls before the misstep can be completed correctly, with it they can't."""
    random = Random(1)
    for case in make_cases(300, 3, 6, seed=17):
        tools = {action.id: action.tool for action in case.actions}
        correct = correct_orders(case)
        plan = tuple(random.sample(list(tools), len(tools)))
        verdict = judge(case, Transcript(case.id, tuple(Call(tools[i]) for i in plan)))
        assert (verdict.verdict == "passed") == (plan in correct)
        if verdict.step:
            assert any(order[: verdict.step - 1] == plan[: verdict.step - 1] for order in correct)
            assert not any(order[: verdict.step] == plan[: verdict.step] for order in correct)


@pytest.mark.parametrize(
    ("changes", "is_plain"),
    [
        ({}, True),
        ({"constraints": ()}, True),
        ({"constraints": (Before("a1", "a2", announced="a3"),)}, False),
        ({"constraints": (Before("a1", "a2"), Place("a3", "last"))}, False),
        ({"world": World(attempts=2)}, False),
        ({"distractors": (Action("d1", "errand", "errand"),)}, False),
        ({"actions": (Action("a1", "one", "one", parameters={}),), "constraints": ()}, False),
    ],
)
def test_what_is_nothing_but_order(changes: dict[str, Any], is_plain: bool) -> None:
    case = msgspec.structs.replace(SHOP, **changes)
    assert plain_order(case) == (case.constraints if is_plain else None)


def test_a_repeat_is_broken_by_a_call_of_its_own_tool() -> None:
    case = msgspec.structs.replace(SHOP, constraints=(Repeat("a1", 2),))
    history = replay(case, [Call(tool) for tool in ["till_check"] * 2 + ["stock_count"] * 3])
    assert [slip.action for slip in history.acts] == ["a2", "a1"]
    assert View(case, history).breaches() == {0: 5}


def test_a_line_of_a_plans_file_needs_little() -> None:
    plan = msgspec.json.decode(b'{"case":"shop","calls":[{"tool":"till_check"}]}', type=Transcript)
    assert plan == Transcript("shop", (Call("till_check"),))
