"""Models behind OpenAI's interface, which most servers speak: chat, completions, responses."""

import json
import os
from collections.abc import Sequence
from typing import Any

from misstep.core.agent import Meter, Tool
from misstep.core.model import (
    Assistant,
    Chat,
    Message,
    ModelError,
    Prompt,
    Reply,
    System,
    Thread,
    ToolCall,
    ToolResult,
    User,
)
from misstep.core.transcript import Usage
from misstep.models.line import CONNECT_SECONDS, DEFAULTS, LONGEST_REQUEST, Json, Line, Options, Sdk
from misstep.models.providers import Endpoint, ModelName
from misstep.models.threads import AssistantThread

COMPLETION_TOKENS = 1024  # the old interface stops after 16 unless told otherwise


def _make_client(openai: Any, endpoint: Endpoint) -> Any:
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url or os.environ.get("OPENAI_BASE_URL"),
        api_key=endpoint.key,
        max_retries=0,
        timeout=openai.Timeout(LONGEST_REQUEST, connect=CONNECT_SECONDS),
    )


class OpenAIModel:
    """One model on one server."""

    def __init__(self, model: ModelName, endpoint: Endpoint, options: Options = DEFAULTS) -> None:
        self.name = str(model)
        self._model = model.model
        self._temperature = options.temperature
        self._line = Line(model, endpoint, options, Sdk("openai", _make_client))

    async def chat(self, request: Chat, meter: Meter) -> Reply:
        parameters: Json = {"messages": [_chat_message(message) for message in request.messages]}
        if request.tools:
            parameters["tools"] = [{"type": "function", "function": _function(t)} for t in request.tools]
            if not request.parallel:
                parameters["parallel_tool_calls"] = False
        if request.stop:
            parameters["stop"] = list(request.stop)
        body = await self._ask("chat.completions", parameters, meter)
        message = _first_choice(body, self.name).get("message") or {}
        calls = [_tool_call(call) for call in message.get("tool_calls") or ()]
        return Reply(message.get("content") or "", tuple(calls), _usage(body), str(body.get("id", "")))

    async def complete(self, request: Prompt, meter: Meter) -> Reply:
        parameters: Json = {"prompt": request.text, "max_tokens": COMPLETION_TOKENS}
        if request.stop:
            parameters["stop"] = list(request.stop)
        body = await self._ask("completions", parameters, meter)
        text = _first_choice(body, self.name).get("text") or ""
        return Reply(text, (), _usage(body), str(body.get("id", "")))

    async def respond(self, request: Chat, earlier: str, meter: Meter) -> Reply:
        parameters: Json = {"input": [_item(message) for message in request.messages]}
        if request.tools:
            parameters["tools"] = [
                {"type": "function", "strict": False, **_function(t)} for t in request.tools
            ]
            if not request.parallel:
                parameters["parallel_tool_calls"] = False
        if earlier:
            parameters["previous_response_id"] = earlier
        body = await self._ask("responses", parameters, meter)
        items = body.get("output") or []
        calls = [
            ToolCall(str(item.get("call_id")), str(item.get("name")), _as_text(item.get("arguments")))
            for item in items
            if item.get("type") == "function_call"
        ]
        return Reply(_output_text(items), tuple(calls), _usage(body), str(body.get("id", "")))

    async def open_thread(self, request: Chat, meter: Meter) -> Thread:
        thread = AssistantThread(self._line.client.beta, self._line.persist)
        try:
            await thread.begin(self._model, request, meter)
        except BaseException:
            await thread.close()
            raise
        return thread

    async def close(self) -> None:
        await self._line.close()

    async def _ask(self, endpoint: str, parameters: Json, meter: Meter) -> Json:
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        return await self._line.ask(endpoint, {**parameters, "model": self._model}, _usage, meter)


def _function(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _chat_message(message: Message) -> Json:
    match message:
        case System(text):
            return {"role": "system", "content": text}
        case User(text):
            return {"role": "user", "content": text}
        case ToolResult(call, text):
            return {"role": "tool", "tool_call_id": call, "content": text}
        case Assistant(text, calls):
            said: Json = {"role": "assistant", "content": text}
            if calls:
                said["tool_calls"] = [
                    {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                    for c in calls
                ]
            return said


def _item(message: Message) -> Json:
    """A message as the Responses interface takes it; what the assistant said is on the server already."""
    match message:
        case System(text):
            return {"role": "system", "content": text}
        case User(text):
            return {"role": "user", "content": text}
        case ToolResult(call, text):
            return {"type": "function_call_output", "call_id": call, "output": text}
        case Assistant():
            raise ValueError("the server remembers what the assistant said")


def _first_choice(body: Json, name: str) -> Json:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelError(f"{name} answered without saying anything")
    return choices[0]


def _tool_call(call: Json) -> ToolCall:
    function = call.get("function") or {}
    return ToolCall(str(call.get("id")), str(function.get("name")), _as_text(function.get("arguments")))


def _as_text(arguments: Any) -> str:
    """Arguments as text; some servers send them as an object, or not at all."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _output_text(items: Sequence[Json]) -> str:
    parts = [part for item in items if item.get("type") == "message" for part in item.get("content") or ()]
    return "".join(part.get("text") or "" for part in parts)


def _usage(body: Json) -> Usage:
    """Tokens as either interface counts them; servers of one's own may not count at all."""
    usage = body.get("usage") or {}
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    return Usage(
        int(usage.get("prompt_tokens") or usage.get("input_tokens") or 0),
        int(usage.get("completion_tokens") or usage.get("output_tokens") or 0),
        int(details.get("cached_tokens") or 0),
    )
