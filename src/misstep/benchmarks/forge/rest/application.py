"""Routes requests to API functions and encodes their answers."""

import hashlib
import re
import threading
from collections.abc import Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote_to_bytes, urlencode, urlsplit

import msgspec

from misstep.benchmarks.forge.git import GitTrouble
from misstep.benchmarks.forge.rest import accounts, contents, gitdata, issues, pulls
from misstep.benchmarks.forge.rest.accounts import LIMIT
from misstep.benchmarks.forge.rest.call import Keys, RestAnswer, RestCall, RestRefusal
from misstep.benchmarks.forge.rest.views import Views

Work: TypeAlias = Callable[[RestCall], RestAnswer]


# {name} is one part of a path, {name*} the rest of it. Paths below ~ are about the repository.
_TABLE: tuple[tuple[str, str, Work], ...] = (
    ("GET", "/rate_limit", accounts.get_rate_limit),
    ("GET", "/user", accounts.get_me),
    ("GET", "/users/{login}", accounts.get_user),
    ("GET", "/orgs/{login}", accounts.get_user),
    ("GET", "/user/repos", gitdata.list_repositories),
    ("GET", "/users/{login}/repos", gitdata.list_repositories),
    ("GET", "/app", accounts.get_app),
    ("GET", "/app/installations", accounts.list_installations),
    ("GET", "/app/installations/{id}", accounts.get_installation),
    ("POST", "/app/installations/{id}/access_tokens", accounts.create_access_token),
    ("GET", "/installation/repositories", gitdata.list_installed),
    ("GET", "/search/issues", accounts.search_issues),
    ("GET", "/search/code", accounts.search_code),
    ("GET", "~", gitdata.get_repository),
    ("GET", "~/installation", accounts.get_installation),
    ("GET", "~/branches", gitdata.list_branches),
    ("GET", "~/branches/{branch*}", gitdata.get_branch),
    ("GET", "~/commits", gitdata.list_commits),
    ("GET", "~/commits/{ref*}", gitdata.get_commit),
    ("GET", "~/collaborators", gitdata.list_people),
    ("GET", "~/collaborators/{login}", gitdata.is_one_of_us),
    ("GET", "~/assignees", gitdata.list_people),
    ("GET", "~/assignees/{login}", gitdata.is_one_of_us),
    ("GET", "~/releases", gitdata.list_nothing),
    ("GET", "~/tags", gitdata.list_nothing),
    ("GET", "~/readme", contents.get_readme),
    ("GET", "~/contents", contents.get_contents),
    ("GET", "~/contents/{path*}", contents.get_contents),
    ("PUT", "~/contents/{path*}", contents.put_contents),
    ("DELETE", "~/contents/{path*}", contents.delete_contents),
    ("GET", "~/git/ref/{ref*}", gitdata.get_ref),
    ("GET", "~/git/refs", gitdata.list_refs),
    ("GET", "~/git/refs/{ref*}", gitdata.get_ref),
    ("GET", "~/git/matching-refs/{ref*}", gitdata.list_refs),
    ("POST", "~/git/refs", gitdata.create_ref),
    ("PATCH", "~/git/refs/{ref*}", gitdata.update_ref),
    ("DELETE", "~/git/refs/{ref*}", gitdata.delete_ref),
    ("GET", "~/git/commits/{sha}", gitdata.get_git_commit),
    ("POST", "~/git/commits", gitdata.create_commit),
    ("GET", "~/git/trees/{sha*}", gitdata.get_tree),
    ("POST", "~/git/trees", gitdata.create_tree),
    ("GET", "~/git/blobs/{sha}", gitdata.get_blob),
    ("POST", "~/git/blobs", gitdata.create_blob),
    ("GET", "~/labels", issues.list_labels),
    ("POST", "~/labels", issues.create_label),
    ("GET", "~/labels/{name}", issues.get_label),
    ("GET", "~/issues", issues.list_issues),
    ("POST", "~/issues", issues.create_issue),
    ("GET", "~/issues/comments/{id}", issues.get_comment),
    ("PATCH", "~/issues/comments/{id}", issues.edit_comment),
    ("DELETE", "~/issues/comments/{id}", issues.delete_comment),
    ("GET", "~/issues/{number}", issues.get_issue),
    ("PATCH", "~/issues/{number}", issues.edit_issue),
    ("GET", "~/issues/{number}/comments", issues.list_comments),
    ("POST", "~/issues/{number}/comments", issues.create_comment),
    ("GET", "~/issues/{number}/labels", issues.list_issue_labels),
    ("POST", "~/issues/{number}/labels", issues.add_issue_labels),
    ("PUT", "~/issues/{number}/labels", issues.set_issue_labels),
    ("DELETE", "~/issues/{number}/labels", issues.remove_issue_labels),
    ("DELETE", "~/issues/{number}/labels/{name}", issues.remove_issue_label),
    ("GET", "~/pulls", pulls.list_pulls),
    ("POST", "~/pulls", pulls.create_pull),
    ("GET", "~/pulls/{number}", pulls.get_pull),
    ("PATCH", "~/pulls/{number}", pulls.edit_pull),
    ("GET", "~/pulls/{number}/commits", pulls.list_pull_commits),
    ("GET", "~/pulls/{number}/files", pulls.list_pull_files),
    ("GET", "~/pulls/{number}/comments", gitdata.list_nothing),
    ("GET", "~/pulls/{number}/reviews", pulls.list_reviews),
    ("POST", "~/pulls/{number}/reviews", pulls.create_review),
    ("GET", "~/pulls/{number}/reviews/{id}", pulls.get_review),
    ("GET", "~/pulls/{number}/requested_reviewers", pulls.get_requested),
    ("POST", "~/pulls/{number}/requested_reviewers", pulls.request_reviews),
    ("DELETE", "~/pulls/{number}/requested_reviewers", pulls.withdraw_requests),
    ("GET", "/{owner}/{repo}/raw/{rest*}", contents.get_raw),
)


def _compiled(pattern: str) -> "re.Pattern[str]":
    whole = pattern.replace("~", "/repos/{owner}/{repo}")
    whole = re.sub(r"\{(\w+)\*\}", r"(?P<\1>.+)", whole)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", whole), re.DOTALL)


_ROUTES = tuple((method, _compiled(pattern), work) for method, pattern, work in _TABLE)


def _find_route(method: str, path: str) -> tuple[Work, dict[str, str]]:
    """The function for a path as it was sent, and the variables in the path, unescaped."""
    for known, pattern, work in _ROUTES:
        if known == method and (match := pattern.fullmatch(path)):
            return work, {name: _plain(part) for name, part in match.groupdict().items()}
    raise RestRefusal(404, "Not Found")


def _plain(part: str) -> str:
    """Unescape a part. Invalid UTF-8 becomes surrogates, which no name may contain."""
    return unquote_to_bytes(part.encode("latin-1", "replace")).decode("utf-8", "surrogateescape")


PER_PAGE, MOST_PER_PAGE = 30, 100
MOST_ASKED = 100  # fields of a query
FAR = 10  # digits; no page number has so many
FOREVER = "4102444800"  # when the rate limit resets, which is never needed


class HttpRequest(msgspec.Struct, frozen=True):
    """`target` is the path with its query, as it was sent; names of `headers` are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


class Response(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes = b""


class Application:
    """Answers one request at a time, so that what a request has read can't change before it writes."""

    def __init__(self, views: Views, keys: Keys) -> None:
        self._views, self._keys = views, keys
        self.lock = threading.RLock()

    def answer(self, request: HttpRequest) -> Response:
        try:
            with self.lock:
                return self._respond(request)
        except RestRefusal as refusal:
            return refused(refusal)
        except GitTrouble as trouble:
            return refused(RestRefusal(409, trouble.message))

    def _respond(self, request: HttpRequest) -> Response:
        visitor = self._keys.visitor(request.headers.get("authorization"))
        parts = urlsplit(request.target)
        method = "GET" if request.method == "HEAD" else request.method
        work, place = _find_route(method, parts.path.rstrip("/") or "/")
        if "repo" in place:
            asked = f"{place['owner']}/{place['repo']}"
            hidden = self._views.private and not visitor.may_see and visitor.kind != "app"
            if asked.lower() != self._views.project.full_name.lower() or hidden:
                raise RestRefusal(404, "Not Found")
        if method != "GET" and work is not accounts.create_access_token:
            visitor.require_write()
        query = _asked(parts.query)
        body = {} if method == "GET" else _parsed(request.body, parts.path)
        answer = work(RestCall(self._views, self._keys, visitor, place, query, body))
        return self._sent(answer, request, parts.path, query)

    def _sent(self, answer: RestAnswer, request: HttpRequest, path: str, query: dict[str, str]) -> Response:
        if answer.text is not None:
            return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, answer.text)
        if answer.status == 204:
            return Response(204, {})
        value, headers = answer.value, dict[str, str]()
        if answer.is_list:
            value, link = _page(value, f"{self._views.url}{path}", query)
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
        raise RestRefusal(400, f"More than {MOST_ASKED} fields in a query") from None


def _parsed(body: bytes, path: str) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RestRefusal(400, "Problems parsing JSON") from None
    if isinstance(value, list) and path.endswith("/labels"):  # a list of labels may be sent without a key
        return {"labels": value}
    if not isinstance(value, dict):
        raise RestRefusal(400, "Body should be a JSON object")
    return value


def refused(refusal: RestRefusal) -> Response:
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
    """The requested page, and the header with links to the others."""
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
    """A positive number, or the default for anything else."""
    if text is None or not (text.isascii() and text.isdecimal()):
        return default
    return int(text) or default if len(text) < FAR else 10**FAR
