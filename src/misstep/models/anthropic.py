"""Models behind Anthropic's API."""

import json

from misstep.core.agent import Meter
from misstep.core.model import Assistant, Chat, Message, Prompt, Reply, System, ToolCall, ToolResult, User
from misstep.core.outcome import Usage, storable
from misstep.errors import UsageError
from misstep.models.client import Json, ModelClient, count, written

MOST_TOKENS = 8192  # the API requires a number


class AnthropicModel(ModelClient):
    """Supports chat only: no text completion, no server-side conversations."""

    package = "anthropic"
    client_class = "AsyncAnthropic"
    completes = False

    async def chat(self, request: Chat, meter: Meter) -> Reply:
        parameters: Json = {"max_tokens": MOST_TOKENS, "messages": _turns(request.messages)}
        system = "\n\n".join(message.text for message in request.messages if isinstance(message, System))
        if system:
            parameters["system"] = system
        if request.tools:
            parameters["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.parameters}
                for t in request.tools
            ]
            parameters["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": not request.parallel}
        if request.stop:
            parameters["stop_sequences"] = list(request.stop)
        return await self.ask("/v1/messages", parameters, _read, meter)

    async def complete(self, request: Prompt, meter: Meter) -> Reply:  # noqa: ARG002 (the protocol's)
        raise UsageError(f"{self.name} does not support text completion", "add -A mode=chat to chat with it")


def _read(body: Json) -> Reply:
    blocks = [block for block in body.get("content") or () if isinstance(block, dict)]
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    calls = tuple(
        ToolCall(storable(str(each.get("id"))), storable(str(each.get("name"))), written(each.get("input")))
        for each in blocks
        if each.get("type") == "tool_use"
    )
    return Reply(storable(text), calls, _usage(body), storable(str(body.get("id") or "")))


def _turns(messages: tuple[Message, ...]) -> list[Json]:
    """The messages as alternating turns; tool results belong to the user's turn."""
    turns = list[Json]()
    for message in messages:
        role, blocks = _blocks(message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> tuple[str, list[Json]]:
    match message:
        case System():
            return "system", []
        case User(text):
            return "user", [{"type": "text", "text": text}]
        case ToolResult(call, text):
            return "user", [{"type": "tool_result", "tool_use_id": call, "content": text}]
        case Assistant(text, calls):
            said: list[Json] = [{"type": "text", "text": text}] if text else []
            used = [
                {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)}
                for c in calls
            ]
            return "assistant", [*said, *used]


def _usage(body: Json) -> Usage:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    fresh = count(usage.get("input_tokens"))
    return Usage(fresh + cached + written, count(usage.get("output_tokens")), cached)
