"""The words of one sentence, in which grammars find phrases, names and lists of names."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import msgspec

from misstep.planning.language.reading.phrases import Phrase, Table, words_of

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_AMOUNT = re.compile(r"0|[1-9][0-9]{0,8}")


class Group(msgspec.Struct, frozen=True):
    """Actions named together, and where in the text."""

    actions: tuple[str, ...]
    at: int

    def agrees(self, verb: Phrase) -> bool:
        return verb.many if len(self.actions) > 1 else verb.one


class Text:
    """The words of a sentence; each method yields all that can be read from a position on, and where it ends.

    Whatever stands in backticks is a single word, a backtick, and kept aside.
    """

    def __init__(self, text: str, activities: Iterable[str], table: Table) -> None:
        pieces = text.split("`")
        self.quoted = pieces[1::2]
        self.words = words_of("`".join(pieces[::2]))
        self.table = table
        self.names: dict[str, list[Phrase]] = {}
        for name in dict.fromkeys(activities):
            words = words_of(name)
            self.names.setdefault(words[0], []).append(Phrase(words, name))

    def word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def matching(self, phrases: Iterable[Phrase], at: int) -> Iterator[tuple[Phrase, int]]:
        for phrase in phrases:
            end = at + len(phrase.words)
            if self.words[at:end] == phrase.words:
                yield phrase, end

    def phrases(self, kind: str, at: int) -> Iterator[tuple[Phrase, int]]:
        return self.matching(self.table.get((kind, self.word(at)), ()), at)

    def actions(self, at: int) -> Iterator[tuple[str, int]]:
        if self.word(at) == "the":
            for name, end in self.matching(self.names.get(self.word(at + 1), ()), at + 1):
                yield name.name, end

    def groups(self, at: int) -> Iterator[tuple[Group, int]]:
        both = self.word(at) == "both"
        lists = [(Group((name,), at), end) for name, end in self.actions(at + both)]
        if not both:
            yield from lists
        while lists:
            group, end = lists.pop()
            for name, after in self.actions(end + 1):
                longer = Group((*group.actions, name), at)
                if name in group.actions:
                    continue
                if self.word(end) == "and":
                    yield longer, after
                elif self.word(end) == "," and not both:
                    lists.append((longer, after))

    def times(self, at: int) -> Iterator[tuple[int, int]]:
        """Minutes since midnight."""
        if time := _TIME.fullmatch(self.word(at)):
            yield int(time[1]) * 60 + int(time[2]), at + 1

    def amounts(self, at: int) -> Iterator[tuple[int, int]]:
        number, currency = self.word(at), self.word(at + 1)
        if _AMOUNT.fullmatch(number) and currency == ("euro" if number == "1" else "euros"):
            yield int(number), at + 2

    def arguments(self, at: int) -> Iterator[tuple[dict[str, Any], int]]:
        """A JSON object in backticks."""
        if self.word(at) != "`":
            return
        try:
            text = self.quoted[self.words[:at].count("`")]
            values = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once_each)
        except (ValueError, RecursionError):
            return
        if isinstance(values, dict) and values:
            yield values, at + 1


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name stands there twice")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
