"""Who may come in where pages are served beyond this machine."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from misstep.adapters.hosting import QUIET, listen
from misstep.core.settings import Settings
from misstep.features.serve.command import READ_ALONG
from misstep.features.serve.server import site
from misstep.web.server import SHUT, Access, LimitedProtocol, OriginGuard
from tests.features.serve.serving import served
from tests.features.serve.stored import keep_outcomes

TOKEN = "Tr-0ken_42"
BASE = "http://box.example:8000"


def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{request.method} {request.url.path}?{request.url.query}")


def app() -> Any:
    inner = Starlette(routes=[Route("/{path:path}", echo, methods=["GET", "POST"])])
    return OriginGuard(Access(inner, TOKEN), None)


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(app(), base_url=BASE, follow_redirects=False) as client:
        yield client


def test_the_token_is_swapped_for_a_cookie(client: TestClient) -> None:
    answer = client.get(f"/runs/x?a=1&token={TOKEN}&b=%26")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs/x?a=1&b=%26"
    cookie = answer.headers["set-cookie"]
    assert re.match(r"misstep_[0-9a-f]{8}=", cookie)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert TOKEN not in cookie
    assert client.get(answer.headers["location"]).text == "GET /runs/x?a=1&b=%26"
    assert client.post("/runs/x", headers={"origin": BASE}).text == "POST /runs/x?"


def test_the_cookie_is_for_https_alone_where_it_is_in_front(client: TestClient) -> None:
    answer = client.get(f"/?token={TOKEN}", headers={"x-forwarded-proto": "https"})
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/runs/x",
        "/files/web.css",
        "/?token=",
        "/?token=wrong",
        "/?token=%F0%9F%98%80",
        f"/?Token={TOKEN}",
    ],
)
@pytest.mark.parametrize("cookie", ["", "misstep_00000000=x", f"misstep={TOKEN}"])
def test_nobody_else_comes_in(client: TestClient, path: str, cookie: str) -> None:
    answer = client.get(path, headers={"cookie": cookie} if cookie else {})
    assert (answer.status_code, answer.text) == (403, SHUT)
    assert "set-cookie" not in answer.headers
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_token_is_no_cookie_and_the_name_alone_is_nothing(client: TestClient) -> None:
    name = client.get(f"/?token={TOKEN}").headers["set-cookie"].partition("=")[0]
    client.cookies.clear()
    for value in (TOKEN, "", "x", "\xe9"):
        headers = {"cookie": f"{name}={value}".encode("latin-1")}
        assert client.get("/", headers=headers).status_code == 403


def test_a_token_opens_nothing_but_pages(client: TestClient) -> None:
    assert client.post(f"/?token={TOKEN}").status_code == 403


def test_other_sites_can_send_nothing_with_the_cookie(client: TestClient) -> None:
    client.get(f"/?token={TOKEN}")
    for origin in ("http://evil.example", "null", "http://box.example:9", "file://box.example:8000", ""):
        assert client.post("/", headers={"origin": origin}).status_code == 403
    assert client.post("/", headers={"origin": "https://box.example:8000"}).status_code == 200


def test_a_path_can_not_lead_away(client: TestClient) -> None:
    answer = client.get(f"//evil.example/?token={TOKEN}")
    assert not answer.headers["location"].startswith("//")


def test_the_command_prints_the_token_once(tmp_path: Any) -> None:
    settings = Settings(store=str(tmp_path / "store.db"))
    run = keep_outcomes(settings, [])
    with served(settings.store, "--host", "0.0.0.0") as server:
        found = re.fullmatch(r"http://[^/:]+:(\d+)/\?token=([\w-]{32})", server.url)
        assert found
        here = f"http://127.0.0.1:{found[1]}/"
        with httpx.Client(base_url=here, trust_env=False) as client:
            assert client.get("/").status_code == 403
            page = client.get("/", params={"token": found[2]}, follow_redirects=True)
            assert (page.status_code, str(page.url)) == (200, here)
            assert run in page.text
            assert found[2] not in page.text
            assert client.get(f"/runs/{run}").status_code == 200
        said = server.stop()
    assert found[2] not in said
    assert server.said == [READ_ALONG]


def test_other_users_of_this_machine_need_the_token_too(tmp_path: Any) -> None:
    settings = Settings(store=str(tmp_path / "store.db"))
    run = keep_outcomes(settings, [])
    with served(settings.store, "--token") as server:
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)\?token=[\w-]{32}", server.url)
        assert found
        with httpx.Client(base_url=found[1], trust_env=False) as client:
            assert client.get("/").status_code == 403
            assert run in client.get(server.url, follow_redirects=True).text
            assert client.get(f"/runs/{run}").status_code == 200
            other = client.get("/", headers={"host": "box.example"})
            assert (other.status_code, "for this machine only" in other.text) == (403, True)


def test_connections_that_never_finish_a_request_are_closed(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing at all, half a header, a header byte by byte, and a body that never ends."""
    monkeypatch.setattr(LimitedProtocol, "seconds", 0.3)
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nbegin"
    with loopback(tmp_path) as (port, _):
        for said in (b"", b"GET / HTTP/1.1\r\nHost:", head):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as slow:
                slow.sendall(said)
                with suppress(ConnectionResetError):
                    while slow.recv(1000):
                        pass
        with socket.create_connection(("127.0.0.1", port), timeout=30) as slow:
            assert drip(slow) < 10_000
        assert httpx.get(f"http://127.0.0.1:{port}/", trust_env=False).status_code == 200


def test_there_are_not_more_connections_than_allowed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedProtocol, "most", 3)
    with loopback(tmp_path) as (port, _), ExitStack() as stack:
        address = ("127.0.0.1", port)
        held = [stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(3)]
        fourth = stack.enter_context(socket.create_connection(address, timeout=30))
        assert fourth.recv(1) == b""
        held[0].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert held[0].recv(12) == b"HTTP/1.1 200"


def drip(connection: socket.socket) -> int:
    """How many bytes of a header can be sent one by one before the connection is closed."""
    for sent in range(10_000):
        try:
            connection.sendall(b"G")
        except ConnectionError:
            return sent
        time.sleep(0.05)
    return 10_000


@contextmanager
def loopback(tmp_path: Any) -> Iterator[tuple[int, threading.Thread]]:
    """The pages on a free port, in a thread."""
    app = OriginGuard(site(Settings(store=str(tmp_path / "store.db")), lambda: False))
    server = uvicorn.Server(uvicorn.Config(app, http=LimitedProtocol, **QUIET))
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1], thread
        finally:
            server.should_exit = True
            thread.join()


def test_no_token_is_needed_where_that_was_said(tmp_path: Any) -> None:
    with served(str(tmp_path / "store.db"), "--no-token") as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", server.url)
        assert httpx.get(server.url, trust_env=False).status_code == 200
        other = httpx.get(server.url, headers={"host": "box.example"}, trust_env=False)
        assert (other.status_code, "for this machine only" in other.text) == (403, True)
