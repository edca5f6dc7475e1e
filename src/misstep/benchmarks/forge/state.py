"""The state of a forge as a value, and the differences between two states."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from misstep.benchmarks.tree import Tree
from misstep.benchmarks.tree import differences as tree_differences

MOST = 20  # lines
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
    """An issue or a pull request, with its comments."""

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
    """All files at the tip of a branch; `executable` are the executable ones.

    An expected branch without a tip accepts any commit with these files that has `follows` in its history.
    """

    files: Tree
    tip: str = ""
    executable: frozenset[str] = frozenset()
    follows: str = ""


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


def differences(
    expected: State, found: State, initial: State | None = None, most: int = MOST
) -> tuple[str, ...]:
    """A line for each difference, none if the states are equal; `initial` only makes the messages clearer."""
    lines = list(_differences(expected, found, initial or expected))
    left = len(lines) - most
    return (*lines[:most], *([f"… and {left:,} more"] if left > 0 else []))


def _differences(expected: State, found: State, initial: State) -> Iterator[str]:
    for name in _names(expected.branches, found.branches):
        right, wrong = expected.branches.get(name), found.branches.get(name)
        yield from _branch(name, right, wrong, initial)
        if (
            right
            and wrong
            and right.follows
            and not found.has_behind(wrong.tip or wrong.follows, right.follows)
        ):
            yield f"branch {_quoted(name)}: its history was rewritten, it should follow {right.follows[:7]}"
    for number in _names(expected.threads, found.threads):
        yield from _thread(number, expected.threads.get(number), found.threads.get(number))
    yield from _field("labels of the repository", _label_names(expected), _label_names(found))
    if _label_names(expected) == _label_names(found):
        yield from _field("labels of the repository", _labels(expected), _labels(found))
    yield from _field("refs that are no branches", dict(expected.refs), dict(found.refs))


def _names(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[Any]:
    return sorted({*one, *other})


def _branch(name: str, right: Branch | None, wrong: Branch | None, initial: State) -> Iterator[str]:
    if right is None or wrong is None:
        yield f"{'missing' if right else 'unexpected'}: branch {_quoted(name)}"
        return
    before = initial.branches.get(name, right)
    lines = tree_differences(right.files, wrong.files, before.files)
    yield from (f"branch {_quoted(name)}: {line}" for line in lines)
    both = right.files.keys() & wrong.files.keys()
    modes = [sorted(each.executable & both) for each in (right, wrong)]
    yield from _field(f"branch {_quoted(name)}: files that may be run", *modes)
    if not lines and right.tip and right.tip != wrong.tip:
        yield f"branch {_quoted(name)}: is at commit {wrong.tip[:7]}, should be at {right.tip[:7]}"


def _thread(number: int, right: IssueThread | None, wrong: IssueThread | None) -> Iterator[str]:
    thread = right or wrong
    assert thread is not None
    what = f"{'pull request' if thread.pull else 'issue'} #{number}"
    if right is None or wrong is None:
        yield f"{'missing' if right else 'unexpected'}: {what} {_quoted(thread.title)}"
        return
    for field in ("title", "body", "author", "state", "labels", "assignees", "locked"):
        yield from _field(f"{what}: {field}", getattr(right, field), getattr(wrong, field))
    yield from _comments(what, right.comments, wrong.comments)
    yield from _field(f"{what}: its sort", bool(right.pull), bool(wrong.pull))
    if right.pull and wrong.pull:
        yield from _proposal(what, right.pull, wrong.pull)


def _proposal(what: str, right: PullProposal, wrong: PullProposal) -> Iterator[str]:
    for field in ("head", "base", "draft", "reviewers"):
        yield from _field(f"{what}: {field}", getattr(right, field), getattr(wrong, field))
    told = [[(each.author, each.verdict, each.body) for each in one.reviews] for one in (right, wrong)]
    yield from _field(f"{what}: reviews", *told)


def _comments(what: str, right: Sequence[Comment], wrong: Sequence[Comment]) -> Iterator[str]:
    for place, (one, other) in enumerate(zip(right, wrong, strict=False), 1):
        yield from _field(f"{what}: comment {place}", one.body, other.body)
        yield from _field(f"{what}: author of comment {place}", one.author, other.author)
    yield from (f"missing: {what}: comment {_quoted(each.body)}" for each in right[len(wrong) :])
    yield from (f"unexpected: {what}: comment {_quoted(each.body)}" for each in wrong[len(right) :])


def _field(what: str, right: object, wrong: object) -> Iterator[str]:
    if right != wrong:
        start = _parting(right, wrong)
        yield f"changed: {what} is {_quoted(wrong, start)}, should be {_quoted(right, start)}"


def _label_names(state: State) -> list[str]:
    return [label.name for label in state.labels]


def _labels(state: State) -> list[tuple[str, str, str]]:
    return [(label.name, label.color, label.description) for label in state.labels]


def _parting(one: object, other: object) -> int:
    """Where to start quoting, so that the first difference between two long values is visible."""
    pairs = enumerate(zip(repr(one), repr(other), strict=False))
    same = next((place for place, (a, b) in pairs if a != b), 0)
    return same - LONGEST // 2 if same > LONGEST else 0


def _quoted(value: object, start: int = 0) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    end = start + LONGEST
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
