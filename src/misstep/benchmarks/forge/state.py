"""The state of a forge as a value, its differences from another, and the records that requests change."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import structs

from misstep.benchmarks.tree import Tree, first_lines
from misstep.benchmarks.tree import differences as tree_differences

LONGEST = 120  # characters of a quoted value


class IssueLabel(msgspec.Struct, frozen=True):
    name: str
    color: str = "ededed"
    description: str = ""


class Comment(msgspec.Struct, frozen=True):
    """A comment; `id` and `at` identify it and don't count when states are compared."""

    author: str
    body: str
    id: int = 0
    at: str = ""


class Review(msgspec.Struct, frozen=True):
    author: str
    verdict: str
    body: str
    id: int = 0
    at: str = ""


class PullProposal(msgspec.Struct, frozen=True):
    """What makes an issue a pull request. `tip` is the head's last known commit."""

    head: str
    base: str
    draft: bool = False
    reviewers: tuple[str, ...] = ()
    reviews: tuple[Review, ...] = ()
    tip: str = ""


class IssueThread(msgspec.Struct, frozen=True):
    number: int
    title: str
    body: str
    author: str
    state: Literal["open", "closed"] = "open"
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    pull: PullProposal | None = None
    locked: bool = False
    made: str = ""
    changed: str = ""


class Branch(msgspec.Struct, frozen=True):
    """All files at the tip of a branch. An expected branch without a tip accepts any commit with them."""

    files: Tree
    tip: str = ""
    executable: frozenset[str] = frozenset()
    follows: str = ""  # a commit that has to be in the history of an expected branch


class State(msgspec.Struct, frozen=True):
    """The whole state; `refs` are all but branches, by full name, `parents` those of reachable commits."""

    branches: Mapping[str, Branch]
    threads: Mapping[int, IssueThread]
    labels: tuple[IssueLabel, ...] = ()
    refs: Mapping[str, str] = {}
    parents: Mapping[str, tuple[str, ...]] = {}

    def has_behind(self, tip: str, commit: str) -> bool:
        """Whether a commit is an ancestor of another, or the same."""
        seen, ahead = set[str](), [tip]
        while ahead and commit not in seen:
            seen.add(sha := ahead.pop())
            ahead += [each for each in self.parents.get(sha, ()) if each not in seen]
        return commit in seen


def differences(expected: State, found: State, initial: State | None = None) -> tuple[str, ...]:
    """A line for each difference, none if the states are equal; `initial` only makes the messages clearer."""
    return first_lines(_differences(expected, found, initial or expected))


def _differences(expected: State, found: State, initial: State) -> Iterator[str]:
    for name in sorted({*expected.branches, *found.branches}):
        what, right, wrong = f"branch {_quoted(name)}", expected.branches.get(name), found.branches.get(name)
        if right is None or wrong is None:
            yield f"{'missing' if right else 'unexpected'}: {what}"
            continue
        yield from _branch(what, right, wrong, initial.branches.get(name, right))
        if right.follows and not found.has_behind(wrong.tip or wrong.follows, right.follows):
            yield f"{what}: its history was rewritten, it should follow {right.follows[:7]}"
    for number in sorted({*expected.threads, *found.threads}):
        yield from _thread(number, expected.threads.get(number), found.threads.get(number))
    names = [[label.name for label in state.labels] for state in (expected, found)]
    labels = [[structs.astuple(label) for label in state.labels] for state in (expected, found)]
    yield from _field("labels of the repository", *(labels if names[0] == names[1] else names))
    yield from _field("refs that are not branches", dict(expected.refs), dict(found.refs))


def _branch(what: str, right: Branch, wrong: Branch, before: Branch) -> Iterator[str]:
    lines = tree_differences(right.files, wrong.files, before.files)
    yield from (f"{what}: {line}" for line in lines)
    both = right.files.keys() & wrong.files.keys()
    modes = [sorted(each.executable & both) for each in (right, wrong)]
    yield from _field(f"{what}: files that may be run", *modes)
    if not lines and right.tip and right.tip != wrong.tip:
        yield f"{what}: is at commit {wrong.tip[:7]}, should be at {right.tip[:7]}"


def _thread(number: int, right: IssueThread | None, wrong: IssueThread | None) -> Iterator[str]:
    thread = right or wrong
    assert thread is not None
    what = f"{'pull request' if thread.pull else 'issue'} #{number}"
    if right is None or wrong is None:
        yield f"{'missing' if right else 'unexpected'}: {what} {_quoted(thread.title)}"
        return
    for field in ("title", "body", "author", "state", "labels", "assignees", "locked"):
        yield from _field(f"{what}: {field}", getattr(right, field), getattr(wrong, field))
    for place, (one, other) in enumerate(zip(right.comments, wrong.comments, strict=False), 1):
        yield from _field(f"{what}: comment {place}", one.body, other.body)
        yield from _field(f"{what}: author of comment {place}", one.author, other.author)
    missing, unexpected = right.comments[len(wrong.comments) :], wrong.comments[len(right.comments) :]
    yield from (f"missing: {what}: comment {_quoted(each.body)}" for each in missing)
    yield from (f"unexpected: {what}: comment {_quoted(each.body)}" for each in unexpected)
    yield from _field(f"{what}: its sort", bool(right.pull), bool(wrong.pull))
    if right.pull and wrong.pull:
        for field in ("head", "base", "draft", "reviewers"):
            yield from _field(f"{what}: {field}", getattr(right.pull, field), getattr(wrong.pull, field))
        told = [
            [(each.author, each.verdict, each.body) for each in one.reviews]
            for one in (right.pull, wrong.pull)
        ]
        yield from _field(f"{what}: reviews", *told)


def _field(what: str, right: object, wrong: object) -> Iterator[str]:
    if right != wrong:
        pairs = enumerate(zip(repr(right), repr(wrong), strict=False))
        same = next((place for place, (one, other) in pairs if one != other), 0)
        start = same - LONGEST // 2 if same > LONGEST else 0  # so that the first difference is visible
        yield f"changed: {what} is {_quoted(wrong, start)}, should be {_quoted(right, start)}"


def _quoted(value: object, start: int = 0) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    end = start + LONGEST
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


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
    return msgspec.toml.decode(read_data("project.toml"), type=Project)


TICK = timedelta(minutes=1)  # from one change to the next
LATEST = 253_402_300_799  # the last second of the year 9999
OPENING = timedelta(days=30)  # from the first commit to the first change by a client


class ForgeRecords:
    """Issues, pull requests and labels; the clock advances with changes only, so dates are reproducible."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.reset()

    def reset(self) -> None:
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
        comments = ((thread, each) for thread in self.threads.values() for each in thread.comments)
        return next((pair for pair in comments if pair[1].id == id), None)

    def close_pulls(self, branch: str) -> None:
        """Close pull requests of a branch that was deleted."""
        for thread in list(self.threads.values()):
            if thread.pull and thread.state == "open" and branch in (thread.pull.head, thread.pull.base):
                self.change(thread, state="closed")

    def _dated(self, thread: IssueThread) -> IssueThread:
        """A thread from the project file, with ids and times added."""
        at = self.tick()
        comments = [structs.replace(each, id=self.new_id(), at=self.tick()) for each in thread.comments]
        changed = comments[-1].at if comments else at
        return structs.replace(thread, comments=tuple(comments), made=at, changed=changed)


def told(seconds: int) -> str:
    """A time in the API's format; commits may claim any time, but years have four digits."""
    return datetime.fromtimestamp(min(seconds, LATEST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
