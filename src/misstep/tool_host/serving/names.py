"""Names of the files that tools find where they start, since made-up names lead nowhere."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

MOST = 50
DEEPEST = 3  # parts of a name
LONGEST = 200  # characters of one


def names_in(folder: str) -> list[str]:
    """Files, folders and links, seen from the folder: in order, and those that are nearest first."""
    return list(islice(_names_in(folder), MOST))


def _names_in(folder: str) -> Iterator[str]:
    waiting = [""]
    while waiting:
        inner = waiting.pop(0)
        for entry in _entries(os.path.join(folder, inner)):
            name = os.path.join(inner, entry.name)
            if name.isprintable() and len(name) <= LONGEST:
                yield name
                if entry.is_dir(follow_symlinks=False) and name.count(os.sep) + 1 < DEEPEST:
                    waiting.append(name)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as found:
        return sorted(islice(found, 4 * MOST), key=lambda entry: entry.name)
    return []
