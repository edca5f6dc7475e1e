"""Folder trees that look real, grown from the vocabulary in `data/`, and what tasks ask about them.

Subjects that are ambiguous are rejected.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

import msgspec

from misstep.benchmarks.files.answers import Answer
from misstep.benchmarks.files.operations import (
    Clash,
    Operation,
    Selection,
    chosen,
    covered,
    files_of,
    folders_of,
    is_clear,
    joined,
    name_of,
)
from misstep.benchmarks.tree import Content, File, Folder, Tree, complete, parents
from misstep.core.rng import Dice


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of work: its folders, the subjects of its files, their holders, and their extensions."""

    name: str
    folders: tuple[str, ...]
    subjects: tuple[str, ...]
    holders: tuple[str, ...]
    types: tuple[str, ...]


class Shared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that every domain uses; `odd` are file names that are difficult for tools."""

    people: tuple[str, ...]
    statuses: tuple[str, ...]
    years: tuple[int, ...]
    states: tuple[str, ...]
    news: tuple[str, ...]
    sentences: tuple[str, ...]
    odd: tuple[str, ...]


@cache
def load_domains() -> dict[str, Domain]:
    """All domains by name, sorted."""
    folder = resources.files(__package__).joinpath("data/domains")
    names = [each.name for each in folder.iterdir() if each.name.endswith(".toml")]
    domains = [msgspec.convert(_read(f"domains/{name}"), Domain) for name in names]
    return {domain.name: domain for domain in sorted(domains, key=lambda domain: domain.name)}


@cache
def load_shared() -> Shared:
    return msgspec.convert(_read("shared.toml"), Shared)


@cache
def load_types() -> dict[str, str]:
    """Names of file types, in the plural, by extension."""
    return msgspec.convert(_read("types.toml"), dict[str, str])


@cache
def load_phrasings() -> dict[str, dict[str, tuple[str, ...]]]:
    return msgspec.convert(_read("phrasings.toml"), dict[str, dict[str, tuple[str, ...]]])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8"))


_TOPS = (3, 4, 5)
_LEAST, _MOST = 12, 44  # files


def grow(domain: Domain, dice: Dice) -> dict[str, Content]:
    """A tree of two to four levels; the same dice give the same tree."""
    tree = dict[str, Content]()
    tops = dice.sample(domain.folders, dice.pick(_TOPS))
    folders = [leaf for top in tops for leaf in _leaves(top, domain, dice)]
    for folder in folders:
        for _ in range(2 + dice.below(4)):
            if len(tree) < _MOST:
                _add(tree, folder, domain, dice)
    while len(tree) < _LEAST:
        _add(tree, dice.pick(folders), domain, dice)
    for _ in range(1 + dice.below(3)):
        _add(tree, "", domain, dice)
    return complete(tree)


def text_for(domain: Domain, subject: str, dice: Dice, date: str = "") -> str:
    """A short text with a title, a date, a status and an owner, each on its own line."""
    shared = load_shared()
    holder, person = dice.pick(domain.holders), dice.pick(shared.people)
    lines = [f"{subject.capitalize()} – {holder}", f"Date: {date or draw_date(dice)}"]
    lines += [f"Status: {dice.pick(shared.statuses)}", f"Owner: {person}"]
    said = dice.sample(shared.sentences, dice.below(6))
    lines += [each.format(subject=subject, holder=holder, person=person) for each in said]
    return "".join(f"{line}\n" for line in lines)


def draw_date(dice: Dice) -> str:
    return f"{dice.pick(load_shared().years)}-{1 + dice.below(12):02}-{1 + dice.below(28):02}"


def _leaves(top: str, domain: Domain, dice: Dice) -> list[str]:
    """Folders that get files: the top one, and some below it that share a naming scheme."""
    shared = load_shared()
    ways = ((), shared.years, shared.states, domain.holders, shared.years)
    names = [str(name) for name in dice.sample(way, 2 + dice.below(2))] if (way := dice.pick(ways)) else []
    below = [f"{top}/{name}" for name in names]
    if below and dice.chance(0.4):
        deep = dice.pick(below)
        below.append(f"{deep}/{dice.pick([each for each in shared.states if each not in names])}")
    return [top, *below]


def _add(tree: dict[str, Content], folder: str, domain: Domain, dice: Dice) -> None:
    subject = dice.pick(domain.subjects)
    name = _name(subject, domain, dice)
    path = f"{folder}/{name}" if folder else name
    if path not in tree:
        tree[path] = File(text_for(domain, subject, dice).encode())


def _name(subject: str, domain: Domain, dice: Dice) -> str:
    about = dice.pick(("", dice.pick(domain.holders), str(dice.pick(load_shared().years))))
    ending = dice.pick(domain.types)
    text = f"{subject} {about}".strip()
    words = re.findall(r"\w+", text)
    match dice.below(6):
        case 0 | 1:
            return f"{'_'.join(words).lower()}.{ending}"
        case 2:
            return f"{'-'.join(words).lower()}.{ending}"
        case 3 | 4:
            return f"{text[0].upper()}{text[1:]}.{ending}"
        case _:
            words = re.findall(r"\w+", subject)
            return f"{'_'.join(words).upper()}.v{1 + dice.below(3)}.{ending}"


class Plan(msgspec.Struct, frozen=True):
    """A task before it is put into words: a tree, and what is to be done with it or found out about it."""

    form: str  # of the kind, with phrasings of its own
    tree: Tree
    words: dict[str, str]  # for the placeholders of the phrasings
    operations: tuple[Operation, ...] = ()
    answer: Answer | None = None


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
        paths = files_of(self.tree)
        around = (parents(path) if deep else [path.rpartition("/")[0]] for path in paths)
        counts = Counter(folder for folders in around for folder in folders)
        return self._any([path for path in folders_of(self.tree) if counts[path] >= least])

    def file(self, folder: str = "", deep: bool = True) -> str:
        return self._any(covered(Selection(folder, deep), self.tree))

    def new_folder(self) -> str:
        """The path of a folder that does not exist, at the top or in an existing one."""
        above = self.dice.pick(("", "", self.folder()))
        return self.new(above, load_shared().news)

    def new(self, folder: str, names: Sequence[str]) -> str:
        """A path in a folder that does not exist yet, with one of these names."""
        path = joined(folder, self.dice.pick(names))
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

    def plan(
        self, form: str, words: dict[str, str], *operations: Operation, answer: Answer | None = None
    ) -> Plan:
        return Plan(form, self.tree, words, operations, answer)

    def files_in_words(self, what: Selection) -> str:
        """The files in the plural, with their place: "PDF files (.pdf) in 'letters' and its subfolders"."""
        ending = what.suffix.removeprefix(".")
        heads = (f"{load_types()[ending]} (.{ending})", f".{ending} files", "files") if ending else ("files",)
        head = self.dice.pick(heads)
        rule = _rule(what, in_head=head != "files")
        return " ".join(filter(None, (head, self.place_in_words(what), rule)))

    def place_in_words(self, what: Selection) -> str:
        pick, name = self.dice.pick, f"'{what.folder}'"
        if not what.folder:
            below = ("in the current folder and all its subfolders", "in the current folder (at any depth)")
            return pick(below) if what.deep else "directly in the current folder (not in its subfolders)"
        if not self.has_folders(what.folder):
            return pick((f"in {name}", f"in the folder {name}"))
        if what.deep:
            return pick((f"in {name} and its subfolders", f"anywhere in {name} (subfolders included)"))
        return pick((f"directly in {name} (not in its subfolders)", f"at the top level of {name}"))

    def folder_in_words(self, path: str) -> str:
        if path in self.tree:
            return self.dice.pick((f"'{path}'", f"the folder '{path}'"))
        return self.dice.pick((f"a new folder called '{path}'", f"a new folder '{path}'"))

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


Form: TypeAlias = Callable[[Scene], Plan]


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
