"""Models behind OpenAI's interface, which most servers speak: chat, completions, responses."""

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

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
from misstep.core.secrets import Redactor
from misstep.core.transcript import Usage
from misstep.errors import MissingExtra
from misstep.models.cache import ReplyCache
from misstep.models.patience import Patience, Trouble, retry_after
from misstep.models.providers import Endpoint, ModelName
from misstep.models.threads import AssistantThread
from misstep.models.throttle import Throttle

CONNECT_SECONDS = 10.0
LONGEST_REQUEST = 3600.0  # the case's own limit is what counts
COMPLETION_TOKENS = 1024  # the old interface stops after 16 unless told otherwise
DISPENSABLE = ("temperature", "parallel_tool_calls", "stop")  # parameters that some models refuse

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True):
    """How a model is to be asked."""

    temperature: float | None = 0.0
    retries: int = 6
    in_flight: int = 16
    per_minute: float | None = None
    cache: str = ""


DEFAULTS = Options()


class OpenAIModel:
    """One model on one server."""

    def __init__(self, model: ModelName, endpoint: Endpoint, options: Options = DEFAULTS) -> None:
        self.name = str(model)
        self._model = model.model
        self._endpoint = endpoint
        self._temperature = options.temperature
        self._refused = set[str]()
        self._redact = Redactor([endpoint.key] if len(endpoint.key) > 4 else [])
        self._cache = ReplyCache(options.cache) if options.cache else None
        self._patience = Patience(options.retries, Throttle(options.in_flight, options.per_minute))
        self._client: Any = None

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
        thread = AssistantThread(self._open_client().beta, self._persist)
        try:
            await thread.begin(self._model, request, meter)
        except BaseException:
            await thread.close()
            raise
        return thread

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, endpoint: str, parameters: Json, meter: Meter) -> Json:
        """The body of the reply. Tokens are told to the meter, unless the reply was in the cache."""
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        parameters["model"] = self._model
        whole = {"url": self._endpoint.base_url, "endpoint": endpoint, **parameters}
        kept = self._cache.get(whole) if self._cache else None
        if isinstance(kept, dict):
            return {**kept, "usage": None}
        body: Json = await self._persist(lambda: self._send(endpoint, parameters), meter)
        meter.spend(_usage(body))
        if self._cache:
            self._cache.put(whole, body)
        return body

    async def _persist(self, send: Callable[[], Awaitable[Any]], meter: Meter) -> Any:
        """What the SDK answers, as plain data; its errors become `Trouble` or a `ModelError`."""
        import openai

        async def once() -> Any:
            try:
                answer = await send()
                return answer.to_dict(mode="json") if hasattr(answer, "to_dict") else answer
            except openai.APIStatusError as error:
                raise self._status_error(error) from None
            except openai.APIConnectionError as error:
                cause = f": {error.__cause__}" if error.__cause__ else ""
                raise Trouble(self._told(f"can't be reached{cause}")) from None
            except (json.JSONDecodeError, openai.APIResponseValidationError, AttributeError) as error:
                raise Trouble(self._told(f"gave an answer that makes no sense: {error}")) from None

        return await self._patience.persist(once, meter)

    async def _send(self, endpoint: str, parameters: Json) -> Any:
        """One request; a parameter that the model refuses is left out from then on."""
        import openai

        resource = self._open_client()
        for part in endpoint.split("."):
            resource = getattr(resource, part)
        while True:
            allowed = {name: value for name, value in parameters.items() if name not in self._refused}
            try:
                return await resource.create(**allowed)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refused = _refused_parameter(error)
                if refused not in allowed:
                    raise
                self._refused.add(refused)

    def _open_client(self) -> Any:
        if self._client is None:
            try:
                import openai
            except ImportError:
                raise MissingExtra("the OpenAI SDK", "openai") from None
            self._client = openai.AsyncOpenAI(
                base_url=self._endpoint.base_url or os.environ.get("OPENAI_BASE_URL"),
                api_key=self._endpoint.key,
                max_retries=0,  # ours know about the other cases
                timeout=openai.Timeout(LONGEST_REQUEST, connect=CONNECT_SECONDS),
            )
        return self._client

    def _status_error(self, error: Any) -> Exception:
        status, code = error.status_code, getattr(error, "code", None)
        told = self._told(f"answered {status}: {_reason(error)}")
        if status == 429 and code != "insufficient_quota":
            return Trouble(told, busy=True, retry_after=retry_after(error.response.headers))
        if status >= 500 or status in (408, 409):
            return Trouble(told, retry_after=retry_after(error.response.headers))
        return ModelError(told)

    def _told(self, text: str) -> str:
        return self._redact(f"{self.name} {text}")


def _reason(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or error.message)[:500]


def _refused_parameter(error: Any) -> str:
    """The dispensable parameter that a refusal is about, if it is about one."""
    named = getattr(error, "param", None)
    if named in DISPENSABLE:
        return str(named)
    return next((name for name in DISPENSABLE if f"'{name}'" in _reason(error)), "")


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
