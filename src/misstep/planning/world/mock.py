"""The mock world of one case: tools that only answer what a call led to."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.constraint import Condition
from misstep.planning.language.requests import (
    clock,
    describe,
    describe_parameter,
    euros,
    in_hours,
    literal,
    load_requests,
    say,
)
from misstep.planning.world.simulator import ActSlip, Deed, ParameterSlip, Simulator, StepResult, reported
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER, START_TIME, TASK, ToolEntry, short


class MockWorld:
    """Tools and their answers, which depend on the calls before."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._stage = Simulator(case)

    def renewed(self) -> "MockWorld":
        """A new copy of the world in its initial state."""
        return type(self)(self._case)

    @property
    def tools(self) -> Sequence[Tool]:
        cast = self._stage.cast
        tools = [_tool(part) for part in cast.listed()]
        words = load_requests().tools
        if cast.starts_over:
            tools.append(Tool(START_OVER, words["start_over"], no_arguments()))
        if cast.prices:
            task = {"type": "string", "enum": list(cast.prices), "description": describe_parameter(TASK)}
            tools.append(Tool(ASK_PRICE, words["ask_price"], _arguments({TASK: task})))
        return tools

    def answer(self, name: str, arguments: Any) -> str:
        scene = self._stage.play(name, arguments)
        part = self._stage.cast.parts.get(name)
        match scene.kind:
            case "done" | "unavailable" | "broken":
                assert part is not None
                said = say(scene.kind, name=part.action.name)
                return " ".join([said, *self._facts(scene, scene.deed)]) if scene.deed else said
            case "over":
                return say("over", left=scene.left)
            case "price":
                task = self._stage.cast.parts[arguments[TASK]].action.name
                return say("price", name=task, amount=euros(scene.cost or 0))
            case "refused":
                if isinstance(scene.slip, ParameterSlip):
                    return self._refusal(scene.slip, arguments)
                return _no_call(name, arguments, scene, part)

    def _facts(self, scene: StepResult, deed: Deed) -> Iterator[str]:
        if self._case.world.day:
            yield say("duration", duration=in_hours(scene.minutes))
        for parameter, value in scene.values.items():
            yield say("value", value=parameter.replace("_", " "), literal=literal(value))
        if scene.finding is not None:
            for constraint in self._case.constraints:
                if isinstance(constraint, Condition) and constraint.asks == deed.action:
                    yield say("finding", finding=reported(constraint, scene.finding))
        if scene.cost is not None:
            yield say("cost", amount=euros(scene.cost))
        if scene.announcement:
            yield say("announcement", sentence=scene.announcement)

    def _refusal(self, slip: ParameterSlip, arguments: dict[str, Any]) -> str:
        match slip.fault:
            case "no time":
                return say("error_no_time", given=short(arguments.get(START_TIME)))
            case "outside":
                begin, end = self._case.world.day or (0, 0)
                return say("error_outside", begin=clock(begin), end=clock(end))
            case "early":
                return say("error_early")
            case "value" | "stale" | "swapped":
                return say("error_value", parameter=slip.parameter)


def _no_call(name: str, arguments: Any, scene: StepResult, part: ToolEntry | None) -> str:
    assert isinstance(scene.slip, ActSlip)
    if scene.slip.fault == "attempts":
        return say("error_attempts")
    if scene.slip.fault == "unknown":
        return say("error_unknown", tool=name)
    takes_nothing = name == START_OVER if part is None else part.takes_nothing
    if not takes_nothing:
        return say("error_arguments", tool=name, reason=scene.reason)
    return say("error_no_arguments" if isinstance(arguments, dict) else "error_not_empty", tool=name)


def _tool(part: ToolEntry) -> Tool:
    action = part.action
    description = action.description or describe(action.name, list(part.takes))
    if action.parameters is not None:
        return Tool(action.tool, description, deepcopy(action.parameters))
    if part.takes_nothing:
        return Tool(action.tool, description, no_arguments())
    types = {name: "integer" if kind is int else "string" for name, kind in part.takes.items()}
    described = {
        name: {"type": kind, "description": describe_parameter(name)} for name, kind in types.items()
    }
    return Tool(action.tool, description, _arguments(described))


def no_arguments() -> dict[str, Any]:
    """The JSON schema of a tool without parameters; a new one each time, since agents may modify it."""
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _arguments(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a tool that requires all of these."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
