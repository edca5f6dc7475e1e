"""Server-side conversations: OpenAI's Assistants API, version 2.

OpenAI closed the service in August 2026. The SDK still has the API, and compatible servers offer it.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from misstep.core.agent import Meter
from misstep.core.model import Chat, ModelError, Reply, System, ToolCall, ToolResult, User
from misstep.core.outcome import Usage, storable
from misstep.models.client import count, written

Persist = Callable[[Callable[[], Awaitable[Any]], Meter], Awaitable[Any]]

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0
MOST_LOOKS = 12
ENDED = ("completed", "failed", "cancelled", "expired", "incomplete")


class AssistantThread:
    """One conversation, with an assistant and a thread of its own."""

    def __init__(self, beta: Any, persist: Persist, manner: dict[str, Any], request: Chat) -> None:
        self._beta = beta
        self._persist = persist
        self._manner = manner  # the model and request options
        self._request = request
        self._assistant = self._thread = self._run = ""

    async def _begin(self, meter: Meter) -> None:
        request = self._request
        instructions = "\n".join(message.text for message in request.messages if isinstance(message, System))
        asked = [message.text for message in request.messages if isinstance(message, User)]
        tools = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
            }
            for t in request.tools
        ]
        beta = self._beta
        made = await self._ask(
            lambda: beta.assistants.create(**self._manner, tools=tools, instructions=instructions), meter
        )
        self._assistant = str(made["id"])
        messages = [{"role": "user", "content": text} for text in asked]
        made = await self._ask(lambda: beta.threads.create(messages=messages), meter)
        self._thread = str(made["id"])
        made = await self._ask(
            lambda: beta.threads.runs.create(
                self._thread, assistant_id=self._assistant, parallel_tool_calls=request.parallel
            ),
            meter,
        )
        self._run = str(made["id"])

    async def next(self, meter: Meter) -> Reply:
        """Wait until the assistant calls tools or has finished."""
        if not self._run:
            await self._begin(meter)
        for pause in _pauses():
            run = await self._look(meter)
            status = run.get("status")
            if status == "requires_action":
                return Reply("", _calls(run))
            if status in ENDED:
                return await self._ended(run, meter)
            await asyncio.sleep(pause)
        raise AssertionError("there is always another pause")

    async def submit(self, results: Sequence[ToolResult], meter: Meter) -> None:
        outputs = [{"tool_call_id": result.call, "output": result.text} for result in results]
        await self._ask(
            lambda: self._beta.threads.runs.submit_tool_outputs(
                self._run, thread_id=self._thread, tool_outputs=outputs
            ),
            meter,
        )

    async def cancel(self, meter: Meter) -> None:
        """Stop the assistant, so that its tokens get counted; it may have finished already."""
        with suppress(ModelError):
            await self._ask(lambda: self._beta.threads.runs.cancel(self._run, thread_id=self._thread), meter)
        for pause in islice(_pauses(), MOST_LOOKS):
            run = await self._look(meter)
            if run.get("status") in ENDED:
                meter.spend(_usage(run))
                return
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Delete the thread and the assistant; if the server refuses, they stay."""
        for made, delete in ((self._thread, self._beta.threads), (self._assistant, self._beta.assistants)):
            if made:
                with suppress(Exception):
                    with quietly():
                        deleting = delete.delete(made)
                    await deleting

    async def _ended(self, run: dict[str, Any], meter: Meter) -> Reply:
        usage = _usage(run)
        meter.spend(usage)
        if run["status"] != "completed":
            reason = (run.get("last_error") or {}).get("message") or "no reason given"
            raise ModelError(f"the assistant's run ended as {run['status']}: {reason}")
        page = await self._ask(
            lambda: self._beta.threads.messages.list(self._thread, run_id=self._run, order="asc"), meter
        )
        parts = [part for message in page.get("data") or () for part in message.get("content") or ()]
        text = "\n".join((part.get("text") or {}).get("value") or "" for part in parts)
        return Reply(storable(text), (), usage, self._run)

    async def _look(self, meter: Meter) -> dict[str, Any]:
        return await self._ask(
            lambda: self._beta.threads.runs.retrieve(self._run, thread_id=self._thread), meter
        )

    async def _ask(self, send: Callable[[], Awaitable[Any]], meter: Meter) -> dict[str, Any]:
        async def quiet() -> Any:
            with quietly():  # the SDK warns when called, not while awaiting
                sending = send()
            return await sending

        answer: dict[str, Any] = await self._persist(quiet, meter)
        return answer


def _pauses() -> Iterator[float]:
    """Seconds between two polls of a run, increasing."""
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(LONGEST_PAUSE, 2 * pause)


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress the SDK's warnings that the service has closed: the user has been told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _calls(run: dict[str, Any]) -> tuple[ToolCall, ...]:
    wanted = ((run.get("required_action") or {}).get("submit_tool_outputs") or {}).get("tool_calls") or ()
    return tuple(_call(call, call.get("function") or {}) for call in wanted if isinstance(call, dict))


def _call(call: dict[str, Any], function: dict[str, Any]) -> ToolCall:
    id, name = (storable(str(text)) for text in (call.get("id"), function.get("name")))
    return ToolCall(id, name, written(function.get("arguments")))


def _usage(run: dict[str, Any]) -> Usage:
    usage = run.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")))
