"""Styles, scripts that pages load from the server they came from."""

from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from misstep.report.web import frontend

KINDS = {".css": "text/css", ".js": "text/javascript"}


def shipped() -> Route:
    """The route `file` with all of them in one folder, so that modules find each other; each application has
    it, and can stand alone."""
    return Route("/files/{name}", _send, name="file")


def _send(request: Request) -> Response:
    name = request.path_params["name"]
    content = _contents().get(name)
    if content is None:
        raise HTTPException(404, "there is no such file")
    return Response(content, media_type=KINDS[f".{name.rpartition('.')[2]}"])


@cache
def _contents() -> dict[str, bytes]:
    """By name: what reports are made with, and what is our own."""
    found = {name: frontend.asset(name).encode() for name in frontend.FILES}
    found["figure.css"] = frontend.style_of_figures().encode()
    return found | {file.name: file.read_bytes() for file in files("misstep.web").joinpath("data").iterdir()}
