"""A script says beforehand what the model does, so that a test can know every word of it."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Behaviour = Literal["steps", "parallel", "loop", "idle", "malformed", "unknown", "extra arguments"]
FaultKind = Literal[
    "400", "401", "404", "429", "500", "503", "drop", "drop half way", "hang", "slow", "not json"
]
UNKNOWN_TOOL = "no_such_tool"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    A number is answered with that status; `retry_after` then becomes the header of that name. "drop" closes the
    connection unanswered, "drop half way" within the answer, "hang" never answers, "slow" answers after `seconds`,
    "not json" answers 200 with rubbish.
    """

    kind: FaultKind
    retry_after: float | str | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(FaultKind):
            raise ValueError(f"unknown fault {self.kind!r}")


@dataclass(frozen=True)
class Call:
    """A call; `arguments` is the text that the model writes, JSON or not."""

    name: str
    arguments: str = "{}"


def calling(tool: str, /, **arguments: Any) -> Call:
    return Call(tool, json.dumps(arguments))


def in_given_order(request: str, tools: list[str]) -> Sequence[str | Call]:
    return tools


def thought_and_action(tool: str) -> str:
    return f"Thought: {tool} is next.\nAction: {tool}\nAction Input: {{}}"


def final_answer() -> str:
    return "Thought: Nothing is left to do.\nFinal Answer: All done."


def observations(prompt: str) -> int:
    """How many lines after the last question begin with an observation."""
    return len(re.findall(r"^\s*Observation:", last_question(prompt), re.MULTILINE))


def question(prompt: str) -> str:
    """The last question, up to the first line of the transcript that follows it."""
    transcript = re.compile(r"^\s*(?:Thought|Action|Observation):", re.MULTILINE)
    return transcript.split(last_question(prompt))[0].strip()


def listed_tools(prompt: str) -> list[str]:
    """The names in lines such as `- name: what it does` before the last question."""
    return re.findall(r"^\s*[-*]\s+([\w.-]+)", prompt[: prompt.rfind("Question:")], re.MULTILINE)


def last_question(prompt: str) -> str:
    return prompt.rpartition("Question:")[2]


@dataclass(frozen=True)
class Script:
    """What the model does: `plan` maps the request and the tools' names to the calls to make, in order.

    A name alone is a call without arguments.

    - "steps" makes one call per turn, "parallel" makes all in one turn; both then give the answer
    - "loop" makes the first planned call for ever, "idle" answers at once
    - "malformed", "unknown" and "extra arguments" are "steps" with one more call in second place: with arguments
      that are not JSON, to a tool that does not exist, with an argument no schema knows; the plan then goes on
      as if that call had not been

    `faults` are used up one per request to the model, where `None` lets a request pass. In chats, `answer_to` makes
    the answer out of all that was said, if it is given. What follows it is the syntax of text completion.
    """

    plan: Callable[[str, list[str]], Sequence[str | Call]] = in_given_order
    behaviour: Behaviour = "steps"
    faults: Sequence[Fault | None] = ()
    answer: str = "All done."
    answer_to: Callable[[str], str] | None = None
    render_step: Callable[[str], str] = thought_and_action
    render_answer: Callable[[], str] = final_answer
    count_steps: Callable[[str], int] = observations
    find_request: Callable[[str], str] = question
    find_tools: Callable[[str], list[str]] = listed_tools

    def __post_init__(self) -> None:
        if self.behaviour not in get_args(Behaviour):
            raise ValueError(f"unknown behaviour {self.behaviour!r}")
