"""The `react` agent: steps in plain text, read leniently since models write them in many ways."""

import ast
import json
import re
from typing import Any

import msgspec

from misstep.adapters.builtin.prompts import list_tools
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.model import Assistant, Chat, LanguageModel, Message, Prompt, Template, User


class Act(msgspec.Struct, frozen=True):
    """A call; arguments that cannot be parsed stay a text."""

    tool: str
    arguments: Any


class Finish(msgspec.Struct, frozen=True):
    text: str


class Unreadable(msgspec.Struct, frozen=True):
    """Neither a call nor an answer."""


_LABEL = r"(?im)^[ \t>*_#`-]*{}[ \t*_`]*\d*[ \t]*[:：][ \t*_]*"
_OBSERVATION = re.compile(_LABEL.format("observation"))
_ACTION = re.compile(_LABEL.format("action"))
_INPUT = re.compile(r"(?i)[ \t>*_#`-]*action[ _]?input[ \t*_`]*\d*[ \t]*[:：][ \t*_]*")
_ANSWER = re.compile(_LABEL.format(r"final[ _]?answer"))
_THOUGHT = re.compile(_LABEL.format("thought"))
_FENCE = re.compile(r"\A```[\w-]*\s*|\s*```\s*\Z")
_CALL = re.compile(r"\A([^\s(\[{:]+)\s*(?:\((.*)\)|\[(.*)\]|:?\s*(\{.*))\s*\Z", re.DOTALL)
_NOTHING = ("", "none", "null", "n/a", "na", "-", "empty", "no input", "not applicable", '""', "''", "()")


def read_step(text: str) -> Act | Finish | Unreadable:
    """The first call or answer in a text; results that the model made up are ignored."""
    text = _OBSERVATION.split(text, maxsplit=1)[0]
    action, answer = _ACTION.search(text), _ANSWER.search(text)
    if answer and (not action or answer.start() < action.start()):
        return Finish(text[answer.end() :].strip())
    if not action:
        return Unreadable()
    rest = _THOUGHT.split(_ANSWER.split(text[action.end() :], maxsplit=1)[0], maxsplit=1)[0]
    if match := _INPUT.search(rest):
        name, arguments = rest[: match.start()], rest[match.end() :]
    else:
        name, arguments = _called(rest.strip())
    name = name.strip().strip("`\"'*_[]<> ").removesuffix("()")
    return Act(name, read_input(arguments)) if name else Unreadable()


def _called(text: str) -> tuple[str, str]:
    """A call without `Action Input:`, such as `tool(…)`, `tool[…]`, `tool {…}`, or only a name."""
    first, _, after = text.partition("\n")
    name = text if after.strip() and _CALL.match(text) else first
    match = _CALL.match(name.strip().strip("`"))
    return (match[1], match[2] or match[3] or match[4] or "") if match else (name, "")


def read_input(text: str) -> Any:
    """Parse arguments from JSON or Python literals; otherwise the text itself."""
    text = _FENCE.sub("", text.strip()).strip()
    if text.lower() in _NOTHING:
        return {}
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return _literal(text)
    if not isinstance(value, dict) and text[end:].strip():
        return text  # it only starts like JSON
    return {} if value in (None, "") else value


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


STOP = ("\nObservation:", "\nQuestion:")
THOUGHT = "Thought:"  # starts the next step for a completion model
REMINDER = (
    "That was neither an action nor a final answer. Write an Action with its Action Input, or a Final Answer."
)


class ReactAgent:
    """Works with any completion or chat model, without function calling."""

    def __init__(self, model: LanguageModel, prompt: Template, completion: bool = False) -> None:
        self.name = "react"
        self._model = model
        self._prompt = prompt
        self._completion = completion

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        opening = self._prompt.fill(tools=list_tools(toolbox.tools), request=assignment.request)
        toolbox.note({"role": "user", "text": opening})
        said = list[tuple[str, str]]()
        while True:
            turn = toolbox.begin_turn()
            text = await self._say(opening, said, toolbox)
            toolbox.note({"role": "assistant", "text": text})
            match read_step(text):
                case Finish(answer):
                    return Answer(answer)
                case Act(tool, arguments):
                    observation = toolbox.call(tool, arguments, turn)
                case _:
                    toolbox.misread()
                    observation = REMINDER
            toolbox.note({"role": "user", "text": observation})
            said.append((text, observation))

    async def _say(self, opening: str, said: list[tuple[str, str]], toolbox: Toolbox) -> str:
        """The model's next text, without results that it made up."""
        if self._completion:
            steps = "".join(f"{text.strip()}\nObservation: {observed}\n" for text, observed in said)
            prompt = Prompt(f"{opening.rstrip()}\n{steps}{THOUGHT}", STOP)
            reply = await self._model.complete(prompt, toolbox)
            return _before_stop(f"{THOUGHT}{reply.text}")
        messages: list[Message] = [User(opening)]
        for text, observed in said:
            messages += [Assistant(text.strip()), User(f"Observation: {observed}")]
        reply = await self._model.chat(Chat(tuple(messages), stop=STOP), toolbox)
        return _before_stop(reply.text)

    async def close(self) -> None:
        await self._model.close()


def _before_stop(text: str) -> str:
    """The text up to the first stop sequence, for servers that don't support them."""
    for stop in STOP:
        text = text.partition(stop)[0]
    return text
