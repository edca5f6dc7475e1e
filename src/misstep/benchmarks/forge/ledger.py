"""The forge's data outside git (issues, pull requests, comments, labels) and the project it starts with."""

from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import structs

from misstep.benchmarks.forge.state import Comment, IssueLabel, IssueThread, PullProposal


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    login: str
    name: str
    email: str


class PendingCommit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A commit to create; `start` is the branch that a new branch starts from."""

    branch: str
    author: str
    message: str
    files: dict[str, str]
    start: str = ""


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a new forge. Tokens act as `account`."""

    owner: str
    name: str
    description: str
    default: str
    account: str
    start: datetime
    people: tuple[Person, ...]
    labels: tuple[IssueLabel, ...]
    commits: tuple[PendingCommit, ...]
    threads: tuple[IssueThread, ...]

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def person(self, login: str) -> Person | None:
        return next((each for each in self.people if each.login.lower() == login.lower()), None)


def read_data(name: str) -> bytes:
    return (files("misstep.benchmarks.forge") / "data" / name).read_bytes()


@cache
def our_project() -> Project:
    """The project that the tasks are about."""
    return msgspec.toml.decode(read_data("project.toml"), type=Project)


TICK = timedelta(minutes=1)  # from one change to the next
LATEST = 253_402_300_799  # the last second of the year 9999
OPENING = timedelta(days=30)  # from the first commit to the first change by a client


class ForgeRecords:
    """Issues, pull requests and labels, changed by requests.

    Its clock advances with each change only, so that dates are reproducible.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.reset()

    def reset(self) -> None:
        """Restore the initial content."""
        self._now = self.project.start
        self._last_id = 1000
        self.labels = {label.name: label for label in self.project.labels}
        self.threads = {each.number: self._dated(each) for each in self.project.threads}
        self._now = self.project.start + OPENING

    @property
    def seconds(self) -> int:
        """The time of the last change, in seconds since 1970."""
        return int(self._now.timestamp())

    def tick(self) -> str:
        """Advance the clock and return the time, unique to this change."""
        self._now += TICK
        return self._now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def open(self, title: str, body: str, author: str, pull: PullProposal | None = None) -> IssueThread:
        """Create an issue or pull request with the next number."""
        at = self.tick()
        number = max(self.threads, default=0) + 1
        return self.keep(IssueThread(number, title, body, author, pull=pull, made=at, changed=at))

    def keep(self, thread: IssueThread) -> IssueThread:
        self.threads[thread.number] = thread
        return thread

    def change(self, thread: IssueThread, **fields: Any) -> IssueThread:
        return self.keep(structs.replace(thread, changed=self.tick(), **fields))

    def comment(self, thread: IssueThread, author: str, body: str) -> Comment:
        comment = Comment(author, body, self.new_id(), self.tick())
        self.keep(structs.replace(thread, comments=(*thread.comments, comment), changed=comment.at))
        return comment

    def find_comment(self, id: int) -> tuple[IssueThread, Comment] | None:
        return next(
            ((thread, each) for thread in self.threads.values() for each in thread.comments if each.id == id),
            None,
        )

    def close_pulls(self, branch: str) -> None:
        """Close pull requests of a branch that was deleted."""
        for thread in list(self.threads.values()):
            if thread.pull and thread.state == "open" and branch in (thread.pull.head, thread.pull.base):
                self.change(thread, state="closed")

    def label(self, label: IssueLabel) -> IssueLabel:
        self.labels[label.name] = label
        return label

    def _dated(self, thread: IssueThread) -> IssueThread:
        """A thread from the project file, with ids and times added."""
        at = self.tick()
        comments = [structs.replace(each, id=self.new_id(), at=self.tick()) for each in thread.comments]
        changed = comments[-1].at if comments else at
        return structs.replace(thread, comments=tuple(comments), made=at, changed=changed)


def told(seconds: int) -> str:
    """A time in the API's format; commits may claim any time, but years have four digits."""
    return datetime.fromtimestamp(min(seconds, LATEST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
