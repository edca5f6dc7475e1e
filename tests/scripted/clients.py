"""Clients of the real SDK that are strict about what they get, so that the server's own tests stay short."""

import asyncio
from typing import Any

import pytest

from tests.scripted.conversations import CONVERSATIONS, Conversation, Played
from tests.scripted.server import ScriptedServer

openai = pytest.importorskip("openai")

TOOLS = ["sweep", "mop", "dust"]
EMPTY = "{}"

kinds = pytest.mark.parametrize("kind", ["sync", "async"])
endpoints = pytest.mark.parametrize("talk", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())


def sync_client(server: ScriptedServer, **options: Any) -> Any:
    transport = openai.DefaultHttpxClient(verify=False)  # certificates take most of a client's start
    return openai.OpenAI(http_client=transport, **settings(server, options))


def async_client(server: ScriptedServer, **options: Any) -> Any:
    transport = openai.DefaultAsyncHttpxClient(verify=False)
    return openai.AsyncOpenAI(http_client=transport, **settings(server, options))


def settings(server: ScriptedServer, options: dict[str, Any]) -> dict[str, Any]:
    usual = {"base_url": server.base_url, "api_key": "sk-test", "max_retries": 0}
    return {**usual, "_strict_response_validation": True, **options}


def play(
    kind: str, server: ScriptedServer, talk: Conversation, request: str = "clean", **options: Any
) -> Played:
    """One conversation with a client of the kind named, which is closed afterwards."""

    async def main() -> Played:
        if kind == "sync":
            with sync_client(server, **options) as client:
                return await talk(client, request, TOOLS)
        async with async_client(server, **options) as client:
            return await talk(client, request, TOOLS)

    return asyncio.run(main())


def each_alone(*names: str) -> list[list[tuple[str, str]]]:
    return [[(name, EMPTY)] for name in names]
