"""Episodes as samples of Inspect.

A case that passed or failed is scored right or wrong; one that could not be judged has no score, and so
Inspect's accuracy is our success.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from inspect_ai.log import EvalError, EvalSample, EvalSampleLimit
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score
from inspect_ai.tool import ToolCall

from misstep.core.transcript import Call, Usage, storable
from misstep.interop.episodes import Agent, Episode

SCORER = "misstep"
TARGET = "every constraint kept"
MALFORMED = "arguments that are no JSON object"
_LIMITS = {"timeout": "time", "iterations": "message"}


def sample_of(agent: Agent, episode: Episode) -> EvalSample:
    messages = [ChatMessageUser(content=storable(episode.request), source="input"), *_conversation(episode)]
    answer = storable(episode.answer)
    if episode.ended == "answered":
        messages.append(ChatMessageAssistant(content=answer, source="generate", model=agent.model or None))
    usage = {agent.model: usage_of(episode.usage)} if agent.model else {}
    return EvalSample(
        id=episode.subject,
        epoch=1,
        input=storable(episode.request),
        target=TARGET,
        messages=messages,
        output=ModelOutput.from_content(agent.model or agent.name, answer),
        scores={SCORER: _score(episode)} if episode.verdict in ("passed", "failed") else None,
        metadata=metadata_of(episode),
        model_usage=usage,
        total_time=episode.seconds,
        working_time=episode.seconds,
        error=_error(episode),
        limit=_limit(episode),
        uuid=f"{agent.run}-{episode.subject}",
    )


def usage_of(usage: Usage) -> ModelUsage:
    """Inspect counts what came out of a cache beside the rest of the input."""
    return ModelUsage(
        input_tokens=usage.input - usage.cached,
        output_tokens=usage.output,
        total_tokens=usage.input + usage.output,
        input_tokens_cache_read=usage.cached or None,
    )


def metadata_of(episode: Episode) -> dict[str, Any]:
    return {
        "case": episode.subject,
        "verdict": episode.verdict,
        "error": episode.kind,
        "step": episode.step,
        "chance": episode.chance,
        "ended": episode.ended,
        **episode.about,
    }


def _score(episode: Episode) -> Score:
    return Score(
        value=CORRECT if episode.verdict == "passed" else INCORRECT,
        answer=", ".join(call.tool for call in episode.calls),
        explanation=storable(episode.explanation) or None,
        metadata={"error": episode.kind, "step": episode.step, "chance": episode.chance},
    )


def _error(episode: Episode) -> EvalError | None:
    if episode.verdict != "errored":
        return None
    said = storable(episode.error) or "the agent broke"
    return EvalError(message=said, traceback=said, traceback_ansi=said)


def _limit(episode: Episode) -> EvalSampleLimit | None:
    kind = _LIMITS.get(episode.ended)
    return EvalSampleLimit(type=kind, limit=0, reason=f"ended by {episode.ended}") if kind else None


def _conversation(episode: Episode) -> Iterator[ChatMessage]:
    """The calls of a turn in one message, in the order in which the agent emitted them, then the results."""
    numbered = list(enumerate(episode.calls, 1))
    for _, turn in groupby(numbered, key=lambda each: each[1].turn or -each[0]):
        calls = list(turn)
        asked = [_asked(number, call) for number, call in calls]
        yield ChatMessageAssistant(content="", tool_calls=asked, source="generate")
        for number, call in calls:
            if call.ran >= 0:
                result = storable(call.result)
                yield ChatMessageTool(
                    content=result, tool_call_id=f"call_{number}", function=storable(call.tool)
                )


def _asked(number: int, call: Call) -> ToolCall:
    given = call.arguments
    if isinstance(given, dict):
        return ToolCall(id=f"call_{number}", function=storable(call.tool), arguments=given)
    return ToolCall(
        id=f"call_{number}",
        function=storable(call.tool),
        arguments={},
        parse_error=str(given) or MALFORMED,
    )
