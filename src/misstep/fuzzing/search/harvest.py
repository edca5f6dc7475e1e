"""Collects values from results that later calls may need: ids, names, paths."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from misstep.core.tool import Reaction
from misstep.fuzzing.search.subject import Parameter
from misstep.schemas.samples import words_of

_READ = 2000  # characters of a result
_MOST = 16  # values per result
_KEPT = 24  # values per name
_LONGEST = 200

_NAMED = re.compile(r"""["']?\b([A-Za-z_]\w{0,40})["']?\s*[:=#]\s*["']?([^\s"',;{}\[\]]{1,120})""")
_LOOSE = re.compile(
    r"""[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|"([^"\n]{1,120})"|'([^'\n]{1,120})'"""
    r"""|(?<![\w.-])[\w.-]{0,60}[\\/][\w./\\-]{1,120}|\b\d{1,18}\b"""
)
_NAME = re.compile(r"[\w.@+-]{1,120}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


class NamedValues:
    """Values from the results of a toolkit by name, the latest last."""

    def __init__(self) -> None:
        self._named = dict[str, dict[Any, None]]()
        self._loose = dict[Any, None]()
        self._made = dict[str, dict[Any, None]]()

    def gather(self, reaction: Reaction, maker: str = "") -> None:
        """Keep the named values of a result; if `maker` created something, also by the words of its name."""
        if reaction.ended != "returned" or reaction.flagged:
            return
        for name, value in values_in(reaction):
            _keep(value, self._named.setdefault(_plain(name), {}) if name else self._loose)
        if maker and _NAME.fullmatch(reaction.text):
            for word in words_of(maker):
                _keep(reaction.text, self._made.setdefault(word, {}))

    def wanted(self, parameter: Parameter) -> list[Any]:
        """Values for a parameter: those with its name, else any that fit."""
        return self.named(parameter) or _typed(self._loose, parameter)

    def named(self, parameter: Parameter) -> list[Any]:
        """Values with the parameter's name, else a similar one, else from a tool with a word of it."""
        name = _plain(parameter.name)
        same = list(self._named.get(name, ()))
        near = (each for other, each in self._named.items() if name.endswith(other) or other.endswith(name))
        made = (self._made.get(word, ()) for word in words_of(parameter.name))
        found = same or list(chain.from_iterable(near)) or chain.from_iterable(made)
        return _typed(found, parameter)


_CUE = re.compile(
    r"\b(?:available|valid|allowed|supported|existing|known|possible|accepted|registered|choose|one of"
    r"|must be|expected|did you mean|for example|such as|e\.g\.)"
    r"(?P<about>[^:'\"`\[\n]{0,40})(?P<rest>[^\n]{1,400})",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""['"`]([^'"`\n]{1,80})['"`]""")
_LISTED = re.compile(r"[\w./@+-]{1,60}")
_BEGINNING = re.compile(
    r"""(?P<about>[\w ]{0,40})\b(?:starts?|begins?) with ['"`]?(?P<beginning>[^\s'"`]{1,40})""", re.IGNORECASE
)
_OFFERED = 6  # values per message


def offers_in(message: str) -> list[tuple[str, str]]:
    """Values that an error message offers instead of what was given, each with the words before it.

    For example, "Available sheets: 'Sheet1'" offers Sheet1 with the words "sheets". What values start with
    is offered alone, too: tools often expect something after it.
    """
    found = dict[tuple[str, str], None]()
    for cue in _CUE.finditer(message[:_READ]):
        values = _QUOTED.findall(cue["rest"])
        if not values and cue["rest"].startswith((":", "[")):
            parts = [part.strip(" .[]") for part in re.split(r",|\||;| or ", cue["rest"][1:])]
            values = [part for part in parts if _LISTED.fullmatch(part)]
        found.update(dict.fromkeys((cue["about"].strip(), value) for value in values))
    for told in _BEGINNING.finditer(message[:_READ]):
        for value in (told["beginning"], f"{told['beginning']}1"):
            found[told["about"].strip(), value] = None
    return list(found)[:_OFFERED]


_ENDING = re.compile(r"\.[A-Za-z]\w{1,4}\b")


def files_told(message: str, files: Sequence[str]) -> list[str]:
    """The files that an error message asks for: with an ending that it names, or an absolute path."""
    endings = tuple(_ENDING.findall(message[:_READ].lower()))
    named = [file for file in files if endings and file.lower().endswith(endings)]
    if "absolute" in message[:_READ].lower():
        return [file for file in named or files if file.startswith("/")]
    return named


def meant_by(
    about: str, message: str, parameters: Sequence[Parameter], arguments: Mapping[str, Any]
) -> list[Parameter]:
    """The parameters that an offer may be for: those it names, those whose value it quotes, other texts."""
    words = {*words_of(about)}
    named = [each for each in parameters if words & {*words_of(each.name)}]
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and len(value) > 1}
    quoted = [each for each in parameters if each.name in texts and texts[each.name] in message]
    others = [each for each in parameters if "string" in each.kinds]
    return list({each.name: each for each in (*named, *quoted, *others)}.values())


def _typed(values: Iterable[Any], parameter: Parameter) -> list[Any]:
    """The values converted to the parameter's types, without duplicates."""
    typed = [each for value in values for each in as_kinds(value, parameter.kinds)]
    return list(dict.fromkeys(typed))


def _keep(value: Any, kept: dict[Any, None]) -> None:
    kept.pop(value, None)
    kept[value] = None
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]


def values_in(reaction: Reaction) -> Iterator[tuple[str, Any]]:
    """Values of a result with their names; unnamed ones have an empty name."""
    return islice(_all_values(reaction), _MOST)


def _all_values(reaction: Reaction) -> Iterator[tuple[str, Any]]:
    if reaction.structured is not None:
        yield from _within("", _decoded(reaction.structured))
    text = reaction.text[:_READ]
    if text[:1] in ("{", "["):
        yield from _within("", _decoded(reaction.text))
        return
    yield from ((named[1], named[2].rstrip(".")) for named in _NAMED.finditer(text))
    yield from (("", loose[1] or loose[2] or loose[0]) for loose in _LOOSE.finditer(text))
    lines = text.splitlines()
    if len(lines) > 1 and all(map(_NAME.fullmatch, lines[:_MOST])):
        yield from (("", line) for line in lines)
    if 0 < len(text) <= 80:
        yield "", text.strip()


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _within(name: str, value: Any, deep: int = 0) -> Iterator[tuple[str, Any]]:
    """The scalars in a JSON value; those in a list have the name of the list."""
    if isinstance(value, dict) and deep < 6:
        for key, each in value.items():
            yield from _within(key, each, deep + 1)
    elif isinstance(value, list) and deep < 6:
        for each in value[:8]:
            yield from _within(name, each, deep + 1)
    elif type(value) is int or (isinstance(value, str) and 0 < len(value) <= _LONGEST):
        yield name, value


def as_kinds(value: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    """The value converted to the types of a parameter."""
    if "string" in kinds:
        yield str(value)
    elif "integer" in kinds or "number" in kinds:
        if isinstance(value, int):
            yield value
        elif value.isdecimal() and value.isascii() and len(value) < 19:
            yield int(value)


def _plain(name: str) -> str:
    """The name in lower case and singular, without separators."""
    plain = "".join(_WORD.findall(name)).lower()
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain
