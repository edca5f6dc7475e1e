"""Refs, commits, folders, files and diffs in GitHub's JSON format."""

import base64
from urllib.parse import quote

import msgspec

from misstep.benchmarks.forge.ledger import told
from misstep.benchmarks.forge.repository.objects import FOLDER, LINK, Commit, Object, Signature, TreeEntry
from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.rest.views import View, Views


def branch_view(views: Views, name: str, sha: str) -> View:
    """A branch as in lists."""
    return {
        "name": shown(name),
        "commit": {"sha": sha, "url": f"{views.home}/commits/{sha}"},
        "protected": False,
    }


def whole_branch_view(views: Views, name: str, commit: Commit) -> View:
    url = f"{views.home}/branches/{quote(name)}"
    return branch_view(views, name, commit.sha) | {
        "commit": commit_view(views, commit),
        "_links": {"self": url, "html": f"{views.page}/tree/{quote(name)}"},
        "protection": {"enabled": False},
        "protection_url": f"{url}/protection",
    }


def ref_view(views: Views, ref: str, pointed: Object) -> View:
    folder = {"commit": "commits", "tag": "tags", "tree": "trees"}.get(pointed.kind, "blobs")
    return {
        "ref": shown(ref),
        "node_id": f"Ref_{quote(ref, safe='', errors='surrogateescape')}",
        "url": f"{views.home}/git/{quote(ref, errors='surrogateescape')}",
        "object": {
            "type": pointed.kind,
            "sha": pointed.sha,
            "url": f"{views.home}/git/{folder}/{pointed.sha}",
        },
    }


def git_commit_view(views: Views, commit: Commit) -> View:
    """The commit as git has it."""
    return {
        "sha": commit.sha,
        "node_id": f"Commit_{commit.sha}",
        "url": f"{views.home}/git/commits/{commit.sha}",
        "html_url": f"{views.page}/commit/{commit.sha}",
        "message": commit.message.removesuffix("\n"),
        "author": _signature_view(commit.author),
        "committer": _signature_view(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{views.home}/git/trees/{commit.tree}"},
        "parents": [_parent_view(views, "git/commits", sha) for sha in commit.parents],
        "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None},
    }


def commit_view(views: Views, commit: Commit) -> View:
    """The commit as the forge shows it: with accounts instead of names."""
    return {
        "sha": commit.sha,
        "node_id": f"Commit_{commit.sha}",
        "url": f"{views.home}/commits/{commit.sha}",
        "html_url": f"{views.page}/commit/{commit.sha}",
        "comments_url": f"{views.home}/commits/{commit.sha}/comments",
        "commit": git_commit_view(views, commit) | {"comment_count": 0},
        "author": _account_view(views, commit.author),
        "committer": _account_view(views, commit.committer),
        "parents": [_parent_view(views, "commits", sha) for sha in commit.parents],
    }


def _parent_view(views: Views, folder: str, sha: str) -> View:
    url = f"{views.home}/{folder}/{sha}"
    return {"sha": sha, "url": url, "html_url": f"{views.page}/commit/{sha}"}


def _signature_view(who: Signature) -> View:
    return {"name": who.name, "email": who.email, "date": told(who.when)}


def _account_view(views: Views, who: Signature) -> View | None:
    login = next((each.login for each in views.project.people if each.email == who.email), None)
    return views.user(login) if login else None


def entry_view(views: Views, path: str, entry: TreeEntry, size: int | None) -> View:
    """A tree entry."""
    folder = {"tree": "trees", "commit": "commits"}.get(entry.kind, "blobs")
    view: View = {"path": shown(path), "mode": entry.mode.zfill(6), "type": entry.kind, "sha": entry.sha}
    if size is not None:
        view["size"] = size
    return view | {"url": f"{views.home}/git/{folder}/{entry.sha}"}


def content_view(views: Views, path: str, entry: TreeEntry, ref: str, data: bytes | None) -> View:
    """A file or folder; with `data`, the file's content is included."""
    kind = {"tree": "dir", "commit": "submodule"}.get(entry.kind, "file")
    kind = "symlink" if entry.mode == LINK else kind
    place = quote(path, errors="surrogateescape")
    url = f"{views.home}/contents/{place}?ref={quote(ref, safe='')}"
    raw = f"{views.page}/raw/{quote(ref)}/{place}" if kind == "file" else None
    git = f"{views.home}/git/{'trees' if kind == 'dir' else 'blobs'}/{entry.sha}"
    html = f"{views.page}/blob/{quote(ref)}/{place}"
    view = {
        "name": shown(path.rpartition("/")[2]),
        "path": shown(path),
        "sha": entry.sha,
        "size": len(data) if data is not None else 0,
        "type": kind,
        "url": url,
        "git_url": git,
        "html_url": html,
        "download_url": raw,
        "_links": {"self": url, "git": git, "html": html},
    }
    if data is not None:
        view |= {"encoding": "base64", "content": base64.encodebytes(data).decode("ascii")}
    return view


def shown(name: str) -> str:
    """A name or path that JSON can represent, whatever its bytes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class FileChange(msgspec.Struct, frozen=True):
    """A changed file. `sha` is the new content, or the old one if it was deleted.

    A rename is a deletion and an addition.
    """

    path: str
    status: str
    sha: str
    patch: str

    @property
    def additions(self) -> int:
        return self._lines("+")

    @property
    def deletions(self) -> int:
        return self._lines("-")

    def _lines(self, sign: str) -> int:
        return sum(line.startswith(sign) for line in self.patch.split("\n"))


def changes(repository: Repository, old: str, new: str) -> list[FileChange]:
    """Changed files between two commits, sorted by path."""
    before, after = (_files(repository, commit) for commit in (old, new))
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    patches = _patches(repository.patch(old, new)) if paths else []
    if len(patches) != len(paths):  # a file that became a link has two
        patches = [""] * len(paths)
    return [
        FileChange(shown(path), _status(path, before, after), (after.get(path) or before[path]).sha, patch)
        for path, patch in zip(paths, patches, strict=True)
    ]


def _files(repository: Repository, commit: str) -> dict[str, TreeEntry]:
    tree = repository.objects.commit(commit).tree
    return {path: entry for path, entry in repository.walk(tree) if entry.mode != FOLDER}


def _status(path: str, before: dict[str, TreeEntry], after: dict[str, TreeEntry]) -> str:
    if path not in before:
        return "added"
    return "modified" if path in after else "removed"


def _patches(text: str) -> list[str]:
    """The part from the first @@ on, for each file in git's order, which is by path."""
    parts = ("\n" + text).split("\ndiff --git ")[1:]
    return ["@@" + part.split("\n@@", 1)[1].rstrip("\n") if "\n@@" in part else "" for part in parts]
