"""What the model does next follows from the script, whatever the endpoint."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.scripted.script import UNKNOWN_TOOL, Call, Script


@dataclass(frozen=True)
class Situation:
    """What the model can see: the request, the tools' names, the number of calls it has made since the request."""

    request: str
    tools: list[str]
    made: int
    parallel: bool = True


SPOILT: dict[str, Callable[[Call], Call]] = {
    "malformed": lambda call: Call(call.name, '{"broken": '),
    "unknown": lambda call: Call(UNKNOWN_TOOL),
    "extra arguments": lambda call: Call(call.name, '{"surprise": 1}'),
}


def next_calls(script: Script, seen: Situation) -> list[Call]:
    """The calls of the next turn; none means that it is time for the answer."""
    if script.behaviour == "idle":
        return []
    planned = script.plan(seen.request, list(seen.tools))
    calls = [Call(each) if isinstance(each, str) else each for each in planned]
    if script.behaviour == "loop":
        return calls[:1]
    due = with_spoilt_call(script.behaviour, calls)[seen.made :]
    return due if script.behaviour == "parallel" and seen.parallel else due[:1]


def with_spoilt_call(behaviour: str, calls: list[Call]) -> list[Call]:
    if behaviour not in SPOILT or not calls:
        return calls
    return [calls[0], SPOILT[behaviour](calls[:2][-1]), *calls[1:]]


def render(script: Script, calls: Sequence[Call]) -> str:
    """One step or the answer in the syntax of the prompt; arguments take the place of an empty object there."""
    if not calls:
        return script.render_answer()
    text = script.render_step(calls[0].name)
    if calls[0].arguments == "{}":
        return text
    before, place, after = text.rpartition("{}")
    return before + calls[0].arguments + after if place else text + calls[0].arguments


def complete(script: Script, prompt: str) -> str:
    """The next step or the answer; a text holds one call at a time."""
    tools, made = script.find_tools(prompt), script.count_steps(prompt)
    seen = Situation(script.find_request(prompt), tools, made, parallel=False)
    return render(script, next_calls(script, seen))
