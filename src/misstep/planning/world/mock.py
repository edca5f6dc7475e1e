"""The mock world of one case: a tool for every action, which does nothing but say that it did."""

from collections.abc import Sequence
from typing import Any

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.planning.language.requests import describe, report_success


class MockWorld:
    def __init__(self, case: Case) -> None:
        self._actions = {action.tool: action for action in case.actions}

    @property
    def tools(self) -> Sequence[Tool]:
        return [
            Tool(action.tool, action.description or describe(action.name), no_arguments())
            for action in self._actions.values()
        ]

    def answer(self, name: str, arguments: Any) -> str:
        """The result of a call, or a text that says what was wrong with it."""
        action = self._actions.get(name)
        if action is None:
            return f"Error: there is no tool named '{name}'."
        if not isinstance(arguments, dict):
            return f"Error: the arguments of '{name}' have to be a JSON object, which is empty: {{}}."
        if arguments:
            return f"Error: the tool '{name}' takes no arguments."
        return report_success(action.name)


def no_arguments() -> dict[str, Any]:
    """The JSON schema of a tool that takes nothing; a new one each time, since agents may write into it."""
    return {"type": "object", "properties": {}, "additionalProperties": False}
