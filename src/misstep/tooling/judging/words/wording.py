"""The words that languages, libraries and servers use for errors, as data."""

import re
import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words to look for. The other fields say what it means to find them.

    Where `match` finds something, one of the `hints` is in the text in lower case, if there are any.
    """

    has: tuple[str, ...] = ()
    match: str = ""
    hints: tuple[str, ...] = ()
    error: str = ""
    why: str = ""
    layer: bool = False


class Framing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wrappers: tuple[str, ...]
    silent: tuple[str, ...]
    opening: str
    refusal: str


class Beyond(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    own_words: tuple[str, ...]
    unknown_names: tuple[str, ...]
    unknown_tool: str


class Suspicion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    certain: str
    likely: str
    vague: str
    refusing: str
    types: frozenset[str]


class Runners(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: str
    parameters: tuple[str, ...]


class Types(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    crash: frozenset[str]
    memory: tuple[str, ...]
    exits: frozenset[str]
    validation: frozenset[str]
    environment: frozenset[str]
    input: frozenset[str]
    reading: frozenset[str]
    general: frozenset[str]


class Errno(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sandbox: frozenset[int]
    network: frozenset[int]
    missing: int


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is known about words."""

    framing: Framing
    suspicion: Suspicion
    runners: Runners
    validation: tuple[Rule, ...]
    beyond: Beyond
    output: tuple[Rule, ...]
    environment: tuple[Rule, ...]
    crash: tuple[Rule, ...]
    bare: tuple[Rule, ...]
    types: Types
    errno: Errno
    deeds: dict[str, str]


@cache
def load_wording() -> Wording:
    text = (files("misstep.tooling.judging.words") / "data" / "wording.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Wording)


@cache
def compiled(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(text, flags)
