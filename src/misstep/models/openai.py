"""Models behind OpenAI's API, which most servers support: chat, completions, responses."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

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
from misstep.core.outcome import Usage, storable
from misstep.core.spending import RateLimiters
from misstep.models.assistants import AssistantThread
from misstep.models.client import DEFAULTS, Json, ModelClient, Options, Sdk, count, written
from misstep.models.providers import Endpoint, ModelName
from misstep.schemas.answers import is_strict, without_lengths

SDK = Sdk("openai", "AsyncOpenAI")
COMPLETION_TOKENS = 1024  # the old API stops after 16 unless told otherwise


class OpenAIModel:
    """One model on one server."""

    def __init__(
        self,
        model: ModelName,
        endpoint: Endpoint,
        options: Options = DEFAULTS,
        rate_limiters: RateLimiters | None = None,
    ) -> None:
        self.name = str(model)
        self._model = model.model
        self._temperature = options.temperature
        self._keeps_lengths = not _is_openai(endpoint)
        self._line = ModelClient(model, endpoint, options, SDK, rate_limiters)

    async def chat(self, request: Chat, meter: Meter) -> Reply:
        parameters: Json = {"messages": [_chat_message(message) for message in request.messages]}
        if request.tools:
            parameters["tools"] = [{"type": "function", "function": _function(t)} for t in request.tools]
            if not request.parallel:
                parameters["parallel_tool_calls"] = False
        if request.stop:
            parameters["stop"] = list(request.stop)
        if request.form is not None:
            parameters["response_format"] = _response_format(request.form, self._keeps_lengths)
        return await self._ask("/chat/completions", parameters, self._read_chat, meter)

    async def complete(self, request: Prompt, meter: Meter) -> Reply:
        parameters: Json = {"prompt": request.text, "max_tokens": COMPLETION_TOKENS}
        if request.stop:
            parameters["stop"] = list(request.stop)
        return await self._ask("/completions", parameters, self._read_completion, meter)

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
        return await self._ask("/responses", parameters, _read_response, meter)

    def open_thread(self, request: Chat) -> Thread:
        manner = {"model": self._model, "temperature": self._temperature}
        return AssistantThread(self._line.client.beta, self._line.persist, manner, request)

    async def close(self) -> None:
        await self._line.close()

    async def _ask(
        self, endpoint: str, parameters: Json, read: Callable[[Json], Reply], meter: Meter
    ) -> Reply:
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        return await self._line.ask(endpoint, {**parameters, "model": self._model}, read, meter)

    def _read_chat(self, body: Json) -> Reply:
        message = _first_choice(body, self.name).get("message")
        if not isinstance(message, dict):
            raise ModelError(f"{self.name} answered without saying anything")
        calls = [_tool_call(call) for call in message.get("tool_calls") or () if isinstance(call, dict)]
        said = _text(message.get("content")) or _text(message.get("refusal"))
        return Reply(said, tuple(calls), _usage(body), _text(body.get("id")))

    def _read_completion(self, body: Json) -> Reply:
        text = _first_choice(body, self.name).get("text")
        return Reply(_text(text), (), _usage(body), _text(body.get("id")))


def _read_response(body: Json) -> Reply:
    items = [item for item in body.get("output") or () if isinstance(item, dict)]
    calls = [
        ToolCall(_text(item.get("call_id")), _text(item.get("name")), written(item.get("arguments")))
        for item in items
        if item.get("type") == "function_call"
    ]
    said = [_text(item.get("content")) for item in items if item.get("type") == "message"]
    return Reply("".join(said), tuple(calls), _usage(body), _text(body.get("id")))


def _is_openai(endpoint: Endpoint) -> bool:
    """Whether it is a server of OpenAI or Azure, rather than a compatible one."""
    host = urlsplit(endpoint.base_url or "https://api.openai.com").hostname or ""
    return host.endswith((".openai.com", ".azure.com"))


def _response_format(form: Json, keeps_lengths: bool) -> Json:
    """The response format; strict unless it has objects whose property names the model chooses."""
    schema = form if keeps_lengths else without_lengths(form)
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": is_strict(schema), "schema": schema},
    }


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
    """A message in the format of the Responses API, whose server already has the assistant's own messages."""
    if isinstance(message, ToolResult):
        return {"type": "function_call_output", "call_id": message.call, "output": message.text}
    return _chat_message(message)


def _first_choice(body: Json, name: str) -> Json:
    error = body.get("error")
    if error:  # some servers report errors with a success status
        told = error.get("message") if isinstance(error, dict) else error
        raise ModelError(f"{name} answered with an error: {_text(told)[:500]}")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelError(f"{name} answered without saying anything")
    return choices[0]


def _tool_call(call: Json) -> ToolCall:
    function = call.get("function") or {}
    return ToolCall(_text(call.get("id")), _text(function.get("name")), written(function.get("arguments")))


def _text(value: Any) -> str:
    """Text from a server in a form that can be sent back and stored; it may come in parts, or not at all."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return "" if value is None else storable(str(value))


def _usage(body: Json) -> Usage:
    """Token counts of either API; self-hosted servers may not report any."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details = details if isinstance(details, dict) else {}
    return Usage(
        count(usage.get("prompt_tokens") or usage.get("input_tokens")),
        count(usage.get("completion_tokens") or usage.get("output_tokens")),
        count(details.get("cached_tokens")),
    )
