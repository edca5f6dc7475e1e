"""The proof that a problem can be solved by an agent that knows only what it has been told so far."""

from collections.abc import Mapping, Sequence
from typing import Any

from misstep.core.case import CASE_VERSION, Action, Case, Planned, World
from misstep.core.constraint import Before, Constraint, Given
from misstep.core.transcript import Call, Transcript
from misstep.planning.judging.check import judge
from misstep.planning.language.figures import clock
from misstep.planning.plans.strategy import Brief, Move, News, Strategist
from misstep.planning.world.simulator import Simulator, StepResult
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER, START_TIME, TASK

MOST_CALLS = 300
MANY_ATTEMPTS = 3


def rehearse(
    actions: Sequence[str], constraints: Sequence[Constraint], world: World
) -> tuple[Planned, ...] | None:
    """All the calls with which a strategist gets everything right, or None; tools go by their actions."""
    case = Case(
        version=CASE_VERSION,
        id="rehearsal",
        seed=0,
        topic="",
        query="",
        actions=tuple([Action(action, action, action) for action in actions]),
        constraints=tuple(constraints),
        world=world,
    )
    calls = _play(case)
    transcript = Transcript(case.id, tuple([Call(call.tool, call.arguments) for call in calls]))
    return tuple(calls) if judge(case, transcript).verdict == "passed" else None


def name_tools(
    calls: Sequence[Planned], constraints: Sequence[Constraint], actions: Sequence[Action]
) -> tuple[Planned, ...]:
    """The calls of a rehearsal, by the names of the tools, with the arguments that are given."""
    tools = {action.id: action.tool for action in actions}
    given = {c.action: c.arguments for c in constraints if isinstance(c, Given)}
    return tuple(
        [
            Planned(ASK_PRICE, {TASK: tools[call.arguments[TASK]]})
            if call.tool == ASK_PRICE and call.tool not in tools
            else Planned(tools.get(call.tool, call.tool), call.arguments | given.get(call.tool, {}))
            for call in calls
        ]
    )


def _play(case: Case) -> list[Planned]:
    """The calls of a strategist that hears the results, and nothing else of the world.

    Where there are many attempts, it leaves one to those who begin less well.
    """
    announced = [c for c in case.constraints if isinstance(c, Before) and c.announced]
    known = tuple([constraint for constraint in case.constraints if constraint not in announced])
    attempts = case.world.attempts - (case.world.attempts >= MANY_ATTEMPTS)
    brief = Brief(tuple([action.id for action in case.actions]), known, case.world.day, attempts)
    strategist, stage = Strategist(brief), Simulator(case)
    calls = list[Planned]()
    while len(calls) < MOST_CALLS and (move := strategist.next()):
        call = call_for(move, case.world, {})
        calls.append(call)
        strategist.hear(move, news_from(stage.play(call.tool, call.arguments), announced))
    return calls


def call_for(move: Move, world: World, tools: Mapping[str, str]) -> Planned:
    """The call that makes a move; tools go by their actions where they have no other name."""
    match move.kind:
        case "start over":
            return Planned(START_OVER)
        case "ask price":
            return Planned(ASK_PRICE, {TASK: tools.get(move.action, move.action)})
        case "carry out":
            time: dict[str, Any] = {START_TIME: clock(move.start)} if world.day else {}
            return Planned(tools.get(move.action, move.action), time | move.values)


def news_from(scene: StepResult, announced: Sequence[Before]) -> News:
    """What is heard in a scene, with those of the constraints that it announces."""
    heard = [c for c in announced if scene.deed and scene.announcement and c.announced == scene.deed.action]
    return News(scene.kind, scene.minutes, scene.values, scene.finding, scene.cost or 0, tuple(heard))
