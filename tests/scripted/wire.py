"""HTTP/1.1 on asyncio streams, as much of it as the SDK needs."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True)
class Recorded:
    """A request as it came in; names of headers are in lower case, a body that is not JSON stays bytes."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """What goes out: `events` as a stream if there are any, else `body`, as JSON unless it is bytes."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()


def event(data: object, name: str | None = None) -> str:
    """One server-sent event; a string goes out as it is."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


async def read_request(reader: asyncio.StreamReader) -> Recorded | None:
    """The next request, or None when the client has closed the connection between two of them."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, target, _ = first.split(" ")
    url = urlsplit(target)
    if "transfer-encoding" in headers:
        raise ValueError("a body without its length")
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, unquote(url.path), dict(parse_qsl(url.query)), headers, parsed(raw))


def parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw or b"{}")
    except ValueError:
        return raw


async def write_reply(writer: asyncio.StreamWriter, reply: Reply, share: float = 1.0) -> None:
    """Send the reply, or just a share of its body under a head that promises all of it."""
    if reply.events:
        await write_events(writer, reply, share)
        return
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    length = {"content-type": "application/json", "content-length": str(len(body))}
    writer.write(head_of(reply, length) + body[: int(len(body) * share)])
    await writer.drain()


async def write_events(writer: asyncio.StreamWriter, reply: Reply, share: float) -> None:
    chunked = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}
    writer.write(head_of(reply, chunked))
    for text in reply.events[: int(len(reply.events) * share)]:
        data = text.encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0)  # other conversations get a word in
    if share == 1.0:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def head_of(reply: Reply, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in {**headers, **reply.headers}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
