"""Reads planning sentences apart from the code that writes them, to show that each has one meaning only.

The reader knows the lexicon, the names of the activities and English, and it is liberal: it reports every
meaning that a careful person might find. A sentence that is written well has exactly one.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain, product, takewhile

import msgspec

from misstep.planning.language.lexicon import Lexicon, load_lexicon

# Characters. Nobody reads a longer sentence, and the bound keeps hostile text cheap.
_LONGEST = 5_000
# From here on a sentence is hopelessly ambiguous, and the exact number of readings doesn't matter.
_MOST = 64
_JOINING = frozenset({"and", "but", "yet", "while", "whereas"})


class Relation(msgspec.Struct, frozen=True):
    """`first` has to come before `then`, because `phrase` says so in a clause of the given form."""

    first: str
    then: str
    phrase: str
    form: str


class Reading(msgspec.Struct, frozen=True):
    """One meaning of a sentence: its relations as stated, its activities in order of first mention."""

    relations: tuple[Relation, ...]
    mentioned: tuple[str, ...]


class _Phrase(msgspec.Struct, frozen=True):
    """A phrase in one of its forms, with the numbers (`one`, `many`) that the form agrees with."""

    words: tuple[str, ...]
    name: str
    before: bool = True
    one: bool = True
    many: bool = True
    main: bool = False
    front: bool = True


class _Group(msgspec.Struct, frozen=True):
    """Actions named together, and where in the text."""

    actions: tuple[str, ...]
    at: int

    def agrees(self, verb: _Phrase) -> bool:
        return verb.many if len(self.actions) > 1 else verb.one


# Where the text names the groups that are related, the later one first; and what it says of them.
_Fact = tuple[tuple[int, int], Relation]
_Facts = tuple[_Fact, ...]


class _Noun(msgspec.Struct, frozen=True):
    """A group with its relative clauses; `tail` is the group that one more relative clause would describe."""

    group: _Group
    tail: _Group
    end: int
    mentioned: tuple[str, ...]
    facts: _Facts = ()
    doubts: tuple[_Facts, ...] = ()


# Form, phrase that tells the order, subject, object, end.
_Parse = tuple[str, _Phrase, _Noun, _Noun, int]


class _Clause(msgspec.Struct, frozen=True):
    """An independent clause; `joined` if a comma and a conjunction tie it to the clause before."""

    form: str
    linker: _Phrase
    subject: _Noun
    object: _Noun
    end: int
    joined: bool

    def nouns(self) -> list[_Noun]:
        return sorted((self.subject, self.object), key=lambda noun: noun.group.at)

    def relate(self, subject: _Noun, obj: _Noun) -> _Facts:
        return _relate(subject.group, obj.group, self.linker, self.form)

    def facts(self) -> _Facts:
        return self.relate(self.subject, self.object) + self.subject.facts + self.object.facts


def read(sentence: str, activities: Iterable[str], lexicon: Lexicon | None = None) -> list[Reading]:
    """All meanings of the sentence, the plainest first; none if it isn't in the language."""
    if len(sentence) > _LONGEST or not sentence[:1].isupper() or not sentence.endswith("."):
        return []
    text = _Text(sentence[0].lower() + sentence[1:], activities, lexicon or load_lexicon())
    readings = [_reading(clauses, facts) for clauses in text.sentences() for facts in _meanings(clauses)]
    meanings: dict[object, Reading] = {}
    for reading in sorted(readings, key=lambda reading: len(reading.relations)):
        pairs = frozenset((relation.first, relation.then) for relation in reading.relations)
        meanings.setdefault((pairs, frozenset(reading.mentioned)), reading)
    return list(meanings.values())


def _words(text: str) -> tuple[str, ...]:
    """The words, with the punctuation mark after each; a space out of place makes a word that never fits."""
    words = []
    for word in text.split(" "):
        words += [word[:-1], word[-1]] if word.endswith((",", ";", ".")) else [word]
    return tuple(words)


@lru_cache(maxsize=8)
def _table(lexicon: Lexicon) -> dict[tuple[str, str], list[_Phrase]]:
    """The phrases by kind and first word."""
    table: dict[tuple[str, str], list[_Phrase]] = {}
    for kind, phrase in _phrases(lexicon):
        table.setdefault((kind, phrase.words[0]), []).append(phrase)
    return table


def _phrases(lexicon: Lexicon) -> Iterator[tuple[str, _Phrase]]:
    verbs = lexicon.verbs
    ordering = (("verb", True, verbs.before), ("verb", False, verbs.after))
    for kind, before, group in (*ordering, ("neutral", True, verbs.neutral), ("free", True, verbs.free)):
        for verb in group:
            for form in dict.fromkeys((verb.one, verb.many)):
                one, many = form == verb.one, form == verb.many
                yield kind, _Phrase(_words(form), verb.one, before, one, many, verb.main)
    for kind, linkers in (("preposition", lexicon.prepositions), ("conjunction", lexicon.conjunctions)):
        for before, those in ((True, linkers.before), (False, linkers.after)):
            for linker in those:
                yield kind, _Phrase(_words(linker.text), linker.text, before, front=linker.front)


class _Text:
    """The words of a sentence; each method yields all that can be read from a position on."""

    def __init__(self, text: str, activities: Iterable[str], lexicon: Lexicon) -> None:
        self.words = _words(text)
        self.table = _table(lexicon)
        self.names: dict[str, list[_Phrase]] = {}
        for name in dict.fromkeys(activities):
            words = _words(name)
            self.names.setdefault(words[0], []).append(_Phrase(words, name))

    def word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def matching(self, phrases: Iterable[_Phrase], at: int) -> Iterator[tuple[_Phrase, int]]:
        for phrase in phrases:
            end = at + len(phrase.words)
            if self.words[at:end] == phrase.words:
                yield phrase, end

    def phrases(self, kind: str, at: int) -> Iterator[tuple[_Phrase, int]]:
        return self.matching(self.table.get((kind, self.word(at)), ()), at)

    def sentences(self) -> list[tuple[_Clause, ...]]:
        """Every way to read the words as clauses, one after another."""
        paths: dict[int, list[tuple[_Clause, ...]]] = {0: [()]}
        for at in range(len(self.words)):
            if at not in paths:
                continue
            for clause in self.clauses(at):
                onward = paths.setdefault(self.next_clause(clause.end), [])
                onward += [(*path, clause) for path in paths[at][: _MOST - len(onward)]]
        return paths.get(len(self.words), [])

    def next_clause(self, end: int) -> int:
        """Where the clause after this one starts, the end of the text after a full stop, or -1."""
        if self.word(end) == ";" or (self.word(end) == "." and end + 1 == len(self.words)):
            return end + 1
        return end + 2 if self.word(end) == "," and self.word(end + 1) in _JOINING else -1

    def clauses(self, at: int) -> Iterator[_Clause]:
        joined = self.word(at - 1) in _JOINING
        for parse in chain(self.simple(at), self.dependent(at), self.fronted(at)):
            yield _Clause(*parse, joined)

    def simple(self, at: int) -> Iterator[_Parse]:
        """Clauses like "S VP O", "S VP0 P O" and "S FREE"."""
        for subject in self.nouns(at):
            for form, verb, linker, start in self.predicates(self.after(subject)):
                if subject.group.agrees(verb):
                    for obj in self.nouns(start):
                        yield form, linker, subject, obj, obj.end
            for verb, end in self.phrases("free", self.after(subject)):
                if subject.group.agrees(verb):
                    nothing = _Group((), end)
                    yield "free", verb, subject, _Noun(nothing, nothing, end, ()), end

    def dependent(self, at: int) -> Iterator[_Parse]:
        """Clauses like "S VP0 SC O VP0"."""
        for subject in self.nouns(at):
            for middle in self.happens(subject):
                for linker, start in self.phrases("conjunction", middle):
                    for obj in self.nouns(start):
                        for end in self.happens(obj, dependent=True):
                            yield "conjunction", linker, subject, obj, end

    def fronted(self, at: int) -> Iterator[_Parse]:
        """Clauses like "P O, S VP0" and "SC O VP0, S VP0"."""
        for kind in ("preposition", "conjunction"):
            for linker, start in self.phrases(kind, at):
                for obj in self.nouns(start) if linker.front else ():
                    for comma in [obj.end] if kind == "preposition" else self.happens(obj, dependent=True):
                        for subject in self.nouns(comma + 1) if self.word(comma) == "," else ():
                            for end in self.happens(subject):
                                yield f"fronted {kind}", linker, subject, obj, end

    def predicates(self, at: int) -> Iterator[tuple[str, _Phrase, _Phrase, int]]:
        """VP, or VP0 and P: the form, the phrase that must agree, the phrase that tells the order."""
        for verb, end in self.phrases("verb", at):
            yield "verb", verb, verb, end
        for verb, middle in self.phrases("neutral", at):
            for linker, end in self.phrases("preposition", middle):
                yield "preposition", verb, linker, end

    def happens(self, noun: _Noun, dependent: bool = False) -> Iterator[int]:
        """Where a VP0 of which the noun is the subject ends."""
        for verb, end in self.phrases("neutral", self.after(noun)):
            if noun.group.agrees(verb) and not (dependent and verb.main):
                yield end

    def after(self, noun: _Noun) -> int:
        """Where the verb of the noun is: after the comma if a relative clause has to be closed."""
        if not noun.facts:
            return noun.end
        return noun.end + 1 if self.word(noun.end) == "," else len(self.words)

    def nouns(self, at: int) -> Iterator[_Noun]:
        """Groups, bare and with relative clauses, each of which describes the object of the one before."""
        nouns = [_Noun(group, group, end, group.actions) for group, end in self.groups(at)]
        while nouns:
            yield from nouns
            nouns = [longer for noun in nouns for longer in self.relatives(noun)]

    def groups(self, at: int) -> Iterator[tuple[_Group, int]]:
        both = self.word(at) == "both"
        lists = [(_Group((name,), at), end) for name, end in self.actions(at + both)]
        if not both:
            yield from lists
        while lists:
            group, end = lists.pop()
            for name, after in self.actions(end + 1):
                longer = _Group((*group.actions, name), at)
                if name in group.actions:
                    continue
                if self.word(end) == "and":
                    yield longer, after
                elif self.word(end) == "," and not both:
                    lists.append((longer, after))

    def actions(self, at: int) -> Iterator[tuple[str, int]]:
        if self.word(at) == "the":
            for name, end in self.matching(self.names.get(self.word(at + 1), ()), at + 1):
                yield name.name, end

    def relatives(self, noun: _Noun) -> Iterator[_Noun]:
        for whole, start in self.pronouns(noun):
            for form, verb, linker, at in self.predicates(start):
                for sure, rest in _described(noun, whole, verb):
                    for obj, end in self.groups(at):
                        facts = noun.facts + _relate(sure, obj, linker, "relative " + form)
                        doubt = _relate(rest, obj, linker, "relative " + form)
                        doubts = (*noun.doubts, doubt) if doubt else noun.doubts
                        yield _Noun(noun.group, obj, end, noun.mentioned + obj.actions, facts, doubts)

    def pronouns(self, noun: _Noun) -> Iterator[tuple[bool, int]]:
        """Whether the pronoun after the noun insists on the whole group, and where its verb is."""
        size, end = len(noun.tail.actions), noun.end
        if self.words[end : end + 2] == (",", "which"):
            yield size == 1, end + 2
        if size > 1 and self.words[end : end + 4] == (",", "both" if size == 2 else "all", "of", "which"):
            yield True, end + 4


def _described(noun: _Noun, whole: bool, verb: _Phrase) -> Iterator[tuple[_Group, _Group]]:
    """The actions that a relative clause surely describes, and those that it may describe as well."""
    group = noun.tail
    nothing = _Group((), group.at)
    if whole or not verb.one:
        if group.agrees(verb):
            yield group, nothing
    else:
        # A singular verb fits the last action alone; a modal doesn't tell whether it means them all.
        rest = _Group(group.actions[:-1], group.at)
        yield _Group(group.actions[-1:], noun.end - 1), rest if verb.many else nothing


def _relate(subject: _Group, obj: _Group, linker: _Phrase, form: str) -> _Facts:
    at = (max(subject.at, obj.at), min(subject.at, obj.at))
    pairs = product(subject.actions, obj.actions)
    ordered = (pair if linker.before else pair[::-1] for pair in pairs)
    return tuple((at, Relation(first, then, linker.name, form)) for first, then in ordered)


def _pairs(facts: Iterable[_Fact]) -> frozenset[tuple[str, str]]:
    return frozenset((relation.first, relation.then) for _, relation in facts)


def _meanings(clauses: tuple[_Clause, ...]) -> Iterable[_Facts]:
    """What the clauses say plainly, and what they say when some of the doubts are given in to."""
    plain = tuple(fact for clause in clauses for fact in clause.facts())
    found = {_pairs(plain): plain}
    for choices in _doubts(clauses):
        for (pairs, facts), heard in product(list(found.items()), choices):
            # Nobody hears that an action comes before itself.
            if all(first != then for first, then in _pairs(heard)):
                found.setdefault(pairs | _pairs(heard), facts + heard)
        if len(found) >= _MOST:
            break
    return found.values() if all(first != then for first, then in _pairs(plain)) else ()


def _doubts(clauses: tuple[_Clause, ...]) -> Iterator[Iterable[_Facts]]:
    """What can be heard on top of what is said plainly: of each set of choices at most one."""
    for number, clause in enumerate(clauses):
        joined = list(takewhile(lambda other: other.joined, clauses[number + 1 :]))
        yield from ([doubt] for noun in clause.nouns() for doubt in noun.doubts)
        if clause.form.startswith("fronted"):
            # The fronted part may govern the clauses joined on as well.
            yield accumulate(clause.relate(other.subject, clause.object) for other in joined)
        elif clause.form == "conjunction":
            # The clauses joined on may lie inside the dependent clause.
            yield accumulate(clause.relate(clause.subject, other.subject) for other in joined)
        elif clause.form == "preposition" and joined and joined[0].form == "fronted preposition":
            # In "..., and before the B, the A happens" the "before the B" may belong to what precedes it.
            yield [_relate(clause.subject.group, joined[0].object.group, joined[0].linker, clause.form)]


def _reading(clauses: tuple[_Clause, ...], facts: _Facts) -> Reading:
    relations = tuple(relation for _, relation in sorted(facts, key=lambda fact: fact[0]))
    nouns = [noun for clause in clauses for noun in clause.nouns()]
    return Reading(relations, tuple(dict.fromkeys(name for noun in nouns for name in noun.mentioned)))
