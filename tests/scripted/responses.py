"""The Responses API: the model knows its input, on top of what an earlier response knew."""

from tests.scripted.chat import spoken
from tests.scripted.decisions import Situation, next_calls
from tests.scripted.parts import (
    CREATED,
    ApiError,
    Ids,
    Json,
    check_objects,
    function_names,
    halves,
    need,
    pieces,
    text_of,
    words,
)
from tests.scripted.script import Call, Script
from tests.scripted.wire import Reply, event


class Responses:
    """Keeps the items of each response, so that a later request can build on them."""

    def __init__(self, script: Script, ids: Ids) -> None:
        self._script = script
        self._ids = ids
        self._stored = dict[str, list[Json]]()

    def answer(self, body: Json) -> Reply:
        need(body, "model", "input")
        items = self._earlier(body.get("previous_response_id")) + as_items(body["input"])
        check_pairs(items)
        calls = next_calls(self._script, situation(body, items))
        output = [self._call(call) for call in calls] or [self._message()]
        usage = count(
            words(items) + words(body.get("tools")), spoken("" if calls else self._script.answer, calls)
        )
        response = describe(self._ids.new("resp_"), body, output, usage)
        if body.get("store") is not False:
            self._stored[response["id"]] = items + output
        return Reply(events=stream(response)) if body.get("stream") else Reply(response)

    def _earlier(self, response_id: str | None) -> list[Json]:
        if response_id is None:
            return []
        if response_id not in self._stored:
            message = f"Previous response with id '{response_id}' not found."
            raise ApiError(400, message, param="previous_response_id", code="previous_response_not_found")
        return self._stored[response_id]

    def _call(self, call: Call) -> Json:
        item = {
            "type": "function_call",
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        return {"id": self._ids.new("fc_"), "call_id": self._ids.new("call_"), **item}

    def _message(self) -> Json:
        content = [{"type": "output_text", "text": self._script.answer, "annotations": [], "logprobs": []}]
        message = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        return {"id": self._ids.new("msg_"), **message}


def as_items(given: str | list[Json]) -> list[Json]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    check_objects(given, "input")
    return given


def situation(body: Json, items: list[Json]) -> Situation:
    last = max((at for at, item in enumerate(items) if item.get("role") == "user"), default=-1)
    made = sum(item.get("type") == "function_call" for item in items[last + 1 :])
    tools = [] if body.get("tool_choice") == "none" else function_names(body.get("tools"), nested=False)
    request = text_of(items[last]["content"]) if last >= 0 else ""
    return Situation(request, tools, made, body.get("parallel_tool_calls") is not False)


def check_pairs(items: list[Json]) -> None:
    """OpenAI refuses calls without outputs, as it does outputs without calls."""
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for call_id in outputs:
        if call_id not in calls:
            message = f"No tool call found for function call output with call_id {call_id}."
            raise ApiError(400, message, param="input")
    for call_id in calls:
        if call_id not in outputs:
            raise ApiError(400, f"No tool output found for function call {call_id}.", param="input")


def count(prompt: int, completion: int) -> Json:
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }


def describe(response_id: str, body: Json, output: list[Json], usage: Json) -> Json:
    return {
        "id": response_id,
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "previous_response_id": body.get("previous_response_id"),
        "temperature": body.get("temperature", 1.0),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "usage": usage,
    }


def stream(response: Json) -> tuple[str, ...]:
    """The response as events, numbered from 0; every item opens, grows, then closes."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [
        {"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")
    ]
    for index, item in enumerate(response["output"]):
        events += item_events(item, index)
    events.append({"type": "response.completed", "response": response})
    return tuple(event({**each, "sequence_number": at}, each["type"]) for at, each in enumerate(events))


def item_events(item: Json, index: int) -> list[Json]:
    at = {"item_id": item["id"], "output_index": index}
    is_call = item["type"] == "function_call"
    opened: Json = {**item, "status": "in_progress", **({"arguments": ""} if is_call else {"content": []})}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": opened},
        *(call_events(item["arguments"], at) if is_call else text_events(item["content"][0], at)),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def call_events(arguments: str, at: Json) -> list[Json]:
    kind = "response.function_call_arguments"
    grown = [{"type": f"{kind}.delta", **at, "delta": piece} for piece in halves(arguments)]
    return [*grown, {"type": f"{kind}.done", **at, "arguments": arguments}]


def text_events(part: Json, at: Json) -> list[Json]:
    at = {**at, "content_index": 0}
    kind = "response.output_text"
    grown = [
        {"type": f"{kind}.delta", **at, "delta": piece, "logprobs": []} for piece in pieces(part["text"])
    ]
    return [
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *grown,
        {"type": f"{kind}.done", **at, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
    ]
