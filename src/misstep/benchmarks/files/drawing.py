"""Draws the subject of a task from a tree, rejecting ambiguous ones, and describes it in words."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from misstep.benchmarks.files.answers import Answer
from misstep.benchmarks.files.executing import Clash, joined
from misstep.benchmarks.files.growing import Domain, grow, load_shared, load_types, text_for
from misstep.benchmarks.files.operations import (
    Operation,
    Selection,
    chosen,
    covered,
    files_of,
    folders_of,
    is_clear,
    name_of,
)
from misstep.benchmarks.tree import File, Folder, Tree, complete, parents
from misstep.core.rng import Dice

MEANS = ("suffix", "word", "word", "prefix", "prefix")
_DRAWS = 24
_WORD = re.compile(r"[^\W\d_]{4,}")


class Scene:
    """A tree for a task, with random draws from it; raises `Clash` for what it can't provide."""

    def __init__(self, domain: Domain, dice: Dice) -> None:
        self.domain = domain
        self.dice = dice
        self.tree = grow(domain, dice)

    def add(self, path: str, text: str) -> str:
        if path in self.tree:
            raise Clash(f"{path} is there already")
        self.tree = complete({**self.tree, path: File(text.encode())})
        return path

    def text(self, date: str = "") -> str:
        return text_for(self.domain, self.dice.pick(self.domain.subjects), self.dice, date)

    def folder(self, least: int = 1, deep: bool = False) -> str:
        """A folder with at least this many files in it."""
        paths = files_of(self.tree)
        around = (parents(path) if deep else [path.rpartition("/")[0]] for path in paths)
        counts = Counter(folder for folders in around for folder in folders)
        return self._any([path for path in folders_of(self.tree) if counts[path] >= least])

    def file(self, folder: str = "", deep: bool = True) -> str:
        return self._any(covered(Selection(folder, deep), self.tree))

    def new_folder(self) -> str:
        """The path of a folder that does not exist, at the top or in an existing one."""
        above = self.dice.pick(("", "", self.folder()))
        path = joined(above, self.dice.pick(load_shared().news))
        if path in self.tree:
            raise Clash(f"{path} is there already")
        return path

    def target(self, what: Selection) -> str:
        """A folder for the chosen files, existing or not, that contains none of them."""
        if self.dice.chance(0.6):
            return self.new_folder()
        folder = self.folder()
        if any([path.rpartition("/")[0] == folder for path in chosen(what, self.tree)]):
            raise Clash(f"some are in {folder} already")
        return folder

    def place(self, least: int = 2) -> Selection:
        """All files in some folder, with or without its subfolders."""
        if self.dice.chance(0.2):
            return Selection()
        deep = self.dice.chance(0.6)
        return Selection(self.folder(least, deep), deep)

    def selection(self, least: int = 2, most: int = 9, means: Sequence[str] = MEANS) -> Selection:
        """Some of the files in a place, by an unambiguous rule that leaves others out."""
        for _ in range(_DRAWS):
            what = self._ruled(self.place(least + 1), self.dice.pick(means))
            found = chosen(what, self.tree)
            if (
                least <= len(found) <= most
                and len(found) < len(covered(what, self.tree))
                and is_clear(what, self.tree)
            ):
                return what
        raise Clash("nothing that is clear")

    def has_folders(self, folder: str) -> bool:
        inside = f"{folder}/" if folder else ""
        return any([path.startswith(inside) and isinstance(each, Folder) for path, each in self.tree.items()])

    def _ruled(self, place: Selection, means: str) -> Selection:
        path = self.file(place.folder, place.deep)
        name, data = name_of(path), files_of(self.tree)[path]
        folder, deep = place.folder, place.deep
        if means == "suffix":
            return Selection(folder, deep, suffix=f".{name.rpartition('.')[2]}")
        if means == "line":
            return Selection(folder, deep, line=data.decode().split("\n")[2])
        if means == "larger":
            return Selection(folder, deep, larger=self._threshold(place))
        words = _WORD.findall(name.rpartition(".")[0])
        if means == "prefix":
            return Selection(folder, deep, prefix=self._any(words[:1]))
        return Selection(folder, deep, word=self._any(words))

    def _threshold(self, place: Selection) -> int:
        """A round number of bytes that no file's size is close to."""
        files = files_of(self.tree)
        sizes = [len(files[path]) for path in covered(place, self.tree)]
        rounds = [size for size in range(100, 500, 50) if all([abs(each - size) > 3 for each in sizes])]
        return self.dice.pick(rounds) if rounds else 0

    def _any(self, items: Sequence[str]) -> str:
        if not items:
            raise Clash("there is none")
        return self.dice.pick(items)


class Plan(msgspec.Struct, frozen=True):
    """A task before it is put into words: a tree, and what is to be done with it or found out about it.

    `form` is a form of the kind that has phrasings of its own; `words` fill their placeholders.
    """

    form: str
    tree: Tree
    words: dict[str, str]
    operations: tuple[Operation, ...] = ()
    answer: Answer | None = None


Form: TypeAlias = Callable[[Scene], Plan]


def files_in_words(what: Selection, scene: Scene) -> str:
    """The files in the plural, with their place: "PDF files (.pdf) in 'letters' and its subfolders"."""
    ending = what.suffix.removeprefix(".")
    heads = (f"{load_types()[ending]} (.{ending})", f".{ending} files", "files") if ending else ("files",)
    head = scene.dice.pick(heads)
    rule = _rule(what, in_head=head != "files")
    return " ".join(filter(None, (head, place_in_words(what, scene), rule)))


def place_in_words(what: Selection, scene: Scene) -> str:
    dice, name = scene.dice, f"'{what.folder}'"
    if not what.folder:
        below = ("in the current folder and all its subfolders", "in the current folder (at any depth)")
        return dice.pick(below) if what.deep else "directly in the current folder (not in its subfolders)"
    if not scene.has_folders(what.folder):
        return dice.pick((f"in {name}", f"in the folder {name}"))
    if what.deep:
        return dice.pick((f"in {name} and its subfolders", f"anywhere in {name} (subfolders included)"))
    return dice.pick((f"directly in {name} (not in its subfolders)", f"at the top level of {name}"))


def folder_in_words(path: str, scene: Scene) -> str:
    """A destination folder in words."""
    if path in scene.tree:
        return scene.dice.pick((f"'{path}'", f"the folder '{path}'"))
    return scene.dice.pick((f"a new folder called '{path}'", f"a new folder '{path}'"))


def joined_in_words(items: list[str]) -> str:
    """Quoted items as a list, as in "'a', 'b' and 'c'"."""
    quoted = [f"'{item}'" for item in items]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def _rule(what: Selection, in_head: bool) -> str:
    if what.suffix and not in_head:
        return f"whose names end in '{what.suffix}'"
    if what.prefix:
        return f"whose names start with '{what.prefix}'"
    if what.word:
        return f"with '{what.word}' in their names"
    if what.line:
        return f"that contain the line '{what.line}'"
    return f"that are larger than {what.larger} bytes" if what.larger is not None else ""
