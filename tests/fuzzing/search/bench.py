"""Planted functions called in this process, with what the fuzzer wants to know about each call."""

import inspect
import json
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Frame, Invocation, Path, Raised, Reaction, Source
from misstep.fuzzing.coverage import Coverage, Ownership
from misstep.fuzzing.inputs.slots import Drawn, PoolEntry
from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.taint import observe
from misstep.schemas.examples import make_up

WORDS = ("a", "report.txt", "42", "x y", "", "2024-02-30", "https://example.org/a?b=c", "é")
KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def described(function: Callable[..., Any], examples: Sequence[str] = (), **schemas: Any) -> Described:
    """A function as a tool; `schemas` are those of parameters whose hints don't say enough."""
    hints = inspect.signature(function).parameters.values()
    properties = {each.name: schemas.get(each.name, {"type": KINDS[each.annotation]}) for each in hints}
    required = [each.name for each in hints if each.default is inspect.Parameter.empty]
    schema = {"type": "object", "properties": properties, "required": required}
    tool = Tool(name=function.__name__, description="", parameters=schema)
    text, line = inspect.getsource(function), inspect.getsourcelines(function)[1]
    source = Source(inspect.getsourcefile(function) or "", line, text)
    return Described(tool=tool, kind="function", source=source, examples=tuple(examples))


class Simple:
    """A supply of simple values by type, with a wrong type now and then."""

    def __init__(self, tool: Described) -> None:
        self._schema = tool.tool.parameters
        dice = Dice(7)
        self._made = [self._make(dice) for _ in range(60)]
        self.learnt = list[tuple[Any, Any]]()

    def draw(self, dice: Dice) -> Drawn:
        return dice.pick(self._made)

    def value(self, path: Path, dice: Dice) -> PoolEntry | None:
        value = dice.pick(self._made).arguments.get(str(path[0]))
        return PoolEntry(value) if len(path) == 1 else None

    def _make(self, dice: Dice) -> Drawn:
        arguments = make_up(self._schema, dice)
        for name, schema in self._schema["properties"].items():
            if schema.get("type") == "string" and "enum" not in schema and dice.chance(0.5):
                arguments[name] = dice.pick(WORDS)
            elif schema.get("type") == "integer" and dice.chance(0.5):
                arguments[name] = dice.below(40) - 20
        if arguments and dice.chance(0.2):
            return Drawn(
                {**arguments, dice.pick(list(arguments)): {"wrong": []}}, "invalid", "schema", "type"
            )
        return Drawn(arguments, "valid", "schema")

    def learn(self, path: Any, value: Any) -> None:
        self.learnt.append((path, value))


class Bench:
    """Calls functions; `opaque` ones hide their code as a server does."""

    def __init__(self, *functions: Callable[..., Any], opaque: bool = False) -> None:
        self._functions = {function.__name__: function for function in functions}
        self._coverage = Coverage(Ownership([__file__]).owns)
        self._opaque = opaque
        self.calls = list[Invocation]()
        self.found = dict[str, int]()  # signatures, with the number of the call that showed each first

    def fuzz(self, fuzzer: Fuzzer, calls: int, batch: int = 64, until: str | None = None) -> None:
        """Make so many calls, or as many as it takes to find what is looked for."""
        while len(self.calls) < calls and (until is None or not self.has_found(until)):
            attempts = fuzzer.ask(min(batch, calls - len(self.calls)))
            if not attempts:
                break
            for attempt in attempts:
                self.carry_out(fuzzer, attempt)

    def has_found(self, text: str) -> bool:
        return any(text in signature for signature in self.found)

    def carry_out(self, fuzzer: Fuzzer, attempt: CallSequence) -> None:
        reactions = [self.call(call, attempt.mark) for call in attempt.calls]
        judged = [self._judge(reaction) for reaction in reactions]
        fuzzer.tell(attempt, reactions, judged)

    def call(self, call: Invocation, mark: bool) -> Reaction:
        self.calls.append(call)
        arguments = json.loads(call.arguments)
        if self._opaque:
            return self._seen_from_outside(call.tool, arguments)
        if not mark:
            return self._watched(call.tool, arguments, False)
        with observe() as marks:
            marked = {name: marks.mark(value, (name,)) for name, value in arguments.items()}
            reaction = self._watched(call.tool, marked, True)
        return msgspec.structs.replace(reaction, observations=marks.observations)

    def _seen_from_outside(self, tool: str, arguments: dict[str, Any]) -> Reaction:
        try:
            text = str(self._functions[tool](**arguments))
            return Reaction("returned", text[:4000], len(text))
        except Exception as error:
            text = f"Error: {error}"
            return Reaction("returned", text[:4000], len(text), flagged=True)

    def _watched(self, tool: str, arguments: dict[str, Any], mark: bool) -> Reaction:
        self._coverage.begin()
        try:
            text = str(self._functions[tool](**arguments))
        except Exception as error:
            return Reaction("raised", raised=_told(error), edges=self._coverage.end(everything=mark))
        return Reaction("returned", text[:4000], len(text), edges=self._coverage.end(everything=mark))

    def _judge(self, reaction: Reaction) -> Judged:
        """Planted bugs say BUG; whatever else is raised is a refusal."""
        message = reaction.raised.message if reaction.raised else reaction.text if reaction.flagged else ""
        if "BUG" not in message:
            return Judged("refused" if reaction.raised or reaction.flagged else "fine")
        signature = message[message.index("BUG") :][:20]
        self.found.setdefault(signature, len(self.calls))
        return Judged("crash", signature=signature)


def _told(error: Exception) -> Raised:
    frames = [
        Frame(each.filename, each.lineno or 0, each.name, True)
        for each in traceback.extract_tb(error.__traceback__)
    ]
    return Raised(type(error).__name__, str(error), frames=tuple(frames))
