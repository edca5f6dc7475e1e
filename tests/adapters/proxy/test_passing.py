"""The recording proxy changes nothing for its clients, and lets no stranger in."""

import asyncio
import gzip
import json
import logging
import socket
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from misstep.adapters.proxy.agent import RecordingProxy
from misstep.core.outcome import Usage
from misstep.errors import MissingExtra, UsageError
from tests.adapters.proxy.cases import (
    KEY,
    REQUEST,
    STREAM,
    TOOLS,
    WITH_USAGE,
    asked,
    chat,
    fetch,
    new_recorder,
    post_chat,
    proxy_to,
)
from tests.adapters.proxy.upstream import Canned, CannedServer
from tests.scripted import Fault, Script, ScriptedServer
from tests.scripted.chat import answer_chat
from tests.scripted.conversations import response_tools
from tests.scripted.parts import Ids

EXCHANGES: dict[str, tuple[str, str, Any]] = {
    "chat": ("POST", "/chat/completions", chat(REQUEST)),
    "stream": ("POST", "/chat/completions", chat(REQUEST, **STREAM)),
    "stream with usage": ("POST", "/chat/completions", chat(REQUEST, **WITH_USAGE)),
    "completion": ("POST", "/completions", {"model": "m", "prompt": f"- sweep\nQuestion: {REQUEST}"}),
    "completion stream": ("POST", "/completions", {"model": "m", "prompt": REQUEST, **STREAM}),
    "response": ("POST", "/responses", {"model": "m", "input": REQUEST, "tools": response_tools(TOOLS)}),
    "response stream": ("POST", "/responses", {"model": "m", "input": REQUEST, **STREAM}),
    "models": ("GET", "/models?limit=3&after=a%2Fb", None),
    "no such place": ("PUT", "/no/such/place", {"text": REQUEST}),
    "not json": ("POST", "/chat/completions", b"\xff{"),
    "bad request": ("POST", "/chat/completions", {"messages": REQUEST}),
    "delete": ("DELETE", "/threads/thread_x", None),
}
FAULTS = ["429", "500", "not json", "slow", "drop", "drop half way"]
HOP_BY_HOP = {"connection", "transfer-encoding", "date"}


def outcome(base_url: str, exchange: tuple[str, str, Any]) -> Any:
    got = fetch(base_url, *exchange)
    headers = {name: value for name, value in got.headers.items() if name not in HOP_BY_HOP}
    return got._replace(headers=headers)


@pytest.mark.parametrize("words", [REQUEST, "something else"])
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, None) for name in EXCHANGES),
        *((name, fault) for name in ("chat", "stream") for fault in FAULTS),
    ],
)
def test_the_client_gets_what_it_would_get_without(name: str, fault: Any, words: str) -> None:
    script = Script(faults=[fault and Fault(fault, retry_after=7)], behaviour="parallel")
    exchange = EXCHANGES[name]
    with ScriptedServer(script) as server:
        direct = outcome(server.base_url, exchange)
    with ScriptedServer(script) as server, proxy_to(server) as proxy, proxy.open(words, new_recorder()):
        through = outcome(proxy.base_url, exchange)
        [request] = server.requests
    if direct.broken and "content-length" not in direct.headers:  # the end of a stream is held back
        assert direct.body.startswith(through.body)
        through = through._replace(body=direct.body)
    assert through == direct
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["host"] == urlsplit(server.base_url).netloc


def test_headers_pass_in_both_directions() -> None:
    reply = Canned({"ok": True}, 201, {"x-request-id": "r1", "retry-after": "3", "set-cookie": "a=b"})
    with CannedServer(reply, reply) as server, proxy_to(server) as proxy:
        got = fetch(proxy.base_url, "POST", "/x?a=%20b", b"raw", x_own="1", openai_beta="v2", te="trailers")
        fetch(proxy.base_url, "GET", "/x")
    assert (got.status, got.json) == (201, {"ok": True})
    assert {"x-request-id", "retry-after", "set-cookie"} <= got.headers.keys()
    first, second = server.requests
    assert (first.path, first.query, first.body) == ("/v1/x", {"a": " b"}, b"raw")
    assert (first.headers["x-own"], first.headers["openai-beta"]) == ("1", "v2")
    assert "te" not in first.headers
    assert "cookie" not in second.headers


def test_large_bodies() -> None:
    text, recorder = "word " * 1_000_000, new_recorder()
    said = {"choices": [{"message": {"content": text}}]}
    with CannedServer(Canned(said)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, text + REQUEST).json == said
    assert server.requests[0].body["messages"][0]["content"] == text + REQUEST
    assert recorder.begin_turn() == 2


def test_compressed_replies_are_read_all_the_same() -> None:
    said = {"choices": [{"message": {"tool_calls": [{"function": {"name": "mop", "arguments": "{}"}}]}}]}
    packed = Canned(gzip.compress(json.dumps(said).encode()), headers={"content-encoding": "gzip"})
    recorder = new_recorder()
    with CannedServer(packed) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        got = fetch(proxy.base_url, "POST", "/chat/completions", chat(REQUEST), accept_encoding="gzip, br")
    assert (got.json, got.broken, "content-encoding" in got.headers) == (said, "", False)
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert asked(recorder) == [[("mop", {})]]


def test_an_encoding_nobody_knows_is_passed_on_as_it_is() -> None:
    packed = Canned(b"\x00\x01\x02", headers={"content-encoding": "smoke"})
    with CannedServer(packed) as server, proxy_to(server) as proxy, proxy.open(REQUEST, new_recorder()):
        got = post_chat(proxy.base_url, REQUEST)
    assert (got.body, got.headers["content-encoding"]) == (b"\x00\x01\x02", "smoke")


def test_tokens_of_a_stream_are_asked_for_behind_the_clients_back() -> None:
    recorder = new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        got = post_chat(proxy.base_url, REQUEST, stream=True, stream_options={"include_obfuscation": False})
        [request] = server.requests
        told = server.tokens
    assert request.body["stream_options"] == {"include_obfuscation": False, "include_usage": True}
    assert b"usage" not in got.body
    assert recorder.usage == Usage(*told) != Usage()
    assert recorder.messages[0]["request"]["stream_options"] == {"include_obfuscation": False}


def test_a_server_that_does_not_know_the_wish_is_asked_again_without_it() -> None:
    unknown = Canned({"error": {"message": "Unrecognized request argument: stream_options"}}, 400)
    bad = Canned({"error": {"message": "no such model"}}, 400)
    events = answer_chat(Script(), Ids(), chat(REQUEST, **STREAM)).events
    replies = Canned(events=events), bad
    recorder = new_recorder()
    with (
        CannedServer(unknown, *replies) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
    ):
        assert post_chat(proxy.base_url, REQUEST, **STREAM).body == "".join(events).encode()
        assert post_chat(proxy.base_url, REQUEST, **STREAM).json == bad.body
    assert ["stream_options" in request.body for request in server.requests] == [True, False, False]
    assert asked(recorder) == [[("sweep", {})]]


@pytest.mark.parametrize("options", [{}, STREAM])
@pytest.mark.parametrize("words", [REQUEST, "something else"])
def test_a_client_that_goes_takes_its_request_along(options: Any, words: str) -> None:
    recorder = new_recorder()
    body = json.dumps(chat(REQUEST, **options)).encode()
    with (
        ScriptedServer(Script(faults=[Fault("hang")])) as server,
        proxy_to(server) as proxy,
        proxy.open(words, recorder),
    ):
        url = urlsplit(proxy.base_url)
        head = f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n"
        with socket.create_connection(("127.0.0.1", url.port or 0)) as link:
            link.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert server.wait_for_requests(1)
        assert server.wait_until_idle()
        assert post_chat(proxy.base_url, REQUEST).status == 200
    assert asked(recorder) == ([[("sweep", {})]] if words == REQUEST else [])


def test_a_server_that_cannot_be_reached_is_named() -> None:
    with ScriptedServer() as gone:
        pass
    with proxy_to(gone) as proxy:
        got = post_chat(proxy.base_url, REQUEST)
    assert (got.status, "127.0.0.1 can't be reached" in got.json["error"]["message"]) == (502, True)


@pytest.mark.parametrize("sent", ["Bearer EMPTY", "Bearer ", "Bearer sk-xxxx", "Bearer None", ""])
def test_keys_and_placeholders_are_passed_on_as_they_are(sent: str) -> None:
    with ScriptedServer() as server, proxy_to(server) as proxy:
        fetch(proxy.base_url, "GET", "/models", authorization=sent)
    assert server.requests[0].headers["authorization"] == sent.strip()


def test_keys_in_anthropics_header() -> None:
    with CannedServer(*[Canned({})] * 3) as server, proxy_to(server) as proxy:
        for given in ({"x_api_key": "EMPTY"}, {"x_api_key": "sk-own-key"}, {}):
            fetch(proxy.base_url, "POST", "/messages", {}, authorization="", **given)
    sent = [request.headers for request in server.requests]
    assert [headers.get("x-api-key") for headers in sent] == ["EMPTY", "sk-own-key", None]


@pytest.mark.parametrize(
    "path", ["/", "/v1/models", "/x/v1/models", "//v1/models", "/{key}/v2/models", "/{key}"]
)
def test_strangers_find_nothing(path: str) -> None:
    with ScriptedServer() as server, proxy_to(server) as proxy:
        url = urlsplit(proxy.base_url)
        here = path.format(key=url.path.split("/")[1])
        assert fetch(f"http://{url.netloc}", "GET", here).status == 404
        assert server.requests == []
        assert url.hostname == "127.0.0.1"


def test_rubbish_on_the_line_is_nobodys_news(caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedServer() as server, proxy_to(server) as proxy:
        with socket.create_connection(("127.0.0.1", urlsplit(proxy.base_url).port or 0)) as link:
            link.sendall(b"no such thing\r\n\r\n")
            assert b" 400 " in link.recv(1000)
        assert fetch(proxy.base_url, "GET", "/models").status == 200
    assert caplog.records == []


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        RecordingProxy("api.openai.com/v1")


@pytest.mark.parametrize("module", ["uvicorn", "httpx"])
def test_what_is_missing_is_said(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match="recording proxy is not installed"):
        asyncio.run(RecordingProxy("http://127.0.0.1:9/v1").start())


def test_nothing_is_left_after_closing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with ScriptedServer(Script(faults=[Fault("hang")])) as server:
        with proxy_to(server) as proxy:
            url = urlsplit(proxy.base_url)
            waiting = threading.Thread(target=post_chat, args=(proxy.base_url, REQUEST))
            waiting.start()
            assert server.wait_for_requests(1)
            idle = socket.create_connection(("127.0.0.1", url.port or 0))
        with idle:
            assert idle.recv(1) == b""
        waiting.join()
        assert server.wait_until_idle()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", url.port or 0))
    assert "recording-proxy" not in [thread.name for thread in threading.enumerate()]
    assert caplog.records == []
