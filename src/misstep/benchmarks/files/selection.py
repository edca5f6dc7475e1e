"""Which files somebody means who names a folder with a rule on names, sizes or contents."""

import re

import msgspec

from misstep.benchmarks.tree import File, Folder, Tree


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Files in a folder for which everything holds that is given.

    `folder` is empty for the task's own, `deep` takes in the folders below. The name ends in `suffix`, starts
    with `prefix`, holds `word`; one of the lines is `line`; there are more bytes than `larger`.
    """

    folder: str = ""
    deep: bool = True
    suffix: str = ""
    prefix: str = ""
    word: str = ""
    line: str = ""
    larger: int | None = None

    def covers(self, path: str) -> bool:
        """Whether a path is where this looks."""
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
    """The paths of the files, sorted."""
    return sorted(path for path, data in files_of(tree).items() if what.chooses(path, data))


def covered(what: Selection, tree: Tree) -> list[str]:
    """All files where a selection looks, sorted."""
    return sorted(path for path in files_of(tree) if what.covers(path))


def files_of(tree: Tree) -> dict[str, bytes]:
    return {path: content.data for path, content in tree.items() if isinstance(content, File)}


def folders_of(tree: Tree) -> list[str]:
    return sorted(path for path, content in tree.items() if isinstance(content, Folder))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def is_clear(what: Selection, tree: Tree) -> bool:
    """Whether people agree on what is meant, whatever they think of case and of parts of words."""
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
    """Whether a word that is looked for stands alone in the name, digits and underscores around it or not."""
    pattern = rf"(?<![^\W\d_]){re.escape(what.word)}(?![^\W\d_])"
    return not what.word or re.search(pattern, name_of(path)) is not None
