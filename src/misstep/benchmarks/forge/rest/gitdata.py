"""Endpoints for refs, commits, trees and blobs, and for the repository and its branches."""

import base64
from typing import Any

from misstep.benchmarks.forge.git import FOLDER, HEADS, KEPT, Object, TreeEntry, is_path, is_ref, misleads
from misstep.benchmarks.forge.repository import RefRefused
from misstep.benchmarks.forge.rest.call import (
    RestAnswer,
    RestCall,
    RestRefusal,
    existing,
    not_supplied,
    wrong_type,
)
from misstep.benchmarks.forge.rest.contents import decoded, now, signature

ENCODINGS = ("utf-8", "base64")
MODES = ("100644", "100755", "120000", "040000")


def get_ref(call: RestCall) -> RestAnswer:
    name = _ref(call)
    return RestAnswer(call.views.ref(name, call.repository.read(existing(call.repository.ref(name)))))


def list_refs(call: RestCall) -> RestAnswer:
    """All refs that start with the prefix in the path."""
    start = f"refs/{call.place.get('ref', '')}"
    found = [(name, sha) for name, sha in call.repository.refs().items() if name.startswith(start)]
    read = call.repository.read
    return RestAnswer([call.views.ref(name, read(sha)) for name, sha in found], is_list=True)


def create_ref(call: RestCall) -> RestAnswer:
    name, sha = call.text("ref"), call.text("sha")
    if not name.startswith("refs/") or name.count("/") < 2:
        raise RestRefusal(422, "Reference name must start with 'refs/' and have at least two slashes.")
    if not is_ref(name) or misleads(name):
        raise RestRefusal(422, f"{name} is not a valid ref name.")
    if name.startswith(KEPT):
        raise RestRefusal(422, f"{KEPT} is kept for pull requests: no reference can be created there.")
    pointed = _object(call, sha, name)
    if call.repository.ref(name) is not None:
        raise RestRefusal(422, "Reference already exists")
    _move(call, name, pointed.sha, None)
    return RestAnswer(call.views.ref(name, pointed), 201)


def update_ref(call: RestCall) -> RestAnswer:
    name, sha, force = _ref(call), call.text("sha"), call.flag("force")
    had, pointed = existing(call.repository.ref(name)), _object(call, sha, name)
    if not force and call.repository.fork_point(had, sha) != had:
        raise RestRefusal(422, "Update is not a fast forward")
    _move(call, name, pointed.sha, had)
    return RestAnswer(call.views.ref(name, pointed))


def delete_ref(call: RestCall) -> RestAnswer:
    name = _ref(call)
    had = existing(call.repository.ref(name), "Reference does not exist", 422)
    if name == HEADS + call.project.default:
        raise RestRefusal(422, "Cannot delete the default branch")
    _move(call, name, None, had)
    call.records.close_pulls(name.removeprefix(HEADS))
    return RestAnswer(status=204)


def _ref(call: RestCall) -> str:
    return f"refs/{call.place['ref'].removeprefix('refs/')}"


def _object(call: RestCall, sha: str, name: str) -> Object:
    """The object that a ref will point to; branches accept commits only."""
    found = existing(call.repository.find_sha(sha), "Object does not exist", 422)
    if name.startswith(HEADS) and found.kind != "commit":
        raise RestRefusal(422, "Object is not a commit")
    return found


def _move(call: RestCall, name: str, new: str | None, old: str | None) -> None:
    try:
        call.repository.move(name, new, old)
    except RefRefused:
        message = f"Reference {name} cannot be changed: another reference is in its way."
        raise RestRefusal(422, message) from None


def get_git_commit(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.git_commit(call.repository.read_commit(_found(call, "commit").sha)))


def create_commit(call: RestCall) -> RestAnswer:
    message = call.text("message").replace("\0", "")
    tree, parents = call.text("tree"), call.texts("parents") or []
    for sha, kind in ((tree, "tree"), *((each, "commit") for each in parents)):
        if not call.repository.find_sha(sha, kind):
            raise RestRefusal(422, f"{kind.capitalize()} SHA does not exist or is not a {kind} object")
    author = signature(call, "author", now(call))
    committer = signature(call, "committer", author)
    sha = call.repository.write_commit(tree, parents, message, author, committer)
    return RestAnswer(call.views.git_commit(call.repository.read_commit(sha)), 201)


def get_tree(call: RestCall) -> RestAnswer:
    """By its sha, by that of a commit, or by a branch."""
    commit = call.repository.commit_at(call.place["sha"])
    sha = commit.tree if commit else _found(call, "tree").sha
    return RestAnswer(_tree_view(call, sha, recursive="recursive" in call.query))


def create_tree(call: RestCall) -> RestAnswer:
    given, start = call.body.get("tree"), call.text_or("base_tree", "")
    if not isinstance(given, list):
        raise not_supplied("tree")
    changes = dict([_change(call, each) for each in given])
    found = call.repository.find(f"{start}^{{tree}}") if call.repository.find_sha(start) else None
    if start and found is None:
        raise RestRefusal(422, "base_tree is not a valid tree oid")
    sha = call.repository.write_tree(found.sha if found else None, changes)
    return RestAnswer(_tree_view(call, sha, recursive=False), 201)


def _change(call: RestCall, given: Any) -> tuple[str, TreeEntry | None]:
    """One entry of a new tree: a file is given by its content or by its sha."""
    if not isinstance(given, dict):
        raise wrong_type("tree", "an array of objects")
    path, mode, sha, content = (given.get(key) for key in ("path", "mode", "sha", "content"))
    if not isinstance(path, str) or not is_path(path):
        raise RestRefusal(422, "tree.path contains a malformed path component")
    if mode not in MODES:
        raise RestRefusal(422, "Must supply a valid tree.mode")
    kind = "tree" if mode == "040000" else "blob"
    if isinstance(content, str) and kind == "blob":
        return path, TreeEntry(mode, call.repository.write_blob(content.encode("utf-8", "replace")))
    if "sha" in given and sha is None:
        return path, None
    found = existing(call.repository.find_sha(sha, kind), f"tree.sha is not a valid {kind} oid", 422)
    return path, TreeEntry(FOLDER if kind == "tree" else mode, found.sha)


def _tree_view(call: RestCall, sha: str, recursive: bool) -> dict[str, Any]:
    repository = call.repository
    entries = list(repository.walk(sha) if recursive else repository.read_folder(sha).items())
    lines = list[dict[str, Any]]()
    for path, each in entries[: repository.most]:
        size = len(repository.read(each.sha).data) if each.kind == "blob" else None
        lines.append(call.views.entry(path, each, size))
    url = f"{call.views.home}/git/trees/{sha}"
    return {"sha": sha, "url": url, "tree": lines, "truncated": len(entries) > repository.most}


def get_blob(call: RestCall) -> RestAnswer:
    blob = _found(call, "blob")
    content = base64.encodebytes(blob.data).decode("ascii")
    data = {"size": len(blob.data), "encoding": "base64", "content": content}
    return RestAnswer(_blob_view(call, blob.sha) | data)


def create_blob(call: RestCall) -> RestAnswer:
    content, encoding = call.text("content"), call.text_or("encoding", "utf-8")
    if encoding not in ENCODINGS:
        raise wrong_type("encoding", f"one of {', '.join(ENCODINGS)}")
    data = decoded(content) if encoding == "base64" else content.encode("utf-8", "replace")
    return RestAnswer(_blob_view(call, call.repository.write_blob(data)), 201)


def _blob_view(call: RestCall, sha: str) -> dict[str, Any]:
    return {"sha": sha, "node_id": f"Blob_{sha}", "url": f"{call.views.home}/git/blobs/{sha}"}


def _found(call: RestCall, kind: str) -> Object:
    return existing(call.repository.find_sha(call.place["sha"], kind))


def get_repository(call: RestCall) -> RestAnswer:
    return RestAnswer(call.views.repo(call.visitor.may_write))


def list_repositories(call: RestCall) -> RestAnswer:
    return RestAnswer([get_repository(call).value], is_list=True)


def list_installed(call: RestCall) -> RestAnswer:
    return RestAnswer([get_repository(call).value], is_list=True, wrapped="repositories")


def list_branches(call: RestCall) -> RestAnswer:
    found = call.repository.branches().items()
    return RestAnswer([call.views.branch(name, sha) for name, sha in found], is_list=True)


def get_branch(call: RestCall) -> RestAnswer:
    name = call.place["branch"]
    tip = existing(call.repository.tip(name), "Branch not found")
    return RestAnswer(call.views.whole_branch(name, call.repository.read_commit(tip)))


def list_commits(call: RestCall) -> RestAnswer:
    commit = existing(call.repository.commit_at(call.query.get("sha") or call.project.default))
    path = call.query.get("path", "").strip("/")
    shas = call.repository.history(commit.sha, path=path) if not path or is_path(path) else []
    views = [call.views.commit(call.repository.read_commit(sha)) for sha in shas]
    return RestAnswer(views, is_list=True)


def get_commit(call: RestCall) -> RestAnswer:
    ref = call.place["ref"]
    commit = existing(call.repository.commit_at(ref), f"No commit found for SHA: {ref}", 422)
    return RestAnswer(call.views.commit(commit))


def list_nothing(_: RestCall) -> RestAnswer:
    """Releases, tags and so on: there are none."""
    return RestAnswer([], is_list=True)


def list_people(call: RestCall) -> RestAnswer:
    """All users; each can be assigned work or asked for a review."""
    return RestAnswer([call.views.user(each.login) for each in call.project.people], is_list=True)


def is_one_of_us(call: RestCall) -> RestAnswer:
    call.person(call.place["login"])
    return RestAnswer(status=204)
