"""Turns a solved problem into the tokens that the embedded model reads and writes."""

import json
from typing import NamedTuple

from tokenizers import Tokenizer

from misstep.adapters.builtin.prompts import list_tools, load_template
from misstep.core.case import Case
from misstep.core.model import Assistant, Chat, Message, System, ToolCall, ToolResult, User
from misstep.core.outcome import Call
from misstep.models.local.template import BEGIN, END, chat_prompt
from misstep.planning.training import CLOSING
from misstep.planning.world.mock import MockWorld

INSTRUCTIONS = load_template("tools", "", ()).fill()
REACT = load_template("react", "", ("tools", "request"), ("tools", "request"))


class Conversation(NamedTuple):
    """The tokens of a text, and which of them count in the loss."""

    tokens: list[int]
    learnt: list[bool]


def by_tools(case: Case, calls: tuple[Call, ...]) -> Chat:
    """The conversation of the agent `tools`."""
    messages: list[Message] = [System(INSTRUCTIONS), User(case.query)]
    for number, call in enumerate(calls, 1):
        messages += said(number, call.tool, json.dumps(call.arguments), call.result)
    messages.append(Assistant(CLOSING))
    return Chat(tuple(messages), tuple(MockWorld(case).tools))


def said(number: int, tool: str, arguments: str, result: str) -> tuple[Message, Message]:
    name = f"call_{number}"
    return Assistant("", (ToolCall(name, tool, arguments),)), ToolResult(name, result)


def by_react(case: Case, calls: tuple[Call, ...]) -> Chat:
    """The conversation of the agent `react`, with short thoughts."""
    tools = MockWorld(case).tools
    messages: list[Message] = [User(REACT.fill(tools=list_tools(tools), request=case.query))]
    for call in calls:
        step = (
            f"Thought: Next is {call.tool}.\nAction: {call.tool}\nAction Input: {json.dumps(call.arguments)}"
        )
        messages += [Assistant(step), User(f"Observation: {call.result}")]
    messages.append(Assistant(f"Thought: Nothing is left to do.\nFinal Answer: {CLOSING}"))
    return Chat(tuple(messages))


def tokenise(chat: Chat, tokenizer: Tokenizer) -> Conversation:
    """Tokenise a whole conversation; the loss covers the turns of the model, including their ends."""
    tokens, learnt = list[int](), list[bool]()
    own = False
    for piece in chat_prompt(chat, taught=True)[:-2]:
        if isinstance(piece, int):
            tokens.append(piece)
            learnt.append(own and piece == END)
            own = own and piece != END
            continue
        heading = "assistant\n"
        if tokens and tokens[-1] == BEGIN and piece.startswith(heading):
            own = True
            tokens += (ids := tokenizer.encode(heading).ids)
            learnt += [False] * len(ids)
            piece = piece.removeprefix(heading)
        tokens += (ids := tokenizer.encode(piece).ids)
        learnt += [own] * len(ids)
    return Conversation(tokens, learnt)
