"""Pages in a browser, for as long as somebody uses them.

All pages on one store, under one roof.
"""

import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from misstep.adapters.hosting import LOOPBACK, NAMES, QUIET, is_loopback, listen
from misstep.core.settings import Settings
from misstep.features.label.pages import LabelPages, labelling_app
from misstep.features.label.run import Labelling
from misstep.features.playground.pages import playground_app
from misstep.features.serve.launch import Launcher
from misstep.features.serve.live import RunEvents
from misstep.features.serve.runs import ComparisonPages, RunPages, StopButtons, no_button
from misstep.features.serve.start import Starting
from misstep.web.pages import Apart, Link, Navigated, complaints, shipped
from misstep.web.server import Access, Guard, LimitedProtocol


class Part(msgspec.Struct, frozen=True):
    """An application of its own that has a place under the roof, and a link on every page."""

    title: str
    path: str
    app: Any


def site(
    settings: Settings,
    stopping: Callable[[], bool],
    parts: Sequence[Part] = (),
    stop_button: StopButtons = no_button,
) -> Any:
    """An ASGI application; put a `Guard` before it. Streams end as soon as `stopping` says so.

    `stop_button` gives the page of a run the button that stops it, where it can be stopped.
    """
    mounted: list[BaseRoute] = [Mount(part.path, Apart(part.app)) for part in parts]
    app = Starlette(
        routes=[*_routes(settings, stopping, stop_button), *mounted], exception_handlers=complaints()
    )
    links = [Link(part.title, f"{part.path}/") for part in parts]
    return Navigated(app, (Link("Runs", "/"), Link("Compare", "/compare"), *links))


def _routes(settings: Settings, stopping: Callable[[], bool], stop_button: StopButtons) -> list[BaseRoute]:
    runs, events = RunPages(settings, stop_button), RunEvents(settings, stopping)
    return [
        Route("/", runs.overview, name="runs"),
        Route("/runs/{run}", runs.run, name="run"),
        Route("/runs/{run}/data/cases.json", runs.index),
        Route("/runs/{run}/data/cases/{case:path}.json", runs.detail),
        Route("/runs/{run}/events", events.follow),
        Route("/runs/{run}/cases/{case:path}", runs.case),
        *LabelPages(settings).routes,
        Route("/compare", ComparisonPages(settings).compare, name="compare"),
        shipped(),
    ]


HOST = LOOPBACK[0]
START = "/start"
EVERYWHERE = ("0.0.0.0", "::")


class Address(msgspec.Struct, frozen=True):
    """Where pages are: for people, and for a browser on this machine."""

    shown: str
    here: str


def serve_labelling(labelling: Labelling, port: int, ready: Callable[[Address], object]) -> None:
    """One person's labelling of one run, for whoever on this machine has the token in the address."""
    _serve(lambda _: labelling_app(labelling), HOST, port, ready)


def serve_site(
    settings: Settings, host: str, port: int, ready: Callable[[Address], object], open_to_all: bool = False
) -> None:
    """All pages on a store, for whoever has the token that is in the address; on loopback, all users of this
    machine may be let in without one."""
    with Launcher(settings) as launcher:
        starting = Starting(settings, launcher, START)
        parts = (Part("Start", START, starting.app), Part("Playground", "/playground", playground_app()))
        _serve(
            lambda stopping: site(settings, stopping, parts, starting.stop_button),
            host,
            port,
            ready,
            open_to_all,
        )


def _serve(
    make: Callable[[Callable[[], bool]], Any],
    host: str,
    port: int,
    ready: Callable[[Address], object],
    open_to_all: bool = False,
) -> None:
    """Serve until Ctrl-C; `ready` is told the address as soon as browsers may come. Port 0 takes a free one.

    `make` gives the application, and gets something to ask whether the server is about to end.
    """
    token = "" if open_to_all and is_loopback(host) else secrets.token_urlsafe(24)
    with listen(host, port, "--port") as listener:
        server = uvicorn.Server(uvicorn.Config(None, http=LimitedProtocol, **QUIET))
        app = make(lambda: bool(server.should_exit))
        guarded = Access(app, token) if token else app
        server.config.app = Guard(guarded, NAMES if is_loopback(host) else None)
        with suppress(KeyboardInterrupt):  # which may come as soon as anything was said
            ready(_address(host, listener.getsockname()[1], token))
            server.run(sockets=[listener])


def _address(host: str, port: int, token: str) -> Address:
    """Whoever listens everywhere is called by the name of the machine, and from there by that of loopback."""
    query = f"?token={token}" if token else ""
    everywhere = host in EVERYWHERE
    names = (socket.gethostname(), HOST) if everywhere else (host, host)
    shown, here = (f"http://{_in_url(name)}:{port}/{query}" for name in names)
    return Address(shown, here)


def _in_url(name: str) -> str:
    return f"[{name}]" if ":" in name else name
