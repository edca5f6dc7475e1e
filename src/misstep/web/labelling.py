"""Labelling in a browser: the same items as on a terminal, in plain forms."""

from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from misstep.api.labelling import Labelling
from misstep.report import labels as words
from misstep.report.items import QUESTION, shown
from misstep.web.complaints import complaints
from misstep.web.forms import Secret, read_form
from misstep.web.pages import show
from misstep.web.shipped import shipped

LABELS = {"erroneous": True, "correct": False}
SKIPPED = "skip"
SEE_OTHER = 303


def labelling_app(labelling: Labelling, secret: Secret | None = None) -> Any:
    """An ASGI application that can stand alone or under any path; put a `Guard` before it.

    Forms carry a secret, one of their own if none is given, so that no other page can send one.
    """
    pages = _Pages(labelling, secret or Secret())
    routes = [
        Route("/", pages.start, name="start"),
        Route("/item/{number:int}", pages.item, name="item"),
        Route("/item/{number:int}", pages.answer, methods=["POST"]),
        Route("/done", pages.done, name="done"),
        shipped(),
    ]
    return Starlette(routes=routes, exception_handlers=complaints())


class _Pages:
    def __init__(self, labelling: Labelling, secret: Secret) -> None:
        self._labelling, self._secret = labelling, secret

    def start(self, request: Request) -> Response:
        """To where there is something to do."""
        return self._go_on(request, -1)

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
        place, form = self._place(request), await read_form(request)
        self._secret.check(form)
        said = form.get("label", "")
        if said not in (*LABELS, SKIPPED):
            raise HTTPException(400, "expected a label: erroneous, correct or skip")
        return await run_in_threadpool(self._take, request, place, said)

    def done(self, request: Request) -> Response:
        """What it came to, once nothing is left: before, it would tell what the run thinks."""
        left = len(self._labelling.items) - len(self._labelling.answers())
        report = None if left else self._labelling.report()
        return self._page(request, "done.html", left=left, report=report)

    def _take(self, request: Request, place: int, said: str) -> Response:
        """Keep a label; then to the next item that has none, or simply the next where one is changed."""
        changed = self._labelling.items[place].id in self._labelling.answers()
        if said in LABELS:
            self._labelling.keep(place, LABELS[said])
        if changed and place + 1 < len(self._labelling.items):
            return self._go_to(request, place + 1)
        return self._go_on(request, place)

    def _place(self, request: Request) -> int:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._labelling.items):
            raise HTTPException(404, "there is no such item")
        return number - 1

    def _go_on(self, request: Request, after: int) -> Response:
        return self._go_to(request, self._labelling.find_open(after))

    def _go_to(self, request: Request, place: int | None) -> Response:
        url = request.url_for("done") if place is None else request.url_for("item", number=place + 1)
        return RedirectResponse(url.path, SEE_OTHER)

    def _page(self, request: Request, name: str, **values: Any) -> Response:
        return show(request, name, labelling=self._labelling, words=words, **values)
