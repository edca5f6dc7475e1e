"""Users, apps, rate limits, and search by words and a few qualifiers."""

import re
import time
from typing import TypeAlias

from misstep.benchmarks.forge.git import TreeEntry
from misstep.benchmarks.forge.rest.call import RestAnswer, RestCall, RestRefusal
from misstep.benchmarks.forge.rest.issues import ordered
from misstep.benchmarks.forge.rest.views import View
from misstep.benchmarks.forge.state import IssueThread

APP, INSTALLATION = 1, 1
LIMIT = 5000  # requests an hour, which are not counted
PERMISSIONS = {"contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write"}


def get_me(call: RestCall) -> RestAnswer:
    if not call.visitor.may_see:
        raise RestRefusal(401, "Requires authentication")
    return RestAnswer(call.views.profile(call.me.login))


def get_user(call: RestCall) -> RestAnswer:
    login = call.place["login"]
    if login.lower() == call.project.owner.lower():
        return RestAnswer(call.views.profile(call.project.owner))
    return RestAnswer(call.views.profile(call.person(login).login))


def get_rate_limit(_: RestCall) -> RestAnswer:
    ends = int(time.time()) + 3600
    core = {"limit": LIMIT, "used": 0, "remaining": LIMIT, "reset": ends}
    return RestAnswer({"resources": {"core": core, "search": core, "graphql": core}, "rate": core})


def get_app(call: RestCall) -> RestAnswer:
    _require_app(call)
    return RestAnswer(
        {
            "id": APP,
            "slug": call.me.login,
            "name": call.me.name,
            "owner": call.views.user(call.project.owner),
            "description": "",
            "html_url": f"{call.views.url}/apps/{call.me.login}",
            **call.views.project_dates,
            "permissions": PERMISSIONS,
            "events": [],
        }
    )


def list_installations(call: RestCall) -> RestAnswer:
    _require_app(call)
    return RestAnswer([_installation(call)], is_list=True)


def get_installation(call: RestCall) -> RestAnswer:
    _require_app(call)
    if call.place.get("id", str(INSTALLATION)) != str(INSTALLATION):
        raise RestRefusal(404, "Not Found")
    return RestAnswer(_installation(call))


def create_access_token(call: RestCall) -> RestAnswer:
    get_installation(call)
    token, ends = call.keys.lend()
    view = {"token": token, "expires_at": ends, "permissions": PERMISSIONS, "repository_selection": "all"}
    return RestAnswer(view, 201)


def _require_app(call: RestCall) -> None:
    if call.visitor.kind != "app":
        raise RestRefusal(401, "A JSON web token could not be decoded")


def _installation(call: RestCall) -> View:
    url = call.views.url
    return {
        "id": INSTALLATION,
        "app_id": APP,
        "app_slug": call.me.login,
        "account": call.views.user(call.project.owner),
        "target_type": "Organization",
        "repository_selection": "all",
        "access_tokens_url": f"{url}/app/installations/{INSTALLATION}/access_tokens",
        "repositories_url": f"{url}/installation/repositories",
        "html_url": f"{url}/settings/installations/{INSTALLATION}",
        "permissions": PERMISSIONS,
        "events": [],
        **call.views.project_dates,
    }


LONGEST = 256  # characters of a query without qualifiers
_TERM = re.compile(r'(?:([a-z]+):)?(?:"([^"]*)"|(\S+))', re.IGNORECASE)


QUALIFIERS = (
    *("repo", "is", "state", "type", "label", "author", "assignee", "in", "no"),
    *("path", "filename", "extension", "language", "org", "user"),
)
# The words and the values of each qualifier, in lower case; all have to match.
Search: TypeAlias = tuple[list[str], dict[str, list[str]]]


def search_issues(call: RestCall) -> RestAnswer:
    search = _search(call)
    found = [each for each in call.records.threads.values() if _matches(search, each)]
    found = found if _is_here(call, search) else []
    views = [call.views.issue(each) | {"score": 1.0} for each in ordered(call, found)]
    return RestAnswer(views, is_list=True, wrapped="items")


def search_code(call: RestCall) -> RestAnswer:
    search = _search(call)
    commit = call.repository.commit_at(call.project.default)
    assert commit is not None
    files = [(path, entry) for path, entry in call.repository.walk(commit.tree) if entry.kind == "blob"]
    found = [(path, entry) for path, entry in files if _holds(call, search, path, entry)]
    found = found if _is_here(call, search) else []
    more = {"repository": call.views.repo(may_write=False), "score": 1.0}
    ref = call.project.default
    views = [call.views.content(path, entry, ref, None) | more for path, entry in found]
    return RestAnswer(views, is_list=True, wrapped="items")


def _search(call: RestCall) -> Search:
    text = call.query.get("q", "").strip()
    if not text:
        raise RestRefusal(422, "Validation Failed", [{"resource": "Search", "field": "q", "code": "missing"}])
    words, qualifiers = list[str](), {name: list[str]() for name in QUALIFIERS}
    for key, quoted, plain in _TERM.findall(text):
        if key.lower() in qualifiers:
            qualifiers[key.lower()].append((quoted or plain).lower())
        else:
            words.append((f"{key}:" if key else "") + (quoted or plain).lower())
    if len(" ".join(words)) > LONGEST:
        raise RestRefusal(422, "Validation Failed", [{"resource": "Search", "field": "q", "code": "invalid"}])
    return words, qualifiers


def _is_here(call: RestCall, search: Search) -> bool:
    _, wanted = search
    full, owner = call.project.full_name.lower(), call.project.owner.lower()
    return {full}.issuperset(wanted["repo"]) and {owner}.issuperset(wanted["org"] + wanted["user"])


def _matches(search: Search, thread: IssueThread) -> bool:
    words, wanted = search
    text = "\n".join((thread.title, thread.body, *(each.body for each in thread.comments))).lower()
    named = wanted["is"] + wanted["state"] + wanted["type"]
    sorts = [value for value in named if value not in ("public", "private", "unlocked")]
    is_ = {thread.state, "pr" if thread.pull else "issue", "pull-request" if thread.pull else "issue"}
    return (
        all([word in text for word in words])
        and is_.issuperset(sorts)
        and {name.lower() for name in thread.labels}.issuperset(wanted["label"])
        and {thread.author.lower()}.issuperset(wanted["author"])
        and {login.lower() for login in thread.assignees}.issuperset(wanted["assignee"])
    )


def _holds(call: RestCall, search: Search, path: str, entry: TreeEntry) -> bool:
    words, wanted = search
    name = path.rpartition("/")[2].lower()
    placed = (
        all([path.lower().startswith(each.strip("/")) for each in wanted["path"]])
        and all([each in name for each in wanted["filename"]])
        and all([name.endswith(f".{each.lstrip('.')}") for each in wanted["extension"]])
    )
    if not placed or not words:
        return placed
    text = call.repository.read(entry.sha).data.decode("utf-8", "replace").lower()
    return all([word in text or word in path.lower() for word in words])
