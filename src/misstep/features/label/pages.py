"""Labelling in a browser: the same items as on a terminal, and pages for all runs of a store."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from misstep.core.settings import StoreSettings
from misstep.errors import MisstepError, UsageError
from misstep.features.label import view as label_view
from misstep.features.label.run import LONGEST_NAME, Labelling, check_labeller, open_labelling
from misstep.features.label.view import QUESTION, shown
from misstep.web import pages as web
from misstep.web.server import HOST, Address, serve

LABELS = {"erroneous": True, "correct": False}
SKIPPED = "skip"


def labelling_app(labelling: Labelling, secret: web.Secret | None = None) -> Any:
    """An ASGI application that works alone or under any path; put an `OriginGuard` before it.

    Forms carry a secret, a new one if none is given, so that no other site can send them.
    """
    pages = _Pages(labelling, secret or web.Secret())
    routes = [
        Route("/", pages.start, name="start"),
        Route("/item/{number:int}", pages.item, name="item"),
        Route("/item/{number:int}", pages.answer, methods=["POST"]),
        Route("/done", pages.done, name="done"),
        web.shipped(),
    ]
    return Starlette(routes=routes, exception_handlers=web.complaints())


class _Pages:
    def __init__(self, labelling: Labelling, secret: web.Secret) -> None:
        self._labelling, self._secret = labelling, secret

    def start(self, request: Request) -> Response:
        return self._go_to(request, self._labelling.find_open())

    def item(self, request: Request) -> Response:
        place = self._place(request)
        item, said = self._labelling.items[place], self._labelling.answers()
        return self._page(
            request,
            "item.html",
            number=place + 1,
            trials=[shown(trial) for trial in item.trials],
            said=said.get(item.id),
            labelled=len(said),
            token=self._secret.token,
            question=QUESTION,
        )

    async def answer(self, request: Request) -> Response:
        place, form = self._place(request), await web.read_form(request)
        self._secret.check(form)
        said = form.get("label", "")
        if said not in (*LABELS, SKIPPED):
            raise HTTPException(400, "expected a label: erroneous, correct or skip")
        return await run_in_threadpool(self._take, request, place, said)

    def done(self, request: Request) -> Response:
        """The result, once nothing is left: earlier, it would reveal the verdicts of the run."""
        left = len(self._labelling.items) - len(self._labelling.answers())
        report = None if left else self._labelling.report()
        return self._page(request, "done.html", left=left, report=report)

    def _take(self, request: Request, place: int, said: str) -> Response:
        """Store a label, then go to the next unlabelled item, or to the next one if a label was changed."""
        changed = self._labelling.items[place].id in self._labelling.answers()
        if said in LABELS:
            self._labelling.keep(place, LABELS[said])
        if changed and place + 1 < len(self._labelling.items):
            return self._go_to(request, place + 1)
        return self._go_to(request, self._labelling.find_open(place))

    def _place(self, request: Request) -> int:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._labelling.items):
            raise HTTPException(404, "there is no such item")
        return number - 1

    def _go_to(self, request: Request, place: int | None) -> Response:
        url = request.url_for("done") if place is None else request.url_for("item", number=place + 1)
        return web.see_other(url.path)

    def _page(self, request: Request, name: str, **values: Any) -> Response:
        return web.show(request, name, labelling=self._labelling, words=label_view, **values)


PATH = "/runs/{run}/label"


class LabelPages:
    def __init__(self, settings: StoreSettings) -> None:
        self._settings, self._secret = settings, web.Secret()

    @property
    def routes(self) -> list[BaseRoute]:
        return [
            Route(PATH, self.ask, name="label"),
            Route(PATH, self.begin, methods=["POST"]),
            Mount(f"{PATH}/{{labeller}}", self.label),
        ]

    def ask(self, request: Request) -> Response:
        """A form for the name of the labeller, if there is anything to label."""
        with open_labelling(self._settings, request.path_params["run"], "somebody") as labelling:
            return self._form(request, labelling.run, len(labelling.items))

    async def begin(self, request: Request) -> Response:
        form = await web.read_form(request)
        self._secret.check(form)
        name, run = form.get("labeller", "").strip(), request.path_params["run"]
        try:
            check_labeller(name)
        except UsageError as error:
            return self._form(request, run, None, f"{error.message}: {error.hints[0]}", 400)
        return web.see_other(f"{web.run_path(run)}/label/{_as_part(name)}/")

    async def label(self, scope: Any, receive: Any, send: Any) -> None:
        names = scope["path_params"]
        opened = open_labelling(self._settings, names["run"], _from_part(names["labeller"]))
        try:
            labelling = await run_in_threadpool(opened.__enter__)
        except MisstepError as error:
            await web.complain_of(Request(scope), error)(scope, receive, send)
            return
        try:
            await web.IsolatedApp(labelling_app(labelling, self._secret))(scope, receive, send)
        finally:
            await run_in_threadpool(opened.__exit__, None, None, None)

    def _form(
        self, request: Request, run: str, items: int | None, wrong: str = "", status: int = 200
    ) -> Response:
        return web.show(
            request,
            "label.html",
            status,
            run=run,
            items=items,
            wrong=wrong,
            back=web.run_path(run),
            longest=LONGEST_NAME,
            token=self._secret.token,
        )


def _as_part(name: str) -> str:
    """A name as one part of a path that survives repeated decoding."""
    return quote(name, safe="").replace("~", "~7E").replace("%", "~")


def _from_part(part: str) -> str:
    return unquote(part.replace("~", "%"))


def serve_labelling(labelling: Labelling, port: int, ready: Callable[[Address], object]) -> None:
    """Serve one person's labelling of one run, on this machine, to those who have the token."""
    serve(lambda _: labelling_app(labelling), HOST, port, ready)
