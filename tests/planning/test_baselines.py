"""Baselines are held against agents that do the same call by call in the mock world."""

import pytest

from misstep.core.case import Case, families_of
from misstep.core.constraint import (
    FAMILIES,
    Before,
    Choice,
    Condition,
    Family,
    Handover,
    Repeat,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Transcript
from misstep.planning.difficulty import baselines, in_text_order
from misstep.planning.judging.check import judge
from misstep.planning.language.requests import clock
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.simulator import Simulator

MIXES: tuple[tuple[Family, ...], ...] = (
    *[(family,) for family in FAMILIES],
    ("order", "choice"),
    ("order", "dynamic"),
    ("order", "time"),
    ("order", "repeat", "adjacent"),
    ("choice", "budget", "data"),
)


def _cases(families: tuple[Family, ...], count: int = 40) -> list[Case]:
    suite = Suite(seed=5, low=max(3, least_actions(families)), high=5, families=families)
    return [make_case(suite, index) for index in range(count)]


@pytest.mark.parametrize("families", MIXES, ids="+".join)
def test_agents_that_dont_plan_pass_as_the_baselines_say(families: tuple[Family, ...]) -> None:
    for case in _cases(families):
        found = baselines(case)
        assert _passes(case, _text_order(case), knows=True) == found.text_order, case.query
        assert _passes(case, _ignoring(case), knows=False) == found.ignores_family, case.query


def test_order_alone_is_ignored_by_following_the_text() -> None:
    found = [baselines(case) for case in _cases(("order",), 100)]
    assert all(each.text_order == each.ignores_family for each in found)
    assert {each.text_order for each in found} == {0.0, 1.0}


def _text_order(case: Case) -> list[str]:
    """The plan of somebody who knows everything but the order, and takes what is named first."""
    named = in_text_order(case)
    times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
    stand_ins = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
    plan = []
    for action in named:
        if action in _left_out(case, named) or action in stand_ins.values():
            continue
        tool = stand_ins.get(action, action) if action in case.world.broken else action
        if tool != action:
            plan.append(action)  # which turns out to be out of service
        plan += [tool] * times.get(action, 1)
    return plan


def _ignoring(case: Case) -> list[str]:
    """Each action once, in the order of the text but for what has to come before what."""
    named = in_text_order(case)
    plain = [c for c in case.constraints if isinstance(c, Before) and not c.announced]
    if families_of(case) == ["order"]:
        plain = []
    plan = list[str]()
    while len(plan) < len(named):
        waiting = [action for action in named if action not in plan]
        plan.append(next(a for a in waiting if not any(c.then == a and c.first in waiting for c in plain)))
    stand_ins = {c.by for c in case.constraints if isinstance(c, StandIn)}
    return [action for action in plan if action not in _left_out(case, plan) | stand_ins]


def _left_out(case: Case, named: list[str]) -> set[str]:
    pairs = [c.options for c in case.constraints if isinstance(c, Choice)]
    pairs += [(c.then, c.otherwise) for c in case.constraints if isinstance(c, Condition) and c.otherwise]
    return {max(pair, key=named.index) for pair in pairs}


def _passes(case: Case, plan: list[str], knows: bool) -> bool:
    """Play the plan call by call: `knows` tries again, hands values over and waits for the right time."""
    stage, calls = Simulator(case), list[Call]()
    tools = {action.id: action.tool for action in case.actions}
    now, returned = case.world.day[0] if case.world.day else 0, dict[tuple[str, str], object]()
    for action in plan:
        for _ in range(1 + (case.world.failures.get(action, 0) if knows else 0)):
            start = _start(case, action, now) if knows else now
            arguments = _arguments(case, action, start, returned if knows else {})
            scene = stage.play(tools[action], arguments)
            calls.append(Call(tools[action], arguments))
            if scene.kind == "done":
                now = start + scene.minutes
                returned |= {(action, name): value for name, value in scene.values.items()}
                break
    return judge(case, Transcript(case.id, tuple(calls))).verdict == "passed"


def _start(case: Case, action: str, now: int) -> int:
    windows = [c for c in case.constraints if isinstance(c, Window) and c.action == action]
    length = case.world.durations.get(action, 0)
    earliest = [c.time - (length if c.edge == "end" else 0) for c in windows if c.bound == "after"]
    return max([now, *earliest])


def _arguments(
    case: Case, action: str, start: int, returned: dict[tuple[str, str], object]
) -> dict[str, object]:
    given: dict[str, object] = {"start_time": clock(start)} if case.world.day else {}
    for c in case.constraints:
        if isinstance(c, Handover) and c.taker == action:
            given[c.parameter] = returned.get((c.giver, c.parameter), "unknown")
    return given
