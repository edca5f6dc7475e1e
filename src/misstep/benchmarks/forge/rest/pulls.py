"""Endpoints for pull requests, reviews and review requests."""

from urllib.parse import quote

from msgspec import structs

from misstep.benchmarks.forge.git import FOLDER, TreeEntry
from misstep.benchmarks.forge.repository import Repository
from misstep.benchmarks.forge.rest.call import (
    RestAnswer,
    RestCall,
    RestRefusal,
    existing,
    invalid,
    not_supplied,
)
from misstep.benchmarks.forge.rest.issues import checked_body, checked_title, edited, has_state, ordered
from misstep.benchmarks.forge.rest.views import View, shown
from misstep.benchmarks.forge.state import IssueThread, PullProposal, Review


def list_pulls(call: RestCall) -> RestAnswer:
    head, base = call.query.get("head", "").rpartition(":")[2], call.query.get("base")
    found = [
        (thread, thread.pull)
        for thread in ordered(call, call.records.threads.values())
        if thread.pull
        and has_state(call, thread)
        and head in ("", thread.pull.head)
        and base in (None, thread.pull.base)
    ]
    return RestAnswer([call.views.pull(thread, pull) for thread, pull in found], is_list=True)


def get_pull(call: RestCall) -> RestAnswer:
    return RestAnswer(_whole_view(call, *call.pull()))


def create_pull(call: RestCall) -> RestAnswer:
    for field in ("head", "base"):
        if call.body.get(field) is None:
            raise not_supplied(field)
    title, body, pull = checked_title(call), checked_body(call, required=False), _proposal(call)
    thread = call.records.open(title, body, call.me.login, pull)
    return RestAnswer(_whole_view(call, thread, pull), 201)


def edit_pull(call: RestCall) -> RestAnswer:
    thread, pull = call.pull()
    if call.body.get("base") is not None:
        base = call.text("base")
        if call.repository.tip(base) is None:
            raise invalid("PullRequest", "base")
        pull = structs.replace(pull, base=base)
        thread = call.records.change(thread, pull=pull)
    return RestAnswer(_whole_view(call, edited(call, thread), pull))


def _proposal(call: RestCall) -> PullProposal:
    """The proposed pull request; refused if it changes nothing or already exists."""
    owner, _, head = call.text("head").rpartition(":")
    base = call.text("base")
    tip, onto = call.repository.tip(head), call.repository.tip(base)
    if tip is None or owner.lower() not in ("", call.project.owner.lower()):
        raise invalid("PullRequest", "head")
    if onto is None:
        raise invalid("PullRequest", "base")
    if not call.repository.history(tip, f"^{onto}"):
        raise _objection(f"No commits between {base} and {head}")
    for thread in call.records.threads.values():
        if thread.pull and thread.state == "open" and (thread.pull.head, thread.pull.base) == (head, base):
            who = f"{call.project.owner}:{head}"
            raise _objection(f"A pull request already exists for {who}.")
    return PullProposal(head, base, call.flag("draft"), tip=tip)


def _objection(message: str) -> RestRefusal:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return RestRefusal(422, "Validation Failed", [error])


def list_pull_commits(call: RestCall) -> RestAnswer:
    """The oldest first."""
    _, pull = call.pull()
    commits = [call.repository.read_commit(sha) for sha in _commits(call, pull)]
    return RestAnswer([call.views.commit(commit) for commit in reversed(commits)], is_list=True)


def list_pull_files(call: RestCall) -> RestAnswer:
    _, pull = call.pull()
    return RestAnswer(_files(call, pull), is_list=True)


def _whole_view(call: RestCall, thread: IssueThread, pull: PullProposal) -> View:
    """The pull request with the size of its changes."""
    files = _files(call, pull)
    return call.views.pull(thread, pull) | {
        "merged": False,
        "mergeable": None,
        "mergeable_state": "unknown",
        "merged_by": None,
        "maintainer_can_modify": False,
        "comments": len(thread.comments),
        "review_comments": 0,
        "commits": len(_commits(call, pull)),
        "additions": sum(each["additions"] for each in files),
        "deletions": sum(each["deletions"] for each in files),
        "changed_files": len(files),
    }


def _ends(call: RestCall, pull: PullProposal) -> tuple[str, str]:
    """The commits at its two ends; empty if there is no such branch any more."""
    return call.repository.tip(pull.head) or pull.tip, call.repository.tip(pull.base) or ""


def _commits(call: RestCall, pull: PullProposal) -> list[str]:
    tip, onto = _ends(call, pull)
    return call.repository.history(tip, f"^{onto}") if tip and onto else []


def _files(call: RestCall, pull: PullProposal) -> list[View]:
    """The changed files, sorted by path. A rename is a deletion and an addition."""
    tip, onto = _ends(call, pull)
    start = call.repository.fork_point(tip, onto) if tip and onto else None
    if not start:
        return []
    before, after = (_entries(call.repository, commit) for commit in (start, tip))
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    patches = _patches(call.repository.patch(start, tip)) if paths else []
    if len(patches) != len(paths):  # a file that became a link has two
        patches = [""] * len(paths)
    return [
        _file_view(call, path, tip, before.get(path), after.get(path), patch)
        for path, patch in zip(paths, patches, strict=True)
    ]


def _entries(repository: Repository, commit: str) -> dict[str, TreeEntry]:
    tree = repository.read_commit(commit).tree
    return {path: entry for path, entry in repository.walk(tree) if entry.mode != FOLDER}


def _patches(text: str) -> list[str]:
    """The part from the first @@ on, for each file in git's order, which is by path."""
    parts = ("\n" + text).split("\ndiff --git ")[1:]
    return ["@@" + part.split("\n@@", 1)[1].rstrip("\n") if "\n@@" in part else "" for part in parts]


def _file_view(
    call: RestCall, path: str, tip: str, before: TreeEntry | None, after: TreeEntry | None, patch: str
) -> View:
    entry = after or before
    assert entry is not None
    additions, deletions = (sum(line.startswith(sign) for line in patch.split("\n")) for sign in "+-")
    place = quote(shown(path))
    view = {
        "sha": entry.sha,
        "filename": shown(path),
        "status": "added" if before is None else "modified" if after else "removed",
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": f"{call.views.page}/blob/{tip}/{place}",
        "raw_url": f"{call.views.page}/raw/{tip}/{place}",
        "contents_url": f"{call.views.home}/contents/{place}?ref={tip}",
    }
    return view | ({"patch": patch} if patch else {})


VERDICTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def list_reviews(call: RestCall) -> RestAnswer:
    thread, pull = call.pull()
    return RestAnswer([call.views.review(thread, each) for each in pull.reviews], is_list=True)


def get_review(call: RestCall) -> RestAnswer:
    thread, pull = call.pull()
    found = next((each for each in pull.reviews if str(each.id) == call.place["id"]), None)
    return RestAnswer(call.views.review(thread, existing(found)))


def create_review(call: RestCall) -> RestAnswer:
    """Create a review; comments on single lines are ignored."""
    thread, pull = call.pull()
    event = call.text_or("event", "PENDING")
    if event not in (*VERDICTS, "PENDING"):
        raise invalid("PullRequestReview", "event")
    if event == "APPROVE" and thread.author == call.me.login:
        raise RestRefusal(422, "Can not approve your own pull request")
    body = checked_body(call, required=event in ("COMMENT", "REQUEST_CHANGES"))
    records = call.records
    review = Review(call.me.login, VERDICTS.get(event, event), body, records.new_id(), records.tick())
    records.change(thread, pull=structs.replace(pull, reviews=(*pull.reviews, review)))
    return RestAnswer(call.views.review(thread, review))


def get_requested(call: RestCall) -> RestAnswer:
    _, pull = call.pull()
    return RestAnswer({"users": [call.views.user(login) for login in pull.reviewers], "teams": []})


def request_reviews(call: RestCall) -> RestAnswer:
    thread, pull = call.pull()
    asked = [_collaborator(call, login) for login in call.texts("reviewers") or []]
    if thread.author in asked:
        raise RestRefusal(422, "Review cannot be requested from pull request author.")
    return _asked(call, (*pull.reviewers, *asked), 201)


def withdraw_requests(call: RestCall) -> RestAnswer:
    _, pull = call.pull()
    no_longer = {login.lower() for login in call.texts("reviewers") or []}
    return _asked(call, tuple(each for each in pull.reviewers if each.lower() not in no_longer), 200)


def _asked(call: RestCall, logins: tuple[str, ...], status: int) -> RestAnswer:
    thread, pull = call.pull()
    pull = structs.replace(pull, reviewers=tuple(dict.fromkeys(logins)))
    return RestAnswer(call.views.pull(call.records.change(thread, pull=pull), pull), status)


def _collaborator(call: RestCall, login: str) -> str:
    message = (
        "Reviews may only be requested from collaborators. One or more of the users or teams you "
        f"specified is not a collaborator of the {call.project.full_name} repository."
    )
    return existing(call.project.person(login), message, 422).login
