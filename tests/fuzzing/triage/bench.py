"""A workbench in this process, over planted functions that share one state."""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from misstep.core.agent import Tool
from misstep.core.results.fuzzing import CodeReach
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Probe, Reaction
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.judging.exceptions import describe_exception

# Gets the state and its arguments.
Planted: TypeAlias = Callable[..., Any]


class Bench:
    """Calls functions `f(state, **arguments)`; counts calls and fresh starts."""

    starts_quickly = True
    files: Sequence[str] = ()

    def __init__(self, *functions: tuple[Planted, dict[str, Any]], state: Any = None) -> None:
        self._functions = {function.__name__: function for function, _ in functions}
        self._start = {} if state is None else state
        self._state = copy.deepcopy(self._start)
        self.calls = self.resets = 0
        self.tools = [
            Described(Tool(function.__name__, "", schema), "function") for function, schema in functions
        ]
        self.judge = judge_sequences_of(self.tools)

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        for probe in probes:
            yield self._call(probe.invocation)

    def reset(self) -> None:
        self.resets += 1
        self._state = copy.deepcopy(self._start)

    def reach(self, tool: str) -> CodeReach | None:
        return None

    def _call(self, invocation: Invocation) -> Reaction:
        self.calls += 1
        function = self._functions[invocation.tool]
        try:
            result = function(self._state, **json.loads(invocation.arguments))
        except Exception as error:
            own = function.__code__.co_filename
            return Reaction("raised", raised=describe_exception(error, lambda file: file == own))
        return Reaction("returned", text=str(result), size=len(str(result)))

    def last_of(self, calls: Sequence[Invocation]) -> Judged:
        """What the last call comes to from a fresh start, without anything that is under test."""
        self.reset()
        reactions = list(self.run([Probe(call) for call in calls]))
        return self.judge(calls, reactions)


def invoke(tool: str, **arguments: Any) -> Invocation:
    return Invocation(tool, json.dumps(arguments))


def schema(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}
