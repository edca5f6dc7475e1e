"""Agents of smolagents, which call tools or write code that does, as agents under test."""

import asyncio
import copy
import json
import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.loading.registry import Build
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.transcript import Usage
from misstep.errors import MissingExtra, UsageError

ANSWERING = "final_answer"  # the tool by which an agent of the framework answers


class SmolAgent:
    """Builds an agent of the framework for every case and runs it in a thread."""

    def __init__(self, build: Build, name: str) -> None:
        self.name = name
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        names = _identifiers(tool.name for tool in toolbox.tools)
        native = self._build([_mock_tool()(names[tool.name], tool, toolbox) for tool in toolbox.tools])
        _check_place(native)
        _watch(native, toolbox, {own: name for name, own in names.items()})
        try:
            return Answer(await in_thread(lambda: _finished(native, assignment.request, toolbox)))
        except asyncio.CancelledError:
            native.interrupt()
            raise


def agent(build: Build, name: str) -> SmolAgent:
    """An agent that calls `build` with the tools of each case, as `Tool`s, and runs what it gets."""
    _smolagents()
    return SmolAgent(build, name)


def retool(value: Any) -> Build:
    """A function that makes copies of the agent with other tools, each with a memory of its own."""
    smol = _smolagents()
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
    registry = _smolagents().CallbackRegistry()
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


def _identifiers(names: Iterable[str]) -> dict[str, str]:
    """For each name one that can be the name of a function in Python and is no other's."""
    given = dict[str, str]()
    for name in names:
        own = re.sub(r"\A(?=\d|\Z)|\W", "_", name, flags=re.ASCII)
        while keyword.iskeyword(own) or own == ANSWERING or own in given.values():
            own += "_"
        given[name] = own
    return given


def _finished(native: Any, request: str, toolbox: Toolbox) -> str:
    """The answer of a run, during which words that were neither call nor answer are counted."""
    smol = _smolagents()
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

    smol = _smolagents()
    for member in native.managed_agents.values():
        _watch(member, toolbox, names)
    native.model = _Watched(native.model, toolbox, names)
    native.logger = smol.AgentLogger(smol.LogLevel.OFF, Console(quiet=True))
    native.monitor.logger = native.logger


class _Watched:
    """A model that tells the toolbox about every request and reply; `names` are what it knows tools by."""

    def __init__(self, model: Any, toolbox: Toolbox, names: dict[str, str]) -> None:
        # An agent that has been used before has a watched model already.
        self._model: Any = model._model if isinstance(model, _Watched) else model
        self._toolbox = toolbox
        self._names = names
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, *args: Any, **options: Any) -> Any:
        self._turn = self._toolbox.begin_turn()
        message = self._model.generate(*args, **options)
        self._tell(message)
        return message

    def generate_stream(self, *args: Any, **options: Any) -> Iterator[Any]:
        self._turn = self._toolbox.begin_turn()
        pieces = list[Any]()
        for piece in self._model.generate_stream(*args, **options):
            pieces.append(piece)
            yield piece
        self._tell(_smolagents().agglomerate_stream_deltas(pieces))

    def parse_tool_calls(self, message: Any) -> Any:
        """Find calls in the text of a message that has none beside it."""
        parsed = self._model.parse_tool_calls(message)
        self._ask(parsed)
        return parsed

    def _tell(self, message: Any) -> None:
        if spent := message.token_usage:
            self._toolbox.spend(Usage(spent.input_tokens, spent.output_tokens))
        self._toolbox.note(json.loads(message.model_dump_json()))
        self._ask(message)

    def _ask(self, message: Any) -> None:
        for call in message.tool_calls or ():
            name = call.function.name
            if name != ANSWERING:
                arguments = read_arguments(call.function.arguments)
                self._toolbox.ask(self._names.get(name, name), arguments, self._turn)


@cache
def _mock_tool() -> Any:
    class MockTool(_smolagents().Tool):  # type: ignore[misc]
        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, name: str, described: Tool, toolbox: Toolbox) -> None:
            super().__init__()
            self.name = name
            self.description = described.description
            self.inputs = _inputs(described.parameters)
            self.forward = _forward(described, toolbox)  # what an agent's code can't look into

    return MockTool


def _forward(described: Tool, toolbox: Toolbox) -> Callable[..., str]:
    order = list(described.parameters.get("properties", ()))

    def forward(*values: Any, **arguments: Any) -> str:
        return toolbox.call(described.name, {**dict(zip(order, values, strict=False)), **arguments})

    return forward


def _inputs(parameters: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema as the framework writes it, with a type and a description for everything."""
    required = parameters.get("required", ())
    inputs = dict[str, Any]()
    for name, schema in parameters.get("properties", {}).items():
        simple = {key: value for key, value in schema.items() if key != "anyOf"}
        optional = {} if name in required else {"nullable": True}
        inputs[name] = {"type": "any", "description": "", **simple, **optional}
    return inputs


def _smolagents() -> Any:
    try:
        import smolagents
    except ImportError as error:
        raise MissingExtra("smolagents", "smolagents") from error
    return smolagents
