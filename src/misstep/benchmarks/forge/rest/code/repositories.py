"""The repository itself, its branches and their history."""

from misstep.benchmarks.forge.repository.names import is_path
from misstep.benchmarks.forge.rest.answers import Answer, Refusal, not_found
from misstep.benchmarks.forge.rest.call import Call
from misstep.benchmarks.forge.rest.code.gitviews import branch_view, commit_view, whole_branch_view


def get_repository(call: Call) -> Answer:
    may_write = call.visitor.kind in ("user", "installation")
    return Answer(call.views.repo(call.house.private, may_write))


def list_repositories(call: Call) -> Answer:
    return Answer([get_repository(call).value], is_list=True)


def list_installed(call: Call) -> Answer:
    return Answer([get_repository(call).value], is_list=True, wrapped="repositories")


def list_branches(call: Call) -> Answer:
    found = call.repository.branches().items()
    return Answer([branch_view(call.views, name, sha) for name, sha in found], is_list=True)


def get_branch(call: Call) -> Answer:
    name = call.place["branch"]
    tip = call.repository.tip(name)
    if tip is None:
        raise not_found("Branch not found")
    return Answer(whole_branch_view(call.views, name, call.repository.objects.commit(tip)))


def list_commits(call: Call) -> Answer:
    name = call.query.get("sha") or call.house.project.default
    commit = call.repository.commit_at(name)
    if commit is None:
        raise not_found()
    path = call.query.get("path", "").strip("/")
    shas = call.repository.history(commit.sha, path=path) if not path or is_path(path) else []
    views = [commit_view(call.views, call.repository.objects.commit(sha)) for sha in shas]
    return Answer(views, is_list=True)


def get_commit(call: Call) -> Answer:
    commit = call.repository.commit_at(call.place["ref"])
    if commit is None:
        raise Refusal(422, f"No commit found for SHA: {call.place['ref']}")
    return Answer(commit_view(call.views, commit))


def list_nothing(_: Call) -> Answer:
    """Releases, tags and so on: there are none."""
    return Answer([], is_list=True)


def list_people(call: Call) -> Answer:
    """Everybody may be asked for a review, and be given work."""
    return Answer([call.views.user(each.login) for each in call.house.project.people], is_list=True)


def is_one_of_us(call: Call) -> Answer:
    call.person(call.place["login"])
    return Answer(status=204)
