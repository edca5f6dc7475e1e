"""Chat completions, and text completions, which look the same but for their calls."""

import json
import re
from typing import Any

from misstep.adapters.proxy.reading.events import Event
from misstep.adapters.proxy.reading.turn import Asked, Turn, tokens

NO_USAGE = re.compile(rb',\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,\s*')


def read_completion(body: Any) -> Turn | None:
    """The first choice counts; the others are alternatives that no agent acts on."""
    match body:
        case {"choices": [{"message": dict(message)}, *_]}:
            return Turn(body, _calls(message), tokens(body.get("usage")))
        case {"choices": [{"text": str()}, *_]}:
            return Turn(body, (), tokens(body.get("usage")))
    return None


def _calls(message: dict[str, Any]) -> tuple[Asked, ...]:
    """The calls of a message, with the single one of the older protocol."""
    listed = message.get("tool_calls")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    if isinstance(message.get("function_call"), dict):
        calls.append({"function": message["function_call"]})
    return tuple(asked(call) for call in calls)


def asked(call: dict[str, Any]) -> Asked:
    match call:
        case {"custom": dict(custom)}:
            return Asked(str(custom.get("name") or ""), custom.get("input", ""))
        case {"function": dict(function)}:
            return Asked(str(function.get("name") or ""), function.get("arguments", ""))
    return Asked("", "")


def with_usage(body: Any) -> bytes | None:
    """The request with the wish to be told the tokens of its stream; None if that's not needed."""
    if not isinstance(body, dict) or body.get("stream") is not True:
        return None
    options = body.get("stream_options") or {}
    if not isinstance(options, dict) or options.get("include_usage"):
        return None
    return json.dumps({**body, "stream_options": {**options, "include_usage": True}}).encode()


def without_usage(event: Event) -> bytes:
    """An event as it would be had nobody asked for tokens: then all others say null, and one more comes."""
    if event.json.get("usage") and event.json.get("choices") == []:
        return b""
    if "usage" in event.json and event.json["usage"] is None:
        # A quotation mark within a text has a backslash before it, so this finds keys only.
        return NO_USAGE.sub(b"", event.raw, count=1)
    return event.raw


class _Growing:
    """A call that is still being written."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.name = ""
        self.arguments = ""

    @property
    def whole(self) -> dict[str, Any]:
        return {"id": self.id, "function": {"name": self.name, "arguments": self.arguments}}


class CompletionStream:
    """Deltas of the first choice; tokens come with the last chunks, or with all of them, growing."""

    def __init__(self) -> None:
        self.holds = self.ended = False
        self._id: Any = ""
        self._text = ""
        self._calls = list[_Growing]()
        self._at = dict[Any, _Growing]()
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
        call = self._growing(part)
        match part:
            case {"function": dict(function)} | {"custom": dict(function)}:
                call.name = call.name or str(function.get("name") or "")
                given = function.get("arguments", function.get("input"))
                call.arguments += given if isinstance(given, str) else json.dumps(given) if given else ""

    def _growing(self, part: dict[str, Any]) -> _Growing:
        """The call that a part belongs to. Some servers number no calls, or number all of them alike."""
        index, id = part.get("index"), str(part.get("id") or "")
        known = self._at.get(index) if isinstance(index, int) else next(reversed(self._calls), None)
        if known is None or (id and known.id and id != known.id):
            known = _Growing(id)
            self._calls.append(known)
        known.id = known.id or id
        if isinstance(index, int):
            self._at[index] = known
        return known

    def turn(self) -> Turn | None:
        if self._failed or not self._spoke:
            return None
        calls = [call.whole for call in self._calls]
        message = {"role": "assistant", "content": self._text, "tool_calls": calls}
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        reply = {"id": self._id, "choices": [choice], "usage": self._usage}
        return Turn(reply, tuple(asked(call) for call in calls), tokens(self._usage))
