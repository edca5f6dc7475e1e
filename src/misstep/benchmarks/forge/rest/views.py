"""Everything on the forge in GitHub's JSON format."""

import base64
import zlib
from typing import Any
from urllib.parse import quote

import msgspec

from misstep.benchmarks.forge import state
from misstep.benchmarks.forge.git import LINK, Commit, Object, Signature, TreeEntry
from misstep.benchmarks.forge.repository import Repository

View = dict[str, Any]


class Views(msgspec.Struct, frozen=True):
    """Builds JSON objects; `url` is the address of the forge."""

    url: str
    project: state.Project
    repository: Repository
    records: state.ForgeRecords
    private: bool

    @property
    def home(self) -> str:
        return f"{self.url}/repos/{self.project.full_name}"

    @property
    def page(self) -> str:
        return f"{self.url}/{self.project.full_name}"

    def user(self, login: str) -> View:
        """A user; owners of repositories may be organizations."""
        person = self.project.person(login)
        return {
            **_identity("User", login),
            "login": login,
            "avatar_url": f"{self.url}/avatars/{quote(login)}",
            "url": f"{self.url}/users/{quote(login)}",
            "html_url": f"{self.url}/{quote(login)}",
            "repos_url": f"{self.url}/users/{quote(login)}/repos",
            "type": "User" if person else "Organization",
            "site_admin": False,
        }

    def profile(self, login: str) -> View:
        person = self.project.person(login)
        named = {"name": person.name, "email": person.email} if person else {"name": login, "email": None}
        return self.user(login) | named | self.project_dates | {"public_repos": 1}

    @property
    def project_dates(self) -> View:
        made = state.told(int(self.project.start.timestamp()))
        return {"created_at": made, "updated_at": made}

    def repo(self, may_write: bool) -> View:
        changed = state.told(self.records.seconds)
        waiting = [each for each in self.records.threads.values() if each.state == "open"]
        return {
            **_identity("Repository", self.project.full_name),
            "name": self.project.name,
            "full_name": self.project.full_name,
            "private": self.private,
            "visibility": "private" if self.private else "public",
            "owner": self.user(self.project.owner),
            "description": self.project.description,
            "url": self.home,
            "html_url": self.page,
            "clone_url": f"{self.page}.git",
            "contents_url": f"{self.home}/contents/{{+path}}",
            "default_branch": self.project.default,
            "open_issues_count": len(waiting),
            "open_issues": len(waiting),
            "permissions": {"admin": False, "push": may_write, "pull": True},
            **self.project_dates,
            "updated_at": changed,
            "pushed_at": changed,
            **dict.fromkeys(("fork", "archived", "disabled", "is_template"), False),
            **dict.fromkeys(("has_issues", "has_downloads", "allow_forking"), True),
            **dict.fromkeys(("forks_count", "stargazers_count", "watchers_count", "size"), 0),
            "language": "Python",
            "topics": [],
        }

    def label(self, label: state.IssueLabel) -> View:
        return {
            **_identity("Label", label.name),
            "url": f"{self.home}/labels/{quote(label.name, safe='')}",
            "name": label.name,
            "color": label.color,
            "description": label.description,
            "default": False,
        }

    def labels(self, names: tuple[str, ...]) -> list[View]:
        return [self.label(self.records.labels[name]) for name in names if name in self.records.labels]

    def issue(self, thread: state.IssueThread) -> View:
        """An issue; pull requests are issues too, marked as such."""
        url = f"{self.home}/issues/{thread.number}"
        html = f"{self.page}/{'pull' if thread.pull else 'issues'}/{thread.number}"
        view = self._thread(thread) | {
            **_identity("Issue", str(thread.number)),
            "url": url,
            "repository_url": self.home,
            "comments_url": f"{url}/comments",
            "labels_url": f"{url}/labels{{/name}}",
            "events_url": f"{url}/events",
            "html_url": html,
            "comments": len(thread.comments),
            "state_reason": "completed" if thread.state == "closed" else None,
        }
        if thread.pull:
            pull = f"{self.home}/pulls/{thread.number}"
            view["pull_request"] = {"url": pull, "html_url": html, "merged_at": None}
        return view

    def _thread(self, thread: state.IssueThread) -> View:
        assigned = [self.user(login) for login in thread.assignees]
        return {
            "number": thread.number,
            "title": thread.title,
            "body": thread.body,
            "user": self.user(thread.author),
            "state": thread.state,
            "labels": self.labels(thread.labels),
            "assignees": assigned,
            "assignee": assigned[0] if assigned else None,
            "milestone": None,
            "locked": thread.locked,
            "author_association": "MEMBER",
            "created_at": thread.made,
            "updated_at": thread.changed,
            "closed_at": thread.changed if thread.state == "closed" else None,
        }

    def comment(self, thread: state.IssueThread, comment: state.Comment) -> View:
        return {
            **_identity("IssueComment", str(comment.id)),
            "id": comment.id,
            "url": f"{self.home}/issues/comments/{comment.id}",
            "html_url": f"{self.page}/issues/{thread.number}#issuecomment-{comment.id}",
            "issue_url": f"{self.home}/issues/{thread.number}",
            "user": self.user(comment.author),
            "body": comment.body,
            "author_association": "MEMBER",
            "created_at": comment.at,
            "updated_at": comment.at,
        }

    def pull(self, thread: state.IssueThread, proposal: state.PullProposal) -> View:
        """A pull request as in lists, without the size of its changes."""
        url = f"{self.home}/pulls/{thread.number}"
        issue = f"{self.home}/issues/{thread.number}"
        html = f"{self.page}/pull/{thread.number}"
        return self._thread(thread) | {
            **_identity("PullRequest", str(thread.number)),
            "url": url,
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "issue_url": issue,
            "commits_url": f"{url}/commits",
            "comments_url": f"{issue}/comments",
            "review_comments_url": f"{url}/comments",
            "draft": proposal.draft,
            "merged_at": None,
            "merge_commit_sha": None,
            "requested_reviewers": [self.user(login) for login in proposal.reviewers],
            "requested_teams": [],
            "head": self._side(proposal.head, self.repository.tip(proposal.head) or proposal.tip),
            "base": self._side(proposal.base, self.repository.tip(proposal.base) or ""),
        }

    def _side(self, branch: str, sha: str) -> View:
        owner = self.project.owner
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": sha,
            "user": self.user(owner),
            "repo": self.repo(may_write=True),
        }

    def review(self, thread: state.IssueThread, review: state.Review) -> View:
        pull = f"{self.home}/pulls/{thread.number}"
        return {
            **_identity("PullRequestReview", str(review.id)),
            "id": review.id,
            "url": f"{pull}/reviews/{review.id}",
            "html_url": f"{self.page}/pull/{thread.number}#pullrequestreview-{review.id}",
            "pull_request_url": pull,
            "user": self.user(review.author),
            "state": review.verdict,
            "body": review.body,
            "submitted_at": review.at,
        }

    def branch(self, name: str, sha: str) -> View:
        return {
            "name": shown(name),
            "commit": {"sha": sha, "url": f"{self.home}/commits/{sha}"},
            "protected": False,
        }

    def whole_branch(self, name: str, commit: Commit) -> View:
        url = f"{self.home}/branches/{quote(name)}"
        return self.branch(name, commit.sha) | {
            "commit": self.commit(commit),
            "_links": {"self": url, "html": f"{self.page}/tree/{quote(name)}"},
            "protection": {"enabled": False},
            "protection_url": f"{url}/protection",
        }

    def ref(self, ref: str, pointed: Object) -> View:
        folder = {"commit": "commits", "tag": "tags", "tree": "trees"}.get(pointed.kind, "blobs")
        return {
            "ref": shown(ref),
            "node_id": f"Ref_{quote(ref, safe='', errors='surrogateescape')}",
            "url": f"{self.home}/git/{quote(ref, errors='surrogateescape')}",
            "object": {
                "type": pointed.kind,
                "sha": pointed.sha,
                "url": f"{self.home}/git/{folder}/{pointed.sha}",
            },
        }

    def git_commit(self, commit: Commit) -> View:
        """The commit as git has it."""
        return {
            "sha": commit.sha,
            "node_id": f"Commit_{commit.sha}",
            "url": f"{self.home}/git/commits/{commit.sha}",
            "html_url": f"{self.page}/commit/{commit.sha}",
            "message": commit.message.removesuffix("\n"),
            "author": self._signature(commit.author),
            "committer": self._signature(commit.committer),
            "tree": {"sha": commit.tree, "url": f"{self.home}/git/trees/{commit.tree}"},
            "parents": [self._parent("git/commits", sha) for sha in commit.parents],
            "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None},
        }

    def commit(self, commit: Commit) -> View:
        """The commit as the forge shows it: with accounts instead of names."""
        return {
            "sha": commit.sha,
            "node_id": f"Commit_{commit.sha}",
            "url": f"{self.home}/commits/{commit.sha}",
            "html_url": f"{self.page}/commit/{commit.sha}",
            "comments_url": f"{self.home}/commits/{commit.sha}/comments",
            "commit": self.git_commit(commit) | {"comment_count": 0},
            "author": self._account(commit.author),
            "committer": self._account(commit.committer),
            "parents": [self._parent("commits", sha) for sha in commit.parents],
        }

    def _parent(self, folder: str, sha: str) -> View:
        url = f"{self.home}/{folder}/{sha}"
        return {"sha": sha, "url": url, "html_url": f"{self.page}/commit/{sha}"}

    def _signature(self, who: Signature) -> View:
        return {"name": who.name, "email": who.email, "date": state.told(who.when)}

    def _account(self, who: Signature) -> View | None:
        login = next((each.login for each in self.project.people if each.email == who.email), None)
        return self.user(login) if login else None

    def entry(self, path: str, entry: TreeEntry, size: int | None) -> View:
        folder = {"tree": "trees", "commit": "commits"}.get(entry.kind, "blobs")
        view: View = {"path": shown(path), "mode": entry.mode.zfill(6), "type": entry.kind, "sha": entry.sha}
        if size is not None:
            view["size"] = size
        return view | {"url": f"{self.home}/git/{folder}/{entry.sha}"}

    def content(self, path: str, entry: TreeEntry, ref: str, data: bytes | None) -> View:
        """A file or folder; with `data`, the file's content is included."""
        kind = {"tree": "dir", "commit": "submodule"}.get(entry.kind, "file")
        kind = "symlink" if entry.mode == LINK else kind
        place = quote(path, errors="surrogateescape")
        url = f"{self.home}/contents/{place}?ref={quote(ref, safe='')}"
        raw = f"{self.page}/raw/{quote(ref)}/{place}" if kind == "file" else None
        git = f"{self.home}/git/{'trees' if kind == 'dir' else 'blobs'}/{entry.sha}"
        html = f"{self.page}/blob/{quote(ref)}/{place}"
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


def _identity(kind: str, name: str) -> View:
    """A stable id for an object."""
    return {"id": zlib.crc32(f"{kind}:{name}".encode()), "node_id": f"{kind}_{quote(name, safe='')}"}


def shown(name: str) -> str:
    """A name or path that JSON can represent, whatever its bytes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
