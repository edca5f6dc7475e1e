"""Serves all pages on one store until Ctrl-C, those that start runs among them."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from misstep.core.constraint import FAMILIES
from misstep.core.settings import AgentRunSettings, Settings, ViewSettings
from misstep.core.settings.reading import parse_setting
from misstep.errors import UsageError
from misstep.features.label.pages import LabelPages
from misstep.features.playground.pages import playground_app
from misstep.features.serve.launch import MOST_CASES, Launcher, LaunchOrder, agents_for, costs_money
from misstep.features.serve.live import RunEvents
from misstep.features.serve.runs import RunPages, StopButton, StopButtons
from misstep.rendering.text import plain_lines
from misstep.web import pages
from misstep.web.server import Address, serve

LONGEST_FORM, MOST_FIELDS = 2_000, 30
PATIENCE = 2.0  # seconds until a page says that a run is still starting
USUAL = {"low": "3", "high": "5", "count": "100", "seed": "0", "budget_usd": "", "about_order": "yes"}
ABOUT = "about_"  # prefix of a family's field name


class Starting:
    """The pages that start runs, and what other pages need to stop them.

    `app` is an ASGI application that works under any path, here `base`; put an `OriginGuard` before it.
    """

    def __init__(self, settings: AgentRunSettings, launcher: Launcher, base: str) -> None:
        self._settings, self._launcher, self._base = settings, launcher, base
        self._secret = pages.Secret()
        self.app = Starlette(
            routes=[
                Route("/", lambda request: self._ask(request, USUAL), name="start"),
                Route("/", self._start, methods=["POST"]),
                Route("/stop/{run}", self._stop, methods=["POST"], name="stop"),
                Route("/{number:int}", self._wait, name="launch"),
                pages.shipped(),
            ],
            exception_handlers=pages.complaints(),
        )

    def stop_button(self, run: str) -> StopButton | None:
        """The button for a run that was started here and is still running."""
        if not self._launcher.can_stop(run):
            return None
        return StopButton(f"{self._base}{self.app.url_path_for('stop', run=run)}", self._secret.token)

    async def _start(self, request: Request) -> Response:
        form = await pages.read_form(request, LONGEST_FORM, MOST_FIELDS)
        self._secret.check(form)
        try:
            number = await run_in_threadpool(self._launcher.start, _order(form))
        except UsageError as error:
            return self._ask(request, form, "\n".join([error.message, *filter(None, error.hints)]))
        return pages.see_other(request.url_for("launch", number=number).path)

    def _wait(self, request: Request) -> Response:
        progress = self._launcher.wait(request.path_params["number"], PATIENCE)
        if progress is None:
            raise HTTPException(404, "unknown start: it may be from before the server was restarted")
        if progress.run:
            return pages.see_other(pages.run_path(progress.run))
        if progress.ended:
            said = progress.said or "The run ended before it started, without a message."
            return self._ask(request, USUAL, said)
        return pages.show(request, "waiting.html", said=plain_lines(progress.said))

    async def _stop(self, request: Request) -> Response:
        self._secret.check(await pages.read_form(request))
        run = request.path_params["run"]
        if not await run_in_threadpool(self._launcher.stop, run):
            raise HTTPException(404, "no such run was started here, or it has finished")
        return pages.see_other(pages.run_path(run))

    def _ask(self, request: Request, given: dict[str, str], wrong: str = "") -> Response:
        return pages.show(
            request,
            "start.html",
            400 if wrong else 200,
            agents=agents_for(self._settings),
            own=self._settings.agent,
            model=self._settings.model,
            families=[(family, f"{ABOUT}{family}") for family in FAMILIES],
            most_cases=MOST_CASES,
            given=given,
            priced=costs_money(self._settings),
            wrong=plain_lines(wrong),
            token=self._secret.token,
        )


def _order(form: dict[str, str]) -> LaunchOrder:
    """The order in a form; a `UsageError` names the field that is invalid."""
    given = {name: form.get(name, "").strip() for name in ("low", "high", "count", "seed", "budget_usd")}
    given["actions"] = f"{given['low']}-{given['high']}"

    def parsed(name: str) -> Any:
        return parse_setting(name, given[name], "", lax=True)

    return LaunchOrder(
        form.get("agent", ""),
        actions=parsed("actions"),
        count=parsed("count"),
        family=tuple(family for family in FAMILIES if f"{ABOUT}{family}" in form),
        seed=parsed("seed"),
        budget_usd=parsed("budget_usd") if given["budget_usd"] else None,
    )


class MountedApp(msgspec.Struct, frozen=True):
    """An application mounted under a path, with a link on every page."""

    title: str
    path: str
    app: Any


def site(
    settings: ViewSettings,
    stopping: Callable[[], bool],
    parts: Sequence[MountedApp] = (),
    stop_button: StopButtons = lambda _: None,
) -> Any:
    """An ASGI application; put an `OriginGuard` before it. Streams end as soon as `stopping` is true.

    `stop_button` returns the button that stops a run, if it can be stopped.
    """
    runs = RunPages(settings, stop_button)
    routes: list[BaseRoute] = [
        Route("/", runs.overview, name="runs"),
        Route("/runs/{run}", runs.run, name="run"),
        Route("/runs/{run}/data/cases.json", runs.index),
        Route("/runs/{run}/data/cases/{case:path}.json", runs.detail),
        Route("/runs/{run}/events", RunEvents(settings, stopping).follow),
        Route("/runs/{run}/cases/{case:path}", runs.case),
        Route("/runs/{run}/trend", runs.trend),
        *LabelPages(settings).routes,
        Route("/runs/{run}/{parts}/{name:path}", runs.part),
        Route("/compare", runs.compare, name="compare"),
        Route("/delete", runs.ask_to_delete, name="delete"),
        Route("/delete", runs.delete, methods=["POST"]),
        pages.shipped(),
        *[Mount(part.path, pages.IsolatedApp(part.app)) for part in parts],
    ]
    app = Starlette(routes=routes, exception_handlers=pages.complaints())
    links = [pages.NavigationLink(part.title, f"{part.path}/") for part in parts]
    return pages.Navigated(
        app, (pages.NavigationLink("Runs", "/"), pages.NavigationLink("Compare", "/compare"), *links)
    )


def serve_site(
    settings: Settings, host: str, port: int, ready: Callable[[Address], object], open_to_all: bool = False
) -> None:
    """Serve all pages on a store to those who have the token in the address.

    On loopback, all users of this machine may be let in without a token.
    """
    with Launcher(settings) as launcher:
        starting = Starting(settings, launcher, "/start")
        parts = (
            MountedApp("Start", "/start", starting.app),
            MountedApp("Playground", "/playground", playground_app()),
        )

        def make(stopping: Callable[[], bool]) -> Any:
            return site(settings, stopping, parts, starting.stop_button)

        serve(make, host, port, ready, open_to_all)
