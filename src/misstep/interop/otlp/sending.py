"""Sends the traces of a run to an OTLP endpoint while it goes, in a thread of its own.

Nothing that the endpoint does reaches the run: what can't be sent is left out, and told of once.
"""

import logging
import os
import queue
import re
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import msgspec

from misstep.core.benchmark import TaskReport
from misstep.core.outcome import Outcome
from misstep.errors import MissingExtra, UsageError
from misstep.interop.episodes import Agent, episode_of
from misstep.interop.otlp.readable import readable, resource_of
from misstep.interop.otlp.spans import spans_of

WAITING = 10_000  # episodes at most; those that come when so many wait are left out
TOGETHER = 64  # episodes in one request
PAUSE = 0.5  # seconds in which more may come
GRACE = 15.0  # seconds for what is left at the end
TIMEOUT = 5.0  # seconds for one request with its repetitions, unless the environment says otherwise
TRACES = "/v1/traces"
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
REASON = re.compile(r"\[Errno -?\d+\] [^\"')]+|code: \d+, reason: .*|timed out", re.DOTALL)
LOGGER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


class Sent(msgspec.Struct, frozen=True):
    """What there is to tell of, with the time when it began."""

    agent: Agent
    report: Outcome | TaskReport
    began: float


def check_endpoint(url: str) -> str:
    """The address for traces; a `UsageError` for what is none, or holds a secret."""
    try:
        parts = urlsplit(url)
        odd = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        odd, parts = True, urlsplit("")
    if odd:
        raise UsageError(f"{url!r} won't do", "expected something like http://127.0.0.1:4318", where="--otlp")
    if parts.username or parts.password or parts.query:
        hint = "URLs are stored: put keys into OTEL_EXPORTER_OTLP_HEADERS, as name=value"
        raise UsageError("the URL holds more than an address", hint, where="--otlp")
    return url if url.endswith(TRACES) else url.rstrip("/") + TRACES


class Sender:
    """Takes what there is to tell and never waits; `tell` hears once what went wrong, in the same thread."""

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

    def send(self, agent: Agent, report: Outcome | TaskReport, began: float) -> None:
        try:
            self._waiting.put_nowait(Sent(agent, report, began))
        except queue.Full:
            self._lost += 1
        self._speak()

    def close(self) -> None:
        """Wait for what is left, though not for ever, nor for an endpoint that has failed before."""
        self._leave()
        self._thread.join(0 if self._problem else GRACE)
        if self._exporter is not None:
            self._exporter.shutdown()  # ends a pause between two attempts
        self._thread.join(1.0)
        self._lost += self._waiting.qsize()
        if self._lost and not self._problem:
            self._problem = "it is too slow"
        self._speak()

    def _leave(self) -> None:
        while True:
            try:
                return self._waiting.put_nowait(None)
            except queue.Full:
                self._waiting.get_nowait()
                self._lost += 1

    def _speak(self) -> None:
        if self._problem and not self._told:
            self._told = True
            self._tell(f"traces can't be sent to {self._endpoint}: {self._problem}; the run goes on without")

    def _work(self) -> None:
        try:
            self._exporter = self._open()
            while (batch := self._next()) is not None:
                self._deliver(batch)
        except Exception as error:
            self._problem = self._problem or f"{type(error).__name__}: {error}"

    def _open(self) -> Any:
        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        said = any(name in os.environ for name in TIMEOUTS)
        return exporter.OTLPSpanExporter(endpoint=self._endpoint, timeout=None if said else TIMEOUT)

    def _next(self) -> list[Sent] | None:
        """Some episodes; None at the end."""
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
        resource = resource_of(batch[0].agent.version)
        spans = [
            readable(each.agent, span, resource)
            for each in batch
            for span in spans_of(each.agent, episode_of(each.report), each.began, self._content)
        ]
        with _Overheard() as overheard:
            sent = self._exporter.export(spans)
        if sent.name != "SUCCESS":
            self._lost += len(batch)
            self._problem = self._problem or overheard.text or "it can't be reached"


class _Overheard(logging.Handler):
    """What the exporter logs about a failure, which it tells nobody else."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""
        self._logger = logging.getLogger(LOGGER)

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        brief = REASON.search(said)
        self.text = self.text or (brief[0] if brief else said)[:300]

    def __enter__(self) -> "_Overheard":
        self._heard_by_others = self._logger.propagate
        self._logger.propagate = False
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._heard_by_others
