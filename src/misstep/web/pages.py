"""Pages from templates, in which whatever comes from outside is text."""

from functools import cache
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from misstep.report.text import plain

NAVIGATION = "misstep.navigation"  # where a request carries the links that all pages show


class Link(msgspec.Struct, frozen=True):
    """A page that all others lead to."""

    title: str
    path: str


def show(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A template as an answer; `path(route, …)` in it is the path of a route of the same application."""

    def path(route: str, **parts: Any) -> str:
        return str(request.url_for(route, **parts).path)

    links: tuple[Link, ...] = request.scope.get(NAVIGATION, ())
    current = max((link for link in links if _leads_to(link, request)), key=_length, default=None)
    page = environment().get_template(template)
    return HTMLResponse(page.render(path=path, navigation=links, current=current, **values), status)


@cache
def environment() -> Environment:
    """What all templates share."""
    made = Environment(
        loader=PackageLoader("misstep.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plain"] = plain
    return made


class Navigated:
    """An ASGI application whose pages, those of its parts included, show these links."""

    def __init__(self, app: Any, links: tuple[Link, ...]) -> None:
        self._app, self._links = app, links

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app({**scope, NAVIGATION: self._links}, receive, send)


class Apart:
    """An ASGI application under a path of another, in which names of routes are its own."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        own = {name: value for name, value in scope.items() if name not in ("router", "app_root_path")}
        await self._app(own, receive, send)


def _leads_to(link: Link, request: Request) -> bool:
    return f"{request.url.path.rstrip('/')}/".startswith(f"{link.path.rstrip('/')}/")


def _length(link: Link) -> int:
    return len(link.path)
