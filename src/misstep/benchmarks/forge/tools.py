"""Simple tools for the repository on the forge given in the environment, with the standard library alone.

Agents see the docstrings of the public functions.
"""

import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

PATIENCE = 30.0  # seconds
PER_PAGE = 100
MOST_PAGES = 50


class ForgeError(Exception):
    """The forge refused a request."""


def list_issues(state: str = "open") -> list[dict[str, Any]]:
    """List the issues of the repository, the newest first. Pull requests are left out.

    Args:
        state: Which ones: "open", "closed" or "all".
    """
    found = _ask_all("issues", state=state)
    return [_brief(each, "number", "title", "state") for each in found if "pull_request" not in each]


def read_issue(number: int) -> dict[str, Any]:
    """Read an issue with all comments on it.

    Args:
        number: The number of the issue.
    """
    issue = _ask("GET", f"issues/{int(number)}")
    comments = _ask_all(f"issues/{int(number)}/comments")
    said = [{"author": each["user"]["login"], "body": each["body"]} for each in comments]
    labels = [label["name"] for label in issue["labels"]]
    return _brief(issue, "number", "title", "state", "body") | {"labels": labels, "comments": said}


def comment_on_issue(number: int, body: str) -> str:
    """Add a comment to an issue or a pull request.

    Args:
        number: The number of the issue or pull request.
        body: The text of the comment, in Markdown; it is kept exactly as given.
    """
    _ask("POST", f"issues/{int(number)}/comments", {"body": body})
    return f"Commented on #{int(number)}."


def search_issues(words: str) -> list[dict[str, Any]]:
    """Find issues and pull requests in which all given words occur, in the title, the text or a comment.

    Args:
        words: What to look for; upper and lower case don't matter.
    """
    found = _ask_all("/search/issues", q=f"{words} repo:{os.environ['MISSTEP_FORGE_REPOSITORY']}")
    return [_brief(each, "number", "title", "state") for each in found]


def list_branches() -> list[str]:
    """List the names of all branches."""
    return [branch["name"] for branch in _ask_all("branches")]


def create_branch(name: str, start: str = "main") -> str:
    """Create a branch that begins where another one is now.

    Args:
        name: The name of the new branch, such as "fix/typo".
        start: The name of the branch to begin at.
    """
    sha = _ask("GET", f"git/ref/heads/{quote(start)}")["object"]["sha"]
    _ask("POST", "git/refs", {"ref": f"refs/heads/{name}", "sha": sha})
    return f"Created the branch {name} at {sha[:7]}."


def list_files(branch: str = "main") -> list[str]:
    """List the paths of all files on a branch.

    Args:
        branch: The name of the branch.
    """
    tree = _ask("GET", f"git/trees/{quote(branch)}", recursive="1")["tree"]
    return [entry["path"] for entry in tree if entry["type"] == "blob"]


def read_file(path: str, branch: str = "main") -> str:
    """Read a text file.

    Args:
        path: The path of the file from the top of the repository, such as "docs/index.md".
        branch: The name of the branch.
    """
    return base64.b64decode(_file(path, branch)["content"]).decode("utf-8", "backslashreplace")


def create_file(path: str, content: str, branch: str) -> str:
    """Create a new file with a commit of its own. A file that is there already is not touched.

    Args:
        path: The path of the file from the top of the repository; missing folders are made.
        content: The whole text of the file; no line break is added at its end.
        branch: The name of the branch, which must exist.
    """
    given = {"message": f"Create {path}", "content": _encoded(content), "branch": branch}
    _ask("PUT", f"contents/{quote(path)}", given)
    return f"Created {path} on {branch}."


def update_file(path: str, content: str, branch: str) -> str:
    """Replace the whole text of a file that exists, with a commit of its own. Read the file first.

    Args:
        path: The path of the file from the top of the repository.
        content: The new text of the whole file, not only of the part that changes.
        branch: The name of the branch.
    """
    sha = _file(path, branch)["sha"]
    given = {"message": f"Update {path}", "content": _encoded(content), "sha": sha, "branch": branch}
    _ask("PUT", f"contents/{quote(path)}", given)
    return f"Updated {path} on {branch}."


def delete_file(path: str, branch: str) -> str:
    """Delete a file with a commit of its own.

    Args:
        path: The path of the file from the top of the repository.
        branch: The name of the branch to delete it from; other branches keep it.
    """
    sha = _file(path, branch)["sha"]
    _ask("DELETE", f"contents/{quote(path)}", {"message": f"Delete {path}", "sha": sha, "branch": branch})
    return f"Deleted {path} from {branch}."


def list_pull_requests(state: str = "open") -> list[dict[str, Any]]:
    """List the pull requests of the repository, the newest first.

    Args:
        state: Which ones: "open", "closed" or "all".
    """
    return [_proposed(each) for each in _ask_all("pulls", state=state)]


def read_pull_request(number: int) -> dict[str, Any]:
    """Read a pull request with the names of the files that it changes.

    Args:
        number: The number of the pull request.
    """
    pull = _ask("GET", f"pulls/{int(number)}")
    files = [each["filename"] for each in _ask_all(f"pulls/{int(number)}/files")]
    return _proposed(pull) | {"body": pull["body"], "files": files}


def create_pull_request(title: str, body: str, head: str, base: str = "main") -> str:
    """Propose to merge one branch into another.

    Args:
        title: The title, on one line.
        body: The description, in Markdown.
        head: The name of the branch with the changes.
        base: The name of the branch that the changes are to go into.
    """
    pull = _ask("POST", "pulls", {"title": title, "body": body, "head": head, "base": base})
    return f"Created pull request #{pull['number']}."


TOOLS: list[Callable[..., Any]] = [
    list_issues,
    read_issue,
    comment_on_issue,
    search_issues,
    list_branches,
    create_branch,
    list_files,
    read_file,
    create_file,
    update_file,
    delete_file,
    list_pull_requests,
    read_pull_request,
    create_pull_request,
]


def _file(path: str, branch: str) -> dict[str, Any]:
    found = _ask("GET", f"contents/{quote(path)}", ref=branch)
    if isinstance(found, list):
        raise IsADirectoryError(f"'{path}' is a folder")
    return dict(found)


def _brief(view: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: view[name] for name in names} | {"author": view["user"]["login"]}


def _proposed(view: dict[str, Any]) -> dict[str, Any]:
    ends = {"head": view["head"]["ref"], "base": view["base"]["ref"]}
    return _brief(view, "number", "title", "state") | ends


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _ask(method: str, path: str, given: Mapping[str, Any] | None = None, /, **query: str) -> Any:
    """Send a request and return the response. A path without a leading slash is below the repository."""
    url, token, repository = (_named(name) for name in ("URL", "TOKEN", "REPOSITORY"))
    whole = path if path.startswith("/") else f"/repos/{repository}/{path}"
    data = json.dumps(dict(given)).encode() if given is not None else None
    request = urllib.request.Request(
        f"{url}{whole}{'?' if query else ''}{urlencode(query)}",
        data,
        {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        method=method,
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on this machine
    try:
        with opener.open(request, timeout=PATIENCE) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            raise ForgeError(_words(error)) from None


def _ask_all(path: str, **query: str) -> list[Any]:
    """All pages of a list."""
    found = list[Any]()
    for page in range(1, MOST_PAGES + 1):
        part = _ask("GET", path, None, **query, per_page=str(PER_PAGE), page=str(page))
        items = part["items"] if isinstance(part, dict) else part
        found.extend(items)
        if len(items) < PER_PAGE:
            break
    return found


def _named(name: str) -> str:
    value = os.environ.get(f"MISSTEP_FORGE_{name}", "")
    if not value:
        raise ForgeError(f"MISSTEP_FORGE_{name} is not set: there is no forge to talk to")
    return value.rstrip("/")


def _words(error: urllib.error.HTTPError) -> str:
    """The status, and the messages in the body."""
    try:
        body = json.loads(error.read())
        errors = body.get("errors", [])
        reasons = [each.get("message") or f"{each['field']}: {each['code']}" for each in errors]
        return f"{error.code} " + "; ".join([body["message"], *reasons])
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{error.code} {error.reason}"
