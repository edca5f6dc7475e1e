"""Folder trees as values: writing, reading and comparing them.

Writing refuses paths that lead outside the folder. Reading copes with any state a folder may be left in,
follows no links and never looks outside.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import TypeAlias

import msgspec

from misstep.errors import UsageError


class File(msgspec.Struct, frozen=True, tag=True):
    data: bytes


class Folder(msgspec.Struct, frozen=True, tag=True):
    pass


class Link(msgspec.Struct, frozen=True, tag=True):
    """A symbolic link, which is never followed."""

    target: str


class Other(msgspec.Struct, frozen=True, tag=True):
    """What can't be read or is too large, as a description. It never compares as right."""

    what: str


Content: TypeAlias = File | Folder | Link | Other

# By relative POSIX path. Folders are listed too, whether or not they are empty.
Tree: TypeAlias = Mapping[str, Content]


def parents(path: str) -> list[str]:
    """The parent folders of a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def complete(tree: Tree) -> dict[str, Content]:
    """The tree with every folder listed, sorted by path."""
    whole = dict(tree)
    for path in tree:
        above = path.rpartition("/")[0]
        while above and above not in whole:
            whole[above] = Folder()
            above = above.rpartition("/")[0]
    return dict(sorted(whole.items()))


def shown(path: str, most: int = 200) -> str:
    """A path on one line, with unprintable characters escaped."""
    text = path if path.isprintable() else repr(path)[1:-1]
    return text if len(text) <= most else f"{text[:most]}…"


def visible(path: str) -> str:
    """The same for use in a sentence: quoted if blanks at the ends of names would be invisible."""
    return f"'{shown(path)}'" if any(part != part.strip() for part in path.split("/")) else shown(path)


MOST = 20  # lines
LONGEST = 60  # characters of a quoted line


def differences(expected: Tree, found: Tree, initial: Tree) -> tuple[str, ...]:
    """A line for each difference, none if the trees are exactly equal.

    Paths, types and bytes count, empty folders too; times and modes don't. `initial` is the tree at the start
    and only makes the messages clearer.
    """
    return first_lines(_differences(complete(expected), complete(found), complete(initial)))


def first_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    told = list(lines)
    left = len(told) - MOST
    return (*told[:MOST], *([f"… and {left:,} more"] if left > 0 else []))


def _differences(expected: Tree, found: Tree, initial: Tree) -> Iterator[str]:
    missing = _deepest(path for path in expected if path not in found)
    unexpected = _deepest(path for path in found if path not in expected)
    misplaced = _misplaced(missing, unexpected, expected, found)
    for right, wrong in misplaced.items():
        yield f"misplaced: {visible(wrong)} should be {visible(right)}"
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
    """The paths without folders that are implied by their content."""
    listed = list(paths)
    implied = {parent for path in listed for parent in parents(path)}
    return [path for path in listed if path not in implied]


def _misplaced(
    missing: Iterable[str], unexpected: Iterable[str], expected: Tree, found: Tree
) -> dict[str, str]:
    """Files with the right content at a wrong path, if the pairing is unambiguous."""
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
    if not wrong or not right:
        is_, should = (f"{len(data):,} bytes long" if data else "empty" for data in (wrong, right))
        return f"is {is_}, should be {should}"
    lines = zip_longest(right.split(b"\n"), wrong.split(b"\n"))
    number, (good, bad) = next((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    if good is None:
        return f"continues after line {number - 1} with {_quoted(bad, b'')}"
    if bad is None:
        return f"ends after line {number - 1}, should continue with {_quoted(good, b'')}"
    return f"line {number} is {_quoted(bad, good)}, should be {_quoted(good, bad)}"


def _quoted(line: bytes, other: bytes) -> str:
    """A line, or the part of it around the first difference."""
    if not line:
        return "empty"
    same = next((n for n, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), len(other))
    start = max(0, same - LONGEST // 2) if len(line) > LONGEST else 0
    part = line[start : start + LONGEST].decode("utf-8", "backslashreplace")
    return f"{'…' if start else ''}{part!r}{'…' if start + LONGEST < len(line) else ''}"


def _named(path: str, content: Content) -> str:
    if isinstance(content, Other):
        return f"{visible(path)}, {content.what}"
    return f"{visible(path)}/" if isinstance(content, Folder) else visible(path)


def _kind(content: Content) -> str:
    if isinstance(content, Other):
        return content.what
    return "a file" if isinstance(content, File) else "a folder" if isinstance(content, Folder) else "a link"


LONGEST_NAME = 255  # bytes, on every file system in use


def lay(tree: Tree, root: Path) -> None:
    """Write a tree into an existing empty folder; nothing is written if a path would lead out of it."""
    for path in tree:
        require_plain(path)
    whole = complete(tree)
    for path, content in whole.items():
        for parent in parents(path):
            if not isinstance(whole[parent], Folder):
                raise _refused(path, f"it leads through '{shown(parent)}', which is not a folder")
        if isinstance(content, Other):
            raise _refused(path, f"it is {content.what}, which can't be made")
    try:
        names = os.listdir(root)
    except OSError as error:
        raise UsageError(f"no folder for the files of a task: {error.strerror}", where=str(root)) from error
    if names:
        raise UsageError("the folder for the files of a task is not empty", where=str(root))
    try:
        for path, content in whole.items():
            _write(root / path, content)
    except OSError as error:
        raise UsageError(f"can't write the files of a task: {error.strerror}", where=str(root)) from error


def require_plain(path: str) -> None:
    """Refuse a path that is not clearly below its folder."""
    parts = path.split("/")
    if path.startswith("/"):
        raise _refused(path, "it is absolute")
    if ".." in parts:
        raise _refused(path, "it leads out of its folder")
    if "" in parts or "." in parts:
        raise _refused(path, "it has an empty part")
    if "\0" in path:
        raise _refused(path, "it contains a NUL character")
    try:
        longest = max([len(part.encode()) for part in parts])
    except UnicodeEncodeError as error:
        raise _refused(path, "it can't be written as UTF-8") from error
    if longest > LONGEST_NAME:
        raise _refused(path, f"it has a name of more than {LONGEST_NAME} bytes")


def _write(place: Path, content: Content) -> None:
    match content:
        case Link(target):
            place.symlink_to(target)
        case File(data):
            with place.open("xb") as file:
                file.write(data)
        case _:
            place.mkdir()


def _refused(path: str, why: str) -> UsageError:
    expected = "expected a path like reports/2023/notes.txt, relative to the task's folder"
    return UsageError(f"the path '{shown(path)}' can't be used: {why}", expected)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


MOST_ENTRIES = 20_000
LARGEST = 1 << 20  # bytes of one file
MOST_READ = 1 << 26  # bytes of all files
DEEPEST = 64  # nesting of folders


def survey(root: Path) -> Tree:
    """The content of a folder, by path. Links are not followed; what exceeds the limits is `Other`."""
    try:
        handle = os.open(root, _FOLDER)
    except OSError as error:
        raise UsageError(f"can't read the folder of a task: {error.strerror}", where=str(root)) from error
    surveyor = _Surveyor()
    surveyor.read_folder(handle, "", 0)
    return dict(sorted(surveyor.found.items()))


class _Surveyor:
    """Descends by open directory handles rather than paths, so that swapped folders can't redirect it."""

    def __init__(self) -> None:
        self.found = dict[str, Content]()
        self._room = MOST_READ

    def read_folder(self, handle: int, path: str, depth: int) -> None:
        """List an open folder, and close it."""
        try:
            room = MOST_ENTRIES - len(self.found)
            with os.scandir(handle) as entries:
                names = [entry.name for entry in islice(entries, room + 1)]
            if len(names) > room:
                self.found[path or "."] = Other("a folder with too much in it")
                return
            for name in sorted(names):
                self._read(handle, name, f"{path}/{name}" if path else name, depth + 1)
        except OSError as error:
            self.found[path or "."] = Other(f"a folder that can't be read ({error.strerror})")
        finally:
            os.close(handle)

    def _read(self, parent: int, name: str, path: str, depth: int) -> None:
        try:
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                self.found[path] = Link(os.readlink(name, dir_fd=parent))
            elif stat.S_ISREG(mode):
                self.found[path] = self._file(os.open(name, _FILE, dir_fd=parent))
            elif not stat.S_ISDIR(mode):
                self.found[path] = Other(_SORTS.get(stat.S_IFMT(mode), "something that is not a file"))
            elif depth >= DEEPEST:
                self.found[path] = Other("a folder too deep to be read")
            else:
                self.found[path] = Folder()
                self.read_folder(os.open(name, _FOLDER, dir_fd=parent), path, depth)
        except OSError as error:
            self.found[path] = Other(f"something that can't be read ({error.strerror})")

    def _file(self, handle: int) -> Content:
        with os.fdopen(handle, "rb") as file:
            size = os.fstat(handle).st_size
            most = min(LARGEST, self._room)
            # A file may grow, and some report no size, so what counts is how much can be read.
            data = file.read(most + 1) if size <= most else b""
        if size > most or len(data) > most:
            return Other(f"a file of {max(size, len(data)):,} bytes, too large to be read")
        self._room -= len(data)
        return File(data)


_SORTS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
