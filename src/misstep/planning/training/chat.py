"""Conversations as OpenAI's chat format writes them, which is what training takes.

A call has its arguments as text, JSON or not, just as a model writes them: so a file with arguments of many
shapes can still be loaded as a table.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.agent import Tool
from misstep.core.transcript import Call

NEVER_CARRIED_OUT = "(never carried out)"


class Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class Requested(msgspec.Struct, frozen=True):
    """A call that the assistant asks for."""

    id: str
    function: Function
    type: Literal["function"] = "function"


class System(msgspec.Struct, frozen=True, tag="system", tag_field="role"):
    content: str


class User(msgspec.Struct, frozen=True, tag="user", tag_field="role"):
    content: str


class Assistant(msgspec.Struct, frozen=True, omit_defaults=True, tag="assistant", tag_field="role"):
    content: str
    tool_calls: tuple[Requested, ...] = ()


class Result(msgspec.Struct, frozen=True, tag="tool", tag_field="role"):
    tool_call_id: str
    content: str


Message: TypeAlias = System | User | Assistant | Result


class Offered(msgspec.Struct, frozen=True):
    """A tool that the assistant may ask for."""

    function: Tool
    type: Literal["function"] = "function"


def offer(tools: Iterable[Tool]) -> tuple[Offered, ...]:
    return tuple([Offered(tool) for tool in tools])


def converse(calls: Sequence[Call], answer: str | None) -> tuple[Message, ...]:
    """Calls and their results; those of one turn are asked for together. No answer where none was given."""
    messages = list[Message]()
    numbered = [(f"call_{number}", call) for number, call in enumerate(calls, 1)]
    for _, group in groupby(enumerate(numbered), lambda item: _turn(item[0], item[1][1])):
        turn = [named for _, named in group]
        messages.append(Assistant("", tuple([_requested(name, call) for name, call in turn])))
        messages += _results(turn)
    if answer is not None or not messages:
        messages.append(Assistant(answer or ""))
    return tuple(messages)


def at_once(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The same calls, all of them asked for in one turn."""
    return tuple([msgspec.structs.replace(call, turn=1) for call in calls])


def _turn(place: int, call: Call) -> tuple[str, int]:
    """What calls of one turn share; a call that nobody numbered has a turn of its own."""
    return ("place", place) if call.turn is None else ("turn", call.turn)


def _requested(name: str, call: Call) -> Requested:
    return Requested(name, Function(call.tool, _written(call.arguments)))


def _results(turn: Iterable[tuple[str, Call]]) -> Iterator[Result]:
    for name, call in turn:
        yield Result(name, call.result if call.ran >= 0 else NEVER_CARRIED_OUT)


def _written(arguments: Any) -> str:
    """Arguments as the model wrote them; those that were no JSON have been kept as text."""
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
