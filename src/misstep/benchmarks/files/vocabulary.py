"""The words of which folders and files are made, read from `data/`."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import msgspec


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of work: its folders, what its files are about, whom they are about, how they end."""

    name: str
    folders: tuple[str, ...]
    subjects: tuple[str, ...]
    holders: tuple[str, ...]
    types: tuple[str, ...]


class Shared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that every domain uses; `odd` are names of files that tools stumble over."""

    people: tuple[str, ...]
    statuses: tuple[str, ...]
    years: tuple[int, ...]
    states: tuple[str, ...]
    news: tuple[str, ...]
    sentences: tuple[str, ...]
    odd: tuple[str, ...]


@cache
def load_domains() -> dict[str, Domain]:
    """By name, sorted."""
    folder = resources.files(__package__).joinpath("data/domains")
    texts = [each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".toml")]
    domains = [msgspec.convert(tomllib.loads(text), Domain) for text in texts]
    return {domain.name: domain for domain in sorted(domains, key=lambda domain: domain.name)}


@cache
def load_shared() -> Shared:
    return msgspec.convert(_read("data/shared.toml"), Shared)


@cache
def load_types() -> dict[str, str]:
    """What files are called, in the plural, by extension."""
    return msgspec.convert(_read("data/types.toml"), dict[str, str])


@cache
def load_phrasings() -> dict[str, dict[str, tuple[str, ...]]]:
    """By kind and form."""
    return msgspec.convert(_read("data/phrasings.toml"), dict[str, dict[str, tuple[str, ...]]])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
