"""Generates realistic folder trees from the vocabulary in `data/`."""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from misstep.benchmarks.tree import Content, File, complete
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
    texts = [each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".toml")]
    domains = [msgspec.convert(tomllib.loads(text), Domain) for text in texts]
    return {domain.name: domain for domain in sorted(domains, key=lambda domain: domain.name)}


@cache
def load_shared() -> Shared:
    return msgspec.convert(_read("data/shared.toml"), Shared)


@cache
def load_types() -> dict[str, str]:
    """Names of file types, in the plural, by extension."""
    return msgspec.convert(_read("data/types.toml"), dict[str, str])


@cache
def load_phrasings() -> dict[str, dict[str, tuple[str, ...]]]:
    """Phrasings by kind and form."""
    return msgspec.convert(_read("data/phrasings.toml"), dict[str, dict[str, tuple[str, ...]]])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


_TOPS = (3, 4, 5)
_LEAST, _MOST = 12, 44  # files


def grow(domain: Domain, dice: Dice) -> dict[str, Content]:
    """A tree of two to four levels; the same dice give the same tree."""
    tree = dict[str, Content]()
    folders = [
        leaf for top in dice.sample(domain.folders, dice.pick(_TOPS)) for leaf in _leaves(top, domain, dice)
    ]
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
    words = f"{subject} {about}".strip()
    match dice.below(6):
        case 0 | 1:
            return f"{_slug(words, '_').lower()}.{ending}"
        case 2:
            return f"{_slug(words, '-').lower()}.{ending}"
        case 3 | 4:
            return f"{words[0].upper()}{words[1:]}.{ending}"
        case _:
            return f"{_slug(subject, '_').upper()}.v{1 + dice.below(3)}.{ending}"


def _slug(words: str, joint: str) -> str:
    return joint.join(re.findall(r"\w+", words))
