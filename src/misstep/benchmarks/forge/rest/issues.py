"""Endpoints for issues, labels and comments, shared with pull requests."""

from collections.abc import Iterable

from msgspec import structs

from misstep.benchmarks.forge.rest.call import RestAnswer, RestCall, RestRefusal, existing, invalid, is_number
from misstep.benchmarks.forge.state import Comment, IssueLabel, IssueThread


def _add_labels(call: RestCall, names: list[str]) -> None:
    for name in names:
        if not name.strip():
            raise invalid("Label", "name")
        if name not in call.records.labels:
            call.records.labels[name] = IssueLabel(name)


def list_labels(call: RestCall) -> RestAnswer:
    return RestAnswer([call.views.label(each) for each in call.records.labels.values()], is_list=True)


def get_label(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.label(existing(call.records.labels.get(call.place["name"]))))


def create_label(call: RestCall) -> RestAnswer:
    name = call.text("name")
    if name in call.records.labels:
        raise invalid("Label", "name", "already_exists")
    _add_labels(call, [name])
    label = IssueLabel(name, call.text_or("color", "ededed"), call.text_or("description", ""))
    call.records.labels[name] = label
    return RestAnswer(call.views.label(label), 201)


def list_issue_labels(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.labels(call.thread().labels), is_list=True)


def add_issue_labels(call: RestCall) -> RestAnswer:
    new = call.texts("labels") or []
    _add_labels(call, new)
    return _relabel(call, dict.fromkeys((*call.thread().labels, *new)))


def set_issue_labels(call: RestCall) -> RestAnswer:
    new = call.texts("labels") or []
    _add_labels(call, new)
    return _relabel(call, new)


def remove_issue_label(call: RestCall) -> RestAnswer:
    name, had = call.place["name"], call.thread().labels
    if name not in had:
        raise RestRefusal(404, "Label does not exist")
    return _relabel(call, [each for each in had if each != name])


def remove_issue_labels(call: RestCall) -> RestAnswer:
    _relabel(call, [])
    return RestAnswer(status=204)


def _relabel(call: RestCall, names: Iterable[str]) -> RestAnswer:
    thread = call.records.change(call.thread(), labels=tuple(names))
    return RestAnswer(call.views.labels(thread.labels))


LONGEST_TITLE = 256
LONGEST_BODY = 65_536


def list_issues(call: RestCall) -> RestAnswer:
    """Issues, newest first, filtered by labels, assignee and creator."""
    found = [each for each in call.records.threads.values() if _is_asked_for(call, each)]
    return RestAnswer([call.views.issue(each) for each in ordered(call, found)], is_list=True)


def ordered(call: RestCall, threads: Iterable[IssueThread]) -> list[IssueThread]:
    by = call.query.get("sort", "created")
    keys = {
        "created": lambda each: (each.made, each.number),
        "updated": lambda each: (each.changed, each.number),
        "comments": lambda each: (len(each.comments), each.number),
    }
    falling = call.query.get("direction", "desc") != "asc"
    return sorted(threads, key=keys.get(by, keys["created"]), reverse=falling)


def has_state(call: RestCall, thread: IssueThread) -> bool:
    state = call.query.get("state", "open")
    if state not in ("open", "closed", "all"):
        raise invalid("Issue", "state")
    return state == "all" or thread.state == state


def _is_asked_for(call: RestCall, thread: IssueThread) -> bool:
    wanted = {name.strip().lower() for name in call.query.get("labels", "").split(",") if name.strip()}
    assignee, creator = call.query.get("assignee", "*"), call.query.get("creator", thread.author)
    return (
        has_state(call, thread)
        and wanted <= {name.lower() for name in thread.labels}
        and (assignee == "*" or assignee in thread.assignees or (assignee == "none" and not thread.assignees))
        and creator.lower() == thread.author.lower()
        and thread.changed >= call.query.get("since", "")
    )


def get_issue(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.issue(call.thread()))


def create_issue(call: RestCall) -> RestAnswer:
    title, body = checked_title(call), checked_body(call, required=False)
    labels, assignees = call.texts("labels") or [], _people(call, call.texts("assignees") or [])
    thread = call.records.open(title, body, call.me.login)
    _add_labels(call, labels)
    thread = call.records.keep(structs.replace(thread, labels=tuple(labels), assignees=assignees))
    return RestAnswer(call.views.issue(thread), 201)


def edit_issue(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.issue(edited(call, call.thread())))


def edited(call: RestCall, thread: IssueThread) -> IssueThread:
    """The issue or pull request with the fields in the request changed."""
    fields = dict[str, object]()
    if "title" in call.body:
        fields["title"] = checked_title(call)
    if "body" in call.body:
        fields["body"] = checked_body(call, required=False)
    if call.body.get("state") is not None:
        fields["state"] = state = call.text("state")
        if state not in ("open", "closed"):
            raise invalid("Issue", "state")
    if (labels := call.texts("labels")) is not None:
        _add_labels(call, labels)
        fields["labels"] = tuple(labels)
    if (assignees := call.texts("assignees")) is not None:
        fields["assignees"] = _people(call, assignees)
    return call.records.change(thread, **fields) if fields else thread


def checked_title(call: RestCall) -> str:
    title = call.text("title") if call.body.get("title") is not None else ""
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    if len(title) > LONGEST_TITLE:
        raise RestRefusal(422, f"title is too long (maximum is {LONGEST_TITLE} characters)")
    return title


def checked_body(call: RestCall, required: bool) -> str:
    body = call.text_or("body", "")
    if required and not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body) > LONGEST_BODY:
        raise RestRefusal(422, f"body is too long (maximum is {LONGEST_BODY} characters)")
    return body


def _people(call: RestCall, logins: list[str]) -> tuple[str, ...]:
    found = [call.project.person(login) for login in logins]
    if not all(found):
        raise invalid("Issue", "assignees")
    return tuple(each.login for each in found if each)


def list_comments(call: RestCall) -> RestAnswer:
    thread = call.thread()
    return RestAnswer([call.views.comment(thread, each) for each in thread.comments], is_list=True)


def create_comment(call: RestCall) -> RestAnswer:
    thread, body = call.thread(), checked_body(call, required=True)
    if thread.locked:
        raise RestRefusal(403, "Unable to create comment because issue is locked.")
    comment = call.records.comment(thread, call.me.login, body)
    return RestAnswer(call.views.comment(thread, comment), 201)


def get_comment(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.comment(*_comment(call)))


def edit_comment(call: RestCall) -> RestAnswer:
    thread, comment = _comment(call)
    changed = structs.replace(comment, body=checked_body(call, required=True))
    _put(call, thread, comment, (changed,))
    return RestAnswer(call.views.comment(thread, changed))


def delete_comment(call: RestCall) -> RestAnswer:
    _put(call, *_comment(call), ())
    return RestAnswer(status=204)


def _comment(call: RestCall) -> tuple[IssueThread, Comment]:
    id = call.place["id"]
    return existing(call.records.find_comment(int(id)) if is_number(id) else None)


def _put(call: RestCall, thread: IssueThread, comment: Comment, instead: tuple[Comment, ...]) -> None:
    place = thread.comments.index(comment)
    comments = (*thread.comments[:place], *instead, *thread.comments[place + 1 :])
    call.records.change(thread, comments=comments)
