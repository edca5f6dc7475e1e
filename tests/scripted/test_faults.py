"""Every fault reaches the real SDK as the error a client would see in the wild, whatever it asked for."""

import asyncio
import json
from typing import Any

import pytest

from tests.scripted import Fault, Script, ScriptedServer
from tests.scripted.clients import TOOLS, async_client, each_alone, endpoints, kinds, play
from tests.scripted.conversations import (
    CHAT_MODEL,
    CONVERSATIONS,
    TEXT_MODEL,
    Conversation,
    Played,
    each,
    settle,
)
from tests.scripted.script import FaultKind

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore:(deprecated|The Assistants API):DeprecationWarning")

MESSAGES = [{"role": "user", "content": "hello"}]


async def chat(client: Any, request: str, tools: list[str]) -> Played:
    completion = await settle(client.chat.completions.create(model=CHAT_MODEL, messages=MESSAGES))
    return Played(answer=completion.choices[0].message.content)


async def chat_streamed(client: Any, request: str, tools: list[str]) -> Played:
    stream = await settle(client.chat.completions.create(model=CHAT_MODEL, messages=MESSAGES, stream=True))
    chunks = [chunk async for chunk in each(stream)]
    return Played(answer="".join(chunk.choices[0].delta.content or "" for chunk in chunks))


async def completion(client: Any, request: str, tools: list[str]) -> Played:
    completion = await settle(client.completions.create(model=TEXT_MODEL, prompt="Question: hello"))
    return Played(answer=completion.choices[0].text.rpartition(": ")[2])


async def response(client: Any, request: str, tools: list[str]) -> Played:
    response = await settle(client.responses.create(model=CHAT_MODEL, input="hello"))
    return Played(answer=response.output_text)


async def response_streamed(client: Any, request: str, tools: list[str]) -> Played:
    stream = await settle(client.responses.create(model=CHAT_MODEL, input="hello", stream=True))
    events = [event async for event in each(stream)]
    return Played(answer=events[-1].response.output_text)


ASKS: dict[str, Conversation] = {
    "chat": chat,
    "chat streamed": chat_streamed,
    "completion": completion,
    "response": response,
    "response streamed": response_streamed,
    "run": CONVERSATIONS["assistants"],
}
asks = pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS.keys())


def idle(*faults: Fault | None) -> ScriptedServer:
    return ScriptedServer(Script(behaviour="idle", faults=list(faults)))


@pytest.mark.full(after=28)
@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        ("400", openai.BadRequestError, "context_length_exceeded"),
        ("401", openai.AuthenticationError, "invalid_api_key"),
        ("404", openai.NotFoundError, "model_not_found"),
        ("429", openai.RateLimitError, "rate_limit_exceeded"),
        ("500", openai.InternalServerError, None),
        ("503", openai.InternalServerError, None),
    ],
)
@kinds
@asks
def test_statuses(kind: str, ask: Conversation, status: FaultKind, error: Any, code: str | None) -> None:
    with idle(Fault(status)) as server:
        with pytest.raises(error) as caught:
            play(kind, server, ask)
        assert (str(caught.value.status_code), caught.value.code) == (status, code)
        assert set(caught.value.body) == {"message", "type", "param", "code"}
        assert "retry-after" not in caught.value.response.headers
        assert server.faults_left == 0


@kinds
@asks
def test_retry_after(kind: str, ask: Conversation) -> None:
    with idle(Fault("429", retry_after=7)) as server:
        with pytest.raises(openai.RateLimitError) as caught:
            play(kind, server, ask)
        assert caught.value.response.headers["retry-after"] == "7"


@kinds
@asks
def test_the_sdk_gets_over_faults_it_may_retry(kind: str, ask: Conversation) -> None:
    faults = [Fault(status, retry_after=0.01) for status in ("429", "500", "503")]
    with idle(*faults) as server:
        assert play(kind, server, ask, max_retries=3) == Played([], "All done.")
        assert [request.headers["x-stainless-retry-count"] for request in server.model_requests] == [*"0123"]


@pytest.mark.parametrize("fault", ["drop", "drop half way"])
@kinds
@asks
def test_drops(kind: str, ask: Conversation, fault: FaultKind) -> None:
    with idle(Fault(fault)) as server:
        with pytest.raises(openai.APIConnectionError):
            play(kind, server, ask)
        assert server.wait_until_idle()


def test_half_of_a_stream_arrives_before_the_drop() -> None:
    heard = list[str]()

    async def talk(client: Any, request: str, tools: list[str]) -> Played:
        for chunk in client.chat.completions.create(model=CHAT_MODEL, messages=MESSAGES, stream=True):
            heard.append(chunk.choices[0].delta.content)
        return Played()

    script = Script(behaviour="idle", faults=[Fault("drop half way")], answer="one two three four five")
    with ScriptedServer(script) as server, pytest.raises(openai.APIConnectionError):
        play("sync", server, talk)
    assert heard == ["", "one ", "two ", "three "]


@kinds
@asks
def test_hang(kind: str, ask: Conversation) -> None:
    with idle(Fault("hang")) as server:
        with pytest.raises(openai.APITimeoutError):
            play(kind, server, ask, timeout=0.1)
        assert server.wait_until_idle()


@kinds
@asks
def test_slow(kind: str, ask: Conversation) -> None:
    with idle(Fault("slow", seconds=0.05)) as server:
        assert play(kind, server, ask) == Played([], "All done.")


@kinds
def test_slow_beyond_the_patience_of_the_client(kind: str) -> None:
    with idle(Fault("slow", seconds=600)) as server:
        with pytest.raises(openai.APITimeoutError):
            play(kind, server, chat, timeout=0.1)
        assert server.wait_until_idle()


@kinds
@asks
def test_not_json(kind: str, ask: Conversation) -> None:
    with idle(Fault("not json")) as server, pytest.raises(json.JSONDecodeError):
        play(kind, server, ask)


@endpoints
def test_faults_hit_just_the_requests_they_are_meant_for(talk: Conversation) -> None:
    faults = [None, Fault("503", retry_after=0.01), None, Fault("429", retry_after=0.01)]
    with ScriptedServer(Script(faults=faults)) as server:
        assert play("async", server, talk, max_retries=1) == Played(each_alone(*TOOLS), "All done.")
        assert len(server.model_requests) == 6


def test_a_connection_outlives_an_error_but_not_a_drop() -> None:
    async def talk(client: Any, request: str, tools: list[str]) -> Played:
        await chat(client, request, tools)
        return await chat(client, request, tools)

    for fault, connections in (Fault("503", retry_after=0.01), 1), (Fault("drop"), 2):
        with idle(None, fault) as server:
            play("sync", server, talk, max_retries=1)
            assert server.connections_made == connections


def test_many_conversations_share_the_faults() -> None:
    async def main(server: ScriptedServer) -> list[Played]:
        async with async_client(server, max_retries=20) as client:
            talks = (CONVERSATIONS["responses"](client, "clean", TOOLS) for _ in range(20))
            return await asyncio.gather(*talks)

    with ScriptedServer(Script(faults=[Fault("429", retry_after=0.01)] * 20)) as server:
        assert asyncio.run(main(server)) == [Played(each_alone(*TOOLS), "All done.")] * 20
        assert (server.faults_left, len(server.model_requests)) == (0, 100)
