"""Labels for the runs of a store: who labels is asked for, then the items are shown."""

from typing import Any
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from misstep.api.labelling import LONGEST_NAME, check_labeller, open_labelling
from misstep.core.settings import Settings
from misstep.errors import MisstepError, UsageError
from misstep.web.complaints import complain_of
from misstep.web.forms import Secret, read_form
from misstep.web.labelling import labelling_app
from misstep.web.pages import Apart, show
from misstep.web.runs import run_path

SEE_OTHER = 303
PATH = "/runs/{run}/label"


class LabelPages:
    """The labelling of any run, by anybody."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._secret = settings, Secret()

    @property
    def routes(self) -> list[BaseRoute]:
        return [
            Route(PATH, self.ask, name="label"),
            Route(PATH, self.begin, methods=["POST"]),
            Mount(f"{PATH}/{{labeller}}", self.label),
        ]

    def ask(self, request: Request) -> Response:
        """A form for the name of whoever labels, if there is anything to label."""
        with open_labelling(self._settings, request.path_params["run"], "somebody") as labelling:
            return self._form(request, labelling.run, len(labelling.items))

    async def begin(self, request: Request) -> Response:
        form = await read_form(request)
        self._secret.check(form)
        name, run = form.get("labeller", "").strip(), request.path_params["run"]
        try:
            check_labeller(name)
        except UsageError as error:
            return self._form(request, run, None, f"{error.message}: {error.hints[0]}", 400)
        return RedirectResponse(f"{run_path(run)}/label/{_as_part(name)}/", SEE_OTHER)

    async def label(self, scope: Any, receive: Any, send: Any) -> None:
        """The labelling application of one run for one person."""
        names = scope["path_params"]
        opened = open_labelling(self._settings, names["run"], _from_part(names["labeller"]))
        try:
            labelling = await run_in_threadpool(opened.__enter__)
        except MisstepError as error:
            await complain_of(Request(scope), error)(scope, receive, send)
            return
        try:
            await Apart(labelling_app(labelling, self._secret))(scope, receive, send)
        finally:
            await run_in_threadpool(opened.__exit__, None, None, None)

    def _form(
        self, request: Request, run: str, items: int | None, wrong: str = "", status: int = 200
    ) -> Response:
        return show(
            request,
            "label.html",
            status,
            run=run,
            items=items,
            wrong=wrong,
            back=run_path(run),
            longest=LONGEST_NAME,
            token=self._secret.token,
        )


def _as_part(name: str) -> str:
    """A name as one part of a path that stays the same however often paths are decoded on their way."""
    return quote(name, safe="").replace("~", "~7E").replace("%", "~")


def _from_part(part: str) -> str:
    return unquote(part.replace("~", "%"))
