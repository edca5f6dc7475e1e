"""Parses planning sentences independently of the code that writes them, to verify that they are unambiguous.

The reader knows the lexicon, the names of the activities and English, and it is liberal: it reports every
meaning that a careful person might find. A well-written sentence has exactly one.

Sentences beyond plain order have a fixed frame: words with slots, which are names in braces. Actions, lists
of them (`s`), times, amounts and arguments are parsed as such; any other slot takes the phrases of its kind.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from misstep.core.constraint import (
    Adjacent,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.planning.language.clauses import ClauseText, Relation, TimeWindow, meanings, mentioned
from misstep.planning.language.lexicon import Lexicon, load_lexicon
from misstep.planning.language.phrases import Phrase, SentenceText, Table, order_kinds, tabulate, words_of

_ACTIONS = frozenset({"a", "b", "c", "giver", "taker"})
# They are required, but carry no meaning by themselves.
_NEUTRAL = frozenset({"duty", "neutral", "repeated", "finding", "value", "a_value"})
# Fillers of the slots, in the order of the text.
Filled = dict[str, Any]
Meaning = Callable[[Filled], tuple[Constraint, ...]]


class SentenceReading(msgspec.Struct, frozen=True):
    """One meaning of a sentence: its relations as stated, its activities in order of first mention.

    `demands` are constraints beyond plain order, with activities in place of ids; `phrases` are the words
    that state them.
    """

    relations: tuple[Relation, ...]
    mentioned: tuple[str, ...]
    demands: tuple[Constraint, ...] = ()
    phrases: tuple[str, ...] = ()


class SentenceFrame(msgspec.Struct, frozen=True):
    """The words and slots of a sentence, and its meaning; it has a `name` if it is a phrase by itself."""

    parts: tuple[str, ...]
    means: Meaning
    name: str = ""


# Frames by a word that all of their sentences contain.
Index = dict[str, list[SentenceFrame]]


def frame(text: str, means: Meaning, name: str = "") -> SentenceFrame:
    return SentenceFrame((*words_of(text), "."), means, name)


def index(frames: Iterable[SentenceFrame], table: Table, usual: frozenset[str]) -> Index:
    """Index the frames by words that distinguish them from sentences made of the usual words."""
    found: Index = {}
    for one in frames:
        signs = min(_signs(one, table, usual), key=lambda words: (len(words & usual), len(words)))
        for sign in sorted(signs):
            found.setdefault(sign, []).append(one)
    return found


def _signs(one: SentenceFrame, table: Table, usual: frozenset[str]) -> Iterator[frozenset[str]]:
    """For each part of the frame, the words of which one is required, if known."""
    for part in one.parts:
        if not part.startswith("{"):
            yield frozenset({part})
            continue
        phrases = [phrase for (kind, _), those in table.items() if kind == part[1:-1] for phrase in those]
        if phrases:
            rarest = (
                next((word for word in each.words if word not in usual), each.words[0]) for each in phrases
            )
            yield frozenset(rarest)


def find(text: SentenceText, frames: Index) -> Iterator[SentenceReading]:
    for candidate in dict.fromkeys(one for word in text.words for one in frames.get(word, ())):
        for filled in _fill(candidate.parts, text, 0, {}):
            mentioned = _mentioned(filled)
            # Readings that relate an action to itself are excluded.
            if len(set(mentioned)) == len(mentioned):
                yield SentenceReading((), mentioned, candidate.means(filled), _phrases(candidate, filled))


def _fill(parts: tuple[str, ...], text: SentenceText, at: int, filled: Filled) -> Iterator[Filled]:
    """Every way to parse all words from a position on; a repeated slot must have the same filler."""
    if not parts:
        if at == len(text.words):
            yield filled
        return
    part, rest = parts[0], parts[1:]
    if not part.startswith("{"):
        if text.word(at) == part:
            yield from _fill(rest, text, at + 1, filled)
        return
    slot = part[1:-1]
    for filling, end in _read(slot, text, at, filled):
        if filled.get(slot, filling) == filling:
            yield from _fill(rest, text, end, {**filled, slot: filling})


def _read(slot: str, text: SentenceText, at: int, filled: Filled) -> Iterator[tuple[Any, int]]:
    match slot:
        case "s":
            return text.groups(at)
        case "time":
            return text.times(at)
        case "amount":
            return text.amounts(at)
        case "arguments":
            return text.arguments(at)
        case _ if slot in _ACTIONS:
            return text.actions(at)
    return (
        (phrase, end)
        for phrase, end in text.phrases(slot, at)
        if (filled["s"].agrees(phrase) if "s" in filled else phrase.one)
    )


def _mentioned(filled: Filled) -> tuple[str, ...]:
    names = list[str]()
    for slot, filling in filled.items():
        names += filling.actions if slot == "s" else [filling] if slot in _ACTIONS else []
    return tuple(names)


def _phrases(one: SentenceFrame, filled: Filled) -> tuple[str, ...]:
    names = [
        filling.name
        for slot, filling in filled.items()
        if isinstance(filling, Phrase) and slot not in _NEUTRAL
    ]
    return tuple(dict.fromkeys([one.name, *names] if one.name else names))


def family_frames(lexicon: Lexicon) -> Iterator[SentenceFrame]:
    yield frame("{s} {duty}", lambda _: ())
    yield frame("{s} {start} {after} {time}", _window("start", "after"))
    yield frame("{s} {start} {before} {time}", _window("start", "before"))
    yield frame("{s} {end} {before} {time}", _window("end", "before"))
    yield frame("{front_before} {time}, {s} {end}", _window("end", "before"))
    yield frame("{a} {near_verb} {b}", _adjacent("near_verb"))
    yield frame("{a} {neutral} {near} {b}", _adjacent("near"))
    yield frame("{front_near} {b}, {a} {neutral}", _adjacent("front_near"))
    yield frame("{a} {first}", lambda filled: (Place(filled["a"], "first"),))
    yield frame("{a} {last}", lambda filled: (Place(filled["a"], "last"),))
    asks_first = "{opener} {a} {report} {finding}, {b} {obligation}"
    then_first = "{b} {repeated} after {a} {opener} the latter {report} {finding}"
    for if_so in (asks_first, then_first):
        yield frame(if_so + "; {otherwise}, {b} {skip}", _condition)
        yield frame(if_so + "; {otherwise}, {c} {other_obligation}", _condition)
    yield frame("{a} {repeated} {times}", lambda filled: (Repeat(filled["a"], filled["times"].count),))
    for texts, means in _lexical_frames(lexicon):
        # In a frame of the lexicon "verb" stands for a neutral verb.
        yield from (frame(text.replace("{verb}", "{neutral}"), means, text) for text in texts)


def _lexical_frames(lexicon: Lexicon) -> Iterator[tuple[tuple[str, ...], Meaning]]:
    """Frames that the lexicon has as a whole."""
    yield lexicon.choices, lambda filled: (Choice((filled["a"], filled["b"])),)
    yield lexicon.repeats.limits, lambda filled: (Limit(filled["a"], filled["count"].count),)
    yield lexicon.budgets, lambda filled: (Spend(filled["amount"]),)
    yield lexicon.data.frames, _handover
    yield lexicon.stand_ins, lambda filled: (StandIn(filled["a"], filled["b"]),)
    yield lexicon.given, lambda filled: (Given(filled["a"], filled["arguments"]),)


def _window(edge: Literal["start", "end"], bound: Literal["after", "before"]) -> Meaning:
    return lambda filled: tuple(Window(action, edge, bound, filled["time"]) for action in filled["s"].actions)


def _adjacent(slot: str) -> Meaning:
    def means(filled: Filled) -> tuple[Constraint, ...]:
        a, b = filled["a"], filled["b"]
        return (Adjacent(a, b) if filled[slot].before else Adjacent(b, a),)

    return means


def _condition(filled: Filled) -> tuple[Constraint, ...]:
    return (Condition(filled["a"], filled["finding"].name, filled["b"], filled.get("c", "")),)


def _handover(filled: Filled) -> tuple[Constraint, ...]:
    value = filled["a_value"] if "a_value" in filled else filled["value"]
    return (Handover(filled["giver"], filled["taker"], value.name),)


__all__ = ["Relation", "SentenceReading", "read"]

# Characters outside of backticks. The limit keeps hostile text cheap to parse.
_LONGEST = 5_000
# Words that any sentence about order may contain, whatever the lexicon.
_USUAL = frozenset({"the", "and", "both", "all", "of", "which", ",", ";", "."})


def read(sentence: str, activities: Iterable[str], lexicon: Lexicon | None = None) -> list[SentenceReading]:
    """All meanings of the sentence, the plainest first; empty if it isn't in the language."""
    if not _readable(sentence):
        return []
    table, frames = _grammar(lexicon) if lexicon else _own_grammar()
    text = ClauseText(sentence[0].lower() + sentence[1:], activities, table)
    found: dict[object, SentenceReading] = {}
    readings = [*_clause_readings(text), *find(text, frames)]
    for reading in sorted(readings, key=lambda reading: len(reading.relations) + len(reading.demands)):
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
def _grammar(lexicon: Lexicon) -> tuple[Table, Index]:
    """A lexicon prepared for parsing."""
    table = tabulate(lexicon)
    phrases = (phrase for _, phrases in order_kinds(lexicon) for phrase in phrases)
    usual = _USUAL.union(*(phrase.words for phrase in phrases))
    return table, index(family_frames(lexicon), table, usual)


@cache
def _own_grammar() -> tuple[Table, Index]:
    """Cached without hashing the whole lexicon, which would cost more than parsing a sentence."""
    return _grammar(load_lexicon())


def _clause_readings(text: ClauseText) -> Iterator[SentenceReading]:
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
