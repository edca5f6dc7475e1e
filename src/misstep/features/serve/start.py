"""Pages that start planning runs."""

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from misstep.core.constraint import FAMILIES
from misstep.core.settings import Settings, parse_setting
from misstep.errors import UsageError
from misstep.features.serve.launch import (
    MOST_CASES,
    Launcher,
    LaunchOrder,
    LaunchProgress,
    agents_for,
    costs_money,
)
from misstep.features.serve.runs import StopButton
from misstep.rendering.text import plain_lines
from misstep.web.pages import Secret, complaints, read_form, run_path, shipped, show

LONGEST_FORM, MOST_FIELDS = 2_000, 30
PATIENCE = 2.0  # seconds until a page says that a run is still starting
SEE_OTHER = 303
USUAL = {"low": "3", "high": "5", "count": "100", "seed": "0", "budget_usd": "", "about_order": "yes"}
ABOUT = "about_"  # prefix of a family's field name


class Starting:
    """The pages that start runs, and what other pages need to stop them.

    `app` is an ASGI application that works under any path, here `base`; put an `OriginGuard` before it.
    """

    def __init__(self, settings: Settings, launcher: Launcher, base: str) -> None:
        self._settings, self._launcher, self._base = settings, launcher, base
        self._secret = Secret()
        self.app = Starlette(
            routes=[
                Route("/", self._form, name="start"),
                Route("/", self._start, methods=["POST"]),
                Route("/stop/{run}", self._stop, methods=["POST"], name="stop"),
                Route("/{number:int}", self._wait, name="launch"),
                shipped(),
            ],
            exception_handlers=complaints(),
        )

    def stop_button(self, run: str) -> StopButton | None:
        """The button for a run that was started here and is still running."""
        if not self._launcher.can_stop(run):
            return None
        return StopButton(f"{self._base}{self.app.url_path_for('stop', run=run)}", self._secret.token)

    def _form(self, request: Request) -> Response:
        return self._ask(request, USUAL)

    async def _start(self, request: Request) -> Response:
        form = await read_form(request, LONGEST_FORM, MOST_FIELDS)
        self._secret.check(form)
        try:
            number = await run_in_threadpool(self._launcher.start, _order(form))
        except UsageError as error:
            return self._ask(request, form, "\n".join([error.message, *filter(None, error.hints)]))
        return RedirectResponse(request.url_for("launch", number=number).path, SEE_OTHER)

    def _wait(self, request: Request) -> Response:
        """Redirect to the run as soon as it exists."""
        progress = self._launcher.wait(request.path_params["number"], PATIENCE)
        if progress is None:
            raise HTTPException(404, "there is no such start: it may have been before the server was")
        if progress.run:
            return RedirectResponse(run_path(progress.run), SEE_OTHER)
        if progress.ended:
            return self._ask(request, USUAL, _last_words(progress))
        return show(request, "waiting.html", said=plain_lines(progress.said))

    async def _stop(self, request: Request) -> Response:
        self._secret.check(await read_form(request))
        run = request.path_params["run"]
        if not await run_in_threadpool(self._launcher.stop, run):
            raise HTTPException(404, "no such run was started here, or it has ended")
        return RedirectResponse(run_path(run), SEE_OTHER)

    def _ask(self, request: Request, given: dict[str, str], wrong: str = "") -> Response:
        return show(
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
    usd = given["budget_usd"]
    return LaunchOrder(
        form.get("agent", ""),
        actions=parse_setting("actions", f"{given['low']}-{given['high']}", "", lax=True),
        count=parse_setting("count", given["count"], "", lax=True),
        family=tuple(family for family in FAMILIES if f"{ABOUT}{family}" in form),
        seed=parse_setting("seed", given["seed"], "", lax=True),
        budget_usd=parse_setting("budget_usd", usd, "", lax=True) if usd else None,
    )


def _last_words(progress: LaunchProgress) -> str:
    return progress.said or "The run has ended before it began, and said nothing."
