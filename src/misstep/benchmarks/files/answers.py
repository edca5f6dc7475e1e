"""Reads out of what somebody says whether it is the right answer."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

from misstep.benchmarks.files.numerals import Mention, is_rounded, numbers_in
from misstep.benchmarks.files.selection import files_of, name_of
from misstep.benchmarks.tree import Tree, visible

MOST_READ = 100_000  # characters
MOST_GIVEN = 5  # numbers that are told
_MARKED = re.compile(r"(?im)^[ \t*_>#-]*(?:final )?answer\b[\s*_]*:[\s*_]*(.+)$")
_ESCAPED = re.compile(r"\\([^\w\s]|[ _])")  # as in Markdown, or for a shell
_AROUND = 8  # characters
_BEFORE = re.compile(r"(?:\A|[^\w/.–-]|(?:\A|\n)[ \t]*[–-])(?:\./)?\Z")
_AFTER = re.compile(r"(?![\w/–-]|\.\w)")
_ABSOLUTE = re.compile(r"(?:\A|[^\w/.])[/~][^\n]*\Z")
_FOLDER = 300  # characters of an absolute path to a folder
_GONE = "\0"  # in the place of a name that has been read


class Number(msgspec.Struct, frozen=True, tag=True):
    value: int

    @property
    def text(self) -> str:
        return str(self.value)


class Paths(msgspec.Struct, frozen=True, tag=True):
    """Files, in any order."""

    paths: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.paths)


Answer: TypeAlias = Number | Paths


def objections(answer: Answer, said: str, request: str, tree: Tree) -> tuple[str, ...]:
    """What is wrong with a reply; nothing if it gives the answer, and no other.

    Where a line says `Answer: …`, the last such line that names something is the reply. A number has to be
    there as a whole one, in digits with or without commas, or in words. Others may be beside it only if they
    don't compete with it: see `_of_number`. Files have to be named by their paths, or by their names where no
    other file has the same; of all in the tree, just the right ones may be named.
    """
    said = _unescaped(said[:MOST_READ], tree)
    if isinstance(answer, Number):
        plain = _without_names(said, request, tree)
        numbers = next(filter(None, map(numbers_in, (*_MARKED.findall(plain)[::-1], plain))), list[Mention]())
        return _of_number(answer, numbers, _harmless(request, tree))
    marked = _MARKED.findall(said)
    named = _named(marked[-1], tree) if marked and len(answer.paths) == 1 else set[str]()
    return (*_of_paths(answer, named := named or _named(said, tree)), *_of_places(answer, named, said))


def _unescaped(said: str, tree: Tree) -> str:
    return said if any("\\" in path for path in tree) else _ESCAPED.sub(r"\1", said)


def _of_number(answer: Number, numbers: Sequence[Mention], harmless: set[str]) -> tuple[str, ...]:
    """Beside the answer there may be what is harmless, shares of it, and parts of which it is the sum.

    Nothing may be there that is said to be as good as it.
    """
    if not numbers:
        return (f"the reply names no number, should be {answer.value}",)
    values = [each.value for each in numbers]
    rivals = [{*pair} for pair, each in zip(pairwise(values), numbers[1:], strict=True) if each.rivals]
    others = [
        each.value
        for each in numbers
        if each.value not in {answer.text, *harmless}
        and not each.is_share
        and not is_rounded(each.value, answer.value)
    ]
    is_hedged = any([answer.text in pair and len(pair) > 1 for pair in rivals])
    if answer.text not in values or is_hedged or (others and not _add_up(others, answer.value)):
        given = ", ".join([*dict.fromkeys(values)][:MOST_GIVEN])
        return (f"the reply says {given}, should say {answer.value} alone",)
    return ()


def _add_up(parts: Sequence[str], whole: int) -> bool:
    return all(map(str.isdecimal, parts)) and sum(map(int, parts)) == whole


def _without_names(said: str, request: str, tree: Tree) -> str:
    """What is said without what is quoted from the request, or is the name of something in the tree."""
    names = {*tree, *map(name_of, tree), *re.findall(r"'([^']+)'", request)}
    for name in sorted((name for name in names if not name.isdigit()), key=len, reverse=True):
        said = said.replace(name, " ")
    return said


def _harmless(request: str, tree: Tree) -> set[str]:
    """Numbers that somebody may repeat: those in the request, and years that folders are called after."""
    years = {name for name in map(name_of, tree) if re.fullmatch(r"[1-9][0-9]{3}", name)}
    return years | {each.value for each in numbers_in(_without_names(request, request, tree))}


def _of_paths(answer: Paths, named: set[str]) -> tuple[str, ...]:
    lines = [f"the reply does not name {visible(path)}" for path in answer.paths if path not in named]
    wrong = sorted(named - {*answer.paths})
    return (*lines, *(f"the reply names {visible(path)}, which is not one of them" for path in wrong))


def _of_places(answer: Paths, named: set[str], said: str) -> Iterator[str]:
    """What to say to those who name the right file by where it is on the machine."""
    for path in answer.paths:
        start = said.find(f"/{path}")
        if path not in named and start >= 0 and _ABSOLUTE.search(said[max(0, start - _FOLDER) : start + 1]):
            yield f"{visible(path)} is named by an absolute path, should be relative to the current folder"


def _named(said: str, tree: Tree) -> set[str]:
    """The files that a text names; a longer name is no mention of a shorter one that is part of it."""
    paths = list(files_of(tree))
    names = [name_of(path) for path in paths]
    known = {name_of(path): path for path in paths if names.count(name_of(path)) == 1}
    known |= {path: path for path in paths}
    found = set[str]()
    for name in sorted(known, key=len, reverse=True):
        for start in _mentions(name, said):
            said = f"{said[:start]}{_GONE * len(name)}{said[start + len(name) :]}"
            found.add(known[name])
    return found


def _mentions(name: str, said: str) -> Iterator[int]:
    """Where a name stands alone, and not as a part of a longer one."""
    start = said.find(name)
    while start >= 0:
        before, after = said[max(0, start - _AROUND) : start], said[start + len(name) :][:_AROUND]
        while before.endswith("_") and after.startswith("_"):  # as Markdown sets it apart
            before, after = before[:-1], after[1:]
        if _BEFORE.search(before) and _AFTER.match(after):
            yield start
        start = said.find(name, start + len(name))
