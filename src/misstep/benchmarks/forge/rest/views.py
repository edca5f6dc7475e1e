"""Users, repositories, issues and pull requests in GitHub's JSON format."""

import zlib
from typing import Any
from urllib.parse import quote

import msgspec

from misstep.benchmarks.forge.ledger import ForgeRecords, Project, told
from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.state import Comment, IssueLabel, IssueThread, PullProposal, Review

View = dict[str, Any]


class Views(msgspec.Struct, frozen=True):
    """Builds JSON objects; `url` is the address of the forge."""

    url: str
    project: Project
    repository: Repository
    ledger: ForgeRecords

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
        made = told(int(self.project.start.timestamp()))
        return self.user(login) | named | {"created_at": made, "updated_at": made, "public_repos": 1}

    def repo(self, private: bool, may_write: bool) -> View:
        made, changed = told(int(self.project.start.timestamp())), told(self.ledger.seconds)
        waiting = [each for each in self.ledger.threads.values() if each.state == "open"]
        return {
            **_identity("Repository", self.project.full_name),
            "name": self.project.name,
            "full_name": self.project.full_name,
            "private": private,
            "visibility": "private" if private else "public",
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
            "created_at": made,
            "updated_at": changed,
            "pushed_at": changed,
            **dict.fromkeys(("fork", "archived", "disabled", "is_template"), False),
            **dict.fromkeys(("has_issues", "has_downloads", "allow_forking"), True),
            **dict.fromkeys(("forks_count", "stargazers_count", "watchers_count", "size"), 0),
            "language": "Python",
            "topics": [],
        }

    def label(self, label: IssueLabel) -> View:
        return {
            **_identity("Label", label.name),
            "url": f"{self.home}/labels/{quote(label.name, safe='')}",
            "name": label.name,
            "color": label.color,
            "description": label.description,
            "default": False,
        }

    def labels(self, names: tuple[str, ...]) -> list[View]:
        return [self.label(self.ledger.labels[name]) for name in names if name in self.ledger.labels]

    def issue(self, thread: IssueThread) -> View:
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

    def _thread(self, thread: IssueThread) -> View:
        """The fields that issues and pull requests have in common."""
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

    def comment(self, thread: IssueThread, comment: Comment) -> View:
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

    def pull(self, thread: IssueThread, proposal: PullProposal, private: bool) -> View:
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
            "head": self._side(proposal.head, self.repository.tip(proposal.head) or proposal.tip, private),
            "base": self._side(proposal.base, self.repository.tip(proposal.base) or "", private),
        }

    def _side(self, branch: str, sha: str, private: bool) -> View:
        owner = self.project.owner
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": sha,
            "user": self.user(owner),
            "repo": self.repo(private, True),
        }

    def review(self, thread: IssueThread, review: Review) -> View:
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


def _identity(kind: str, name: str) -> View:
    """A stable id for an object."""
    return {"id": zlib.crc32(f"{kind}:{name}".encode()), "node_id": f"{kind}_{quote(name, safe='')}"}
