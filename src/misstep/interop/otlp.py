"""Converts episodes to OpenTelemetry spans, writes them as OTLP/JSON, and sends them during a run.

The spans follow the conventions for generative AI; other attributes start with `misstep.`, and content is
left out unless requested. Ids are derived from run and case, so that sending twice gives one trace. Sending
never affects the run: what cannot be sent is dropped, and reported once.
"""

import json
import logging
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from misstep.core.outcome import Call, Outcome, Usage, storable
from misstep.core.results.benchmark import TaskReport
from misstep.errors import MissingExtra, UsageError
from misstep.interop.episodes import Episode, EpisodeAgent, episode_of

Value: TypeAlias = str | int | float | bool | list[str]
SECOND = 1_000_000_000  # nanoseconds
ROOT = "invoke_agent"  # the span that contains all others
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
# Names of providers in the conventions, where they differ from ours.
PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai"}


class OtlpSpan(msgspec.Struct, frozen=True):
    """Ids are hexadecimal, times are in nanoseconds. `error` is empty if there was none."""

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: dict[str, Value]
    kind: Literal["internal", "client"] = "internal"
    events: tuple[tuple[str, int, dict[str, Value]], ...] = ()
    error: str = ""


def spans_of(agent: EpisodeAgent, episode: Episode, began: float, content: bool) -> list[OtlpSpan]:
    """The complete trace of an episode that began at this time, in seconds since 1970."""
    trace = _Trace(agent, episode, began, content)
    calls = [trace.execution(number, call) for number, call in enumerate(episode.calls, 1)]
    return [trace.invocation(), *trace.chats(), *calls]


class _Trace:
    def __init__(self, agent: EpisodeAgent, episode: Episode, began: float, content: bool) -> None:
        self._agent = agent
        self._episode = episode
        self._began = round(began * SECOND)
        self._content = content
        self._trace = _digest(16, agent.run, episode.subject)

    def invocation(self) -> OtlpSpan:
        episode, agent, content = self._episode, self._agent, self._content
        error = _error_of(episode)
        attributes: dict[str, Value] = {
            **self._common("invoke_agent"),
            "gen_ai.agent.name": agent.name,
            **_tokens(episode.usage),
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
        if content:
            attributes["gen_ai.input.messages"] = _said("user", episode.request)
            if episode.ended == "answered":
                attributes["gen_ai.output.messages"] = _said("assistant", episode.answer, "stop")
        result: dict[str, Value] = {
            "gen_ai.evaluation.name": "misstep",
            "gen_ai.evaluation.score.value": float(episode.verdict == "passed"),
            "gen_ai.evaluation.score.label": episode.verdict,
            **({"gen_ai.evaluation.explanation": episode.explanation} if content else {}),
        }
        evaluation = ("gen_ai.evaluation.result", self._at(episode.seconds), result)
        events = (evaluation,) if episode.verdict in ("passed", "failed") else ()
        told = error and (episode.error or f"ended by {episode.ended}" if content else error)
        name, seconds = f"invoke_agent {agent.name}", episode.seconds
        return self._span(ROOT, name, 0.0, seconds, attributes, error=told, events=events)

    def chats(self) -> Iterator[OtlpSpan]:
        """From the previous event to the time when the reply's tokens were reported."""
        moments = sorted(call.at for call in self._episode.calls if call.at is not None)
        before = 0.0
        for number, metered in enumerate(self._episode.metered, 1):
            began = max([before, *[at for at in moments if before <= at <= metered.at]])
            before = metered.at
            name = f"chat {self._agent.model}".strip()
            attributes = self._common("chat") | _tokens(metered.usage)
            yield self._span(f"chat {number}", name, began, metered.at, attributes, kind="client")

    def execution(self, number: int, call: Call) -> OtlpSpan:
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
            attributes["gen_ai.tool.call.arguments"] = json.dumps(call.arguments, ensure_ascii=False)
            attributes["gen_ai.tool.call.result"] = call.result
        error = "not_executed" if call.ran < 0 else ""
        if error:
            attributes["error.type"] = error
        # Without a recorded time, only the order is known.
        at = number * 1e-6 if call.at is None else call.at
        return self._span(f"call {number}", f"execute_tool {call.tool}", at, at, attributes, error=error)

    def _span(
        self, label: str, name: str, start: float, end: float, attributes: dict[str, Value], **rest: Any
    ) -> OtlpSpan:
        return OtlpSpan(
            trace=self._trace,
            id=_digest(8, self._trace, label),
            parent="" if label == ROOT else _digest(8, self._trace, ROOT),
            name=name,
            start=self._at(start),
            end=self._at(end),
            attributes=attributes,
            **rest,
        )

    def _common(self, operation: str) -> dict[str, Value]:
        agent = self._agent
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": PROVIDERS.get(agent.provider, agent.provider) or "misstep",
            "gen_ai.conversation.id": f"{agent.run}/{self._episode.subject}",
            **({"gen_ai.request.model": agent.model} if agent.model else {}),
        }

    def _at(self, seconds: float) -> int:
        return self._began + round(seconds * SECOND)


def _tokens(usage: Usage) -> dict[str, Value]:
    if not (usage.input or usage.output):
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        **({"gen_ai.usage.cache_read.input_tokens": usage.cached} if usage.cached else {}),
    }


_ABOUT = ("topic", "seed", "families", "actions", "kind", "domain", "split")  # nothing of the request's text


def _error_of(episode: Episode) -> str:
    """The kind of error that ended an episode; a bad plan is not an error."""
    if episode.ended in ("timeout", "iterations"):
        return episode.ended
    return "agent_error" if episode.verdict == "errored" or episode.ended == "error" else ""


def _said(role: str, text: str, finish: str = "") -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message | ({"finish_reason": finish} if finish else {})], ensure_ascii=False)


def _digest(size: int, *parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=size).hexdigest()


def otlp_json(agent: EpisodeAgent, spans: Sequence[OtlpSpan]) -> dict[str, Any]:
    """One request in OTLP/HTTP format, with hexadecimal ids and integers as texts."""
    resource = {"service.name": "misstep", "service.version": agent.version}
    scope = {"name": "misstep", "version": agent.version}
    scoped = {"scope": scope, "spans": [_span(span) for span in spans], "schemaUrl": SCHEMA}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scoped]}]}


def _span(span: OtlpSpan) -> dict[str, Any]:
    return {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": storable(span.name),
        "kind": {"internal": 1, "client": 3}[span.kind],
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [
            {"name": name, "timeUnixNano": str(at), "attributes": _attributes(attributes)}
            for name, at, attributes in span.events
        ],
        "status": {"code": 2, "message": storable(span.error)} if span.error else {},
    }


def _attributes(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": storable(value)}
    return {"arrayValue": {"values": [_value(each) for each in value]}}


def readable(agent: EpisodeAgent, span: OtlpSpan, resource: Any) -> Any:
    sdk, trace = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.trace")
    scope = import_module("opentelemetry.sdk.util.instrumentation").InstrumentationScope
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)

    def context(name: str) -> Any:
        return trace.SpanContext(int(span.trace, 16), int(name, 16), is_remote=False, trace_flags=flags)

    error = trace.Status(trace.StatusCode.ERROR, storable(span.error))
    return sdk.ReadableSpan(
        name=storable(span.name),
        context=context(span.id),
        parent=context(span.parent) if span.parent else None,
        resource=resource,
        attributes=_storable(span.attributes),
        events=[sdk.Event(name, _storable(given), at) for name, at, given in span.events],
        kind={"internal": trace.SpanKind.INTERNAL, "client": trace.SpanKind.CLIENT}[span.kind],
        status=error if span.error else trace.Status(trace.StatusCode.UNSET),
        start_time=span.start,
        end_time=span.end,
        instrumentation_scope=scope("misstep", agent.version, SCHEMA),
    )


def _storable(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: storable(value) if isinstance(value, str) else value for key, value in attributes.items()}


WAITING = 10_000  # maximum number of queued episodes; more are dropped
TOGETHER = 64  # episodes per request
PAUSE = 0.5  # seconds to wait for more
GRACE = 15.0  # seconds for the rest at the end
TIMEOUT = 5.0  # seconds per request including retries, unless set in the environment
TRACES = "/v1/traces"
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
REASON = re.compile(r"\[Errno -?\d+\] [^\"')]+|code: \d+, reason: .*|timed out", re.DOTALL)
LOGGER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


# What is sent: an outcome or report with its agent, and the time when it began.
Sent: TypeAlias = tuple[EpisodeAgent, Outcome | TaskReport, float]


def check_endpoint(url: str) -> str:
    """The URL for traces. Raises `UsageError` if it is invalid or contains a secret."""
    try:
        parts = urlsplit(url)
        odd = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        odd, parts = True, urlsplit("")
    if odd:
        raise UsageError(f"invalid URL {url!r}", "expected e.g. http://127.0.0.1:4318", where="--otlp")
    if parts.username or parts.password or parts.query:
        hint = "URLs are stored: put keys in OTEL_EXPORTER_OTLP_HEADERS as name=value"
        raise UsageError("the URL contains more than an address", hint, where="--otlp")
    return url if url.endswith(TRACES) else url.rstrip("/") + TRACES


class Sender:
    """Queues episodes without blocking; `tell` is called once with a problem, in the caller's thread."""

    def __init__(self, url: str, content: bool, tell: Callable[[str], None]) -> None:
        endpoint = check_endpoint(url)
        if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
            raise MissingExtra("the OTLP exporter of OpenTelemetry", "otel")
        self._endpoint = endpoint
        self._content = content
        self._tell = tell
        self._waiting = queue.Queue[Sent | None](WAITING)
        self._problem = ""
        self._told = False
        self._lost = 0
        self._exporter: Any = None
        self._thread = threading.Thread(target=self._work, name="otlp", daemon=True)
        self._thread.start()

    def send(self, agent: EpisodeAgent, report: Outcome | TaskReport, began: float) -> None:
        try:
            self._waiting.put_nowait((agent, report, began))
        except queue.Full:
            self._lost += 1
        self._speak()

    def close(self) -> None:
        """Wait for the queue for a limited time, but not for an endpoint that has failed before."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except queue.Full:
                self._waiting.get_nowait()
                self._lost += 1
        self._thread.join(0 if self._problem else GRACE)
        if self._exporter is not None:
            self._exporter.shutdown()  # ends a pause between two attempts
        self._thread.join(1.0)
        self._lost += self._waiting.qsize()
        if self._lost and not self._problem:
            self._problem = "it is too slow"
        self._speak()

    def _speak(self) -> None:
        if self._problem and not self._told:
            self._told = True
            problem = f"traces can't be sent to {self._endpoint}: {self._problem}"
            self._tell(f"{problem}; the run continues without them")

    def _work(self) -> None:
        try:
            module = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            timeout = None if any(name in os.environ for name in TIMEOUTS) else TIMEOUT
            self._exporter = module.OTLPSpanExporter(endpoint=self._endpoint, timeout=timeout)
            while (batch := self._next()) is not None:
                self._deliver(batch)
        except Exception as error:
            self._problem = self._problem or f"{type(error).__name__}: {error}"

    def _next(self) -> list[Sent] | None:
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < TOGETHER:
            try:
                more = self._waiting.get(timeout=PAUSE)
            except queue.Empty:
                break
            if more is None:
                self._waiting.put(None)
                break
            batch.append(more)
        return batch

    def _deliver(self, batch: Sequence[Sent]) -> None:
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override our resource.
        resources = import_module("opentelemetry.sdk.resources")
        ours = resources.Resource({"service.name": "misstep", "service.version": batch[0][0].version})
        resource = ours.merge(resources.OTELResourceDetector().detect())
        spans = [
            readable(agent, span, resource)
            for agent, report, began in batch
            for span in spans_of(agent, episode_of(report), began, self._content)
        ]
        said, logger = list[str](), logging.getLogger(LOGGER)

        def overhear(record: logging.LogRecord) -> bool:
            """Keep what the exporter logs about a failure, which it reports in no other way."""
            if record.levelno >= logging.WARNING:
                said.append(record.getMessage())
            return False  # nobody else hears it

        logger.addFilter(overhear)
        try:
            sent = self._exporter.export(spans)
        finally:
            logger.removeFilter(overhear)
        if sent.name != "SUCCESS":
            self._lost += len(batch)
            heard = said[0] if said else ""
            brief = REASON.search(heard)
            why = (brief[0] if brief else heard)[:300]
            self._problem = self._problem or why or "it can't be reached"
