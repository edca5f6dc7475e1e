"""Spans as OTLP/JSON, a line for each trace, as the collector's file exporter writes them."""

from collections.abc import Sequence
from typing import Any

from misstep.core.transcript import storable
from misstep.interop.episodes import Agent
from misstep.interop.otlp.spans import SCHEMA, Span, Value

_KINDS = {"internal": 1, "client": 3}
_ERROR = 2


def otlp_json(agent: Agent, spans: Sequence[Span]) -> dict[str, Any]:
    """One request as OTLP/HTTP takes it, with the ids in hexadecimal and whole numbers as texts."""
    resource = {"service.name": "misstep", "service.version": agent.version}
    scope = {"name": "misstep", "version": agent.version}
    scoped = {"scope": scope, "spans": [_span(span) for span in spans], "schemaUrl": SCHEMA}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scoped]}]}


def _span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": storable(span.name),
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [
            {"name": name, "timeUnixNano": str(at), "attributes": _attributes(attributes)}
            for name, at, attributes in span.events
        ],
        "status": {"code": _ERROR, "message": storable(span.error)} if span.error else {},
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
