"""Formats a conversation, including tools, as the prompt that the model was trained on.

The published model knows nothing of tools: the prompt explains them and gives an example. The adapter was
trained to use them, with the tools after the request, so that each is read with the request in mind.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from misstep.core.agent import Tool
from misstep.core.model import Assistant, Chat, System, ToolCall, ToolResult, User
from misstep.core.outcome import storable
from misstep.models.local.grammar import ANSWER_HEAD, call_head

DOCUMENT, BEGIN, END = 0, 1, 2  # control tokens: <|endoftext|>, <|im_start|>, <|im_end|>
_INSIDE_A_CONTROL = re.compile(r"(?<=<)(?=[a-z|])")  # all of them begin like this

Pieces = tuple[int | str, ...]
UNTOLD = ("type", "title", "description", "$schema", "$id")  # keywords that say nothing about arguments

HOW = """\
Use the tools to do what you are asked, one after the other. Reply with nothing but JSON.
To use a tool: {"tool": "NAME", "arguments": {}}
Never repeat a call. When all is done: {"answer": "TEXT"}"""
HOW_WITH_ARGUMENTS = """\
Use the tools to do what you are asked, one after the other. Reply with nothing but JSON.
To use a tool: {"tool": "NAME", "arguments": {"NAME": VALUE}}
Never repeat a call unless you are asked to. When all is done: {"answer": "TEXT"}"""

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def _example(request: str, table: str, eggs: str, *tools: Tool) -> Chat:
    """A conversation to imitate. Without one the model never answers: it repeats one call over and over."""
    messages = (
        User(request),
        Assistant("", (ToolCall("1", "set_table", table),)),
        ToolResult("1", "The table is set."),
        Assistant("", (ToolCall("2", "boil_eggs", eggs),)),
        ToolResult("2", "The eggs are boiled."),
        Assistant("All is done."),
    )
    return Chat(messages, tools)


EXAMPLE = _example(
    "Set the table before you boil the eggs.",
    "{}",
    "{}",
    Tool("boil_eggs", "Boil the eggs.", {}),
    Tool("set_table", "Set the table.", {}),
)
EXAMPLE_WITH_ARGUMENTS = _example(
    "Set the table in the kitchen before you boil 4 eggs.",
    '{"room": "kitchen"}',
    '{"number": 4}',
    Tool("boil_eggs", "Boil eggs.", {"properties": {"number": INTEGER}, "required": ["number"]}),
    Tool("set_table", "Set a table.", {"properties": {"room": STRING}, "required": ["room"]}),
)


def plain(text: str) -> list[str]:
    """A text in pieces that contain no control token.

    The runtime reads the name of a control token in any text as the token itself; but it reads one piece at a
    time, so a name that is split in two is plain text.
    """
    return _INSIDE_A_CONTROL.split(storable(text))


def chat_prompt(chat: Chat, taught: bool) -> Pieces:
    """The conversation up to the model's next turn; `taught` is whether the model has our adapter."""
    turns = _turns(chat, taught) if taught else [*_how_to(chat), *_turns(chat, taught)]
    pieces = list[int | str]()
    for role, text in turns:
        pieces += [BEGIN, *plain(f"{role}\n{text}"), END, "\n"]
    return (*pieces, BEGIN, "assistant\n")


def text_prompt(text: str) -> Pieces:
    return (DOCUMENT, *plain(text))


def _how_to(chat: Chat) -> list[tuple[str, str]]:
    """Instructions for tools. They come first, because a prefix shared by all conversations is cached."""
    if any(_takes_arguments(tool) for tool in chat.tools):
        return [("system", HOW_WITH_ARGUMENTS), *_turns(EXAMPLE_WITH_ARGUMENTS, False)]
    return [("system", HOW), *_turns(EXAMPLE, False)] if chat.tools else []


def _turns(chat: Chat, taught: bool) -> list[tuple[str, str]]:
    """Roles and texts. All system messages come first, joined, with the tools at the end.

    With our adapter the tools have a turn of their own, before the assistant's first message.
    """
    system = [message.text for message in chat.messages if isinstance(message, System)]
    spoken = [message for message in chat.messages if not isinstance(message, System)]
    turns = [_spoken(message, bool(chat.tools)) for message in spoken]
    if chat.tools and taught:
        said = [place for place, (role, _) in enumerate(turns) if role == "assistant"]
        turns.insert(min(said, default=len(turns)), ("system", _describe(chat.tools)))
    elif chat.tools:
        system.append(_describe(chat.tools))
    return [("system", "\n\n".join(system)), *turns] if system else turns


def _describe(tools: Sequence[Tool]) -> str:
    return "\n".join(["Tools:", *(f"- {tool.name}: {_one_line(tool)}" for tool in tools)])


def _one_line(tool: Tool) -> str:
    told = " ".join(tool.description.split())
    if not _takes_arguments(tool):
        return told
    return f"{told} Arguments: {json.dumps(_essence(tool.parameters), ensure_ascii=False)}"


def _takes_arguments(tool: Tool) -> bool:
    return any(part not in ({}, [], False) for name, part in tool.parameters.items() if name not in UNTOLD)


def _essence(schema: dict[str, Any]) -> dict[str, Any]:
    """What a small model needs of a schema: just its properties, if all of them are required."""
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    says_more = schema.keys() - {"properties", "required", "additionalProperties", *UNTOLD}
    if says_more or schema.get("additionalProperties") or not isinstance(required, list):
        return schema
    return properties if all(name in required for name in properties) else schema


def _spoken(message: User | Assistant | ToolResult, has_tools: bool) -> tuple[str, str]:
    match message:
        case User(text):
            return "user", text
        case Assistant(text, calls):
            return "assistant", "\n".join(_said(text, calls, has_tools))
        case ToolResult(_, text):
            return "user", f"Result: {text}"
        case _:
            assert_never(message)


def _said(text: str, calls: Sequence[ToolCall], has_tools: bool) -> Iterator[str]:
    """What the model said, in the format in which it generates it."""
    if text or not calls:
        yield f"{ANSWER_HEAD}{json.dumps(text, ensure_ascii=False)}}}" if has_tools else text
    for call in calls:
        yield f"{call_head(call.name)}{call.arguments}}}"
