"""Reads replies in OpenAI's (chat, completion, Responses, Assistants) and Anthropic's protocols."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from misstep.adapters.proxy.turn import Event, ModelCall, ModelTurn, StreamReader, number, tokens
from misstep.core.outcome import Usage

NO_USAGE = re.compile(rb',\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,\s*')


def read_completion(body: Any) -> ModelTurn | None:
    """Read the first choice; the others are alternatives that no agent acts on."""
    match body:
        case {"choices": [{"message": dict(message)}, *_]}:
            return ModelTurn(body, _calls(message), tokens(body.get("usage")))
        case {"choices": [{"text": str()}, *_]}:
            return ModelTurn(body, (), tokens(body.get("usage")))
    return None


def _calls(message: dict[str, Any]) -> tuple[ModelCall, ...]:
    """The calls of a message, including the single `function_call` of the older API."""
    listed = message.get("tool_calls")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    if isinstance(message.get("function_call"), dict):
        calls.append({"function": message["function_call"]})
    return tuple(asked(call) for call in calls)


def asked(call: dict[str, Any]) -> ModelCall:
    match call:
        case {"custom": dict(custom)}:
            return ModelCall(str(custom.get("name") or ""), custom.get("input", ""))
        case {"function": dict(function)}:
            return ModelCall(str(function.get("name") or ""), function.get("arguments", ""))
    return ModelCall("", "")


def with_usage(body: Any) -> bytes | None:
    """The request with token counts of its stream turned on; None if that is not needed."""
    if not isinstance(body, dict) or body.get("stream") is not True:
        return None
    options = body.get("stream_options") or {}
    if not isinstance(options, dict) or options.get("include_usage"):
        return None
    return json.dumps({**body, "stream_options": {**options, "include_usage": True}}).encode()


def without_usage(event: Event) -> bytes:
    """The event as it would be without token counts: no null fields, and no additional event."""
    if event.json.get("usage") and event.json.get("choices") == []:
        return b""
    if "usage" in event.json and event.json["usage"] is None:
        # A quotation mark within a text is escaped, so this matches keys only.
        return NO_USAGE.sub(b"", event.raw, count=1)
    return event.raw


class CompletionStream:
    """Deltas of the first choice; token counts come with the last chunks, or cumulatively with all."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._id: Any = ""
        self._text = ""
        self._calls = list[dict[str, Any]]()
        self._at = dict[Any, dict[str, Any]]()
        self._finish: Any = None
        self._usage: Any = None
        self._spoke = self._failed = False

    def feed(self, event: Event) -> None:
        if event.data.startswith("[DONE]"):
            self.holds = self.ended = True
            return
        if event.json.get("error"):
            self._failed = True
        self._id = event.json.get("id") or self._id
        self._usage = event.json.get("usage") or self._usage
        match event.json.get("choices"):
            case [dict(choice), *_] if choice.get("index") in (0, None):
                self._grow(choice)

    def _grow(self, choice: dict[str, Any]) -> None:
        self._spoke = True
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {"content": choice.get("text")}
        if isinstance(delta.get("content"), str):
            self._text += delta["content"]
        parts = delta.get("tool_calls")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                self._extend(part)
        if isinstance(delta.get("function_call"), dict):
            self._extend({"index": 0, "function": delta["function_call"]})
        self._finish = choice.get("finish_reason") or self._finish
        self.holds = self.holds or bool(self._finish) or len(self._calls) > 1

    def _extend(self, part: dict[str, Any]) -> None:
        call = self._growing(part)["function"]
        match part:
            case {"function": dict(function)} | {"custom": dict(function)}:
                call["name"] = call["name"] or str(function.get("name") or "")
                given = function.get("arguments", function.get("input"))
                call["arguments"] += given if isinstance(given, str) else json.dumps(given) if given else ""

    def _growing(self, part: dict[str, Any]) -> dict[str, Any]:
        """The call that a part belongs to. Some servers send no index, or the same one for all calls."""
        index, id = part.get("index"), str(part.get("id") or "")
        known = self._at.get(index) if isinstance(index, int) else next(reversed(self._calls), None)
        if known is None or (id and known["id"] and id != known["id"]):
            known = {"id": id, "function": {"name": "", "arguments": ""}}
            self._calls.append(known)
        known["id"] = known["id"] or id
        if isinstance(index, int):
            self._at[index] = known
        return known

    def turn(self) -> ModelTurn | None:
        if self._failed or not self._spoke:
            return None
        message = {"role": "assistant", "content": self._text, "tool_calls": copy.deepcopy(self._calls)}
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        reply = {"id": self._id, "choices": [choice], "usage": self._usage}
        return ModelTurn(reply, tuple(map(asked, self._calls)), tokens(self._usage))


def read_message(body: Any) -> ModelTurn | None:
    match body:
        case {"type": "message", "content": [*blocks]}:
            uses = [block for block in blocks if _is_tool_use(block)]
            calls = tuple(ModelCall(str(use.get("name") or ""), use.get("input", "")) for use in uses)
            return ModelTurn(body, calls, _tokens(body.get("usage")))
    return None


def _is_tool_use(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _tokens(usage: Any) -> Usage:
    """Tokens of a reply; `input_tokens` does not include cached ones here."""
    if not isinstance(usage, dict):
        return Usage()
    cached = number(usage.get("cache_read_input_tokens"))
    fresh = number(usage.get("input_tokens")) + number(usage.get("cache_creation_input_tokens"))
    return Usage(fresh + cached, number(usage.get("output_tokens")), cached)


class MessageStream:
    """Blocks one after the other, each with start, deltas and stop; tokens at the start and the end."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._message: dict[str, Any] | None = None
        self._usage = dict[str, Any]()
        self._blocks = dict[Any, dict[str, Any]]()

    def feed(self, event: Event) -> None:
        match event.json:
            case {"type": "message_start", "message": dict(message)}:
                self._message = message
                self._count(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = block
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                self._grow(self._blocks.setdefault(index, {}), delta)
            case {"type": "content_block_stop", "index": int(index)}:
                self.holds = self.holds or _is_tool_use(self._blocks.get(index))
            case {"type": "message_delta", **rest}:
                self.holds = True
                self._count(rest.get("usage"))
            case {"type": "message_stop"}:
                self.holds = self.ended = True
            case {"type": "error"}:
                self._message = None

    def _count(self, usage: Any) -> None:
        """Later counts include the earlier ones."""
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count is not None}

    def _grow(self, block: dict[str, Any], delta: dict[str, Any]) -> None:
        match delta:
            case {"partial_json": str(piece)}:
                written = block.get("input")
                block["input"] = (written if isinstance(written, str) else "") + piece
            case {"text": str(piece)}:
                block["text"] = str(block.get("text") or "") + piece

    def turn(self) -> ModelTurn | None:
        if self._message is None:
            return None
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return read_message({**self._message, "type": "message", "content": blocks, "usage": self._usage})


SPOKEN = ("completed", "incomplete")
OVER = tuple(f"response.{status}" for status in (*SPOKEN, "failed", "cancelled"))
CALL_WRITTEN = ("response.function_call_arguments.done", "response.custom_tool_call_input.done")


def read_response(body: Any) -> ModelTurn | None:
    """Read a finished response; one that runs in the background is polled until then."""
    match body:
        case {"output": [*items], **rest}:
            status = rest.get("status") or "completed"
            usage, key = tokens(rest.get("usage")), f"{rest.get('id')}"
            if status in SPOKEN:
                calls = [item for item in items if _is_call(item)]
                return ModelTurn(body, tuple(map(_asked, calls)), usage, key)
            if status in ("failed", "cancelled"):
                return ModelTurn(body, (), usage, key, counts=False)
    return None


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call")


def _asked(item: dict[str, Any]) -> ModelCall:
    given = item.get("arguments" if item["type"] == "function_call" else "input")
    return ModelCall(str(item.get("name") or ""), given)


class ResponseStream:
    """Items one after the other; the last event should repeat all of them."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._items = list[Any]()
        self._response: dict[str, Any] | None = None

    def feed(self, event: Event) -> None:
        match event.json:
            case {"type": "response.output_item.done", "item": item}:
                self._items.append(item)
                self.holds = self.holds or _is_call(item)
            case {"type": "response.created", "response": dict(response)}:
                self._response = {**response, "status": "completed"}
            case {"type": kind, "response": dict(response)} if kind in OVER:
                self._response = response
                self.holds = self.ended = True
            case {"type": kind} if kind in CALL_WRITTEN:
                self.holds = True
            case {"type": "error"}:
                self._response = None

    def turn(self) -> ModelTurn | None:
        if self._response is None or not (self.ended or self._items):
            return None
        return read_response({**self._response, "output": self._response.get("output") or self._items})


def read_run(body: Any) -> ModelTurn | None:
    """What a run waits for or ended with. Its tokens are reported only when it is finished."""
    match body:
        case {
            "object": "thread.run",
            "status": "requires_action",
            "required_action": {"submit_tool_outputs": {"tool_calls": [*listed]}},
        }:
            calls = [call for call in listed if isinstance(call, dict)]
            key = " ".join(str(call.get("id")) for call in calls)
            return ModelTurn(body, tuple(map(asked, calls)), key=f"{body.get('id')} {key}")
        case {"object": "thread.run", "status": "requires_action", "required_action": dict()}:
            return None
        case {"object": "thread.run", "status": "completed" | "incomplete" as status}:
            return ModelTurn(body, (), tokens(body.get("usage")), f"{body.get('id')} {status}")
        case {"object": "thread.run", "status": status, "usage": dict(usage)}:
            return ModelTurn(body, (), tokens(usage), f"{body.get('id')} {status}", counts=False)
    return None


class RunStream:
    """Contains, among other events, the run each time its status changes."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._turn: ModelTurn | None = None

    def feed(self, event: Event) -> None:
        self._turn = read_run(event.json) or self._turn
        self.ended = self.ended or event.data.startswith("[DONE]")
        self.holds = self.holds or self.ended or self._turn is not None

    def turn(self) -> ModelTurn | None:
        return self._turn


class ReplyFormat(msgspec.Struct, frozen=True):
    """How to read the replies of an endpoint."""

    read: Callable[[Any], ModelTurn | None]
    stream: Callable[[], StreamReader]
    speaks: bool = True  # the model generates a reply; False for status requests
    asks_usage: bool = False  # streams report tokens only on request


def endpoint_of(method: str, path: str) -> ReplyFormat | None:
    """The endpoint of a path; None if its replies are not read."""
    parts = path.strip("/").split("/")
    posts = method == "POST"
    if "threads" in parts or "conversations" in parts:
        speaks = posts and parts[-1] in ("runs", "submit_tool_outputs")
        return ReplyFormat(read_run, RunStream, speaks)
    match parts:
        case [*_, "completions"] if posts:
            return ReplyFormat(read_completion, CompletionStream, asks_usage=True)
        case [*_, "messages"] if posts:
            return ReplyFormat(read_message, MessageStream)
        case [*_, "responses"] if posts:
            return ReplyFormat(read_response, ResponseStream)
        case [*_, "responses", _] if method == "GET":
            return ReplyFormat(read_response, ResponseStream, speaks=False)
    return None
