"""A server that says what it is told to, for protocols and bad manners that the scripted one doesn't have."""

import asyncio
import threading
from collections import deque
from contextlib import closing
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.scripted.wire import Recorded, Reply, event, read_request, write_reply


@dataclass(frozen=True)
class Canned:
    """A reply, of which only the first `events_sent` events get through before the connection breaks."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    events_sent: int | None = None

    @property
    def share(self) -> float:
        return 1.0 if self.events_sent is None else (self.events_sent + 0.5) / len(self.events)


class CannedServer:
    """Gives one reply after the other while its `with` block runs."""

    def __init__(self, *replies: Canned) -> None:
        self._replies = deque(replies)
        self.requests = list[Recorded]()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            while request := await read_request(reader):
                self.requests.append(request)
                reply = self._replies.popleft()
                sent = Reply(reply.body, reply.status, reply.headers, reply.events)
                await write_reply(writer, sent, reply.share)
                if reply.events_sent is not None:
                    return


def sse(*data: Any) -> tuple[str, ...]:
    """Events as Anthropic and the Assistants name them: by their type."""
    return tuple(event(each, each.get("type") or each.get("event")) for each in data)


def message(*content: Any) -> dict[str, Any]:
    """A message of Anthropic's. Of 107 tokens read, 5 are written to the cache and 100 come out of it."""
    usage = {"input_tokens": 2, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 9},
    }


def message_events(*uses: tuple[str, str]) -> tuple[str, ...]:
    """A message that says something, then uses tools, each given by its name and the JSON of its input."""
    begun = message()
    begun |= {"stop_reason": None, "usage": {**begun["usage"], "output_tokens": 1}}
    events: list[Any] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    events += block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Let me see."})
    for index, (name, given) in enumerate(uses, 1):
        opened = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
        halves = given[: len(given) // 2], given[len(given) // 2 :]
        deltas = [{"type": "input_json_delta", "partial_json": half} for half in halves]
        events += block(index, opened, *deltas)
    ended = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}})
    return sse(*events, {"type": "message_stop"})


def block(index: int, opened: Any, *deltas: Any) -> list[Any]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def run(status: str, *calls: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A run of the Assistants protocol, as much of it as one has to know."""
    listed = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(calls)
    ]
    action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": listed}} if calls else None
    named = {"id": "run_1", "object": "thread.run", "thread_id": "thread_1", "assistant_id": "asst_1"}
    return {**named, "status": status, "required_action": action, "usage": None, **more}


def run_events(*runs: dict[str, Any]) -> tuple[str, ...]:
    return (*(event(each, f"thread.run.{each['status']}") for each in runs), event("[DONE]", "done"))
