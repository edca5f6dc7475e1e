"""What went wrong, on a page like all others."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from misstep.errors import MisstepError, StoreError, UsageError
from misstep.report.text import plain_lines
from misstep.web.pages import show


def complaints() -> dict[Any, Callable[[Request, Any], Response]]:
    """For the exception handlers of an application."""
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


_USUAL = {404: "there is no such page", 405: "this page takes no such request"}
