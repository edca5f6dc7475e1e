"""The phrases of the planning language, read from `data/lexicon.toml`."""

import tomllib
from functools import cache
from importlib import resources

import msgspec


class Verb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verb phrase in its singular and plural form; `main` ones don't fit a dependent clause."""

    one: str
    many: str
    main: bool = False


class Linker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A preposition or sequential conjunction.

    `front` tells whether it may open a sentence, `single` that only a single action can stand behind it.
    """

    text: str
    front: bool = True
    single: bool = False


class Verbs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: tuple[Verb, ...]
    after: tuple[Verb, ...]
    neutral: tuple[Verb, ...]
    free: tuple[Verb, ...]


class Linkers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    before: tuple[Linker, ...]
    after: tuple[Linker, ...]


class Lexicon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All phrases; `before` means that the subject comes first, `after` that the object does."""

    verbs: Verbs
    prepositions: Linkers
    conjunctions: Linkers


@cache
def load_lexicon() -> Lexicon:
    text = resources.files(__package__).joinpath("data/lexicon.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Lexicon)
