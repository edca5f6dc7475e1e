"""Spans as the exporters of OpenTelemetry's SDK take them."""

from importlib import import_module
from typing import Any

from misstep.core.transcript import storable
from misstep.interop.episodes import Agent
from misstep.interop.otlp.spans import SCHEMA, Span


def readable(agent: Agent, span: Span, resource: Any) -> Any:
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


def resource_of(version: str) -> Any:
    """Ours, and what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say over it."""
    resources = import_module("opentelemetry.sdk.resources")
    ours = resources.Resource({"service.name": "misstep", "service.version": version})
    return ours.merge(resources.OTELResourceDetector().detect())


def _storable(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: storable(value) if isinstance(value, str) else value for key, value in attributes.items()}
