"""Transcripts in other people's forms, written without a look at what reads them."""

import json
from itertools import groupby
from typing import Any

from misstep.core.outcome import Call, Outcome


def turns(calls: tuple[Call, ...]) -> list[list[tuple[str, Call]]]:
    numbered = [(f"call_{number}", call) for number, call in enumerate(calls)]
    return [list(some) for _, some in groupby(numbered, key=lambda each: each[1].turn)]


def said(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def chat(outcome: Outcome) -> list[dict[str, Any]]:
    """Messages of chat completions."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Do it."},
        {"role": "user", "content": [{"type": "text", "text": outcome.case.query}]},
    ]
    for calls in turns(outcome.transcript.calls):
        asked = [
            {"id": id, "type": "function", "function": {"name": call.tool, "arguments": said(call)}}
            for id, call in calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        ran = sorted((pair for pair in calls if pair[1].ran >= 0), key=lambda pair: pair[1].ran)
        messages += [{"role": "tool", "tool_call_id": id, "content": call.result} for id, call in ran]
    return [*messages, {"role": "assistant", "content": outcome.transcript.answer}]


def responses(outcome: Outcome) -> dict[str, Any]:
    """What went in and out of the Responses interface."""
    items: list[dict[str, Any]] = []
    for calls in turns(outcome.transcript.calls):
        items.append({"type": "reasoning", "summary": []})
        items += [
            {"type": "function_call", "call_id": id, "name": call.tool, "arguments": said(call)}
            for id, call in calls
        ]
        items += [
            {"type": "function_call_output", "call_id": id, "output": call.result}
            for id, call in calls
            if call.ran >= 0
        ]
    answer = {"type": "output_text", "text": outcome.transcript.answer}
    items.append({"type": "message", "role": "assistant", "content": [answer]})
    return {"id": "resp_1", "object": "response", "input": outcome.case.query, "output": items}


def sample(outcome: Outcome) -> dict[str, Any]:
    """A sample of an Inspect log; long texts are kept apart, as Inspect does."""
    messages = [{"role": "user", "content": "attachment://abc", "source": "input"}]
    rest: list[dict[str, Any]] = []
    for calls in turns(outcome.transcript.calls):
        asked = [inspect_call(id, call) for id, call in calls]
        rest.append({"role": "assistant", "content": "", "tool_calls": asked})
        rest += [
            {"role": "tool", "content": call.result, "tool_call_id": id, "function": call.tool}
            for id, call in calls
            if call.ran >= 0
        ]
    final = {"role": "assistant", "content": [{"type": "text", "text": outcome.transcript.answer}]}
    return {
        "id": 7,
        "epoch": 1,
        "input": "attachment://abc",
        "target": "x",
        "messages": [*messages, *rest, final],
        "attachments": {"abc": outcome.case.query},
        "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 3}},
        **({"limit": {"type": "time", "limit": 5}} if outcome.transcript.ended == "timeout" else {}),
        **({"error": {"message": "broke"}} if outcome.transcript.ended == "error" else {}),
    }


def inspect_call(id: str, call: Call) -> dict[str, Any]:
    made = {"id": id, "function": call.tool, "type": "function"}
    if isinstance(call.arguments, str):
        return {**made, "arguments": {}, "parse_error": call.arguments}
    return {**made, "arguments": call.arguments}


def trace(outcome: Outcome, number: int) -> list[dict[str, Any]]:
    """Spans as another instrumentation may write them: structured values, tools below chats, out of order."""
    trace_id = f"{number:032x}"

    def span(id: str, parent: str, at: int, **attributes: Any) -> dict[str, Any]:
        given = [
            {"key": key.replace("__", "."), "value": any_value(value)} for key, value in attributes.items()
        ]
        return {
            "traceId": trace_id,
            "spanId": id,
            "parentSpanId": parent,
            "name": "x",
            "startTimeUnixNano": str(at),
            "endTimeUnixNano": at + 1,
            "attributes": given,
        }

    request = [{"role": "user", "parts": [{"type": "text", "content": outcome.case.query}]}]
    spans = [
        span("a1", "", 1, gen_ai__operation__name="invoke_agent", gen_ai__input__messages=request),
        span("b1", "a1", 2, gen_ai__operation__name="chat"),
    ]
    for place, call in enumerate(outcome.transcript.calls):
        spans.append(
            span(
                f"c{place}",
                "b1",
                10 + place,
                gen_ai__operation__name="execute_tool",
                gen_ai__tool__name=call.tool,
                gen_ai__tool__call__arguments=call.arguments,
            )
        )
    return spans[::-1]


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(each) for each in value]}}
    pairs = [{"key": key, "value": any_value(each)} for key, each in value.items()]
    return {"kvlistValue": {"values": pairs}}


def otlp(spans: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}
