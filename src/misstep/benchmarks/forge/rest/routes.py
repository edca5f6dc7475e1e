"""Which request is answered by what."""

import re
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

import msgspec

from misstep.benchmarks.forge.rest import accounts, search
from misstep.benchmarks.forge.rest.answers import Answer
from misstep.benchmarks.forge.rest.call import Call
from misstep.benchmarks.forge.rest.code import contents, gitdata, repositories
from misstep.benchmarks.forge.rest.talk import comments, issues, labels, pulls, reviews

Work: TypeAlias = Callable[[Call], Answer]


class Route(msgspec.Struct, frozen=True):
    """What answers a method on a path."""

    method: str
    pattern: "re.Pattern[str]"
    work: Work

    @property
    def changes(self) -> bool:
        """Whether only those who may write are let in; an app that introduces itself changes nothing."""
        return self.method != "GET" and self.work is not accounts.create_access_token


# {name} is one part of a path, {name*} all that is left. What stands below ~ is about the repository.
_TABLE: tuple[tuple[str, str, Work], ...] = (
    ("GET", "/rate_limit", accounts.get_rate_limit),
    ("GET", "/user", accounts.get_me),
    ("GET", "/users/{login}", accounts.get_user),
    ("GET", "/orgs/{login}", accounts.get_user),
    ("GET", "/user/repos", repositories.list_repositories),
    ("GET", "/users/{login}/repos", repositories.list_repositories),
    ("GET", "/app", accounts.get_app),
    ("GET", "/app/installations", accounts.list_installations),
    ("GET", "/app/installations/{id}", accounts.get_installation),
    ("POST", "/app/installations/{id}/access_tokens", accounts.create_access_token),
    ("GET", "/installation/repositories", repositories.list_installed),
    ("GET", "/search/issues", search.search_issues),
    ("GET", "/search/code", search.search_code),
    ("GET", "~", repositories.get_repository),
    ("GET", "~/installation", accounts.get_installation),
    ("GET", "~/branches", repositories.list_branches),
    ("GET", "~/branches/{branch*}", repositories.get_branch),
    ("GET", "~/commits", repositories.list_commits),
    ("GET", "~/commits/{ref*}", repositories.get_commit),
    ("GET", "~/collaborators", repositories.list_people),
    ("GET", "~/collaborators/{login}", repositories.is_one_of_us),
    ("GET", "~/assignees", repositories.list_people),
    ("GET", "~/assignees/{login}", repositories.is_one_of_us),
    ("GET", "~/releases", repositories.list_nothing),
    ("GET", "~/tags", repositories.list_nothing),
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
    ("GET", "~/git/commits/{sha}", gitdata.get_commit),
    ("POST", "~/git/commits", gitdata.create_commit),
    ("GET", "~/git/trees/{sha*}", gitdata.get_tree),
    ("POST", "~/git/trees", gitdata.create_tree),
    ("GET", "~/git/blobs/{sha}", gitdata.get_blob),
    ("POST", "~/git/blobs", gitdata.create_blob),
    ("GET", "~/labels", labels.list_labels),
    ("POST", "~/labels", labels.create_label),
    ("GET", "~/labels/{name}", labels.get_label),
    ("GET", "~/issues", issues.list_issues),
    ("POST", "~/issues", issues.create_issue),
    ("GET", "~/issues/comments/{id}", comments.get_comment),
    ("PATCH", "~/issues/comments/{id}", comments.edit_comment),
    ("DELETE", "~/issues/comments/{id}", comments.delete_comment),
    ("GET", "~/issues/{number}", issues.get_issue),
    ("PATCH", "~/issues/{number}", issues.edit_issue),
    ("GET", "~/issues/{number}/comments", comments.list_comments),
    ("POST", "~/issues/{number}/comments", comments.create_comment),
    ("GET", "~/issues/{number}/labels", labels.list_issue_labels),
    ("POST", "~/issues/{number}/labels", labels.add_issue_labels),
    ("PUT", "~/issues/{number}/labels", labels.set_issue_labels),
    ("DELETE", "~/issues/{number}/labels", labels.remove_issue_labels),
    ("DELETE", "~/issues/{number}/labels/{name}", labels.remove_issue_label),
    ("GET", "~/pulls", pulls.list_pulls),
    ("POST", "~/pulls", pulls.create_pull),
    ("GET", "~/pulls/{number}", pulls.get_pull),
    ("PATCH", "~/pulls/{number}", pulls.edit_pull),
    ("GET", "~/pulls/{number}/commits", pulls.list_pull_commits),
    ("GET", "~/pulls/{number}/files", pulls.list_pull_files),
    ("GET", "~/pulls/{number}/comments", repositories.list_nothing),
    ("GET", "~/pulls/{number}/reviews", reviews.list_reviews),
    ("POST", "~/pulls/{number}/reviews", reviews.create_review),
    ("GET", "~/pulls/{number}/reviews/{id}", reviews.get_review),
    ("GET", "~/pulls/{number}/requested_reviewers", reviews.get_requested),
    ("POST", "~/pulls/{number}/requested_reviewers", reviews.request_reviews),
    ("DELETE", "~/pulls/{number}/requested_reviewers", reviews.withdraw_requests),
    ("GET", "/{owner}/{repo}/raw/{rest*}", contents.get_raw),
)


def _compiled(pattern: str) -> "re.Pattern[str]":
    whole = pattern.replace("~", "/repos/{owner}/{repo}")
    whole = re.sub(r"\{(\w+)\*\}", r"(?P<\1>.+)", whole)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", whole), re.DOTALL)


ROUTES = tuple(Route(method, _compiled(pattern), work) for method, pattern, work in _TABLE)


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route for a path as it was sent, with the variable parts in plain letters."""
    for route in ROUTES:
        if route.method == method and (match := route.pattern.fullmatch(path)):
            return route, {name: _plain(part) for name, part in match.groupdict().items()}
    return None


def _plain(part: str) -> str:
    """Without escapes. Bytes that are no text become letters that no name may hold."""
    return unquote_to_bytes(part.encode("latin-1", "replace")).decode("utf-8", "surrogateescape")
