"""The phrases of a lexicon in the form in which a reader looks them up."""

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from misstep.planning.language.lexicon import Lexicon, Linker, Verb

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Phrase(msgspec.Struct, frozen=True):
    """A phrase in one of its forms, with the grammatical numbers (`one`, `many`) that the form agrees with.

    `name` is what it is called whatever its form, `count` the number that it states.
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
    """The words, with the punctuation mark after each; a space out of place makes a word that never fits."""
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
    """The kinds of phrases that sentences about nothing but order are made of."""
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
    prepositions = [
        *_linkers(near.prepositions.before),
        *_linkers(near.prepositions.after, before=False),
    ]
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
