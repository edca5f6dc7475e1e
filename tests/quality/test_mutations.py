"""Correct plans with one thing changed: the checker, the reference and Z3 agree on every one of them."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import pytest

from misstep.core.case import Case, Planned
from misstep.core.constraint import FAMILIES, Choice, Family, Handover, StandIn
from misstep.core.outcome import Call, Transcript
from misstep.core.rng import Dice
from misstep.planning.judging import solver
from misstep.planning.judging.check import judge, replay
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.simulator import Deed, History, ParameterSlip
from tests.planning.judging import semantics
from tests.tiers import examples, some_full

Plan = Sequence[Planned]

MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES),
    ("order", "time"),
    ("order", "time", "data", "dynamic"),
    ("order", "choice", "budget", "repeat", "adjacent"),
    FAMILIES,
]
EACH = 10_000 // len(MIXTURES) + 1


RARELY_RIGHT = ("adjacent",)  # of the first 160 changed plans about neighbours, one is right


@pytest.mark.both
@pytest.mark.parametrize("families", some_full(MIXTURES, lambda families: families == RARELY_RIGHT))
@pytest.mark.usefixtures("hurried_z3")
def test_all_three_agree(families: tuple[Family, ...]) -> None:
    verdicts, count = Counter[str](), examples(EACH)
    for case, plan in mutants(families, count):
        calls = tuple([Call(call.tool, call.arguments) for call in plan])
        transcript = Transcript(case.id, calls)
        verdict = judge(case, transcript)
        verdicts[verdict.error or "passed"] += 1
        history = replay(case, calls)
        assert verdict.violated == solver.violated_by(case, history)
        broken = [i for i, c in enumerate(case.constraints) if not semantics.holds(c, history, case)]
        assert verdict.violated == tuple(broken)
        assert verdict.missing == semantics.lost(case, history)
        if verdict.error != "act":
            told = retell(case, plan)
            right = not told.parameters and solver.accepts(case, told)
            assert right == (verdict.verdict == "passed"), (case.id, plan)
    assert verdicts["passed"]
    assert verdicts.total() - verdicts["passed"] > count / 3, verdicts


def mutants(families: tuple[Family, ...], count: int) -> Iterator[tuple[Case, Plan]]:
    suite = Suite(23, least_actions(families), 6, families=families)
    for index in range(count):
        case = make_case(suite, index)
        dice = Dice(index)
        changes = [swap, lose]
        changes += [mistake] if case.world.values else []
        changes += [overrun] if case.world.day else []
        earlier, last = parted(solution(case))
        options = [c.options for c in case.constraints if isinstance(c, Choice)]
        if options and dice.chance(0.3):
            yield case, [*earlier, *choose(case, last, dice.pick(options))]
        else:
            yield case, [*earlier, *dice.pick(changes)(last, dice)]


def parted(plan: list[Planned]) -> tuple[list[Planned], list[Planned]]:
    """What comes before the calls that carry out something in the last attempt, and those."""
    begins = [place for place, call in enumerate(plan, 1) if call.tool in ("start_over", "ask_price")]
    cut = max(begins, default=0)
    return plan[:cut], plan[cut:]


def solution(case: Case) -> list[Planned]:
    tools = {action.id: action.tool for action in case.actions}
    return list(case.solution) or [Planned(tools[action]) for action in case.witness]


def swap(plan: list[Planned], dice: Dice) -> list[Planned]:
    """Two calls change places; where calls take a time, the times stay where they are."""
    one, other = dice.sample(range(len(plan)), 2) if len(plan) > 1 else (0, 0)
    changed = list(plan)
    changed[one], changed[other] = plan[other], plan[one]
    times = [call.arguments.get("start_time") for call in plan]
    return [at(call, time) for call, time in zip(changed, times, strict=True)]


def choose(case: Case, plan: list[Planned], options: Sequence[str]) -> list[Planned]:
    """The other of two options, in the place of the one that was chosen."""
    tools = {action.id: action.tool for action in case.actions}
    one, other = (tools[option] for option in options)
    return [Planned({one: other, other: one}.get(call.tool, call.tool), call.arguments) for call in plan]


def lose(plan: list[Planned], dice: Dice) -> list[Planned]:
    place = dice.below(len(plan))
    return plan[:place] + plan[place + 1 :]


def mistake(plan: list[Planned], dice: Dice) -> list[Planned]:
    """One value is another one of the same kind."""
    places = [place for place, call in enumerate(plan) if {*call.arguments} - {"start_time", "task"}]
    if not places:
        return plan
    place = dice.pick(places)
    name = next(name for name in plan[place].arguments if name not in ("start_time", "task"))
    value = plan[place].arguments[name]
    wrong = value + 1 if isinstance(value, int) else f"{value}x"
    arguments = {**plan[place].arguments, name: wrong}
    return [*plan[:place], Planned(plan[place].tool, arguments), *plan[place + 1 :]]


def overrun(plan: list[Planned], dice: Dice) -> list[Planned]:
    """One action starts earlier or later."""
    places = [place for place, call in enumerate(plan) if "start_time" in call.arguments]
    place = dice.pick(places)
    hours, minutes = map(int, plan[place].arguments["start_time"].split(":"))
    moved = max(0, min(23 * 60 + 45, 60 * hours + minutes + dice.pick((-120, -30, 15, 60, 240))))
    return [*plan[:place], at(plan[place], f"{moved // 60:02}:{moved % 60:02}"), *plan[place + 1 :]]


def at(call: Planned, time: object) -> Planned:
    if "start_time" not in call.arguments or time is None:
        return call
    return msgspec.structs.replace(call, arguments={**call.arguments, "start_time": time})


def retell(case: Case, plan: Plan) -> History:
    """The last attempt as the calls put it, whatever the tools would have made of their times.

    Written apart from the stage, which refuses calls; here it is left to Z3 to find fault with them.
    """
    world, actions = case.world, {action.tool: action.id for action in case.actions}
    replaced = {c.by: c.action for c in case.constraints if isinstance(c, StandIn)}
    failed, given = Counter[str](), Counter[str]()
    tried, newest = set[str](), dict[tuple[str, str], str | int]()
    deeds, slips = list[Deed](), list[ParameterSlip]()
    for step, call in enumerate(plan, 1):
        if call.tool == "start_over":
            newest, deeds, slips = {}, [], []
        action = actions.get(call.tool)
        if action is None:
            continue
        if action in world.broken:
            tried.add(action)
            continue
        if failed[action] < world.failures.get(action, 0):
            failed[action] += 1
            continue
        role = replaced[action] if replaced.get(action) in tried else action
        wrong = [
            c.parameter
            for c in case.constraints
            if isinstance(c, Handover)
            and c.taker == role
            and call.arguments[c.parameter] != newest.get((c.giver, c.parameter))
        ]
        slips += [ParameterSlip(step, "value", action, parameter) for parameter in wrong]
        if wrong:
            continue
        hours, _, minutes = call.arguments.get("start_time", "0:0").partition(":")
        start = 60 * int(hours) + int(minutes)
        deeds.append(
            Deed(role, step, start, start + world.durations.get(action, 0), action if role != action else "")
        )
        for parameter, series in world.values.get(role, {}).items():
            newest[role, parameter] = series[min(given[role], len(series) - 1)]
        given[role] += 1
    return History(tuple(deeds), parameters=tuple(slips), calls_of=Counter(d.by or d.action for d in deeds))
