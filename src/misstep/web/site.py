"""All pages on one store, under one roof."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from misstep.core.settings import Settings
from misstep.web.comparing import ComparisonPages
from misstep.web.complaints import complaints
from misstep.web.labels import LabelPages
from misstep.web.live import RunEvents
from misstep.web.pages import Apart, Link, Navigated
from misstep.web.runs import RunPages, StopButtons, no_button
from misstep.web.shipped import shipped


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
