"""What requests ask for: a small algebra of operations on selected files."""

from typing import Literal, TypeAlias

import msgspec

from misstep.benchmarks.files.selection import Selection


class Into(msgspec.Struct, frozen=True, tag=True):
    """All into one folder, names as they are."""

    folder: str


class Beneath(msgspec.Struct, frozen=True, tag=True):
    """Into a folder, with the folders that they were in below the one that was searched."""

    folder: str


class Exactly(msgspec.Struct, frozen=True, tag=True):
    """A single file to a place of its own."""

    path: str


class ByType(msgspec.Struct, frozen=True, tag=True):
    """Into folders inside `folder` that are called after the extensions, without the dot."""

    folder: str


Layout = Literal["2024", "2024-05", "2024/05"]


class ByDate(msgspec.Struct, frozen=True, tag=True):
    """Into folders for dates inside `folder`; the date begins the name, or is in the line `Date: …`."""

    folder: str
    layout: Layout
    source: Literal["name", "line"] = "name"


class Replaced(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with every `old` in the name turned into `new`."""

    old: str
    new: str


class Prefixed(msgspec.Struct, frozen=True, tag=True):
    text: str


class Ending(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with `new` in the place of `old` at the end of the name."""

    old: str
    new: str


class Lowered(msgspec.Struct, frozen=True, tag=True):
    """In the same folder, with the name in lower case."""


Target: TypeAlias = Into | Beneath | Exactly | ByType | ByDate | Replaced | Prefixed | Ending | Lowered


class Words(msgspec.Struct, frozen=True, tag=True):
    """Text that the request gives."""

    text: str


class Listing(msgspec.Struct, frozen=True, tag=True):
    """A line for each file, sorted: its name, its path, or its name and its size in bytes."""

    what: Selection
    form: Literal["name", "path", "name size"]
    total: bool = False  # with a last line `TOTAL` and the bytes of all


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
    """Folders below `folder` that hold nothing, or nothing but such folders."""

    folder: str


class MakeFolder(msgspec.Struct, frozen=True, tag=True):
    path: str


class Write(msgspec.Struct, frozen=True, tag=True):
    path: str
    text: Text


class Unroll(msgspec.Struct, frozen=True, tag=True):
    """For each line of the file `listing` a folder inside `folder`, or a file.

    A file has `ending` after the line in its name, and holds `text` with the line in the place of `{}`.
    """

    listing: str
    folder: str
    make: Literal["folders", "files"]
    ending: str = ""
    text: str = ""


Operation: TypeAlias = Move | Copy | Delete | Remove | Prune | MakeFolder | Write | Unroll
