"""Writes a paragraph in English: words for its slots, number agreement, commas."""

from collections.abc import Sequence
from functools import cache

from misstep.core.rng import Dice
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.parts import Side, is_of
from misstep.planning.language.requests import listed
from misstep.planning.language.syntax import (
    Clause,
    Direction,
    Free,
    Group,
    Neighbours,
    Paragraph,
    Relative,
    Sentence,
    SubSentence,
    TimedRelative,
    groups_in,
)
from misstep.planning.language.wording import (
    Mood,
    Option,
    PhraseDrawer,
    Phrases,
    RemarkWriter,
    mood_of,
    text_options,
    verb_options,
)


def render(
    paragraph: Paragraph,
    names: Sequence[str],
    dice: Dice,
    side: Side | None = None,
    mood: Mood | None = None,
) -> tuple[str, ...]:
    """The sentences of a paragraph; `names` are the activities, by action number.

    Without a `mood`, one is drawn that all sentences can have.
    """
    return write(
        paragraph, names, PhraseDrawer(dice, side, mood or dice.pick(possible_moods(paragraph, side)))
    )


def possible_moods(paragraph: Paragraph, side: Side | None = None) -> tuple[Mood, ...]:
    """The moods that all sentences of a paragraph can have; only sentences about order can be indicative."""
    parts = [part for sentence in paragraph for part in sentence.parts]
    times = [
        group for part in parts for group in groups_in(part) if isinstance(group.relative, TimedRelative)
    ]
    only_order = not times and all(isinstance(part, Clause | Free | Neighbours) for part in parts)
    return _moods(side) if only_order else ("modal",)


@cache
def _moods(side: Side | None) -> tuple[Mood, ...]:
    """The moods that have phrases for everything about order."""
    verbs = load_lexicon().verbs
    lists = [
        {mood_of(verb) for verb in verbs if side is None or is_of(verb.one, side)}
        for verbs in (verbs.before, verbs.after, verbs.neutral)
    ]
    moods: tuple[Mood, ...] = ("modal", "indicative")
    return tuple([mood for mood in moods if all(mood in each for each in lists)])


def write(paragraph: Paragraph, names: Sequence[str], words: Phrases) -> tuple[str, ...]:
    """The sentences of a paragraph in these words; each slot draws one, in the order of the sentences."""
    renderer = _Renderer([f"the {name}" for name in names], words)
    return tuple([renderer.sentence(sentence) for sentence in paragraph])


@cache
def _verbs(kind: str) -> tuple[Option, ...]:
    verbs = load_lexicon().verbs
    kinds = {"<": verbs.before, ">": verbs.after, "main": verbs.neutral, "free": verbs.free}
    dependent = tuple([verb for verb in verbs.neutral if not verb.main])
    return verb_options(dependent if kind == "dependent" else kinds[kind], ordering=kind != "free")


@cache
def _linkers(kind: str, direction: Direction, front: bool, several: bool) -> tuple[Option, ...]:
    lexicon = load_lexicon()
    linkers = lexicon.prepositions if kind == "preposition" else lexicon.conjunctions
    chosen = linkers.before if direction == "<" else linkers.after
    fitting = [linker.text for linker in chosen if linker.front >= front and not (linker.single and several)]
    return text_options(tuple(fitting))


class _Renderer(RemarkWriter):
    def sentence(self, sentence: Sentence) -> str:
        text = self.part(sentence.parts[0])
        for join, part in zip(sentence.joins, sentence.parts[1:], strict=True):
            text += f"{join} {self.part(part)}"
        return f"{text[0].upper()}{text[1:]}."

    def part(self, part: SubSentence) -> str:
        if isinstance(part, Free):
            return f"{self.group(part.subject)} {self.verb('free', part.subject)}"
        if not isinstance(part, Clause):
            return self.remark(part)
        match part.form:
            case "verb":
                subject = self.inner(part.subject)
                return f"{subject} {self.verb(part.direction, part.subject)} {self.group(part.object)}"
            case "preposition":
                return f"{self.main(part)} {self.linker('preposition', part)} {self.group(part.object)}"
            case "fronted preposition":
                opening = f"{self.linker('preposition', part, front=True)} {self.group(part.object)}"
                return f"{opening}, {self.main(part, pair='both ')}"
            case "conjunction":
                return f"{self.main(part)} {self.linker('conjunction', part)} {self.dependent(part)}"
            case "fronted conjunction":
                opening = f"{self.linker('conjunction', part, front=True)} {self.dependent(part)}"
                return f"{opening}, {self.main(part)}"

    def main(self, clause: Clause, pair: str = "") -> str:
        """`S VP0`; `pair` goes before two actions that would otherwise sound like the rest of a list."""
        lead = pair if len(clause.subject.actions) == 2 else ""
        return f"{lead}{self.inner(clause.subject)} {self.verb('main', clause.subject)}"

    def dependent(self, clause: Clause) -> str:
        return f"{self.inner(clause.object)} {self.verb('dependent', clause.object)}"

    def inner(self, group: Group) -> str:
        """A group in mid-sentence: its relative clause needs a closing comma."""
        return f"{self.group(group)}," if group.relative else self.group(group)

    def group(self, group: Group) -> str:
        text = listed([self._names[action] for action in group.actions])
        return f"{text}, {self.relative(group, group.relative)}" if group.relative else text

    def relative(self, group: Group, relative: Relative | TimedRelative) -> str:
        """The pronoun names the whole group, so that it can't refer to its last action alone."""
        if isinstance(relative, TimedRelative):
            return f"which {self.window(relative)}"
        which = {1: "which", 2: "both of which"}.get(len(group.actions), "all of which")
        if relative.form == "verb":
            said = self.verb(relative.direction, group)
        else:
            said = f"{self.verb('main', group)} {self.linker('preposition', relative)}"
        return f"{which} {said} {self.group(relative.object)}"

    def verb(self, kind: str, subject: Group) -> str:
        verb = self._words.draw(_verbs(kind))
        return verb.one if len(subject.actions) == 1 else verb.many

    def linker(self, kind: str, part: Clause | Relative, front: bool = False) -> str:
        several = len(part.object.actions) > 1
        return self._words.draw(_linkers(kind, part.direction, front, several)).one
