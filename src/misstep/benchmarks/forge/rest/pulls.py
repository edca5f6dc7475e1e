"""Endpoints for pull requests, reviews and review requests."""

from urllib.parse import quote

from msgspec import structs

from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.rest.call import (
    RestAnswer,
    RestCall,
    RestRefusal,
    invalid,
    not_found,
    not_supplied,
    objection,
    unprocessable,
)
from misstep.benchmarks.forge.rest.gitviews import FileChange, changes, commit_view
from misstep.benchmarks.forge.rest.issues import checked_body, checked_title, edited, has_state, ordered
from misstep.benchmarks.forge.rest.views import View
from misstep.benchmarks.forge.state import IssueThread, PullProposal, Review


def list_pulls(call: RestCall) -> RestAnswer:
    head, base = call.query.get("head", "").rpartition(":")[2], call.query.get("base")
    found = [
        (thread, thread.pull)
        for thread in ordered(call, call.ledger.threads.values())
        if thread.pull
        and has_state(call, thread)
        and head in ("", thread.pull.head)
        and base in (None, thread.pull.base)
    ]
    private = call.house.private
    return RestAnswer([call.views.pull(thread, pull, private) for thread, pull in found], is_list=True)


def get_pull(call: RestCall) -> RestAnswer:
    return RestAnswer(_whole_view(call, call.pull()))


def create_pull(call: RestCall) -> RestAnswer:
    for field in ("head", "base"):
        if call.body.get(field) is None:
            raise not_supplied(field)
    title, body = checked_title(call), checked_body(call, required=False)
    proposal = _proposal(call)
    thread = call.ledger.open(title, body, call.me.login, proposal)
    return RestAnswer(_whole_view(call, thread), 201)


def edit_pull(call: RestCall) -> RestAnswer:
    thread = call.pull()
    if call.body.get("base") is not None:
        base = call.text("base")
        if call.repository.tip(base) is None:
            raise invalid("PullRequest", "base")
        assert thread.pull is not None
        thread = call.ledger.change(thread, pull=structs.replace(thread.pull, base=base))
    return RestAnswer(_whole_view(call, edited(call, thread)))


def _proposal(call: RestCall) -> PullProposal:
    """The proposed pull request; refused if it changes nothing or already exists."""
    owner, _, head = call.text("head").rpartition(":")
    base = call.text("base")
    tip, onto = call.repository.tip(head), call.repository.tip(base)
    if tip is None or owner.lower() not in ("", call.house.project.owner.lower()):
        raise invalid("PullRequest", "head")
    if onto is None:
        raise invalid("PullRequest", "base")
    if not call.repository.history(tip, f"^{onto}"):
        raise objection("PullRequest", f"No commits between {base} and {head}")
    for thread in call.ledger.threads.values():
        if thread.pull and thread.state == "open" and (thread.pull.head, thread.pull.base) == (head, base):
            who = f"{call.house.project.owner}:{head}"
            raise objection("PullRequest", f"A pull request already exists for {who}.")
    return PullProposal(head, base, call.flag("draft"), tip=tip)


def list_pull_commits(call: RestCall) -> RestAnswer:
    """The oldest first."""
    commits = [call.repository.objects.commit(sha) for sha in _commits(call.repository, call.pull())]
    return RestAnswer([commit_view(call.views, commit) for commit in reversed(commits)], is_list=True)


def list_pull_files(call: RestCall) -> RestAnswer:
    thread = call.pull()
    tip, _, start = _ends(call.repository, thread)
    found = changes(call.repository, start, tip) if tip and start else []
    return RestAnswer([_file_view(call, each, tip) for each in found], is_list=True)


def _whole_view(call: RestCall, thread: IssueThread) -> View:
    """The pull request with the size of its changes."""
    assert thread.pull is not None
    tip, _, start = _ends(call.repository, thread)
    found = changes(call.repository, start, tip) if tip and start else []
    return call.views.pull(thread, thread.pull, call.house.private) | {
        "merged": False,
        "mergeable": None,
        "mergeable_state": "unknown",
        "merged_by": None,
        "maintainer_can_modify": False,
        "comments": len(thread.comments),
        "review_comments": 0,
        "commits": len(_commits(call.repository, thread)),
        "additions": sum(each.additions for each in found),
        "deletions": sum(each.deletions for each in found),
        "changed_files": len(found),
    }


def _ends(repository: Repository, thread: IssueThread) -> tuple[str, str, str | None]:
    """The commits at its two ends, and their merge base."""
    assert thread.pull is not None
    tip = repository.tip(thread.pull.head) or thread.pull.tip
    onto = repository.tip(thread.pull.base) or ""
    return tip, onto, repository.fork_point(tip, onto) if tip and onto else None


def _commits(repository: Repository, thread: IssueThread) -> list[str]:
    tip, onto, _ = _ends(repository, thread)
    return repository.history(tip, f"^{onto}") if tip and onto else []


def _file_view(call: RestCall, change: FileChange, tip: str) -> View:
    place = quote(change.path)
    view = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{call.views.page}/blob/{tip}/{place}",
        "raw_url": f"{call.views.page}/raw/{tip}/{place}",
        "contents_url": f"{call.views.home}/contents/{place}?ref={tip}",
    }
    return view | ({"patch": change.patch} if change.patch else {})


VERDICTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def list_reviews(call: RestCall) -> RestAnswer:
    thread, pull = _pull(call)
    return RestAnswer([call.views.review(thread, each) for each in pull.reviews], is_list=True)


def get_review(call: RestCall) -> RestAnswer:
    thread, pull = _pull(call)
    found = next((each for each in pull.reviews if str(each.id) == call.place["id"]), None)
    if found is None:
        raise not_found()
    return RestAnswer(call.views.review(thread, found))


def create_review(call: RestCall) -> RestAnswer:
    """Create a review; comments on single lines are ignored."""
    thread, pull = _pull(call)
    event = call.text_or("event", "PENDING")
    if event not in (*VERDICTS, "PENDING"):
        raise invalid("PullRequestReview", "event")
    if event == "APPROVE" and thread.author == call.me.login:
        raise unprocessable("Can not approve your own pull request")
    body = checked_body(call, required=event in ("COMMENT", "REQUEST_CHANGES"))
    ledger = call.ledger
    review = Review(call.me.login, VERDICTS.get(event, event), body, ledger.new_id(), ledger.tick())
    ledger.change(thread, pull=structs.replace(pull, reviews=(*pull.reviews, review)))
    return RestAnswer(call.views.review(thread, review))


def get_requested(call: RestCall) -> RestAnswer:
    _, pull = _pull(call)
    return RestAnswer({"users": [call.views.user(login) for login in pull.reviewers], "teams": []})


def request_reviews(call: RestCall) -> RestAnswer:
    thread, pull = _pull(call)
    asked = [_collaborator(call, login) for login in call.texts("reviewers") or []]
    if thread.author in asked:
        raise unprocessable("Review cannot be requested from pull request author.")
    return _asked(call, thread, (*pull.reviewers, *asked), 201)


def withdraw_requests(call: RestCall) -> RestAnswer:
    thread, pull = _pull(call)
    no_longer = {login.lower() for login in call.texts("reviewers") or []}
    return _asked(call, thread, tuple(each for each in pull.reviewers if each.lower() not in no_longer), 200)


def _asked(call: RestCall, thread: IssueThread, logins: tuple[str, ...], status: int) -> RestAnswer:
    assert thread.pull is not None
    pull = structs.replace(thread.pull, reviewers=tuple(dict.fromkeys(logins)))
    thread = call.ledger.change(thread, pull=pull)
    return RestAnswer(call.views.pull(thread, pull, call.house.private), status)


def _pull(call: RestCall) -> tuple[IssueThread, PullProposal]:
    thread = call.pull()
    assert thread.pull is not None
    return thread, thread.pull


def _collaborator(call: RestCall, login: str) -> str:
    person = call.house.project.person(login)
    if person is None:
        raise RestRefusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you "
            f"specified is not a collaborator of the {call.house.project.full_name} repository.",
        )
    return person.login
