"""An episode as the spans that OpenTelemetry's conventions for generative AI ask for.

`invoke_agent` holds all of it, `chat` is a reply of the model, `execute_tool` a call. What goes beyond the
conventions is under `misstep.`; what was said is left out unless somebody asks for it. Names of spans follow
from run and case, so that one that is sent twice is one trace still.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.core.transcript import Call
from misstep.interop.episodes import Agent, Episode

Value: TypeAlias = str | int | float | bool | list[str]
SECOND = 1_000_000_000  # nanoseconds
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
# Where the conventions have names of their own for providers.
PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai"}


class Span(msgspec.Struct, frozen=True):
    """Ids are hexadecimal, times nanoseconds. `error` is empty where all went well."""

    trace: str
    id: str
    parent: str
    name: str
    kind: Literal["internal", "client"]
    start: int
    end: int
    attributes: dict[str, Value]
    events: tuple[tuple[str, int, dict[str, Value]], ...] = ()
    error: str = ""


def spans_of(agent: Agent, episode: Episode, began: float, content: bool) -> list[Span]:
    """The whole trace of an episode that began at a time, in seconds since 1970."""
    return list(_Trace(agent, episode, began, content).spans())


class _Trace:
    def __init__(self, agent: Agent, episode: Episode, began: float, content: bool) -> None:
        self._agent = agent
        self._episode = episode
        self._began = round(began * SECOND)
        self._content = content
        self._trace = _digest(16, agent.run, episode.subject)
        self._root = _digest(8, self._trace, "invoke_agent")

    def spans(self) -> Iterator[Span]:
        yield self._invocation()
        yield from self._chats()
        for number, call in enumerate(self._episode.calls, 1):
            yield self._execution(number, call)

    def _invocation(self) -> Span:
        episode, agent = self._episode, self._agent
        error = _error_of(episode)
        attributes: dict[str, Value] = {
            **self._common("invoke_agent"),
            "gen_ai.agent.name": agent.name,
            **self._tokens(episode.usage.input, episode.usage.output, episode.usage.cached),
            "misstep.run": agent.run,
            "misstep.case": episode.subject,
            "misstep.verdict": episode.verdict,
            "misstep.ended": episode.ended,
            **({"misstep.error": episode.kind} if episode.kind else {}),
            **({"misstep.step": episode.step} if episode.step is not None else {}),
            **({"misstep.chance": episode.chance} if episode.chance is not None else {}),
            **{f"misstep.{name}": value for name, value in episode.about.items() if name in _ABOUT},
            **({"error.type": error} if error else {}),
        }
        if self._content:
            attributes["gen_ai.input.messages"] = _said("user", episode.request)
            if episode.ended == "answered":
                attributes["gen_ai.output.messages"] = _said("assistant", episode.answer, "stop")
        end = self._at(episode.seconds)
        evaluation = ("gen_ai.evaluation.result", end, self._evaluation())
        return Span(
            trace=self._trace,
            id=self._root,
            parent="",
            name=f"invoke_agent {agent.name}",
            kind="internal",
            start=self._began,
            end=end,
            attributes=attributes,
            events=(evaluation,) if episode.verdict in ("passed", "failed") else (),
            error=error and (episode.error or f"ended by {episode.ended}" if self._content else error),
        )

    def _evaluation(self) -> dict[str, Value]:
        episode = self._episode
        return {
            "gen_ai.evaluation.name": "misstep",
            "gen_ai.evaluation.score.value": float(episode.verdict == "passed"),
            "gen_ai.evaluation.score.label": episode.verdict,
            **({"gen_ai.evaluation.explanation": episode.explanation} if self._content else {}),
        }

    def _chats(self) -> Iterator[Span]:
        """From whatever happened last to when the reply's tokens were told."""
        moments = sorted(call.at for call in self._episode.calls if call.at is not None)
        before = 0.0
        for number, metered in enumerate(self._episode.metered, 1):
            began = max([before, *[at for at in moments if before <= at <= metered.at]])
            before, usage = metered.at, metered.usage
            name = f"chat {self._agent.model}".strip()
            tokens = self._tokens(usage.input, usage.output, usage.cached)
            yield self._part(
                f"chat {number}", name, "client", began, metered.at, self._common("chat") | tokens
            )

    def _execution(self, number: int, call: Call) -> Span:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": f"call_{number}",
            "misstep.call": number,
            **({"misstep.turn": call.turn} if call.turn is not None else {}),
            **({"misstep.ran": call.ran} if call.ran else {}),
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = _json(call.arguments)
            attributes["gen_ai.tool.call.result"] = call.result
        # Where nobody has looked at the clock, order is all there is to tell.
        at = number * 1e-6 if call.at is None else call.at
        return self._part(
            f"call {number}", f"execute_tool {call.tool}", "internal", at, at, attributes, call.ran < 0
        )

    def _part(
        self,
        label: str,
        name: str,
        kind: Literal["internal", "client"],
        start: float,
        end: float,
        attributes: dict[str, Value],
        unrun: bool = False,
    ) -> Span:
        error = "not_executed" if unrun else ""
        return Span(
            trace=self._trace,
            id=_digest(8, self._trace, label),
            parent=self._root,
            name=name,
            kind=kind,
            start=self._at(start),
            end=self._at(end),
            attributes=attributes | ({"error.type": error} if error else {}),
            error=error,
        )

    def _common(self, operation: str) -> dict[str, Value]:
        agent = self._agent
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": PROVIDERS.get(agent.provider, agent.provider) or "misstep",
            "gen_ai.conversation.id": f"{agent.run}/{self._episode.subject}",
            **({"gen_ai.request.model": agent.model} if agent.model else {}),
        }

    def _tokens(self, given: int, said: int, cached: int) -> dict[str, Value]:
        if not (given or said):
            return {}
        return {
            "gen_ai.usage.input_tokens": given,
            "gen_ai.usage.output_tokens": said,
            **({"gen_ai.usage.cache_read.input_tokens": cached} if cached else {}),
        }

    def _at(self, seconds: float) -> int:
        return self._began + round(seconds * SECOND)


_ABOUT = ("topic", "seed", "families", "actions", "kind", "domain", "split")  # no words of the request


def _error_of(episode: Episode) -> str:
    """What kind of error an episode ended in; to plan badly is none."""
    if episode.ended in ("timeout", "iterations"):
        return episode.ended
    return "agent_error" if episode.verdict == "errored" or episode.ended == "error" else ""


def _said(role: str, text: str, finish: str = "") -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return _json([message | ({"finish_reason": finish} if finish else {})])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _digest(size: int, *parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=size).hexdigest()
