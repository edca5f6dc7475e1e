"""Reviews of pull requests, and who is asked for one."""

from msgspec import structs

from misstep.benchmarks.forge.rest.answers import Answer, Refusal, invalid, not_found, unprocessable
from misstep.benchmarks.forge.rest.call import Call
from misstep.benchmarks.forge.rest.talk.issues import checked_body
from misstep.benchmarks.forge.state import Proposal, Review, Thread

VERDICTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def list_reviews(call: Call) -> Answer:
    thread, pull = _pull(call)
    return Answer([call.views.review(thread, each) for each in pull.reviews], is_list=True)


def get_review(call: Call) -> Answer:
    thread, pull = _pull(call)
    found = next((each for each in pull.reviews if str(each.id) == call.place["id"]), None)
    if found is None:
        raise not_found()
    return Answer(call.views.review(thread, found))


def create_review(call: Call) -> Answer:
    """Comments on single lines are left out."""
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
    return Answer(call.views.review(thread, review))


def get_requested(call: Call) -> Answer:
    _, pull = _pull(call)
    return Answer({"users": [call.views.user(login) for login in pull.reviewers], "teams": []})


def request_reviews(call: Call) -> Answer:
    thread, pull = _pull(call)
    asked = [_collaborator(call, login) for login in call.texts("reviewers") or []]
    if thread.author in asked:
        raise unprocessable("Review cannot be requested from pull request author.")
    return _asked(call, thread, (*pull.reviewers, *asked), 201)


def withdraw_requests(call: Call) -> Answer:
    thread, pull = _pull(call)
    no_longer = {login.lower() for login in call.texts("reviewers") or []}
    return _asked(call, thread, tuple(each for each in pull.reviewers if each.lower() not in no_longer), 200)


def _asked(call: Call, thread: Thread, logins: tuple[str, ...], status: int) -> Answer:
    assert thread.pull is not None
    pull = structs.replace(thread.pull, reviewers=tuple(dict.fromkeys(logins)))
    thread = call.ledger.change(thread, pull=pull)
    return Answer(call.views.pull(thread, pull, call.house.private), status)


def _pull(call: Call) -> tuple[Thread, Proposal]:
    thread = call.pull()
    assert thread.pull is not None
    return thread, thread.pull


def _collaborator(call: Call, login: str) -> str:
    person = call.house.project.person(login)
    if person is None:
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you "
            f"specified is not a collaborator of the {call.house.project.full_name} repository.",
        )
    return person.login
