"""Cases with a few tools, and what the proxy has recorded of them."""

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from misstep.adapters.proxy.agent import RecordingProxy
from misstep.core.agent import Tool
from misstep.engine.recorder import Deadline, Recorder
from tests.scripted.conversations import schema

pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

REQUEST = "Please clean up."
STREAM = {"stream": True}
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}
TOOLS = ["sweep", "mop", "dust"]
KEY = "sk-quite-secret-1"


class Shed:
    """A world of tools that all work."""

    tools = tuple(Tool(name, f"does {name}", schema()) for name in TOOLS)

    def answer(self, name: str, arguments: Any) -> str:
        return f"{name} done"

    def renewed(self) -> "Shed":
        return self


def new_recorder(max_steps: int = 20) -> Recorder:
    return Recorder(Shed(), Deadline(60), max_steps, keep_messages=True)


def asked(recorder: Recorder) -> list[list[tuple[str, Any]]]:
    """The calls of every turn that has any."""
    turns = dict[int | None, list[tuple[str, Any]]]()
    for call in recorder.calls:
        turns.setdefault(call.turn, []).append((call.tool, call.arguments))
    return list(turns.values())


@contextmanager
def proxy_to(server: Any) -> Iterator[RecordingProxy]:
    proxy = RecordingProxy(server.base_url)
    asyncio.run(proxy.start())
    try:
        yield proxy
    finally:
        asyncio.run(proxy.close())


class Got(NamedTuple):
    """What a plain client got; `broken` tells how the reply broke off."""

    status: int
    headers: dict[str, str]
    body: bytes
    broken: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def fetch(base_url: str, method: str, path: str, body: Any = None, **headers: str) -> Got:
    """One request by a client that adds nothing and hides nothing."""
    url = urlsplit(base_url)
    link = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        link.request(method, f"{url.path}{path}", raw, {"authorization": f"Bearer {KEY}", **named})
        reply = link.getresponse()
        told = {name.lower(): value for name, value in reply.getheaders()}
        try:
            return Got(reply.status, told, reply.read())
        except http.client.IncompleteRead as error:
            return Got(reply.status, told, error.partial, type(error).__name__)
    except ConnectionError as error:
        return Got(0, {}, b"", type(error).__name__)
    finally:
        link.close()


def chat(text: str, **more: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name, "parameters": schema()}} for name in TOOLS]
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], "tools": tools, **more}


def post_chat(base_url: str, text: str, **more: Any) -> Got:
    return fetch(base_url, "POST", "/chat/completions", chat(text, **more))
