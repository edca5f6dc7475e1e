"""Tells how a folder tree differs from the one that should be there."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from misstep.benchmarks.tree.content import (
    Content,
    File,
    Folder,
    Link,
    Other,
    Tree,
    complete,
    parents,
    shown,
    visible,
)

MOST = 20  # lines
LONGEST = 60  # characters of a line that is quoted


def differences(expected: Tree, found: Tree, initial: Tree, most: int = MOST) -> tuple[str, ...]:
    """A line for each difference, none where the trees are exactly the same.

    Paths, kinds and bytes count, empty folders too; times and modes don't. `initial` is what was there at the
    start: it only makes the words clearer.
    """
    lines = list(_differences(complete(expected), complete(found), complete(initial)))
    left = len(lines) - most
    return (*lines[:most], *([f"… and {left:,} more"] if left > 0 else []))


def _differences(expected: Tree, found: Tree, initial: Tree) -> Iterator[str]:
    missing = _deepest(path for path in expected if path not in found)
    unexpected = _deepest(path for path in found if path not in expected)
    misplaced = _misplaced(missing, unexpected, expected, found)
    yield from (
        f"misplaced: {visible(wrong)} should be {visible(right)}" for right, wrong in misplaced.items()
    )
    for path in missing:
        if path not in misplaced:
            same = initial.get(path) == expected[path]
            note = " (it should have been left as it was)" if same else ""
            yield f"missing: {_named(path, expected[path])}{note}"
    for path in unexpected:
        if path not in misplaced.values():
            note = " (it should be gone)" if path in initial else ""
            yield f"unexpected: {_named(path, found[path])}{note}"
    for path in expected:
        if path in found:
            yield from _changes(visible(path), expected[path], found[path])


def _deepest(paths: Iterable[str]) -> list[str]:
    """Without folders that say no more than what is in them does."""
    listed = list(paths)
    implied = {parent for path in listed for parent in parents(path)}
    return [path for path in listed if path not in implied]


def _misplaced(
    missing: Iterable[str], unexpected: Iterable[str], expected: Tree, found: Tree
) -> dict[str, str]:
    """Files with the right content in a wrong place, where there is no doubt about which is which."""
    wanted, had = _by_data(missing, expected), _by_data(unexpected, found)
    pairs = ((wanted[data], had.get(data, [])) for data in wanted)
    return {right[0]: wrong[0] for right, wrong in pairs if len(right) == len(wrong) == 1}


def _by_data(paths: Iterable[str], tree: Tree) -> dict[bytes, list[str]]:
    files = dict[bytes, list[str]]()
    for path in paths:
        if isinstance(content := tree[path], File):
            files.setdefault(content.data, []).append(path)
    return files


def _changes(path: str, right: Content, wrong: Content) -> Iterator[str]:
    match right, wrong:
        case (Folder(), Folder()):
            return
        case (File(a), File(b)):
            if a != b:
                yield f"changed: {path}: {_altered(a, b)}"
        case (Link(a), Link(b)):
            if a != b:
                yield f"changed: {path}: leads to '{shown(b)}', should lead to '{shown(a)}'"
        case _:
            yield f"wrong kind: {path} is {_kind(wrong)}, should be {_kind(right)}"


def _altered(right: bytes, wrong: bytes) -> str:
    """The first line that is not as it should be."""
    if not wrong or not right:
        return f"is {_length(wrong)}, should be {_length(right)}"
    lines = zip_longest(right.split(b"\n"), wrong.split(b"\n"))
    number, (should, is_) = next((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    if should is None:
        return f"goes on after line {number - 1} with {_quoted(is_, b'')}"
    if is_ is None:
        return f"ends after line {number - 1}, should go on with {_quoted(should, b'')}"
    return f"line {number} is {_quoted(is_, should)}, should be {_quoted(should, is_)}"


def _length(data: bytes) -> str:
    return f"{len(data):,} bytes long" if data else "empty"


def _quoted(line: bytes, other: bytes) -> str:
    """A line, or the part of it around where it first differs from the other."""
    if not line:
        return "empty"
    same = next((n for n, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), len(other))
    start = max(0, same - LONGEST // 2) if len(line) > LONGEST else 0
    part = line[start : start + LONGEST].decode("utf-8", "backslashreplace")
    return f"{'…' if start else ''}{part!r}{'…' if start + LONGEST < len(line) else ''}"


def _named(path: str, content: Content) -> str:
    match content:
        case Folder():
            return f"{visible(path)}/"
        case Other(what):
            return f"{visible(path)}, {what}"
        case _:
            return visible(path)


def _kind(content: Content) -> str:
    match content:
        case File():
            return "a file"
        case Folder():
            return "a folder"
        case Link():
            return "a link"
        case Other(what):
            return what
