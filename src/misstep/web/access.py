"""Let in whoever has been given the token: others on this machine, or beyond it, have not."""

import hashlib
import secrets
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

SEE_OTHER = 303
SHUT = (
    "this page is for those who have its address with the token: "
    "open the one that misstep serve has printed, in this browser, or start it anew for another"
)


class Access:
    """An ASGI application for those whose browser has the cookie; whoever comes with the token gets it.

    The token leaves the address at once, so that nobody sees it there, and is not what the cookie holds. Its
    name follows from the token: servers on several ports of one host don't take each other's away.
    """

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token
        self._pass = secrets.token_urlsafe(32)
        self._name = f"misstep_{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        app = self._app if scope["type"] != "http" else self._admit(scope)
        await app(scope, receive, send)

    def _admit(self, scope: Any) -> Any:
        headers, query = Headers(scope=scope), QueryParams(scope["query_string"])
        if "token" in query and scope["method"] in ("GET", "HEAD"):
            return self._swap(scope["path"], headers, query)
        shown = cookie_parser(headers.get("cookie", "")).get(self._name, "")
        return self._app if _same(shown, self._pass) else PlainTextResponse(SHUT, 403)

    def _swap(self, path: str, headers: Headers, query: QueryParams) -> Response:
        if not _same(query["token"], self._token):
            return PlainTextResponse(SHUT, 403)
        rest = urlencode([(name, value) for name, value in query.multi_items() if name != "token"])
        answer = RedirectResponse(f"/{path.lstrip('/')}{'?' if rest else ''}{rest}", SEE_OTHER)
        secure = headers.get("x-forwarded-proto", "") == "https"
        answer.set_cookie(self._name, self._pass, httponly=True, samesite="strict", secure=secure)
        return answer


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), wanted.encode())
