"""The mock world of one case: a tool for every action, which records its calls and does nothing else."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from misstep.core.agent import StepsExhausted, Tool
from misstep.core.case import Case
from misstep.core.transcript import Call, storable
from misstep.planning.language.requests import describe, report_success

CALLS_PER_STEP = 20  # bounds an agent that calls for ever within one turn


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
            Tool(action.tool, action.description or describe(action.name), no_arguments())
            for action in self._actions.values()
        ]

    @property
    def calls(self) -> tuple[Call, ...]:
        """What has been called so far, in the order in which the agent asked for it."""
        return tuple(self._calls)

    @property
    def exhausted(self) -> bool:
        """Whether the agent has tried to go on past its last turn, whatever it made of being told."""
        return self._turns > self._max_steps or len(self._calls) >= CALLS_PER_STEP * self._max_steps

    def call(self, name: str, arguments: Any, turn: int | None = None) -> str:
        self._turns = self._turns + 1 if turn is None else max(self._turns, int(turn))
        if self.exhausted:
            raise StepsExhausted
        name, arguments = storable(str(name)), _kept(arguments)
        result = self._answer(name, arguments)
        at = round(self._clock() - self._began, 6)
        self._calls.append(Call(name, arguments, result, self._turns if turn is None else int(turn), at))
        return result

    def _answer(self, name: str, arguments: Any) -> str:
        action = self._actions.get(name)
        if action is None:
            return f"Error: there is no tool named '{name}'."
        if arguments != {}:
            return f"Error: the tool '{name}' takes no arguments."
        return report_success(action.name)


def no_arguments() -> dict[str, Any]:
    """The JSON schema of a tool that takes nothing; a new one each time, since agents may write into it."""
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _kept(arguments: Any) -> Any:
    """The arguments as JSON keeps them, apart from whatever the agent does to them later."""
    if arguments == {}:
        return {}
    try:
        return msgspec.json.decode(msgspec.json.encode(arguments))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return storable(f"{type(arguments).__name__} that is not JSON")
