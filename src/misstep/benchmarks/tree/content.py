"""A folder tree as a value."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec


class File(msgspec.Struct, frozen=True, tag=True):
    data: bytes


class Folder(msgspec.Struct, frozen=True, tag=True):
    pass


class Link(msgspec.Struct, frozen=True, tag=True):
    """A symbolic link, which is never followed."""

    target: str


class Other(msgspec.Struct, frozen=True, tag=True):
    """What can't be read or is too much to read, in words. No comparison finds it right."""

    what: str


Content: TypeAlias = File | Folder | Link | Other

# By relative POSIX paths. Folders are listed as well, those that hold something too.
Tree: TypeAlias = Mapping[str, Content]


def parents(path: str) -> list[str]:
    """The folders that a path leads through, the outermost first."""
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
    """A path on one line, whatever it is made of."""
    text = path if path.isprintable() else repr(path)[1:-1]
    return text if len(text) <= most else f"{text[:most]}…"


def visible(path: str) -> str:
    """The same in a sentence: in quotes where blanks at the ends of names could not be seen."""
    return f"'{shown(path)}'" if any(part != part.strip() for part in path.split("/")) else shown(path)
