"""Parses sentences about order: clauses with lists and relative clauses, and their ambiguities."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, product, takewhile
from typing import Literal

import msgspec

from misstep.core.constraint import Window
from misstep.planning.language.phrases import NamedActions, Phrase, SentenceText

# From here on a sentence is so ambiguous that the exact number of readings doesn't matter.
_MOST = 64
_JOINING = frozenset({"and", "but", "yet", "while", "whereas"})
_WINDOWS: tuple[tuple[Literal["start", "end"], Literal["after", "before"]], ...] = (
    ("start", "after"),
    ("start", "before"),
    ("end", "before"),
)


class Relation(msgspec.Struct, frozen=True):
    """`first` has to come before `then`, because `phrase` says so in a clause of the given form."""

    first: str
    then: str
    phrase: str
    form: str


class TimeWindow(msgspec.Struct, frozen=True):
    """A time window stated by a relative clause, and the phrases that state it."""

    window: Window
    phrases: tuple[str, ...]


# Positions of the related groups in the text, the later one first, and what is said about them.
Fact = tuple[tuple[int, int], Relation | TimeWindow]
Facts = tuple[Fact, ...]


class _Noun(msgspec.Struct, frozen=True):
    """A group with its relative clauses; `tail` is the group that another relative clause would describe.

    After a point in time there is none; `timed` are then the actions that the time certainly applies to.
    """

    group: NamedActions
    tail: NamedActions
    end: int
    mentioned: tuple[str, ...]
    facts: Facts = ()
    doubts: tuple[Facts, ...] = ()
    timed: NamedActions | None = None


# Form, phrase that gives the order, subject, object, end.
_Parse = tuple[str, Phrase, _Noun, _Noun, int]


class ReadClause(msgspec.Struct, frozen=True):
    """An independent clause; `joined` if a comma and a conjunction attach it to the clause before."""

    form: str
    linker: Phrase
    subject: _Noun
    object: _Noun
    end: int
    joined: bool

    def nouns(self) -> list[_Noun]:
        return sorted((self.subject, self.object), key=lambda noun: noun.group.at)

    def relate(self, subject: _Noun, obj: _Noun) -> Facts:
        return _relate(subject.group, obj.group, self.linker, self.form)

    def facts(self) -> Facts:
        return self.relate(self.subject, self.object) + self.subject.facts + self.object.facts


class ClauseText(SentenceText):
    """A sentence parsed as joined clauses."""

    def sentences(self) -> list[tuple[ReadClause, ...]]:
        """Every way to parse the words as consecutive clauses."""
        paths: dict[int, list[tuple[ReadClause, ...]]] = {0: [()]}
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

    def clauses(self, at: int) -> Iterator[ReadClause]:
        joined = self.word(at - 1) in _JOINING
        for parse in chain(self.simple(at), self.dependent(at), self.fronted(at)):
            yield ReadClause(*parse, joined)

    def simple(self, at: int) -> Iterator[_Parse]:
        """Clauses like "S VP O", "S VP0 P O" and "S FREE"."""
        for subject in self.nouns(at):
            for form, verb, linker, start in self.predicates(self.after(subject)):
                if subject.group.agrees(verb):
                    for obj in self.nouns(start):
                        yield form, linker, subject, obj, obj.end
            for verb, end in self.phrases("free", self.after(subject)):
                if subject.group.agrees(verb):
                    nothing = NamedActions((), end)
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

    def predicates(self, at: int) -> Iterator[tuple[str, Phrase, Phrase, int]]:
        """VP, or VP0 and P: the form, the phrase that must agree, the phrase that gives the order."""
        for verb, end in self.phrases("verb", at):
            yield "verb", verb, verb, end
        for verb, middle in self.phrases("neutral", at):
            for linker, end in self.phrases("preposition", middle):
                yield "preposition", verb, linker, end

    def happens(self, noun: _Noun, dependent: bool = False) -> Iterator[int]:
        """Where a VP0 with this noun as subject ends."""
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

    def relatives(self, noun: _Noun) -> Iterator[_Noun]:
        for whole, start in self.pronouns(noun):
            yield from self.ordering(noun, whole, start)
            yield from self.timing(noun, whole, start)

    def ordering(self, noun: _Noun, whole: bool, start: int) -> Iterator[_Noun]:
        for form, verb, linker, at in self.predicates(start):
            for sure, rest in _described(noun, whole, verb):
                for obj, end in self.groups(at):
                    facts = noun.facts + _relate(sure, obj, linker, "relative " + form)
                    doubt = _relate(rest, obj, linker, "relative " + form)
                    doubts = (*noun.doubts, doubt) if doubt else noun.doubts
                    yield _Noun(noun.group, obj, end, noun.mentioned + obj.actions, facts, doubts)

    def timing(self, noun: _Noun, whole: bool, start: int) -> Iterator[_Noun]:
        for window, (verb, linker), end in self.windows(start):
            for sure, rest in _described(noun, whole, verb):
                said = (verb.name, linker.name)
                facts = noun.facts + _limit(sure, window, said, end)
                doubt = _limit(rest, window, said, end)
                doubts = (*noun.doubts, doubt) if doubt else noun.doubts
                yield _Noun(noun.group, NamedActions((), end), end, noun.mentioned, facts, doubts, sure)

    def windows(self, at: int) -> Iterator[tuple[Window, tuple[Phrase, Phrase], int]]:
        """Predicates like "must start after T": a window without an action yet, and the phrases."""
        for edge, bound in _WINDOWS:
            for verb, middle in self.phrases(edge, at):
                for linker, point in self.phrases(bound, middle):
                    for time, end in self.times(point):
                        yield Window("", edge, bound, time), (verb, linker), end

    def pronouns(self, noun: _Noun) -> Iterator[tuple[bool, int]]:
        """Whether the pronoun after the noun refers to the whole group, and where its verb is."""
        size, end = len(noun.tail.actions), noun.end
        if size and self.words[end : end + 2] == (",", "which"):
            yield size == 1, end + 2
        if size > 1 and self.words[end : end + 4] == (",", "both" if size == 2 else "all", "of", "which"):
            yield True, end + 4


def _described(noun: _Noun, whole: bool, verb: Phrase) -> Iterator[tuple[NamedActions, NamedActions]]:
    """The actions that a relative clause certainly describes, and those that it may describe as well."""
    group = noun.tail
    nothing = NamedActions((), group.at)
    if whole or not verb.one:
        if group.agrees(verb):
            yield group, nothing
    else:
        # A singular verb fits the last action alone; a modal verb leaves open whether it means them all.
        rest = NamedActions(group.actions[:-1], group.at)
        yield NamedActions(group.actions[-1:], noun.end - 1), rest if verb.many else nothing


def _relate(subject: NamedActions, obj: NamedActions, linker: Phrase, form: str) -> Facts:
    at = (max(subject.at, obj.at), min(subject.at, obj.at))
    pairs = product(subject.actions, obj.actions)
    ordered = (pair if linker.before else pair[::-1] for pair in pairs)
    return tuple((at, Relation(first, then, linker.name, form)) for first, then in ordered)


def _limit(group: NamedActions, window: Window, said: tuple[str, ...], end: int) -> Facts:
    return tuple(
        ((end, group.at), TimeWindow(msgspec.structs.replace(window, action=action), said))
        for action in group.actions
    )


def _claims(facts: Iterable[Fact]) -> frozenset[tuple[str, str] | Window]:
    return frozenset(
        (fact.first, fact.then) if isinstance(fact, Relation) else fact.window for _, fact in facts
    )


def _possible(facts: Iterable[Fact]) -> bool:
    """Readings in which an action comes before itself are excluded."""
    return all(not isinstance(fact, Relation) or fact.first != fact.then for _, fact in facts)


def meanings(clauses: tuple[ReadClause, ...]) -> Iterable[Facts]:
    """The plain meaning of the clauses, and those under each combination of ambiguities."""
    plain = tuple(fact for clause in clauses for fact in clause.facts())
    found = {_claims(plain): plain}
    for choices in _doubts(clauses):
        for (claims, facts), heard in product(list(found.items()), choices):
            if _possible(heard):
                found.setdefault(claims | _claims(heard), facts + heard)
        if len(found) >= _MOST:
            break
    return found.values() if _possible(plain) else ()


def _doubts(clauses: tuple[ReadClause, ...]) -> Iterator[Iterable[Facts]]:
    """Possible additional meanings: of each set of choices at most one applies."""
    for number, clause in enumerate(clauses):
        joined = list(takewhile(lambda other: other.joined, clauses[number + 1 :]))
        yield from ([doubt] for noun in clause.nouns() for doubt in noun.doubts)
        if clause.form.startswith("fronted"):
            # The fronted part may also apply to the clauses joined on.
            yield accumulate(clause.relate(other.subject, clause.object) for other in joined)
        elif clause.form == "conjunction":
            # The clauses joined on may be inside the dependent clause.
            yield accumulate(clause.relate(clause.subject, other.subject) for other in joined)
        elif joined and joined[0].form == "fronted preposition":
            yield from ([heard] for heard in _drawn_back(clause, joined[0]))


def _drawn_back(clause: ReadClause, fronted: ReadClause) -> Iterator[Facts]:
    """In "..., and before the B, the A happens" the "before the B" may belong to what precedes it."""
    if clause.form == "preposition":
        yield _relate(clause.subject.group, fronted.object.group, fronted.linker, clause.form)
    if clause.object.timed:
        # "..., which must start after 10:00, and before the B, ..." sounds like one more limit.
        yield _relate(clause.object.timed, fronted.object.group, fronted.linker, "relative preposition")


def mentioned(clauses: tuple[ReadClause, ...]) -> tuple[str, ...]:
    nouns = [noun for clause in clauses for noun in clause.nouns()]
    return tuple(dict.fromkeys(name for noun in nouns for name in noun.mentioned))
