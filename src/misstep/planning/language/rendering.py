"""Writes a paragraph in English: words that it has not used yet for its slots, number agreement, commas."""

import json
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias, assert_never

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language import syntax
from misstep.planning.language.lexicon import Linker, Verb, load_lexicon
from misstep.planning.language.parts import Side, is_of
from misstep.planning.language.requests import clock, euros, in_words, listed
from misstep.planning.language.syntax import Clause, Free, Group, Relative, SubSentence, TimedRelative

Mood: TypeAlias = Literal["modal", "indicative"]
MODALS = ("must ", "has to ", "needs to ", "is to ")


class Option(msgspec.Struct, frozen=True):
    """A phrase in both its forms, and the sounds that a reader would notice if repeated.

    `mood` is that of a verb that orders something; a request uses only one mood.
    """

    one: str
    many: str
    sounds: tuple[str, ...]
    mood: Mood | None = None


# A source of phrases: one of the options; called for each slot in the order in which a sentence is written.
Draw: TypeAlias = Callable[[tuple[Option, ...]], Option]


def fresh_phrases(dice: Dice, side: Side | None = None, mood: Mood | None = None) -> Draw:
    """Draw phrases so that none repeats in a paragraph while another of its kind is left.

    Verbs with the same ending ("must take place", "is to take place") count as repetitions. With a `side`
    phrases come from that side only; with a `mood` they have that mood if there is a choice.
    """
    used = set[str]()

    def draw(options: tuple[Option, ...]) -> Option:
        if side:
            options = _options_of(options, side)
        if mood:
            options = in_mood(options, mood)
        option = dice.pick(options)
        if not used.isdisjoint(option.sounds):
            fresh = [other for other in options if used.isdisjoint(other.sounds)]
            fresh = fresh or [other for other in options if other.sounds[0] not in used]
            option = dice.pick(fresh or options)
        used.update(option.sounds)
        return option

    return draw


@lru_cache(maxsize=256)
def _options_of(options: tuple[Option, ...], side: Side) -> tuple[Option, ...]:
    return tuple([option for option in options if is_of(option.one, side)])


@lru_cache(maxsize=256)
def in_mood(options: tuple[Option, ...], mood: Mood) -> tuple[Option, ...]:
    """The options with this mood or none; all of them if there are none, as in a dependent clause."""
    return tuple([option for option in options if option.mood in (None, mood)]) or options


@lru_cache(maxsize=64)
def verb_options(verbs: tuple[Verb, ...], ordering: bool = False) -> tuple[Option, ...]:
    """Verbs count by the whole phrase and by its last word; those that order something have a mood."""
    return tuple(
        Option(
            verb.one,
            verb.many,
            (verb.many, verb.many.rsplit(" ", 1)[-1]),
            mood_of(verb) if ordering else None,
        )
        for verb in verbs
    )


def mood_of(verb: Verb) -> Mood:
    return "modal" if verb.one.startswith(MODALS) else "indicative"


@lru_cache(maxsize=64)
def text_options(texts: tuple[str, ...]) -> tuple[Option, ...]:
    return tuple(Option(text, text, (text,)) for text in texts)


def render(
    paragraph: syntax.Paragraph,
    names: Sequence[str],
    dice: Dice,
    side: Side | None = None,
    mood: Mood | None = None,
) -> tuple[str, ...]:
    """The sentences of a paragraph; `names` are the activities, by action number.

    Without a `mood`, one is drawn that all sentences can have.
    """
    mood = mood or dice.pick(possible_moods(paragraph, side))
    return write(paragraph, names, fresh_phrases(dice, side, mood))


def possible_moods(paragraph: syntax.Paragraph, side: Side | None = None) -> tuple[Mood, ...]:
    """The moods that all sentences of a paragraph can have; only sentences about order can be indicative."""
    parts = [part for sentence in paragraph for part in sentence.parts]
    times = [
        group
        for part in parts
        for group in syntax.groups_in(part)
        if isinstance(group.relative, TimedRelative)
    ]
    only_order = not times and all(isinstance(part, Clause | Free | syntax.Neighbours) for part in parts)
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


def write(paragraph: syntax.Paragraph, names: Sequence[str], draw: Draw) -> tuple[str, ...]:
    """The sentences of a paragraph; each slot draws a phrase, in the order of the sentences."""
    renderer = _Renderer([f"the {name}" for name in names], draw)
    return tuple([renderer.sentence(sentence) for sentence in paragraph])


@cache
def _verbs(kind: str) -> tuple[Option, ...]:
    verbs = load_lexicon().verbs
    kinds = {"<": verbs.before, ">": verbs.after, "main": verbs.neutral, "free": verbs.free}
    dependent = tuple([verb for verb in verbs.neutral if not verb.main])
    return verb_options(dependent if kind == "dependent" else kinds[kind], ordering=kind != "free")


@cache
def _linkers(kind: str, direction: syntax.Direction, front: bool, several: bool) -> tuple[Option, ...]:
    lexicon = load_lexicon()
    linkers = lexicon.prepositions if kind == "preposition" else lexicon.conjunctions
    chosen = linkers.before if direction == "<" else linkers.after
    fitting = [linker.text for linker in chosen if linker.front >= front and not (linker.single and several)]
    return text_options(tuple(fitting))


class _Renderer:
    """Writes sentences; `names` are the activities with their article, by action number."""

    def __init__(self, names: Sequence[str], draw: Draw) -> None:
        self._names = names
        self._draw = draw
        self._lexicon = load_lexicon()

    def sentence(self, sentence: syntax.Sentence) -> str:
        text = self._part(sentence.parts[0])
        for join, part in zip(sentence.joins, sentence.parts[1:], strict=True):
            text += f"{join} {self._part(part)}"
        return f"{text[0].upper()}{text[1:]}."

    def _part(self, part: SubSentence) -> str:
        if isinstance(part, Free):
            return f"{self._group(part.subject)} {self._verb('free', part.subject)}"
        if not isinstance(part, Clause):
            return self._remark(part)
        match part.form:
            case "verb":
                subject = self._inner(part.subject)
                return f"{subject} {self._verb(part.direction, part.subject)} {self._group(part.object)}"
            case "preposition":
                return f"{self._main(part)} {self._linker('preposition', part)} {self._group(part.object)}"
            case "fronted preposition":
                opening = f"{self._linker('preposition', part, front=True)} {self._group(part.object)}"
                return f"{opening}, {self._main(part, pair='both ')}"
            case "conjunction":
                return f"{self._main(part)} {self._linker('conjunction', part)} {self._dependent(part)}"
            case "fronted conjunction":
                opening = f"{self._linker('conjunction', part, front=True)} {self._dependent(part)}"
                return f"{opening}, {self._main(part)}"

    def _main(self, clause: Clause, pair: str = "") -> str:
        """`S VP0`; `pair` goes before two actions that would otherwise sound like the rest of a list."""
        lead = pair if len(clause.subject.actions) == 2 else ""
        return f"{lead}{self._inner(clause.subject)} {self._verb('main', clause.subject)}"

    def _dependent(self, clause: Clause) -> str:
        return f"{self._inner(clause.object)} {self._verb('dependent', clause.object)}"

    def _inner(self, group: Group) -> str:
        """A group in mid-sentence: its relative clause needs a closing comma."""
        return f"{self._group(group)}," if group.relative else self._group(group)

    def _group(self, group: Group) -> str:
        text = self._list(group.actions)
        return f"{text}, {self._relative(group, group.relative)}" if group.relative else text

    def _list(self, actions: tuple[int, ...]) -> str:
        return listed([self._names[action] for action in actions])

    def _relative(self, group: Group, relative: Relative | TimedRelative) -> str:
        """The pronoun names the whole group, so that it can't refer to its last action alone."""
        if isinstance(relative, TimedRelative):
            return f"which {self._window(relative)}"
        which = {1: "which", 2: "both of which"}.get(len(group.actions), "all of which")
        if relative.form == "verb":
            said = self._verb(relative.direction, group)
        else:
            said = f"{self._verb('main', group)} {self._linker('preposition', relative)}"
        return f"{which} {said} {self._group(relative.object)}"

    def _verb(self, kind: str, subject: Group) -> str:
        verb = self._draw(_verbs(kind))
        return verb.one if len(subject.actions) == 1 else verb.many

    def _linker(self, kind: str, part: Clause | Relative, front: bool = False) -> str:
        several = len(part.object.actions) > 1
        return self._draw(_linkers(kind, part.direction, front, several)).one

    def _remark(self, remark: syntax.Remark) -> str:
        lexicon = self._lexicon
        match remark:
            case syntax.Timed():
                return self._timed(remark)
            case syntax.Neighbours():
                return self._neighbours(remark)
            case syntax.End(place, action):
                near = lexicon.adjacency
                return f"{self._names[action]} {self._one_of(near.first if place == 'first' else near.last)}"
            case syntax.Alternative((one, other)):
                return self._frame(lexicon.choices, a=one, b=other, verb=self._neutral())
            case syntax.Conditional():
                return self._conditional(remark)
            case syntax.RepeatRemark(action, times):
                counts = tuple([count.text for count in lexicon.repeats.counts if count.times == times])
                return f"{self._names[action]} {self._text(lexicon.repeats.verbs)} {self._text(counts)}"
            case syntax.Limited(action, most):
                tasks = "task" if most == 1 else "tasks"
                count = self._text(lexicon.repeats.limit_counts).format(number=in_words(most), tasks=tasks)
                return self._frame(lexicon.repeats.limits, a=action, count=count)
            case syntax.BudgetRemark(most):
                return self._frame(lexicon.budgets, amount=euros(most))
            case syntax.HandOver(giver, taker, noun):
                (article,) = [value.article for value in lexicon.data.values if value.noun == noun]
                named = {"value": noun, "a_value": f"{article} {noun}"}
                return self._frame(lexicon.data.frames, giver=giver, taker=taker, **named)
            case syntax.Replacing(action, by):
                return self._frame(lexicon.stand_ins, a=action, b=by)
            case syntax.Duty(actions):
                return f"{self._list(actions)} {self._one_of(lexicon.duties, len(actions) > 1)}"
            case syntax.Giving(action, arguments):
                return self._frame(lexicon.given, a=action, arguments=_arguments(arguments))
            case _:
                assert_never(remark)

    def _window(self, said: syntax.Timed | TimedRelative, several: bool = False) -> str:
        """`must start after 10:00`"""
        times = self._lexicon.times
        linkers = times.after if said.bound == "after" else times.before
        return f"{self._edge(said, several)} {self._link(linkers)} {clock(said.time)}"

    def _timed(self, remark: syntax.Timed) -> str:
        several, subject = len(remark.actions) > 1, self._list(remark.actions)
        if remark.form == "verb":
            return f"{subject} {self._window(remark, several)}"
        opening = f"{self._link(self._lexicon.times.before, front=True)} {clock(remark.time)}"
        lead = "both " if several else ""  # or the pair would sound like the rest of a list
        return f"{opening}, {lead}{subject} {self._edge(remark, several)}"

    def _edge(self, said: syntax.Timed | TimedRelative, several: bool) -> str:
        times = self._lexicon.times
        return self._one_of(times.start if said.edge == "start" else times.end, several)

    def _neighbours(self, remark: syntax.Neighbours) -> str:
        near, before = self._lexicon.adjacency, remark.direction == "<"
        subject, object_ = self._names[remark.subject], self._names[remark.object]
        prepositions = near.prepositions.before if before else near.prepositions.after
        match remark.form:
            case "verb":
                verb = self._one_of(near.verbs.before if before else near.verbs.after, ordering=True)
                return f"{subject} {verb} {object_}"
            case "preposition":
                return f"{subject} {self._neutral()} {self._link(prepositions)} {object_}"
            case "fronted preposition":
                opening = f"{self._link(prepositions, front=True)} {object_}"
                return f"{opening}, {subject} {self._neutral()}"

    def _conditional(self, remark: syntax.Conditional) -> str:
        """The action to leave out is named again, since "it" could be the one that reports."""
        text, phrases = self._text, self._lexicon.conditions
        asks, then = self._names[remark.asks], self._names[remark.then]
        reports = text(phrases.reports_of(remark.finding))
        if remark.form == "then first":
            so = f"{then} {text(self._lexicon.repeats.verbs)} after {asks}"
            so += f" {text(phrases.openers)} the latter {reports} {remark.finding}"
        else:
            so = f"{text(phrases.openers)} {asks} {reports} {remark.finding}"
            so += f", {then} {text(phrases.obligations)}"
        otherwise = text(phrases.otherwise)
        if remark.otherwise is None:
            return f"{so}; {otherwise}, {then} {text(phrases.skips)}"
        return f"{so}; {otherwise}, {self._names[remark.otherwise]} {text(phrases.obligations)}"

    def _one_of(self, verbs: tuple[Verb, ...], several: bool = False, ordering: bool = False) -> str:
        option = self._draw(verb_options(verbs, ordering))
        return option.many if several else option.one

    def _text(self, texts: tuple[str, ...]) -> str:
        return self._draw(text_options(texts)).one

    def _link(self, linkers: tuple[Linker, ...], front: bool = False) -> str:
        return self._text(tuple([linker.text for linker in linkers if linker.front >= front]))

    def _neutral(self) -> str:
        return self._draw(_verbs("main")).one

    def _frame(self, frames: tuple[str, ...], **slots: int | str) -> str:
        """A frame with its slots filled; numbers are actions."""
        filled = {
            slot: self._names[given] if isinstance(given, int) else given for slot, given in slots.items()
        }
        return self._text(frames).format(**filled)


def _arguments(arguments: dict[str, Any]) -> str:
    """A JSON object in backticks; backticks in values are escaped, so that it can be parsed unambiguously."""
    return "`" + json.dumps(arguments, ensure_ascii=False).replace("`", "\\u0060") + "`"
