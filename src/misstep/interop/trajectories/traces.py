"""Reads OTLP/JSON as collectors write it: the calls of each invoked agent, from its spans."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec

from misstep.core.outcome import Call, Ended, Usage
from misstep.errors import UsageError
from misstep.interop.trajectories.trajectory import Trajectory, arguments_in, count_in, text_in

AGENT = "invoke_agent"
TOOL = "execute_tool"
MOST = 2_000_000  # spans


class _Span(msgspec.Struct):
    id: str
    parent: str
    operation: str
    start: int
    order: int
    where: str
    attributes: dict[str, Any]
    problem: str = ""


def is_trace(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("resourceSpans"), list)


def read_traces(values: Iterable[tuple[str, Any]], path: str) -> Iterator[Trajectory]:
    """All agents in all traces; the spans of a trace may be in any order."""
    traces = dict[str, dict[str, _Span]]()
    count = 0
    for where, value in values:
        for trace, span in _spans(value, where, count):
            traces.setdefault(trace, {})[span.id] = span
            count += 1
            if count > MOST:
                raise UsageError(f"more than {MOST:,} spans", "split the file by traces", where=where)
    found = [each for spans in traces.values() for each in _agents(spans)]
    if not found:
        hint = f"expected spans whose gen_ai.operation.name is {TOOL}"
        raise UsageError("these traces contain no agent and no tool calls", hint, where=path)
    yield from found


def _spans(value: Any, where: str, count: int) -> Iterator[tuple[str, _Span]]:
    for resource in _listed(value, "resourceSpans"):
        for scope in _listed(resource, "scopeSpans"):
            for given in _listed(scope, "spans"):
                attributes = _attributes(given.get("attributes"))
                name = str(given.get("name", "")).partition(" ")[0]
                status = given.get("status")
                operation = str(attributes.get("gen_ai.operation.name", name))
                kept = attributes if operation in (AGENT, TOOL) else {}
                span = _Span(
                    id=str(given.get("spanId", "")),
                    parent=str(given.get("parentSpanId") or ""),
                    operation=operation,
                    start=_number(given.get("startTimeUnixNano")),
                    order=(count := count + 1),
                    where=where,
                    attributes=kept,
                    problem=str(status.get("message", "")) if isinstance(status, dict) else "",
                )
                yield str(given.get("traceId", "")), span


def _listed(value: Any, name: str) -> list[dict[str, Any]]:
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _agents(spans: dict[str, _Span]) -> Iterator[Trajectory]:
    """A trajectory for each agent that no other agent invoked; without any, the whole trace is one."""
    tools = dict[str, list[_Span]]()
    for span in spans.values():
        if span.operation == TOOL:
            tools.setdefault(_chief(spans, span), []).append(span)
        elif span.operation == AGENT and _chief(spans, span) == span.id:
            tools.setdefault(span.id, [])
    for name, calls in tools.items():
        yield _trajectory(spans.get(name), calls)


def _chief(spans: dict[str, _Span], span: _Span) -> str:
    """The outermost agent above a span, or the span itself; empty if there is none."""
    found, seen = span.id if span.operation == AGENT else "", set[str]()
    above: _Span | None = span
    while above is not None and above.id not in seen:
        seen.add(above.id)
        found = above.id if above.operation == AGENT else found
        above = spans.get(above.parent)
    return found


def _trajectory(agent: _Span | None, tools: list[_Span]) -> Trajectory:
    tools.sort(key=lambda span: (_number(span.attributes.get("misstep.call")), span.start, span.order))
    said = agent.attributes if agent else {}
    error = said.get("error.type")
    given = [said.get("misstep.case"), said.get("gen_ai.conversation.id")]
    texts = [each for each in given if isinstance(each, str)]
    told = next((ended for ended in get_args(Ended) if ended == said.get("misstep.ended")), None)
    return Trajectory(
        where=agent.where if agent else tools[0].where,
        calls=tuple(_call(span.attributes) for span in tools),
        names=tuple(dict.fromkeys([*texts, *[text.rpartition("/")[2] for text in texts]])),
        request=_message(said.get("gen_ai.input.messages"), "user"),
        ended=told or ("answered" if not error else "timeout" if error == "timeout" else "error"),
        answer=_message(said.get("gen_ai.output.messages"), "assistant"),
        error=(agent.problem if agent else "") or str(error or ""),
        usage=Usage(
            count_in(said, "gen_ai.usage.input_tokens"),
            count_in(said, "gen_ai.usage.output_tokens"),
            count_in(said, "gen_ai.usage.cache_read.input_tokens"),
        ),
        is_silent=not any("gen_ai.tool.call.arguments" in span.attributes for span in tools),
    )


def _call(said: dict[str, Any]) -> Call:
    turn, result = said.get("misstep.turn"), said.get("gen_ai.tool.call.result", "")
    if not isinstance(result, str):
        result = "" if result is None else msgspec.json.encode(result).decode()
    return Call(
        tool=str(said.get("gen_ai.tool.name", "")),
        arguments=arguments_in(said.get("gen_ai.tool.call.arguments")),
        result=result,
        turn=turn if isinstance(turn, int) else None,
        ran=_number(said.get("misstep.ran")),
    )


def _message(given: Any, role: str) -> str:
    """The text of the first message with this role, in structured form or as JSON."""
    messages = arguments_in(given)
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == role:
            return text_in(message.get("parts", message.get("content")))
    return ""


def _attributes(given: Any) -> dict[str, Any]:
    found = dict[str, Any]()
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict) and isinstance(each.get("key"), str):
            found[each["key"]] = _value(each.get("value"))
    return found


def _value(given: Any) -> Any:
    if not isinstance(given, dict) or len(given) != 1:
        return None
    ((kind, value),) = given.items()
    if kind == "intValue":
        return _number(value)
    if kind == "arrayValue":
        return [_value(each) for each in _listed(value, "values")]
    if kind == "kvlistValue":
        return _attributes(value.get("values") if isinstance(value, dict) else None)
    return value


def _number(given: Any) -> int:
    try:
        return int(given)
    except (TypeError, ValueError, OverflowError):
        return 0
