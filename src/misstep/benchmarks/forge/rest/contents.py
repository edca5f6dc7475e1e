"""Endpoints that read and write files, with one commit for each change."""

import base64
import binascii
from typing import Any
from urllib.parse import quote

from misstep.benchmarks.forge.git import FILE, FOLDER, HEADS, Commit, Signature, TreeEntry, is_path
from misstep.benchmarks.forge.repository import RefRefused
from misstep.benchmarks.forge.rest.call import (
    RestAnswer,
    RestCall,
    RestRefusal,
    existing,
    not_supplied,
    wrong_type,
)
from misstep.benchmarks.tree import parents

READMES = ("README.md", "README.rst", "README.txt", "README")


def get_contents(call: RestCall) -> RestAnswer:
    ref, commit = _commit_asked_for(call)
    path = call.place.get("path", "").strip("/")
    entry = existing(call.repository.entry(commit.tree, path) if path else TreeEntry(FOLDER, commit.tree))
    if entry.mode != FOLDER:
        return RestAnswer(_file_view(call, path, entry, ref))
    before = f"{path}/" if path else ""
    inside = call.repository.read_folder(entry.sha).items()
    return RestAnswer([call.views.content(before + name, each, ref, None) for name, each in inside])


def get_readme(call: RestCall) -> RestAnswer:
    ref, commit = _commit_asked_for(call)
    for name in READMES:
        if entry := call.repository.entry(commit.tree, name):
            return RestAnswer(_file_view(call, name, entry, ref))
    raise RestRefusal(404, "Not Found")


def get_raw(call: RestCall) -> RestAnswer:
    """The raw file. Branch names may contain slashes: the shortest one that exists counts."""
    parts = call.place["rest"].split("/")
    for count in range(1, len(parts)):
        commit = call.repository.commit_at("/".join(parts[:count]))
        entry = call.repository.entry(commit.tree, "/".join(parts[count:])) if commit else None
        if entry and entry.kind == "blob":
            return RestAnswer(text=call.repository.read(entry.sha).data)
    raise RestRefusal(404, "Not Found")


def _commit_asked_for(call: RestCall) -> tuple[str, Commit]:
    ref = call.query.get("ref") or call.project.default
    commit = call.repository.commit_at(ref.removeprefix(HEADS))
    return ref.removeprefix(HEADS), existing(commit, f"No commit found for the ref {ref}")


def _file_view(call: RestCall, path: str, entry: TreeEntry, ref: str) -> dict[str, Any]:
    data = call.repository.read(entry.sha).data if entry.kind == "blob" else None
    return call.views.content(path, entry, ref, data)


def put_contents(call: RestCall) -> RestAnswer:
    """Create a file, or replace one; its current `sha` has to be given."""
    path, message = _path(call), _message(call)
    data = decoded(call.text("content"))
    branch, commit = _branch(call)
    had = _at(call, commit, path)
    if had is not None:
        _require_same(call, path, had)
    entry = TreeEntry(had.mode if had else FILE, call.repository.write_blob(data))
    made = _commit(call, branch, commit, {path: entry}, message)
    content = call.views.content(path, entry, branch, None) | {"size": len(data)}
    return RestAnswer({"content": content, "commit": call.views.git_commit(made)}, 200 if had else 201)


def delete_contents(call: RestCall) -> RestAnswer:
    path, message = _path(call), _message(call)
    if call.body.get("sha") is None:
        raise not_supplied("sha")
    branch, commit = _branch(call)
    had = existing(_at(call, commit, path))
    _require_same(call, path, had)
    made = _commit(call, branch, commit, {path: None}, message)
    return RestAnswer({"content": None, "commit": call.views.git_commit(made)})


def decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RestRefusal(422, "content is not valid Base64") from None


def signature(call: RestCall, field: str, default: Signature) -> Signature:
    given = call.body.get(field)
    if given is None:
        return default
    if not isinstance(given, dict):
        raise wrong_type(field, "an object")
    name, email = given.get("name"), given.get("email")
    for key, value in (("name", name), ("email", email)):
        if not isinstance(value, str) or not value.strip(" .,:;<>\"'\\\0\n"):
            raise not_supplied(key)
    name, email = (" ".join(str(value).replace("\0", " ").split()) for value in (name, email))
    return Signature(name, email, default.when)


def now(call: RestCall) -> Signature:
    """The caller, at the forge's current time."""
    call.records.tick()
    return Signature(call.me.name, call.me.email, call.records.seconds)


def _path(call: RestCall) -> str:
    path = call.place["path"]
    if not is_path(path):
        raise RestRefusal(422, "path contains a malformed path component")
    return path


def _message(call: RestCall) -> str:
    message = call.text("message").replace("\0", "")
    if not message.strip():
        raise not_supplied("message")
    return message


def _branch(call: RestCall) -> tuple[str, Commit]:
    name = call.text_or("branch", call.project.default).removeprefix(HEADS)
    tip = existing(call.repository.tip(name), f"Branch {name} not found")
    return name, call.repository.read_commit(tip)


def _at(call: RestCall, commit: Commit, path: str) -> TreeEntry | None:
    """The file at a path; a path through a file, or to a folder, is refused."""
    for parent in parents(path):
        above = call.repository.entry(commit.tree, parent)
        if above and above.mode != FOLDER:
            raise RestRefusal(422, "path contains a file where a folder is needed")
    found = call.repository.entry(commit.tree, path)
    if found and found.mode == FOLDER:
        raise RestRefusal(422, "path is a folder")
    return found


def _require_same(call: RestCall, path: str, had: TreeEntry) -> None:
    if call.text_or("sha", "") == "":
        raise not_supplied("sha")
    if call.text("sha") != had.sha:
        raise RestRefusal(409, f"{path} does not match {call.text('sha')}")


def _commit(
    call: RestCall, branch: str, onto: Commit, changes: dict[str, TreeEntry | None], message: str
) -> Commit:
    repository = call.repository
    committer = signature(call, "committer", now(call))
    author = signature(call, "author", committer)
    tree = repository.write_tree(onto.tree, changes)
    sha = repository.write_commit(tree, [onto.sha], message, author, committer)
    try:
        repository.move(HEADS + branch, sha, onto.sha)
    except RefRefused:
        raise RestRefusal(409, f"{quote(branch)} is at another commit than expected") from None
    return repository.read_commit(sha)
