"""A server in a separate process that answers every request after a fixed delay.

`POST /` returns a small JSON object. `POST /v1/chat/completions` calls the offered tools, one per turn, and
then answers.
"""

import asyncio
import resource
import sys
from typing import Any

import msgspec

SMALL = b'{"ok": true}'


class Asked(msgspec.Struct):
    """The part of a chat request that matters: roles of messages, and tools."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = []


class Desk(asyncio.Protocol):
    """One keep-alive connection, which assembles requests from chunks."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, rest = self._received.partition(b"\r\n\r\n")
        if not separator or len(rest) < (length := _length(head)):
            return
        self._received = rest[length:]
        body = _chat_reply(rest[:length]) if b" /v1/" in head[:40] else SMALL
        self._loop.call_later(self._seconds, self._reply, body)

    def _reply(self, body: bytes) -> None:
        if not self._transport.is_closing():
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            self._transport.write(head % len(body) + body)


def _length(head: bytes) -> int:
    return int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0] or 0)


def _chat_reply(body: bytes) -> bytes:
    asked = msgspec.json.decode(body, type=Asked)
    done = sum(message["role"] == "tool" for message in asked.messages)
    message: dict[str, Any] = {"role": "assistant", "content": "All the tasks have been carried out."}
    if done < len(asked.tools):
        function = {"name": asked.tools[done]["function"]["name"], "arguments": "{}"}
        call = {"id": f"call_{done}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "distant", "choices": [choice]}
    return msgspec.json.encode({**reply, "usage": usage})


async def _serve(seconds: float) -> None:
    """Serve until standard input ends; the first line of standard output is the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Desk(seconds), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def allow_connections() -> None:
    """Raise the limit of open files as far as the system allows; each connection is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    allow_connections()
    asyncio.run(_serve(float(sys.argv[1])))
