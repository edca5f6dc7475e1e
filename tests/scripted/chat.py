"""Chat completions: the messages of the request are all the model knows."""

from tests.scripted.decisions import Situation, complete, next_calls
from tests.scripted.parts import (
    CREATED,
    ApiError,
    Ids,
    Json,
    check_objects,
    cut,
    function_names,
    halves,
    need,
    pieces,
    text_of,
    words,
)
from tests.scripted.script import Call, Script
from tests.scripted.wire import Reply, event


def answer_chat(script: Script, ids: Ids, body: Json) -> Reply:
    need(body, "model", "messages")
    check_objects(body["messages"], "messages", "role")
    check_pairs(body["messages"])
    calls = next_calls(script, situation(body)) if body.get("tools") else []
    text = None if calls else cut(in_words(script, body), body.get("stop"))
    message: Json = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message["tool_calls"] = [tool_call(ids, call) for call in calls]
    usage = count(words(body["messages"]) + words(body.get("tools")), spoken(text, calls))
    head = {"id": ids.new("chatcmpl-"), "created": CREATED, "model": body["model"]}
    if body.get("stream"):
        return Reply(events=stream(head, message, usage, include_usage(body)))
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(message)}
    return Reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def situation(body: Json) -> Situation:
    """The last message of the user is the request; what follows it is the model's progress."""
    messages = body["messages"]
    last = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1)
    made = sum(len(message.get("tool_calls") or ()) for message in messages[last + 1 :])
    tools = [] if body.get("tool_choice") == "none" else function_names(body.get("tools"))
    request = text_of(messages[last]["content"]) if last >= 0 else ""
    return Situation(request, tools, made, body.get("parallel_tool_calls") is not False)


def in_words(script: Script, body: Json) -> str:
    """The answer, or the next step in words where the messages themselves list tools as a prompt would."""
    prompt = "\n".join(text_of(message.get("content")) for message in body["messages"])
    listed = not body.get("tools") and script.find_tools(prompt)
    if listed:
        return complete(script, prompt)
    return script.answer_to(prompt) if script.answer_to else script.answer


def check_pairs(messages: list[Json]) -> None:
    """OpenAI refuses calls without results right after them, as it does results without calls."""
    open_calls: list[str] = []
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            settle(open_calls, message.get("tool_call_id"), at)
        elif open_calls:
            raise ApiError(
                400,
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}",
                param=f"messages.[{at}].role",
            )
        else:
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]


def settle(open_calls: list[str], call_id: str | None, at: int) -> None:
    if call_id not in open_calls:
        message = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        raise ApiError(400, f"Invalid parameter: {message}", param=f"messages.[{at}].role")
    open_calls.remove(call_id)


def tool_call(ids: Ids, call: Call) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": ids.new("call_"), "type": "function", "function": function}


def spoken(text: str | None, calls: list[Call]) -> int:
    return words(text) + sum(words(call.name) + words(call.arguments) for call in calls)


def count(prompt: int, completion: int) -> Json:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def include_usage(body: Json) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


def finish(message: Json) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def stream(head: Json, message: Json, usage: Json, with_usage: bool) -> tuple[str, ...]:
    """The message in chunks, then the usage if it was asked for, then the end mark."""
    head = {**head, "object": "chat.completion.chunk", **({"usage": None} if with_usage else {})}
    deltas: list[Json] = [
        {"role": "assistant", "content": None if message.get("tool_calls") else "", "refusal": None}
    ]
    deltas += [{"content": piece} for piece in pieces(message["content"] or "")]
    deltas += [{"tool_calls": [part]} for part in call_parts(message.get("tool_calls", []))]
    choices: list[Json] = [
        {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish(message)})
    chunks = [{**head, "choices": [choice]} for choice in choices]
    if with_usage:
        chunks.append({**head, "choices": [], "usage": usage})
    return (*map(event, chunks), event("[DONE]"))


def call_parts(calls: list[Json]) -> list[Json]:
    """The id and the name of a call come first, then its arguments piece by piece."""
    parts = list[Json]()
    for index, call in enumerate(calls):
        parts.append({**call, "index": index, "function": {**call["function"], "arguments": ""}})
        parts += [
            {"index": index, "function": {"arguments": piece}}
            for piece in halves(call["function"]["arguments"])
        ]
    return parts
