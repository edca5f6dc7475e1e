"""The scripted server keeps its promises to the real SDK: behaviours, faults, many at once, nothing left behind."""

import asyncio
import gc
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.scripted import Call, Fault, Script, ScriptedServer, calling
from tests.scripted.clients import EMPTY, TOOLS, async_client, each_alone, endpoints, kinds, play, sync_client
from tests.scripted.conversations import CHAT_MODEL, CONVERSATIONS, LIMIT, Conversation, Played, schema
from tests.scripted.offers import Offer, listed_in, offers_in
from tests.scripted.script import UNKNOWN_TOOL

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore:(deprecated|The Assistants API):DeprecationWarning")


@kinds
@endpoints
def test_steps(kind: str, talk: Conversation) -> None:
    with ScriptedServer() as server:
        assert play(kind, server, talk) == Played(each_alone(*TOOLS), "All done.")
        assert server.wait_until_idle()
        assert server.undeleted == []


@endpoints
def test_the_plan_decides_from_the_request_and_the_tools(talk: Conversation) -> None:
    seen = set[tuple[str, tuple[str, ...]]]()

    def plan(request: str, tools: list[str]) -> list[str]:
        seen.add((request, tuple(tools)))
        return tools[::-1] * 2

    with ScriptedServer(Script(plan)) as server:
        assert play("sync", server, talk).turns == each_alone(*TOOLS[::-1], *TOOLS[::-1])
    assert seen == {("clean", tuple(TOOLS))}


@kinds
@endpoints
def test_parallel(kind: str, talk: Conversation) -> None:
    together = [[(name, EMPTY) for name in TOOLS]]
    expected = each_alone(*TOOLS) if talk is CONVERSATIONS["completions"] else together
    with ScriptedServer(Script(behaviour="parallel")) as server:
        assert play(kind, server, talk) == Played(expected, "All done.")


@kinds
@endpoints
def test_loop(kind: str, talk: Conversation) -> None:
    with ScriptedServer(Script(behaviour="loop")) as server:
        assert play(kind, server, talk) == Played(each_alone(*["sweep"] * LIMIT))


@kinds
@endpoints
def test_idle(kind: str, talk: Conversation) -> None:
    with ScriptedServer(Script(behaviour="idle")) as server:
        assert play(kind, server, talk) == Played([], "All done.")


@kinds
@endpoints
def test_malformed(kind: str, talk: Conversation) -> None:
    with ScriptedServer(Script(behaviour="malformed")) as server:
        played = play(kind, server, talk)
    [(name, arguments)] = played.turns.pop(1)
    assert name == "mop"
    with pytest.raises(ValueError, match="line 1"):
        json.loads(arguments)
    assert played == Played(each_alone(*TOOLS), "All done.")


@kinds
@endpoints
def test_unknown(kind: str, talk: Conversation) -> None:
    with ScriptedServer(Script(behaviour="unknown")) as server:
        assert play(kind, server, talk) == Played(
            each_alone("sweep", UNKNOWN_TOOL, "mop", "dust"), "All done."
        )


@kinds
@endpoints
def test_extra_arguments(kind: str, talk: Conversation) -> None:
    with ScriptedServer(Script(behaviour="extra arguments")) as server:
        played = play(kind, server, talk)
    [(name, arguments)] = played.turns.pop(1)
    assert name == "mop"
    assert len(json.loads(arguments)) == 1
    assert played == Played(each_alone(*TOOLS), "All done.")


@kinds
@endpoints
def test_calls_with_arguments(kind: str, talk: Conversation) -> None:
    calls: list[str | Call] = [
        calling("mop", room="hall", times=2),
        "dust",
        Call("mop", '{"room":  [1.0, null]}'),
        Call("mop", "{"),
    ]
    with ScriptedServer(Script(plan=lambda *_: calls)) as server:
        played = play(kind, server, talk)
    assert [call for turn in played.turns for call in turn] == [
        ("mop", '{"room": "hall", "times": 2}'),
        ("dust", EMPTY),
        ("mop", '{"room":  [1.0, null]}'),
        ("mop", "{"),
    ]


@endpoints
def test_what_is_offered_is_seen(talk: Conversation) -> None:
    with ScriptedServer() as server:
        play("sync", server, talk)
        offered = [offer for request in server.requests for offer in offers_in(request)]
    in_words = talk is CONVERSATIONS["completions"]
    assert [offer.name for offer in offered[: len(TOOLS)]] == TOOLS
    assert {offer.description for offer in offered} == (
        {f"does {tool}" for tool in TOOLS} if in_words else {None}
    )
    assert all(offer.parameters == (None if in_words else schema()) for offer in offered)


def test_schemas_in_words_are_seen() -> None:
    tools = '- mop: Mop it. Arguments: {"properties": {"room": {}}}\n- dust: Dust it.\n'
    seen = [Offer("mop", "Mop it.", {"properties": {"room": {}}}), Offer("dust", "Dust it.", None)]
    assert listed_in(f"{tools}Question: Clean?\n- sweep: no") == seen
    assert listed_in(f"Question: an example\n{tools}Question: Clean?\n- sweep: no") == seen
    assert listed_in(tools) == seen


def rotated(request: str, tools: list[str]) -> list[str]:
    by = int(request.split()[-1]) % len(tools)
    return [*tools[by:], *tools[:by], tools[by]]


def expected_of(number: int) -> Played:
    return Played(each_alone(*rotated(f"rotate {number}", TOOLS)), "All done.")


@pytest.mark.full(after=1)
@endpoints
def test_fifty_conversations_at_once_do_not_mix(talk: Conversation) -> None:
    async def main(server: ScriptedServer) -> list[Played]:
        async with async_client(server) as client:
            return await asyncio.gather(*(talk(client, f"rotate {number}", TOOLS) for number in range(50)))

    with ScriptedServer(Script(rotated)) as server:
        assert asyncio.run(main(server)) == [expected_of(number) for number in range(50)]
        assert server.wait_until_idle()
        assert server.undeleted == []


@pytest.mark.full
def test_fifty_threads_at_once_do_not_mix() -> None:
    talks = list(CONVERSATIONS.values())
    with (
        ScriptedServer(Script(rotated)) as server,
        sync_client(server) as client,
        ThreadPoolExecutor(50) as pool,
    ):

        def one(number: int) -> Played:
            talk = talks[number % len(talks)]
            return asyncio.run(settled(talk(client, f"rotate {number}", TOOLS)))

        assert list(pool.map(one, range(50))) == [expected_of(number) for number in range(50)]


async def settled(talk: Any) -> Played:
    played: Played = await talk
    return played


def test_two_hundred_connections_stay_open_side_by_side() -> None:
    body = json.dumps({"model": CHAT_MODEL, "messages": [{"role": "user", "content": "hello"}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"

    async def main(server: ScriptedServer) -> None:
        links = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", server.port) for _ in range(200)))
        for _ in range(2):
            for _, writer in links:
                writer.write(head.encode() + body)
            first_lines = [await whole_reply(reader) for reader, _ in links]
            assert set(first_lines) == {b"HTTP/1.1 200 OK"}
        assert server.connections_open == server.connections_made == 200
        for _, writer in links:
            writer.close()
            await writer.wait_closed()

    with ScriptedServer() as server:
        asyncio.run(main(server))
        assert server.wait_until_idle()
        assert len(server.requests) == 400


async def whole_reply(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    lengths = [int(line.partition(b":")[2]) for line in head if line.startswith(b"content-length:")]
    await reader.readexactly(lengths[0])
    return head[0]


def test_connections_are_kept_alive_and_counted() -> None:
    with ScriptedServer() as server:
        with sync_client(server) as client:
            for _ in range(3):
                client.models.list()
            assert (server.connections_open, server.connections_made) == (1, 1)
        assert server.wait_until_idle()
        assert server.connections_open == 0


def test_bodies_of_several_megabytes() -> None:
    text = "word " * 1_000_000
    with ScriptedServer() as server, sync_client(server) as client:
        messages = [{"role": "user", "content": text}]
        completion = client.chat.completions.create(model=CHAT_MODEL, messages=messages)
        assert completion.usage.prompt_tokens == 1_000_001
        assert server.requests[0].body["messages"] == messages


def test_requests_are_recorded_in_order() -> None:
    with ScriptedServer() as server:
        play("sync", server, CONVERSATIONS["assistants"])
        first, *_, last = server.requests
        assert (first.method, first.path, first.body["model"]) == ("POST", "/v1/assistants", CHAT_MODEL)
        assert first.headers["authorization"] == "Bearer sk-test"
        assert last.method == "DELETE"
        assert [request.path.rpartition("/")[2] for request in server.model_requests] == [
            "runs",
            *["submit_tool_outputs"] * 3,
        ]


@kinds
def test_nothing_is_left_after_shutdown(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    threads = threading.active_count()
    with ScriptedServer() as server:
        play(kind, server, CONVERSATIONS["chat streamed"])
    gc.collect()  # sockets or loops that were not closed would warn here
    assert threading.active_count() == threads
    assert caplog.records == []
    assert server.connections_open == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_shutdown_ends_connections_that_clients_hold(caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(1) as pool:
        with ScriptedServer(Script(faults=[Fault("hang")])) as server:
            silent = socket.create_connection(("127.0.0.1", server.port))
            hanging = pool.submit(play, "sync", server, CONVERSATIONS["chat"])
            assert server.wait_for_requests()
        with pytest.raises(openai.APIConnectionError):
            hanging.result()
        with silent:
            assert silent.recv(1) == b""
        assert server.connections_open == 0
        assert caplog.records == []


def knock(port: int) -> None:
    """Connect, ask, hang up, again and again until nobody is there; a server that forgets us runs into the timeout."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
                link.sendall(b"GET /v1/models HTTP/1.1\r\n\r\n")
                link.recv(1)
        except ConnectionError:
            return


def test_shutdown_forgets_no_client_that_just_comes_in(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        with ThreadPoolExecutor(4) as pool:
            with ScriptedServer() as server:
                knocking = [pool.submit(knock, server.port) for _ in range(4)]
                assert server.wait_for_requests(5)
            for each in knocking:
                each.result()
    assert caplog.records == []


def failing(request: str, tools: list[str]) -> list[str]:
    raise LookupError("no plan")


def test_a_script_that_fails_says_so_at_the_end() -> None:
    server = ScriptedServer(Script(failing))

    def outlive_the_failure() -> None:
        with server, pytest.raises(openai.InternalServerError, match="no plan"):
            play("sync", server, CONVERSATIONS["chat"], max_retries=2)

    with pytest.raises(LookupError, match="no plan"):
        outlive_the_failure()
    assert len(server.requests) == 1


def test_a_script_that_fails_is_noted_on_the_error_it_caused() -> None:
    with pytest.raises(openai.InternalServerError) as caught, ScriptedServer(Script(failing)) as server:
        play("sync", server, CONVERSATIONS["responses"])
    assert "LookupError('no plan')" in caught.value.__notes__[0]


def test_typing_errors_in_a_script_are_found() -> None:
    with pytest.raises(ValueError, match="unknown behaviour 'step'"):
        Script(behaviour="step")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown fault '418'"):
        Fault("418")  # type: ignore[arg-type]
