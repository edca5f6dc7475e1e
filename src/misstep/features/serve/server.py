"""Serves all pages on one store until Ctrl-C."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from misstep.core.settings import Settings
from misstep.features.label.pages import LabelPages
from misstep.features.playground.pages import playground_app
from misstep.features.serve.launch import Launcher
from misstep.features.serve.live import RunEvents
from misstep.features.serve.runs import ComparisonPages, RunPages, StopButtons, no_button
from misstep.features.serve.start import Starting
from misstep.web.pages import IsolatedApp, Navigated, NavigationLink, complaints, shipped
from misstep.web.server import Address, serve


class MountedApp(msgspec.Struct, frozen=True):
    """An application mounted under a path, with a link on every page."""

    title: str
    path: str
    app: Any


def site(
    settings: Settings,
    stopping: Callable[[], bool],
    parts: Sequence[MountedApp] = (),
    stop_button: StopButtons = no_button,
) -> Any:
    """An ASGI application; put an `OriginGuard` before it. Streams end as soon as `stopping` is true.

    `stop_button` returns the button that stops a run, if it can be stopped.
    """
    mounted: list[BaseRoute] = [Mount(part.path, IsolatedApp(part.app)) for part in parts]
    app = Starlette(
        routes=[*_routes(settings, stopping, stop_button), *mounted], exception_handlers=complaints()
    )
    links = [NavigationLink(part.title, f"{part.path}/") for part in parts]
    return Navigated(app, (NavigationLink("Runs", "/"), NavigationLink("Compare", "/compare"), *links))


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


START = "/start"


def serve_site(
    settings: Settings, host: str, port: int, ready: Callable[[Address], object], open_to_all: bool = False
) -> None:
    """Serve all pages on a store to those who have the token in the address.

    On loopback, all users of this machine may be let in without a token.
    """
    with Launcher(settings) as launcher:
        starting = Starting(settings, launcher, START)
        parts = (
            MountedApp("Start", START, starting.app),
            MountedApp("Playground", "/playground", playground_app()),
        )
        serve(
            lambda stopping: site(settings, stopping, parts, starting.stop_button),
            host,
            port,
            ready,
            open_to_all,
        )
