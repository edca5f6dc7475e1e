"""Shows what an agent did with a request, as text and JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from misstep.core.outcome import Usage
from misstep.core.results.fuzzing import Richness
from misstep.core.results.trial import Trial
from misstep.core.tool import Invocation, Sending
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.words import written

MOST = 500  # characters of an agent's message or of a call
MOST_ERROR = 200
MOST_ANSWER = 200  # characters of a tool's result


def picked(value: object, *names: str) -> dict[str, Any]:
    """These attributes of a value by name, for JSON; tuples become lists."""
    found = {name: getattr(value, name) for name in names}
    return {name: list(each) if isinstance(each, tuple) else each for name, each in found.items()}


def trial_as_json(trial: Trial) -> dict[str, object]:
    return {
        "request": trial.request,
        "calls": [
            {
                "tool": use.tool,
                "arguments": read_arguments(use.arguments),
                "result": use.result,
                "ruling": use.judged.ruling,
                "error": use.judged.error,
                "message": use.judged.message,
            }
            for use in trial.uses
        ],
        "answer": trial.answer,
        "ended": trial.ended,
        "error": trial.error,
    }


def deeds_as_json(trial: Trial) -> dict[str, object]:
    """What the agent did, without the verdict on it."""
    calls = [{"tool": use.tool, "arguments": use.arguments, "result": use.result} for use in trial.uses]
    return {"calls": calls, "answer": trial.answer, "error": trial.error}


def trial_in_words(trial: Trial) -> list[str]:
    """A line for each call of the agent, then its answer."""
    return [*calls_in_words(trial), plain(last_words(trial), MOST)]


def calls_in_words(trial: Trial) -> list[str]:
    return [written(use.tool, read_arguments(use.arguments), MOST) for use in trial.uses] or ["(no call)"]


def uses_in_words(trial: Trial) -> list[tuple[str, str]]:
    """A line for each call, and one for the start of the tool's result, if there was a call."""
    answers = [f"→ {_in_short(use.result)}" for use in trial.uses] or [""]
    return list(zip(calls_in_words(trial), answers, strict=True))


def _in_short(answer: str) -> str:
    """The first line, with a note in place of the others."""
    first, *others = answer.strip("\n").split("\n")
    more = f" … ({counted(len(others), 'more line')})" if others else ""
    return plain(first, MOST_ANSWER) + more or "(nothing)"


def last_words(trial: Trial) -> str:
    """The agent's final answer, or the error that prevented one."""
    return (trial.answer if trial.is_usable else trial.error or trial.ended) or "(no answer)"


def unanswered(trials: Sequence[Trial]) -> list[str]:
    """Remarks if an agent did not finish: nothing is known about its tools then."""
    broken = [trial for trial in trials if not trial.is_usable]
    if not broken:
        return []
    last = plain(broken[-1].error or broken[-1].ended, MOST_ERROR)
    return [
        f"the agent gave no answer {len(broken)} of {counted(len(trials), 'time')}, which says nothing "
        f"about the tool; last error: {last}"
    ]


def read_arguments(text: str) -> object:
    """The arguments of a call; the text itself if a masked secret made it unreadable."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def tokens_as_json(usage: Mapping[str, Usage]) -> dict[str, object]:
    return {role: {"input": each.input, "output": each.output} for role, each in usage.items()}


def richness_as_json(richness: Richness | None) -> dict[str, float] | None:
    return None if richness is None else structs.asdict(richness)


LONGEST_CALL = 300  # characters of arguments


def written_call(call: Invocation) -> str:
    return f"{written(call.tool, read_arguments(call.arguments), LONGEST_CALL)}{_SENT[call.sent]}"


_SENT: dict[Sending, str] = {
    "in turn": "",
    "afresh": "  (after a fresh start)",
    "together": "  (together with the next)",
    "cancelled": "  (cancelled)",
    "timed out": "  (cancelled after half of the time limit)",
    "unlisted": "  (under a name that is not listed)",
}
