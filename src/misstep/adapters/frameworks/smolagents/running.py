"""Runs agents of smolagents in threads, one for each case."""

import asyncio
import copy
from typing import Any

from misstep.adapters.frameworks.smolagents.model import WatchedModel
from misstep.adapters.frameworks.smolagents.package import load_smolagents
from misstep.adapters.frameworks.smolagents.tools import ANSWERING, identifiers, mock_tool, rerouted
from misstep.adapters.loading.registry import Build
from misstep.adapters.natives import furnish
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.errors import UsageError


class SmolAgent:
    """Builds an agent of the framework for every case and runs it in a thread."""

    def __init__(self, build: Build, name: str) -> None:
        self.name = name
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        names = identifiers(tool.name for tool in toolbox.tools)
        make = mock_tool()
        tools = furnish(
            assignment,
            toolbox,
            "smolagents",
            lambda described, toolbox: make(names[described.name], described, toolbox),
            rerouted,
        )
        native = self._build(tools)
        _check_place(native)
        _watch(native, toolbox, {own: name for name, own in names.items()})
        try:
            return Answer(await in_thread(lambda: _finished(native, assignment.request, toolbox)))
        except asyncio.CancelledError:
            native.interrupt()
            raise


def agent(build: Build, name: str) -> SmolAgent:
    """An agent that calls `build` with the tools of each case, as `Tool`s, and runs what it gets."""
    load_smolagents()
    return SmolAgent(build, name)


def retool(value: Any) -> Build:
    """A function that makes copies of the agent with other tools, each with a memory of its own."""
    smol = load_smolagents()
    if not isinstance(value, smol.MultiStepAgent) or value.managed_agents:
        manages = " that manages others" if getattr(value, "managed_agents", None) else ""
        raise UsageError(
            f"the tools of a {type(value).__name__}{manages} can't be exchanged",
            "write a function that makes it: def make_agent(tools): return ToolCallingAgent(tools, model)",
        )
    _check_place(value)

    def build(tools: list[Any]) -> Any:
        native: Any = copy.copy(value)
        native.tools = {**{tool.name: tool for tool in tools}, ANSWERING: value.tools[ANSWERING]}
        native.state = dict(value.state)
        native.memory = smol.AgentMemory(native.system_prompt)
        native.monitor = smol.Monitor(native.model, native.logger)
        native.step_callbacks = _callbacks(value, native.monitor)
        if isinstance(native, smol.CodeAgent):
            native.python_executor = native.create_python_executor()
        return native

    return build


def _callbacks(value: Any, monitor: Any) -> Any:
    """The callbacks of an agent, with another monitor in the place of its own."""
    registry = load_smolagents().CallbackRegistry()
    for kind, callbacks in value.step_callbacks._callbacks.items():
        for callback in callbacks:
            monitors = callback == value.monitor.update_metrics
            registry.register(kind, monitor.update_metrics if monitors else callback)
    return registry


def _check_place(native: Any) -> None:
    place = getattr(native, "executor_type", "local")
    if place != "local":
        raise UsageError(
            f"the agent's code runs in {place}, where it can't reach the tools of a case",
            "give it executor_type='local'",
        )


def _finished(native: Any, request: str, toolbox: Toolbox) -> str:
    """The answer of a run, during which words that were neither call nor answer are counted."""
    smol = load_smolagents()
    output: Any = ""
    for step in native.run(request, stream=True, max_steps=toolbox.max_steps + 1):
        if isinstance(step, smol.ActionStep) and isinstance(step.error, smol.AgentParsingError):
            toolbox.misread()
        if isinstance(step, smol.FinalAnswerStep):
            output = step.output
    return str(output)


def _watch(native: Any, toolbox: Toolbox, names: dict[str, str]) -> None:
    """Watch the models of an agent and of those it manages, and keep all of them off the terminal."""
    from rich.console import Console

    smol = load_smolagents()
    for member in native.managed_agents.values():
        _watch(member, toolbox, names)
    native.model = WatchedModel(native.model, toolbox, names)
    native.logger = smol.AgentLogger(smol.LogLevel.OFF, Console(quiet=True))
    native.monitor.logger = native.logger
