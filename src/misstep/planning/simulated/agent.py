"""A simulated agent: it carries out, call by call, whatever its planner makes of the request."""

from typing import Any, Protocol

from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.dice import Dice
from misstep.planning.language.figures import clock
from misstep.planning.language.hearing import read_result
from misstep.planning.plans.strategy import Move, News
from misstep.planning.simulated.understanding import Understanding, announced_by
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER, START_TIME, TASK

MOST_CALLS = 500  # nothing that misstep asks for takes as many


class Actor(Protocol):
    """Says what to do next, and hears what came of it."""

    def next(self) -> Move | None: ...

    def hear(self, move: Move, news: News) -> None: ...


class Planner(Protocol):
    def act(self, understood: Understanding, dice: Dice) -> Actor:
        """Somebody who carries out what has been understood, or something else."""
        ...


class SimulatedAgent:
    def __init__(self, name: str, planner: Planner) -> None:
        self.name = name
        self._planner = planner

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        understood = Understanding(assignment.request, toolbox.tools)
        actor = self._planner.act(understood, Dice(assignment.seed))
        for _ in range(MOST_CALLS):
            move = actor.next()
            if move is None:
                break
            result = toolbox.call(*_call(move, understood))
            actor.hear(move, _news(move, result, understood))
        return Answer("All the tasks have been carried out.")


def _call(move: Move, understood: Understanding) -> tuple[str, dict[str, Any]]:
    match move.kind:
        case "start over":
            return START_OVER, {}
        case "ask price":
            return ASK_PRICE, {TASK: understood.tools[move.action].name}
        case "carry out":
            tool = understood.tools[move.action]
            return tool.name, {**_arguments(tool, move), **understood.arguments.get(move.action, {})}


def _arguments(tool: Tool, move: Move) -> dict[str, Any]:
    """What the tool asks for; made up where nobody has said it."""
    properties, required = tool.parameters.get("properties", {}), tool.parameters.get("required", [])
    known = {START_TIME: clock(move.start), **move.values}
    return {name: known.get(name, _made_up(properties.get(name, {}).get("type"))) for name in required}


def _made_up(kind: object) -> Any:
    return {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}.get(str(kind), "unknown")


def _news(move: Move, result: str, understood: Understanding) -> News:
    heard = read_result(result)
    return News(
        outcome="refused" if heard.outcome == "error" else heard.outcome,
        minutes=heard.minutes or 0,
        values=heard.values,
        finding=heard.finding,
        cost=heard.cost or 0,
        announced=announced_by(move.action, heard.announcement, understood.activities),
    )
