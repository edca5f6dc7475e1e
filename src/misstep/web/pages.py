"""Pages from templates that escape all text, error pages, forms, and static files."""

import secrets
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from misstep.errors import MisstepError, StoreError, UsageError
from misstep.rendering.html import assets
from misstep.rendering.text import plain, plain_lines

NAVIGATION = "misstep.navigation"  # where a request carries the links that all pages show


class NavigationLink(msgspec.Struct, frozen=True):
    """A page that all others link to."""

    title: str
    path: str


def show(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A template as a response; `path(route, …)` in it is the path of a route of the same application."""

    def path(route: str, **parts: Any) -> str:
        return str(request.url_for(route, **parts).path)

    links: tuple[NavigationLink, ...] = request.scope.get(NAVIGATION, ())
    here = f"{request.url.path.rstrip('/')}/"
    leading = [link for link in links if here.startswith(f"{link.path.rstrip('/')}/")]
    current = max(leading, key=lambda link: len(link.path), default=None)
    page = environment().get_template(template)
    return HTMLResponse(page.render(path=path, navigation=links, current=current, **values), status)


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("misstep.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plain"] = plain
    made.globals["icon"] = assets.icon()
    return made


class Navigated:
    """An ASGI application that shows these links on its pages, including those of mounted applications."""

    def __init__(self, app: Any, links: tuple[NavigationLink, ...]) -> None:
        self._app, self._links = app, links

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app({**scope, NAVIGATION: self._links}, receive, send)


class IsolatedApp:
    """An ASGI application under a path of another, with its own names of routes."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        own = {name: value for name, value in scope.items() if name not in ("router", "app_root_path")}
        await self._app(own, receive, send)


def complaints() -> dict[Any, Callable[[Request, Any], Response]]:
    """Error pages, for the exception handlers of an application."""
    return {MisstepError: complain_of, HTTPException: _tell_status}


def complain(request: Request, status: int, title: str, told: str = "", **values: Any) -> Response:
    return show(request, "complaint.html", status, title=title, told=plain_lines(told), **values)


def complain_of(request: Request, error: MisstepError) -> Response:
    status = 400 if isinstance(error, UsageError) else 503 if isinstance(error, StoreError) else 500
    return complain(request, status, error.message, "\n".join(filter(None, (error.where, *error.hints))))


def _tell_status(request: Request, error: HTTPException) -> Response:
    usual = HTTPStatus(error.status_code).phrase
    said = error.detail if error.detail != usual else _USUAL.get(error.status_code, usual)
    answer = complain(request, error.status_code, said)
    answer.headers.update(error.headers or {})
    return answer


_USUAL = {404: "no such page", 405: "this page does not support that request"}


LONGEST_FORM = 1_000  # bytes
MOST_FIELDS = 10


class Secret:
    """A value that every form carries in its field `token`, so that no other site can send one."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)

    def check(self, form: dict[str, str]) -> None:
        """Check that a form was issued by this server since it started."""
        if not secrets.compare_digest(form.get("token", "").encode(), self.token.encode()):
            raise HTTPException(403, "this form is from an earlier session: go back and reload the page")


async def read_form(
    request: Request, longest: int = LONGEST_FORM, fields: int = MOST_FIELDS
) -> dict[str, str]:
    """The fields of a form, each name once."""
    body = await read_body(request, longest)
    try:
        given = parse_qs(body.decode(errors="replace"), max_num_fields=fields)
    except ValueError:
        raise HTTPException(400, "the form is too large") from None
    return {name: values[0] for name, values in given.items()}


async def read_body(request: Request, longest: int) -> bytes:
    """The body of a request, if it is not longer than that."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > longest:
            raise HTTPException(413, "the form is too large")
    return body


KINDS = {".css": "text/css", ".js": "text/javascript"}


def shipped() -> Route:
    """The route `file`: all static files in one folder, so that modules find each other."""
    return Route("/files/{name}", _send, name="file")


def _send(request: Request) -> Response:
    name = request.path_params["name"]
    content = _contents().get(name)
    if content is None:
        raise HTTPException(404, "no such file")
    return Response(content, media_type=KINDS[f".{name.rpartition('.')[2]}"])


@cache
def _contents() -> dict[str, bytes]:
    """The static files by name: those of reports, and our own."""
    found = {name: assets.asset(name).encode() for name in assets.FILES}
    found["figure.css"] = assets.style_of_figures().encode()
    return found | {file.name: file.read_bytes() for file in files("misstep.web").joinpath("data").iterdir()}


def see_other(path: str) -> Response:
    """A redirect after a form was taken."""
    return RedirectResponse(path, 303)


def run_path(run: str) -> str:
    return f"/runs/{quote(run, safe='')}"


def case_path(run: str, case: str) -> str:
    return part_path(f"{run_path(run)}/cases", case)


def part_path(base: str, name: str) -> str:
    return f"{base}/{quote(name, safe='')}"
