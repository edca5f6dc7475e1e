"""The mock world of one case: a tool for every action, which records its calls and does nothing else."""

from collections.abc import Callable, Sequence
from typing import Any

from misstep.core.agent import StepsExhausted, Tool
from misstep.core.case import Case
from misstep.core.transcript import Call
from misstep.planning.language.requests import describe, report_success

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


class World:
    """The `Toolbox` of a planning case. `clock` gives seconds; `max_steps` bounds the agent's turns."""

    def __init__(self, case: Case, clock: Callable[[], float], max_steps: int) -> None:
        self._actions = {action.tool: action for action in case.actions}
        self._clock = clock
        self._began = clock()
        self._max_steps = max_steps
        self._turns = 0
        self._calls = list[Call]()

    @property
    def tools(self) -> Sequence[Tool]:
        return [
            Tool(action.tool, action.description or describe(action.name), NO_ARGUMENTS)
            for action in self._actions.values()
        ]

    @property
    def calls(self) -> tuple[Call, ...]:
        """What has been called so far, in the order in which the agent asked for it."""
        return tuple(self._calls)

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        self._turns = self._turns + 1 if turn is None else max(self._turns, turn)
        if self._turns > self._max_steps:
            raise StepsExhausted
        result = self._answer(name, arguments)
        at = round(self._clock() - self._began, 6)
        self._calls.append(Call(name, arguments, result, self._turns if turn is None else turn, at))
        return result

    def _answer(self, name: str, arguments: Any) -> str:
        action = self._actions.get(name)
        if action is None:
            return f"Error: there is no tool named '{name}'."
        if arguments != {}:
            return f"Error: the tool '{name}' takes no arguments."
        return report_success(action.name)
