"""Operations that requests ask for, and selections of the files they apply to."""

import re
from typing import Literal, TypeAlias

import msgspec

from misstep.benchmarks.tree import File, Folder, Tree


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Files in a folder that meet all given conditions.

    `folder` is empty for the task's own folder; `deep` includes subfolders. The name ends with `suffix`,
    starts with `prefix` and contains `word`; one of the lines is `line`; the size in bytes is over `larger`.
    """

    folder: str = ""
    deep: bool = True
    suffix: str = ""
    prefix: str = ""
    word: str = ""
    line: str = ""
    larger: int | None = None

    def covers(self, path: str) -> bool:
        """Whether a path is in the place that is searched."""
        if not self.deep:
            return path.rpartition("/")[0] == self.folder
        return not self.folder or path.startswith(f"{self.folder}/")

    def chooses(self, path: str, data: bytes) -> bool:
        name = path.rpartition("/")[2]
        return (
            self.covers(path)
            and name.endswith(self.suffix)
            and name.startswith(self.prefix)
            and self.word in name
            and (not self.line or self.line in data.decode().split("\n"))
            and (self.larger is None or len(data) > self.larger)
        )


def chosen(what: Selection, tree: Tree) -> list[str]:
    """The paths of the selected files, sorted."""
    return sorted(path for path, data in files_of(tree).items() if what.chooses(path, data))


def covered(what: Selection, tree: Tree) -> list[str]:
    """All files in the place that a selection searches, sorted."""
    return sorted(path for path in files_of(tree) if what.covers(path))


def files_of(tree: Tree) -> dict[str, bytes]:
    return {path: content.data for path, content in tree.items() if isinstance(content, File)}


def folders_of(tree: Tree) -> list[str]:
    return sorted(path for path, content in tree.items() if isinstance(content, Folder))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def is_clear(what: Selection, tree: Tree) -> bool:
    """Whether the rule is unambiguous, whether or not case matters and parts of words count."""
    strict = chosen(what, tree)
    return all(_loosely(what, path) == (path in strict) for path in _otherwise_chosen(what, tree)) and all(
        _wholly(what, path) for path in strict
    )


def _otherwise_chosen(what: Selection, tree: Tree) -> list[str]:
    return chosen(msgspec.structs.replace(what, suffix="", prefix="", word=""), tree)


def _loosely(what: Selection, path: str) -> bool:
    name = name_of(path).lower()
    fits = name.endswith(what.suffix.lower()) and name.startswith(what.prefix.lower())
    return fits and what.word.lower() in name


def _wholly(what: Selection, path: str) -> bool:
    """Whether the word stands alone in the name; adjacent digits and underscores are fine."""
    pattern = rf"(?<![^\W\d_]){re.escape(what.word)}(?![^\W\d_])"
    return not what.word or re.search(pattern, name_of(path)) is not None


class Into(msgspec.Struct, frozen=True, tag=True):
    """All into one folder, with their names unchanged."""

    folder: str


class Beneath(msgspec.Struct, frozen=True, tag=True):
    """Into a folder, keeping their subfolders relative to the folder that was searched."""

    folder: str


class Exactly(msgspec.Struct, frozen=True, tag=True):
    """A single file to a given path."""

    path: str


class ByType(msgspec.Struct, frozen=True, tag=True):
    """Into folders inside `folder` that are named after the extensions, without the dot."""

    folder: str


Layout = Literal["2024", "2024-05", "2024/05"]


class ByDate(msgspec.Struct, frozen=True, tag=True):
    """Into folders by date inside `folder`; the date begins the name, or is in the line `Date: …`."""

    folder: str
    layout: Layout
    source: Literal["name", "line"] = "name"


class Replaced(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with every `old` in the name replaced by `new`."""

    old: str
    new: str


class Prefixed(msgspec.Struct, frozen=True, tag=True):
    text: str


class Ending(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with `old` at the end of the name replaced by `new`."""

    old: str
    new: str


class Lowered(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with the name in lower case."""


Target: TypeAlias = Into | Beneath | Exactly | ByType | ByDate | Replaced | Prefixed | Ending | Lowered


class Words(msgspec.Struct, frozen=True, tag=True):
    """Text given in the request."""

    text: str


class Listing(msgspec.Struct, frozen=True, tag=True):
    """A line for each file, sorted: its name, its path, or its name and its size in bytes."""

    what: Selection
    form: Literal["name", "path", "name size"]
    total: bool = False  # with a last line `TOTAL` and the total size in bytes


class Totals(msgspec.Struct, frozen=True, tag=True):
    """One line: `12 files, 3456 bytes`."""

    what: Selection


class Types(msgspec.Struct, frozen=True, tag=True):
    """A line for each extension, sorted: the extension without the dot, and how many files have it."""

    what: Selection


Text: TypeAlias = Words | Listing | Totals | Types


class Move(msgspec.Struct, frozen=True, tag=True):
    what: Selection
    to: Target


class Copy(msgspec.Struct, frozen=True, tag=True):
    what: Selection
    to: Target


class Delete(msgspec.Struct, frozen=True, tag=True):
    what: Selection


class Remove(msgspec.Struct, frozen=True, tag=True):
    """A folder with everything in it."""

    folder: str


class Prune(msgspec.Struct, frozen=True, tag=True):
    """Folders below `folder` that are empty or contain only empty folders."""

    folder: str


class MakeFolder(msgspec.Struct, frozen=True, tag=True):
    path: str


class Write(msgspec.Struct, frozen=True, tag=True):
    path: str
    text: Text


class Unroll(msgspec.Struct, frozen=True, tag=True):
    """For each line of the file `listing`, create a folder inside `folder`, or a file.

    A file's name is the line followed by `ending`; its content is `text` with `{}` replaced by the line.
    """

    listing: str
    folder: str
    make: Literal["folders", "files"]
    ending: str = ""
    text: str = ""


Operation: TypeAlias = Move | Copy | Delete | Remove | Prune | MakeFolder | Write | Unroll
