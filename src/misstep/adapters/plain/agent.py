"""Runs plain functions as agents: `def agent(request: str, tools: list[Tool]) -> str`, sync or async."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.agent import Tool as Described
from misstep.core.text import in_words


class PlainTool:
    """A tool to call: `tool()` or `tool(key=value)` returns the result as text."""

    def __init__(self, described: Described, toolbox: Toolbox) -> None:
        self.name = described.name
        self.description = described.description
        self.parameters = copy.deepcopy(described.parameters)
        self.__name__ = described.name
        self.__doc__ = described.description
        self._toolbox = toolbox

    def __call__(self, /, **arguments: Any) -> str:
        return self._toolbox.call(self.name, arguments)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


class PlainAgent:
    """Calls a function with the request and the tools for every case, in a thread if it is not async."""

    def __init__(self, function: Callable[[str, list[PlainTool]], Any], name: str) -> None:
        self.name = name
        self._function = function

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        tools = [PlainTool(described, toolbox) for described in toolbox.tools]

        def call() -> Any:
            result = self._function(assignment.request, tools)
            return result if inspect.isawaitable(result) else _said(result)

        result = (
            call() if inspect.iscoroutinefunction(self._function) else await in_thread(call, breakable=True)
        )
        return Answer(_said(await result) if inspect.isawaitable(result) else result)


def _said(result: object) -> str:
    return "" if result is None else in_words(result)


def agent_from_function(function: Callable[[str, list[PlainTool]], Any], name: str) -> PlainAgent:
    return PlainAgent(function, name)


def agent_from_maker(make: Callable[[list[PlainTool]], Callable[[str], Any]], name: str) -> PlainAgent:
    """An agent from a function that takes the tools and returns a function of the request."""
    return PlainAgent(lambda request, tools: make(tools)(request), name)
