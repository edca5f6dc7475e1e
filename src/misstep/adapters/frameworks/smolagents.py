"""Runs agents of smolagents in threads, with their models wrapped to be recorded, and calls its tools."""

import asyncio
import copy
import inspect
import json
import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from misstep.adapters.arguments import read_arguments, takes_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.threads import in_thread
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError


def library() -> Any:
    return natives.imported("smolagents", "smolagents", "smolagents")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    names = identifiers(tool.name for tool in toolbox.tools)
    make = mock_tool()

    def mock(described: Tool, toolbox: Toolbox) -> Any:
        return make(names[described.name], described, toolbox)

    native = build(natives.tools_for_framework(assignment, toolbox, "smolagents", mock, rerouted))
    _check_place(native)
    _watch(native, toolbox, {own: name for name, own in names.items()})
    try:
        return Answer(await in_thread(lambda: _finished(native, assignment.request, toolbox)))
    except asyncio.CancelledError:
        native.interrupt()
        raise


ANYTHING = {"type": "any", "description": ""}  # the framework requires this for every input
SIMPLE = ("string", "boolean", "integer", "number")
TYPES = (*SIMPLE, "array", "object", "null")


def inputs_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """The framework's description of a JSON schema, such that nothing valid is refused."""
    closed = parameters.get("additionalProperties") is False
    required = parameters.get("required", ())
    inputs = dict[str, Any]() if closed else _Open()
    for name, schema in parameters.get("properties", {}).items():
        told = schema if isinstance(schema, dict) else {}
        known = {key: told[key] for key in ANYTHING if isinstance(told.get(key), str)}
        if known.get("type") not in TYPES:  # several types become `any`: the framework would reject integers
            known["type"] = "any"
        optional = {} if name in required else {"nullable": True}
        inputs[name] = {**ANYTHING, **known, **optional}
    return inputs


class _Open(dict[str, Any]):
    """The inputs of a tool that takes arguments of any name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> dict[str, Any]:
        return dict(ANYTHING)


def is_told_by_types(parameters: dict[str, Any]) -> bool:
    """Whether the types and descriptions of its parameters describe a tool completely."""
    told = parameters.get("properties") or {}
    parts = [each for each in told.values() if isinstance(each, dict) and each.get("type") in SIMPLE]
    simple = len(parts) == len(told) and all(part.keys() <= ANYTHING.keys() for part in parts)
    rest = {name: part for name, part in parameters.items() if name not in ("properties", "required")}
    return simple and set(told) <= set(parameters.get("required", ())) and not takes_arguments(rest)


ANSWERING = "final_answer"  # the tool with which an agent of the framework answers
QUOTES = '"""'


@cache
def mock_tool() -> Any:
    class SmolagentsTool(library().Tool):  # type: ignore[misc]
        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, name: str, described: Tool, toolbox: Toolbox) -> None:
            super().__init__()
            self.name = name
            self.description = described.description
            self.inputs = inputs_of(described.parameters)
            self.forward = _forward(described, toolbox)  # a closure, which an agent's code cannot inspect
            self._parameters = described.parameters

        @property
        def schema(self) -> dict[str, Any]:
            parameters = copy.deepcopy(self._parameters)
            function = {"name": self.name, "description": self.description, "parameters": parameters}
            return {"type": "function", "function": function}

        def to_tool_calling_prompt(self) -> str:
            takes = f"Takes inputs: {json.dumps(self._parameters, ensure_ascii=False)}"
            return f"{self.name}: {self.description}\n    {takes}\n    Returns an output of type: string"

        def to_code_prompt(self) -> str:
            prompt: str = super().to_code_prompt()
            if is_told_by_types(self._parameters):
                return prompt
            schema = f"JSON schema of the arguments: {json.dumps(self._parameters, ensure_ascii=False)}"
            return f"{prompt.removesuffix(QUOTES).rstrip()}\n\n    {schema}\n    {QUOTES}"

    return SmolagentsTool


def _forward(described: Tool, toolbox: Toolbox) -> Callable[..., str]:
    order = list(described.parameters.get("properties", ()))

    def forward(*values: Any, **arguments: Any) -> str:
        """Code may pass values by position; those beyond the parameters get their number as name."""
        free = [name if name not in arguments else "" for name in order] + [""] * len(values)
        named = {free[at] or str(at + 1): value for at, value in enumerate(values)}
        return toolbox.call(described.name, {**named, **arguments})

    return forward


def rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool without setup, because it does nothing."""
    natives.check_unchanged(native, "smolagents", "__call__")
    if native.output_type in ("image", "audio"):
        raise natives.Unroutable(f"it returns {native.output_type} instead of text")
    if [native.name] != [*identifiers([native.name]).values()]:
        raise natives.Unroutable("no agent accepts a tool with this name")
    routed = copy.copy(native)
    routed.forward = _forward(described, toolbox)
    routed.is_initialized = True
    return routed


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Map each name to a unique valid Python identifier."""
    given = dict[str, str]()
    for name in names:
        own = re.sub(r"\A(?=\d|\Z)|\W", "_", name, flags=re.ASCII)
        while keyword.iskeyword(own) or own == ANSWERING or own in given.values():
            own += "_"
        given[name] = own
    return given


class WatchedModel:
    """Tells the toolbox about every request and reply; `names` are the tools' names for the model."""

    def __init__(self, model: Any, toolbox: Toolbox, names: dict[str, str]) -> None:
        # An agent that was used before already has a watched model.
        self._model: Any = model._model if isinstance(model, WatchedModel) else model
        self._toolbox = toolbox
        self._names = names
        self._turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def generate(self, *args: Any, **options: Any) -> Any:
        self._turn = self._toolbox.begin_turn()
        message = self._model.generate(*args, **_with_schemas(options, self._model.generate))
        self._tell(message)
        return message

    def generate_stream(self, *args: Any, **options: Any) -> Iterator[Any]:
        self._turn = self._toolbox.begin_turn()
        pieces = list[Any]()
        stream = self._model.generate_stream
        for piece in stream(*args, **_with_schemas(options, stream)):
            pieces.append(piece)
            yield piece
        self._tell(library().agglomerate_stream_deltas(pieces))

    def parse_tool_calls(self, message: Any) -> Any:
        """Find calls in the text of a message that has no other calls."""
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


def _with_schemas(options: dict[str, Any], generate: Callable[..., Any]) -> dict[str, Any]:
    """The options of a request with the tools described by their schemas.

    The framework would describe them by `inputs`, which cannot express most of a schema. An explicit option
    takes precedence over that, but a custom model may not accept unknown options.
    """
    offered = options.get("tools_to_call_from")
    takes = {parameter.kind for parameter in inspect.signature(generate).parameters.values()}
    if not offered or inspect.Parameter.VAR_KEYWORD not in takes:
        return options
    describe = library().models.get_tool_json_schema
    own = mock_tool()
    return {**options, "tools": [t.schema if isinstance(t, own) else describe(t) for t in offered]}


def retool(value: Any) -> Build:
    """A function that copies the agent with other tools and a separate memory."""
    smol = library()
    if not isinstance(value, smol.MultiStepAgent) or value.managed_agents:
        manages = " that manages others" if getattr(value, "managed_agents", None) else ""
        factory = "def make_agent(tools): return ToolCallingAgent(tools, model)"
        raise natives.not_exchangeable(value, factory, f"a {type(value).__name__}{manages}")
    _check_place(value)

    def build(tools: list[Any]) -> Any:
        native: Any = copy.copy(value)
        native.tools = {**{tool.name: tool for tool in tools}, ANSWERING: value.tools[ANSWERING]}
        native.state = dict(value.state)
        native.memory = smol.AgentMemory(native.system_prompt)
        native.monitor = smol.Monitor(native.model, native.logger)
        native.step_callbacks = smol.CallbackRegistry()
        for kind, callbacks in value.step_callbacks._callbacks.items():
            for callback in callbacks:
                monitors = callback == value.monitor.update_metrics
                own = native.monitor.update_metrics if monitors else callback
                native.step_callbacks.register(kind, own)
        if isinstance(native, smol.CodeAgent):
            native.python_executor = native.create_python_executor()
        return native

    return build


def _check_place(native: Any) -> None:
    place = getattr(native, "executor_type", "local")
    if place != "local":
        message = f"the agent's code runs in {place}, where it can't reach the tools of a case"
        raise UsageError(message, "give it executor_type='local'")


def _finished(native: Any, request: str, toolbox: Toolbox) -> str:
    """The answer of a run; texts that were neither call nor answer are counted."""
    smol = library()
    output: Any = ""
    for step in native.run(request, stream=True, max_steps=toolbox.max_steps + 1):
        if isinstance(step, smol.ActionStep) and isinstance(step.error, smol.AgentParsingError):
            toolbox.misread()
        if isinstance(step, smol.FinalAnswerStep):
            output = step.output
    return str(output)


def _watch(native: Any, toolbox: Toolbox, names: dict[str, str]) -> None:
    """Watch the models of an agent and its managed agents, and keep them from printing."""
    from rich.console import Console

    smol = library()
    for member in native.managed_agents.values():
        _watch(member, toolbox, names)
    native.model = WatchedModel(native.model, toolbox, names)
    native.logger = smol.AgentLogger(smol.LogLevel.OFF, Console(quiet=True))
    native.monitor.logger = native.logger


def invoker(tool: Any, _is_async: bool, _loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool, after the checks its agents make, and returns its result."""
    from smolagents.tools import validate_tool_arguments

    def invoke(arguments: dict[str, Any]) -> Any:
        validate_tool_arguments(tool, arguments)
        return tool(**arguments, sanitize_inputs_outputs=True)

    return invoke
