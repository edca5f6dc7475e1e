"""Anthropic's messages: the same script behind the other interface that agents talk to."""

import json

from tests.scripted.chat import spoken
from tests.scripted.decisions import Situation, next_calls
from tests.scripted.parts import ApiError, Ids, Json, check_objects, cut, need, text_of, words
from tests.scripted.script import Call, Script
from tests.scripted.wire import Reply


def answer_messages(script: Script, ids: Ids, body: Json) -> Reply:
    need(body, "model", "messages", "max_tokens")
    check_objects(body["messages"], "messages", "role")
    check_turns(body["messages"])
    calls = next_calls(script, situation(body)) if body.get("tools") else []
    text = "" if calls else cut(script.answer, body.get("stop_sequences"))
    content = [tool_use(ids, call) for call in calls] or [{"type": "text", "text": text}]
    asked = words(body["messages"]) + words(body.get("tools")) + words(body.get("system"))
    usage = {"input_tokens": asked, "output_tokens": spoken(text, calls)}
    head = {"id": ids.new("msg_"), "type": "message", "role": "assistant", "model": body["model"]}
    reason = "tool_use" if calls else "end_turn"
    return Reply({**head, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage})


def situation(body: Json) -> Situation:
    """The last words of the user are the request; the calls that follow are the model's progress."""
    said = [(turn["role"], block) for turn in body["messages"] for block in blocks_of(turn)]
    asked = [at for at, (role, block) in enumerate(said) if (role, block["type"]) == ("user", "text")]
    made = sum(block["type"] == "tool_use" for _, block in said[asked[-1] if asked else 0 :])
    parallel = not (body.get("tool_choice") or {}).get("disable_parallel_tool_use")
    request = text_of([said[asked[-1]][1]]) if asked else ""
    return Situation(request, [tool["name"] for tool in body["tools"]], made, parallel)


def blocks_of(turn: Json) -> list[Json]:
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def check_turns(messages: list[Json]) -> None:
    """Calls need results in the very next turn; sides take turns."""
    wanted: set[str] = set()
    for before, turn in zip([{"role": None}, *messages], messages, strict=False):
        if turn["role"] == before["role"]:
            raise ApiError(400, "messages: roles must alternate between user and assistant")
        given = {block["tool_use_id"] for block in blocks_of(turn) if block["type"] == "tool_result"}
        if given != wanted:
            raise ApiError(400, f"messages: tool_use ids {sorted(wanted)} got results {sorted(given)}")
        wanted = {block["id"] for block in blocks_of(turn) if block["type"] == "tool_use"}


def tool_use(ids: Ids, call: Call) -> Json:
    return {
        "type": "tool_use",
        "id": ids.new("toolu_"),
        "name": call.name,
        "input": json.loads(call.arguments),
    }
