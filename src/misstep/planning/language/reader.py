"""Parses planning sentences independently of the code that writes them, to verify that they are unambiguous.

The reader knows the lexicon, the names of the activities and English, and it is liberal: it reports every
meaning that a careful person might find. A well-written sentence has exactly one.
"""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import msgspec

from misstep.core.constraint import Constraint
from misstep.planning.language.lexicon import Lexicon, load_lexicon
from misstep.planning.language.reading.clauses import (
    ClauseText,
    Relation,
    TimeWindow,
    meanings,
    mentioned,
)
from misstep.planning.language.reading.frames import Index, family_frames, find, index
from misstep.planning.language.reading.phrases import Table, order_kinds, tabulate

__all__ = ["Relation", "SentenceReading", "read"]

# Characters outside of backticks. The limit keeps hostile text cheap to parse.
_LONGEST = 5_000
# Words that any sentence about order may contain, whatever the lexicon.
_USUAL = frozenset({"the", "and", "both", "all", "of", "which", ",", ";", "."})


class SentenceReading(msgspec.Struct, frozen=True):
    """One meaning of a sentence: its relations as stated, its activities in order of first mention.

    `demands` are constraints beyond plain order, with activities in place of ids; `phrases` are the words
    that state them.
    """

    relations: tuple[Relation, ...]
    mentioned: tuple[str, ...]
    demands: tuple[Constraint, ...] = ()
    phrases: tuple[str, ...] = ()


class _Grammar(msgspec.Struct, frozen=True):
    """A lexicon prepared for parsing."""

    table: Table
    frames: Index


def read(sentence: str, activities: Iterable[str], lexicon: Lexicon | None = None) -> list[SentenceReading]:
    """All meanings of the sentence, the plainest first; empty if it isn't in the language."""
    if not _readable(sentence):
        return []
    grammar = _grammar(lexicon) if lexicon else _own_grammar()
    text = ClauseText(sentence[0].lower() + sentence[1:], activities, grammar.table)
    found: dict[object, SentenceReading] = {}
    readings = sorted(
        _readings(text, grammar.frames), key=lambda reading: len(reading.relations) + len(reading.demands)
    )
    for reading in readings:
        pairs = frozenset((relation.first, relation.then) for relation in reading.relations)
        # Given arguments can't be hashed.
        demands = frozenset(map(repr, reading.demands))
        found.setdefault((pairs, demands, frozenset(reading.mentioned)), reading)
    return list(found.values())


def _readable(sentence: str) -> bool:
    """Whether it looks like a sentence: a capital, a full stop, paired backticks, limited length."""
    if not sentence[:1].isupper() or not sentence.endswith("."):
        return False
    pieces = sentence.split("`")
    return len(pieces) % 2 == 1 and sum(map(len, pieces[::2])) <= _LONGEST


@lru_cache(maxsize=8)
def _grammar(lexicon: Lexicon) -> _Grammar:
    table = tabulate(lexicon)
    phrases = (phrase for _, phrases in order_kinds(lexicon) for phrase in phrases)
    usual = _USUAL.union(*(phrase.words for phrase in phrases))
    return _Grammar(table, index(family_frames(lexicon), table, usual))


@cache
def _own_grammar() -> _Grammar:
    """Cached without hashing the whole lexicon, which would cost more than parsing a sentence."""
    return _grammar(load_lexicon())


def _readings(text: ClauseText, frames: Index) -> Iterator[SentenceReading]:
    for clauses in text.sentences():
        for facts in meanings(clauses):
            stated = [fact for _, fact in sorted(facts, key=lambda fact: fact[0])]
            windows = [fact for fact in stated if isinstance(fact, TimeWindow)]
            yield SentenceReading(
                tuple(fact for fact in stated if isinstance(fact, Relation)),
                mentioned(clauses),
                tuple(dict.fromkeys(each.window for each in windows)),
                tuple(dict.fromkeys(phrase for each in windows for phrase in each.phrases)),
            )
    for found in find(text, frames):
        yield SentenceReading((), found.mentioned, found.demands, found.phrases)
