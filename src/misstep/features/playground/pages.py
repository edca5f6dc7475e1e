"""The pages of the playground. All state is in the requests; the server keeps nothing."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from misstep.core.constraint import FAMILIES
from misstep.errors import UsageError
from misstep.features.playground import run as playground_run
from misstep.features.playground.run import Name, ProblemChoice, Steps
from misstep.rendering.text import plain
from misstep.web.pages import complaints, read_body, shipped, show

LONGEST = 100_000  # bytes; the maximum number of calls takes less
YOU, RIGHT = "you", "right"
ABOUT = {  # a short description of each family, to choose from
    "order": "before, after",
    "time": "a clock, durations",
    "data": "values handed on",
    "adjacent": "right after, first, last",
    "choice": "either, or",
    "repeat": "twice, at most",
    "budget": "prices",
    "dynamic": "tools that fail, news",
}

K = TypeVar("K")


class _Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A problem, and the calls made so far.

    `by` says who gets the verdict: the person who made these calls, or a planner that makes its own.
    """

    wish: ProblemChoice
    calls: Steps = ()
    by: Name = YOU


def playground_app() -> Any:
    """An ASGI application that works alone or under any path; put an `OriginGuard` before it.

    Each request contains the problem and all calls so far, which are carried out again.
    """
    routes = [
        Route("/", _page, name="playground"),
        Route("/problem", _told(ProblemChoice, _problem), methods=["POST"], name="problem"),
        Route("/play", _told(_Asked, _play), methods=["POST"], name="play"),
        Route("/verdict", _told(_Asked, _verdict), methods=["POST"], name="verdict"),
        shipped(),
    ]
    return Starlette(routes=routes, exception_handlers=complaints())


def _page(request: Request) -> Response:
    return show(
        request,
        "playground.html",
        families=[(family, ABOUT[family]) for family in FAMILIES],
        usual=ProblemChoice(),
        limits=playground_run,
    )


def _problem(wish: ProblemChoice) -> dict[str, Any]:
    return playground_run.show_problem(playground_run.fitted(wish))


def _play(asked: _Asked) -> dict[str, Any]:
    case = playground_run.make_problem(playground_run.fitted(asked.wish))
    return {"results": [plain(result) for result in playground_run.play(case, asked.calls)]}


def _verdict(asked: _Asked) -> dict[str, Any]:
    wish = playground_run.fitted(asked.wish)
    case = playground_run.make_problem(wish)
    if asked.by == YOU:
        outcome = playground_run.judge_calls(case, asked.calls)
    elif asked.by == RIGHT:
        outcome = playground_run.judge_calls(case, playground_run.right_calls(case))
    else:
        outcome = playground_run.let_try(case, asked.by)
    return playground_run.detail(wish, outcome)


def _told(kind: type[K], make: Callable[[K], dict[str, Any]]) -> Any:
    """Answer JSON with JSON; invalid input gets a one-sentence error."""

    async def answer(request: Request) -> Response:
        status = 200
        try:
            body = await read_body(request, LONGEST)
            try:
                asked = msgspec.json.decode(body, type=kind)
            except msgspec.ValidationError as error:
                raise HTTPException(400, plain(f"this can't be played: {error}", 500)) from None
            except (msgspec.DecodeError, RecursionError):
                raise HTTPException(400, "this can't be played: expected JSON") from None
            told = await run_in_threadpool(make, asked)
        except HTTPException as error:
            told, status = {"message": error.detail}, error.status_code
        except UsageError as error:
            told, status = {"message": plain(": ".join([error.message, *error.hints]))}, 400
        return Response(msgspec.json.encode(told), status, media_type="application/json")

    return answer
