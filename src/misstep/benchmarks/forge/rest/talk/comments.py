"""What people say on issues and pull requests."""

from msgspec import structs

from misstep.benchmarks.forge.rest.answers import Answer, Refusal, not_found
from misstep.benchmarks.forge.rest.call import Call, is_number
from misstep.benchmarks.forge.rest.talk.issues import checked_body
from misstep.benchmarks.forge.state import Comment, Thread


def list_comments(call: Call) -> Answer:
    thread = call.thread()
    return Answer([call.views.comment(thread, each) for each in thread.comments], is_list=True)


def create_comment(call: Call) -> Answer:
    thread, body = call.thread(), checked_body(call, required=True)
    if thread.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    comment = call.ledger.comment(thread, call.me.login, body)
    return Answer(call.views.comment(thread, comment), 201)


def get_comment(call: Call) -> Answer:
    return Answer(call.views.comment(*_comment(call)))


def edit_comment(call: Call) -> Answer:
    thread, comment = _comment(call)
    changed = structs.replace(comment, body=checked_body(call, required=True))
    _put(call, thread, comment, (changed,))
    return Answer(call.views.comment(thread, changed))


def delete_comment(call: Call) -> Answer:
    _put(call, *_comment(call), ())
    return Answer(status=204)


def _comment(call: Call) -> tuple[Thread, Comment]:
    id = call.place["id"]
    found = call.ledger.find_comment(int(id)) if is_number(id) else None
    if found is None:
        raise not_found()
    return found


def _put(call: Call, thread: Thread, comment: Comment, instead: tuple[Comment, ...]) -> None:
    place = thread.comments.index(comment)
    comments = (*thread.comments[:place], *instead, *thread.comments[place + 1 :])
    call.ledger.change(thread, comments=comments)
