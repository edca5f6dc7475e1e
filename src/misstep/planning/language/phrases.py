"""Phrases of a lexicon indexed for parsing, and the words of a sentence in which they are found."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NoReturn

import msgspec

from misstep.planning.language.lexicon import Lexicon, Linker, Verb

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Phrase(msgspec.Struct, frozen=True):
    """A phrase in one of its forms, with the grammatical numbers (`one`, `many`) that the form agrees with.

    `name` identifies it in all its forms, `count` is the number that it states.
    """

    words: tuple[str, ...]
    name: str
    before: bool = True
    one: bool = True
    many: bool = True
    main: bool = False
    front: bool = True
    count: int = 0


# By kind and first word.
Table = dict[tuple[str, str], list[Phrase]]


def words_of(text: str) -> tuple[str, ...]:
    """The words and the punctuation mark after each; a misplaced space makes a word that never matches."""
    words = []
    for word in text.split(" "):
        words += [word[:-1], word[-1]] if word.endswith((",", ";", ".")) else [word]
    return tuple(words)


def tabulate(lexicon: Lexicon) -> Table:
    table: Table = {}
    for kind, phrases in chain(order_kinds(lexicon), _family_kinds(lexicon)):
        for phrase in phrases:
            table.setdefault((kind, phrase.words[0]), []).append(phrase)
    return table


def order_kinds(lexicon: Lexicon) -> Iterator[tuple[str, Iterable[Phrase]]]:
    """The kinds of phrases in sentences about plain order."""
    verbs = lexicon.verbs
    yield "verb", [*_verbs(verbs.before), *_verbs(verbs.after, before=False)]
    yield "neutral", _verbs(verbs.neutral)
    yield "free", _verbs(verbs.free)
    for kind, linkers in (("preposition", lexicon.prepositions), ("conjunction", lexicon.conjunctions)):
        yield kind, [*_linkers(linkers.before), *_linkers(linkers.after, before=False)]


def _family_kinds(lexicon: Lexicon) -> Iterator[tuple[str, Iterable[Phrase]]]:
    times, near, conditions, repeats = lexicon.times, lexicon.adjacency, lexicon.conditions, lexicon.repeats
    yield "duty", _verbs(lexicon.duties)
    yield "start", _verbs(times.start)
    yield "end", _verbs(times.end)
    yield "after", _linkers(times.after)
    yield "before", _linkers(times.before)
    yield "front_before", _linkers(linker for linker in times.before if linker.front)
    yield "near_verb", [*_verbs(near.verbs.before), *_verbs(near.verbs.after, before=False)]
    prepositions = [*_linkers(near.prepositions.before), *_linkers(near.prepositions.after, before=False)]
    yield "near", prepositions
    yield "front_near", [phrase for phrase in prepositions if phrase.front]
    yield "first", _verbs(near.first)
    yield "last", _verbs(near.last)
    yield "opener", _texts(conditions.openers)
    yield "report", _texts((*conditions.reports, *conditions.own_reports))
    yield "finding", _texts(finding.some for finding in conditions.all_findings)
    for kind in ("obligation", "other_obligation"):
        yield kind, _texts(conditions.obligations)
    yield "otherwise", _texts(conditions.otherwise)
    yield "skip", _texts(conditions.skips)
    yield "repeated", _texts(repeats.verbs)
    yield "times", (Phrase(words_of(count.text), count.text, count=count.times) for count in repeats.counts)
    yield "count", chain.from_iterable(_counts(text) for text in repeats.limit_counts)
    for value in lexicon.data.values:
        parameter = value.noun.replace(" ", "_")
        yield "value", [Phrase(words_of(value.noun), parameter)]
        yield "a_value", [Phrase(words_of(f"{value.article} {value.noun}"), parameter)]


def _verbs(verbs: Iterable[Verb], before: bool = True) -> Iterator[Phrase]:
    for verb in verbs:
        for form in dict.fromkeys((verb.one, verb.many)):
            yield Phrase(
                words_of(form), verb.one, before, form == verb.one, form == verb.many, main=verb.main
            )


def _linkers(linkers: Iterable[Linker], before: bool = True) -> Iterator[Phrase]:
    return (Phrase(words_of(linker.text), linker.text, before, front=linker.front) for linker in linkers)


def _texts(texts: Iterable[str]) -> Iterator[Phrase]:
    return (Phrase(words_of(text), text) for text in texts)


def _counts(text: str) -> Iterator[Phrase]:
    """How many others: "at most one other task", "at most two other tasks", …"""
    for count, number in enumerate(NUMBERS, start=1):
        said = text.format(number=number, tasks="task" if count == 1 else "tasks")
        yield Phrase(words_of(said), text, count=count)


_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_AMOUNT = re.compile(r"0|[1-9][0-9]{0,8}")


class NamedActions(msgspec.Struct, frozen=True):
    """Actions named together, and where in the text."""

    actions: tuple[str, ...]
    at: int

    def agrees(self, verb: Phrase) -> bool:
        return verb.many if len(self.actions) > 1 else verb.one


class SentenceText:
    """The words of a sentence; each method yields everything that can be parsed at a position, and its end.

    A text in backticks becomes a single word, a backtick, and is stored separately.
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

    def groups(self, at: int) -> Iterator[tuple[NamedActions, int]]:
        both = self.word(at) == "both"
        lists = [(NamedActions((name,), at), end) for name, end in self.actions(at + both)]
        if not both:
            yield from lists
        while lists:
            group, end = lists.pop()
            for name, after in self.actions(end + 1):
                longer = NamedActions((*group.actions, name), at)
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
        raise ValueError("duplicate name")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
