"""Leads a request through the interface, from its bytes to those of the answer."""

import hashlib
import threading
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from misstep.benchmarks.forge.repository.program import GitTrouble
from misstep.benchmarks.forge.rest.accounts import LIMIT
from misstep.benchmarks.forge.rest.answers import Answer, Refusal, not_found
from misstep.benchmarks.forge.rest.auth import Visitor
from misstep.benchmarks.forge.rest.call import Call, House
from misstep.benchmarks.forge.rest.routes import find_route

PER_PAGE, MOST_PER_PAGE = 30, 100
MOST_ASKED = 100  # fields of a query
FAR = 10  # digits; no page has a number like that
FOREVER = "4102444800"  # when the limit begins anew, which nobody reaches


class Request(msgspec.Struct, frozen=True):
    """`target` is the path with its query, as it was sent; `headers` have small letters."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


class Response(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes = b""


class Application:
    """Answers one request after the other: what a request has read can't change before it writes."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.lock = threading.RLock()

    def answer(self, request: Request) -> Response:
        try:
            with self.lock:
                return self._respond(request)
        except Refusal as refusal:
            return refused(refusal)
        except GitTrouble as trouble:
            return refused(Refusal(409, trouble.message))

    def _respond(self, request: Request) -> Response:
        visitor = self._house.keys.visitor(request.headers.get("authorization"))
        parts = urlsplit(request.target)
        method = "GET" if request.method == "HEAD" else request.method
        found = find_route(method, parts.path.rstrip("/") or "/")
        if found is None:
            raise not_found()
        route, place = found
        self._let_in(visitor, place)
        if route.changes:
            visitor.require_write()
        query = _asked(parts.query)
        body = {} if method == "GET" else _parsed(request.body, parts.path)
        answer = route.work(Call(self._house, visitor, place, query, body))
        return self._sent(answer, request, parts.path, query)

    def _let_in(self, visitor: Visitor, place: dict[str, str]) -> None:
        """Other repositories are not there, and neither is a private one for those who may not see it."""
        project = self._house.project
        if "repo" not in place:
            return
        asked = f"{place['owner']}/{place['repo']}"
        hidden = self._house.private and not visitor.may_see and visitor.kind != "app"
        if asked.lower() != project.full_name.lower() or hidden:
            raise not_found()

    def _sent(self, answer: Answer, request: Request, path: str, query: dict[str, str]) -> Response:
        if answer.text is not None:
            return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, answer.text)
        if answer.status == 204:
            return Response(204, {})
        value, headers = answer.value, dict[str, str]()
        if answer.is_list:
            value, link = _page(value, f"{self._house.views.url}{path}", query)
            headers = {"Link": link} if link else {}
            if answer.wrapped:
                total = {"total_count": len(answer.value), "incomplete_results": False}
                value = total | {answer.wrapped: value}
        response = _json(answer.status, value, headers)
        tag = response.headers["ETag"]
        if request.method in ("GET", "HEAD") and request.headers.get("if-none-match") == tag:
            return Response(304, response.headers)
        return response


def _asked(query: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(query, keep_blank_values=True, errors="replace", max_num_fields=MOST_ASKED))
    except ValueError:
        raise Refusal(400, f"More than {MOST_ASKED} fields in a query") from None


def _parsed(body: bytes, path: str) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(400, "Problems parsing JSON") from None
    if isinstance(value, list) and path.endswith("/labels"):  # which may be sent without their name
        return {"labels": value}
    if not isinstance(value, dict):
        raise Refusal(400, "Body should be a JSON object")
    return value


def refused(refusal: Refusal) -> Response:
    return _json(refusal.status, refusal.body)


def _json(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    data = msgspec.json.encode(value)
    return Response(
        status,
        {
            "Content-Type": "application/json; charset=utf-8",
            "ETag": f'W/"{hashlib.sha256(data).hexdigest()}"',
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-RateLimit-Limit": str(LIMIT),
            "X-RateLimit-Remaining": str(LIMIT),
            "X-RateLimit-Used": "0",
            "X-RateLimit-Reset": FOREVER,
            **(headers or {}),
        },
        data,
    )


def _page(values: list[Any], url: str, query: dict[str, str]) -> tuple[list[Any], str]:
    """The page that is asked for, and the header that leads to the others."""
    size = min(_number(query.get("per_page"), PER_PAGE), MOST_PER_PAGE)
    page, last = _number(query.get("page"), 1), -(-len(values) // size)
    leads = {"prev": min(page - 1, max(last, 1)), "next": page + 1, "last": last, "first": 1}
    if page >= last:
        leads = {name: leads[name] for name in ("prev", "first")}
    if page == 1:
        leads = {name: number for name, number in leads.items() if name in ("next", "last")}
    links = [f'<{url}?{urlencode(query | {"page": number})}>; rel="{name}"' for name, number in leads.items()]
    return values[(page - 1) * size : page * size], ", ".join(links)


def _number(text: str | None, default: int) -> int:
    """A number from one on; whatever else is said, the default is meant."""
    if text is None or not (text.isascii() and text.isdecimal()):
        return default
    return int(text) or default if len(text) < FAR else 10**FAR
