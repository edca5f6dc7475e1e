"""Models behind OpenAI's API, which most servers support: chat, completions, responses, assistants."""

import asyncio
import math
import warnings
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
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
from misstep.models.client import Json, ModelClient, count, written
from misstep.models.providers import Endpoint
from misstep.schemas.answers import is_strict, without_lengths

COMPLETION_TOKENS = 1024  # the old API stops after 16 unless told otherwise


class OpenAIModel(ModelClient):
    package = "openai"
    client_class = "AsyncOpenAI"

    async def chat(self, request: Chat, meter: Meter) -> Reply:
        parameters: Json = {"messages": [_chat_message(message) for message in request.messages]}
        if request.tools:
            parameters["tools"] = [{"type": "function", "function": _function(t)} for t in request.tools]
            if not request.parallel:
                parameters["parallel_tool_calls"] = False
        if request.stop:
            parameters["stop"] = list(request.stop)
        if request.form is not None:
            parameters["response_format"] = _response_format(request.form, self._endpoint)
        return await self.ask("/chat/completions", parameters, self._read_chat, meter)

    async def complete(self, request: Prompt, meter: Meter) -> Reply:
        parameters: Json = {"prompt": request.text, "max_tokens": COMPLETION_TOKENS}
        if request.stop:
            parameters["stop"] = list(request.stop)
        return await self.ask("/completions", parameters, self._read_completion, meter)

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
        return await self.ask("/responses", parameters, _read_response, meter)

    def open_thread(self, request: Chat) -> Thread:
        manner = {"model": self._model, "temperature": self._temperature}
        return AssistantThread(self, manner, request)

    def _read_chat(self, body: Json) -> Reply:
        message = _first_choice(body, self.name).get("message")
        if not isinstance(message, dict):
            raise ModelError(f"{self.name} sent an empty answer")
        said = _text(message.get("content")) or _text(message.get("refusal"))
        return Reply(said, _tool_calls(message), _usage(body), _text(body.get("id")))

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


def _response_format(form: Json, endpoint: Endpoint) -> Json:
    """The response format; strict unless it has objects whose property names the model chooses."""
    host = urlsplit(endpoint.base_url or "https://api.openai.com").hostname or ""
    is_compatible = not host.endswith((".openai.com", ".azure.com"))
    schema = form if is_compatible else without_lengths(form)
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
        raise ModelError(f"{name} sent an empty answer")
    return choices[0]


def _tool_calls(asked: Json) -> tuple[ToolCall, ...]:
    calls = [call for call in asked.get("tool_calls") or () if isinstance(call, dict)]
    functions = [call.get("function") or {} for call in calls]
    return tuple(
        ToolCall(_text(call.get("id")), _text(function.get("name")), written(function.get("arguments")))
        for call, function in zip(calls, functions, strict=True)
    )


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


Send = Callable[..., Awaitable[Any]]

FIRST_PAUSE = 0.02  # seconds between two polls of a run
LONGEST_PAUSE = 1.0
MOST_LOOKS = 12
ENDED = ("completed", "failed", "cancelled", "expired", "incomplete")


class AssistantThread:
    """A conversation in OpenAI's Assistants API, version 2, with an assistant and a thread of its own.

    OpenAI closed the service in August 2026. The SDK still has the API, and compatible servers offer it.
    """

    def __init__(self, client: ModelClient, manner: Json, request: Chat) -> None:
        self._beta = client.client.beta
        self._persist = client.persist
        self._manner = manner  # the model and request options
        self._request = request
        self._assistant = self._thread = self._run = ""

    async def _begin(self, meter: Meter) -> None:
        request, threads = self._request, self._beta.threads
        instructions = "\n".join(message.text for message in request.messages if isinstance(message, System))
        asked = [message for message in request.messages if isinstance(message, User)]
        tools = [{"type": "function", "function": _function(tool)} for tool in request.tools]
        assistant = {**self._manner, "tools": tools, "instructions": instructions}
        made = await self._ask(meter, self._beta.assistants.create, **assistant)
        self._assistant = str(made["id"])
        made = await self._ask(meter, threads.create, messages=[_chat_message(each) for each in asked])
        self._thread = str(made["id"])
        run = {"assistant_id": self._assistant, "parallel_tool_calls": request.parallel}
        made = await self._ask(meter, threads.runs.create, self._thread, **run)
        self._run = str(made["id"])

    async def next(self, meter: Meter) -> Reply:
        if not self._run:
            await self._begin(meter)
        run = await self._wait(meter, ("requires_action", *ENDED))
        if run["status"] in ENDED:
            return await self._ended(run, meter)
        return Reply("", _tool_calls((run.get("required_action") or {}).get("submit_tool_outputs") or {}))

    async def submit(self, results: Sequence[ToolResult], meter: Meter) -> None:
        outputs = [{"tool_call_id": result.call, "output": result.text} for result in results]
        send = self._beta.threads.runs.submit_tool_outputs
        await self._ask(meter, send, self._run, thread_id=self._thread, tool_outputs=outputs)

    async def cancel(self, meter: Meter) -> None:
        """Stop the assistant, so that its tokens get counted; it may have finished already."""
        with suppress(ModelError):
            await self._ask(meter, self._beta.threads.runs.cancel, self._run, thread_id=self._thread)
        run = await self._wait(meter, ENDED, MOST_LOOKS)
        if run.get("status") in ENDED:
            meter.spend(_usage(run))

    async def close(self) -> None:
        """Delete the thread and the assistant; if the server refuses, they stay."""
        for made, kind in ((self._thread, self._beta.threads), (self._assistant, self._beta.assistants)):
            if made:
                with suppress(Exception):
                    await _quietly(kind.delete, made)

    async def _wait(self, meter: Meter, until: Sequence[str], most: float = math.inf) -> Json:
        """The run once it has one of these statuses, or after this many looks."""
        looks, pause = 1, FIRST_PAUSE
        while True:
            run = await self._ask(meter, self._beta.threads.runs.retrieve, self._run, thread_id=self._thread)
            if run.get("status") in until or looks >= most:
                return run
            await asyncio.sleep(pause)
            looks, pause = looks + 1, min(LONGEST_PAUSE, 2 * pause)

    async def _ended(self, run: Json, meter: Meter) -> Reply:
        usage = _usage(run)
        meter.spend(usage)
        if run["status"] != "completed":
            reason = (run.get("last_error") or {}).get("message") or "no reason given"
            raise ModelError(f"the assistant's run ended as {run['status']}: {reason}")
        list_messages = self._beta.threads.messages.list
        page = await self._ask(meter, list_messages, self._thread, run_id=self._run, order="asc")
        parts = [part for message in page.get("data") or () for part in message.get("content") or ()]
        text = "\n".join((part.get("text") or {}).get("value") or "" for part in parts)
        return Reply(storable(text), (), usage, self._run)

    async def _ask(self, meter: Meter, send: Send, *args: str, **options: Any) -> Json:
        answer: Json = await self._persist(lambda: _quietly(send, *args, **options), meter)
        return answer


async def _quietly(send: Send, *args: str, **options: Any) -> Any:
    """Send without the SDK's warnings that the service has closed: the user has been told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        sending = send(*args, **options)  # warns when called, not while awaiting
    return await sending
