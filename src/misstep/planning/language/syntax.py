"""The syntax of planning requests: a paragraph as a tree, before words are chosen.

The productions are those of PDoctor's Fig. 4. Actions are numbers from 0; a direction tells whether the
subject comes before (`<`) or after (`>`) the object.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, TypeAlias, TypeVar, assert_never

import msgspec

from misstep.planning.language.figures import clock
from misstep.planning.language.remarks import (
    Alternative,
    BudgetRemark,
    Conditional,
    Direction,
    Duty,
    End,
    Giving,
    HandOver,
    Limited,
    Neighbours,
    Remark,
    RepeatRemark,
    Replacing,
    Timed,
    TimedRelative,
)

Form = Literal["verb", "preposition", "fronted preposition", "conjunction", "fronted conjunction"]
RelativeForm = Literal["verb", "preposition"]
Join = Literal[";", ", and", ", but", ", yet", ", while", ", whereas"]

DIRECTIONS: tuple[Direction, ...] = ("<", ">")
FORMS: tuple[Form, ...] = ("verb", "preposition", "fronted preposition", "conjunction", "fronted conjunction")
RELATIVE_FORMS: tuple[RelativeForm, ...] = ("verb", "preposition")
JOINS: tuple[Join, ...] = (";", ", and", ", but", ", yet", ", while", ", whereas")

OPPOSITE: dict[Direction, Direction] = {"<": ">", ">": "<"}
FRONTED = frozenset({"fronted preposition", "fronted conjunction"})
OBJECT_LAST = frozenset({"verb", "preposition"})
MANY = 1_000_000

Part = TypeVar("Part")

_CLAUSE_PATTERNS: dict[Form, str] = {
    "verb": "{s} VP{d} {o}",
    "preposition": "{s} VP0 P{d} {o}",
    "fronted preposition": "P{d} {o}, {s} VP0",
    "conjunction": "{s} VP0 SC{d} {o} VP0",
    "fronted conjunction": "SC{d} {o} VP0, {s} VP0",
}
_RELATIVE_PATTERNS: dict[RelativeForm, str] = {"verb": "which VP{d} {o}", "preposition": "which VP0 P{d} {o}"}
_NEIGHBOUR_PATTERNS = {
    "verb": "{s} NEXT{d} {o}",
    "preposition": "{s} VP0 NEXT{d} {o}",
    "fronted preposition": "NEXT{d} {o}, {s} VP0",
}


class Group(msgspec.Struct, frozen=True):
    """One or more actions that share a place in a clause, optionally with a relative clause."""

    actions: tuple[int, ...]
    relative: "Relative | TimedRelative | None" = None


class Relative(msgspec.Struct, frozen=True):
    """`which VP O` or `which VP0 P O`, attached to a group."""

    form: RelativeForm
    direction: Direction
    object: Group


class Clause(msgspec.Struct, frozen=True):
    """A sub-sentence that orders its subject and its object."""

    form: Form
    direction: Direction
    subject: Group
    object: Group


class Free(msgspec.Struct, frozen=True):
    """A sub-sentence that mentions actions and orders nothing."""

    subject: Group


SubSentence: TypeAlias = Clause | Free | Remark


class Sentence(msgspec.Struct, frozen=True):
    """Sub-sentences with the joins between them, one fewer than there are sub-sentences.

    A remark is never joined to anything.
    """

    parts: tuple[SubSentence, ...]
    joins: tuple[Join, ...] = ()


Paragraph: TypeAlias = tuple[Sentence, ...]
Namer: TypeAlias = Callable[[tuple[int, ...]], str]


def possible_joins(left: SubSentence, right: SubSentence, before: Sequence[Join]) -> tuple[Join, ...]:
    """The joins that keep the sentence unambiguous; `before` are those it already has.

    A fronted phrase or a dependent clause can be understood to govern what a comma attaches to it, so only a
    semicolon separates them; a time at the end of a clause absorbs what a comma attaches to it. A relative
    clause or a list absorbs a coordinate "and" at first reading. "But", "yet", "while" and "whereas" need a
    contrast: something else comes before on one side and after on the other. "While" is understood as
    "during" unless it introduces a plain relation. One comma is enough for a sentence. Nothing joins a
    remark.
    """
    if not isinstance(left, Clause | Free) or not isinstance(right, Clause | Free):
        return ()
    if isinstance(left, Free) or isinstance(right, Free) or any(join != ";" for join in before):
        return (";",)
    if left.form not in OBJECT_LAST or right.form in FRONTED:
        return (";",)
    if isinstance(left.object.relative, TimedRelative):
        return (";",)
    joins: tuple[Join, ...] = (";",)
    contrast = left.direction != right.direction and not {*left.subject.actions} & {*right.subject.actions}
    if not left.object.relative and len(left.object.actions) == len(right.subject.actions) == 1:
        joins += (", and", ", but", ", yet") if contrast else (", and",)
    if contrast:
        joins += (", whereas", ", while") if right.form == "verb" else (", whereas",)
    return joins


def most_actions(form: Form, direction: Direction) -> tuple[int, int]:
    """The most actions that subject and object of a clause may have without ambiguity.

    A comma separates an opening phrase from the subject, so neither may be a list with commas of its own, and
    "after A, B and C happen" begins like "after A". "Before B and C happen" can be understood as "before both
    have happened".
    """
    if form == "fronted preposition":
        return 2, 2
    if form in ("conjunction", "fronted conjunction"):
        return MANY, 1 if direction == "<" else 2
    return MANY, MANY


class Pronouns:
    """Restricts relative clauses in a sub-sentence to groups that their pronoun identifies clearly.

    `most` is how many actions the object of a relative clause may have; `rarity` grows with each relative
    clause, since two of them are hard to follow.
    """

    def __init__(self, form: Form) -> None:
        self.most = 2 if form == "fronted preposition" else MANY  # no list beside an opening phrase
        self.rarity = 1
        self._fronted = form == "fronted preposition"
        self._sizes: list[int] = []

    def name(self, group: Sequence[int]) -> bool:
        """Record a group as it is named; return whether a relative clause could only refer to it.

        "Which" after one action does; "both of which" and "all of which" do unless a group of that size came
        before. A pair behind an opening phrase already says "both".
        """
        size = min(len(group), 3)
        twice_both = size == 2 and self._fronted and bool(self._sizes)
        clear = size == 1 or (size not in self._sizes and not twice_both)
        self._sizes.append(size)
        return clear


def spoken_order(form: Form, subject: Part, object_: Part) -> tuple[Part, Part]:
    """Subject and object in the order of the text."""
    return (object_, subject) if form in FRONTED else (subject, object_)


def skeleton(paragraph: Paragraph) -> str:
    """The paragraph with slots for words, e.g. `a1+a3 VP< a2[which VP0 P> a4]; P> a5, a1 VP0.`"""
    return " ".join(map(_sentence_skeleton, paragraph))


def shape(part: SubSentence) -> str:
    """The skeleton of one sub-sentence with every group reduced to `a`."""
    return _part_skeleton(part, lambda _: "a")


def shapes_in(written: str) -> set[str]:
    """The shapes of the ordering sub-sentences in a written skeleton, relative clauses cut at one level.

    Sub-sentences about times or anything but order have none.
    """
    ungrouped = re.sub(r"a\d+(\+a\d+)*", "a", written)
    flat, nested = ungrouped, 1
    while nested:
        flat, nested = re.subn(r"(\[[^][]*)\[[^][:]*\]", r"\1", flat)
    parts = re.split(r"; |, (?:and|but|yet|while|whereas) |\. |\.$", flat)
    return set(parts) & _known_shapes()


@cache
def _known_shapes() -> frozenset[str]:
    return frozenset(all_shapes())


def all_shapes() -> Iterator[str]:
    """Every shape of an ordering sub-sentence with relative clauses one level deep."""
    plain = Group((0,))
    relatives = [Relative(f, d, plain) for f in RELATIVE_FORMS for d in DIRECTIONS]
    groups = [plain, *(Group((0,), relative) for relative in relatives)]
    for form in FORMS:
        for direction in DIRECTIONS:
            for subject in groups:
                for object_ in groups:
                    yield shape(Clause(form, direction, subject, object_))


def _sentence_skeleton(sentence: Sentence) -> str:
    text = _part_skeleton(sentence.parts[0], _names)
    for join, part in zip(sentence.joins, sentence.parts[1:], strict=True):
        text += f"{join} {_part_skeleton(part, _names)}"
    return text + "."


@lru_cache(maxsize=4096)
def _names(actions: tuple[int, ...]) -> str:
    return "+".join([f"a{action + 1}" for action in actions])


def _part_skeleton(part: SubSentence, name: Namer) -> str:
    if isinstance(part, Free):
        return f"{_group_skeleton(part.subject, name)} free"
    if not isinstance(part, Clause):
        return _remark_skeleton(part, name)
    subject, object_ = _group_skeleton(part.subject, name), _group_skeleton(part.object, name)
    return _pattern(part.form, part.direction).replace("{s}", subject).replace("{o}", object_)


@cache
def _pattern(form: Form, direction: Direction) -> str:
    return _CLAUSE_PATTERNS[form].replace("{d}", direction)


def _group_skeleton(group: Group, name: Namer) -> str:
    text, relative = name(group.actions), group.relative
    if isinstance(relative, TimedRelative):
        text += f"[which {_window(relative)}]"
    elif relative:
        inner = _group_skeleton(relative.object, name)
        text += f"[{_RELATIVE_PATTERNS[relative.form].format(d=relative.direction, o=inner)}]"
    return text


def _window(said: Timed | TimedRelative) -> str:
    return f"{said.edge.upper()}S{'>' if said.bound == 'after' else '<'}{clock(said.time)}"


def _remark_skeleton(remark: Remark, name: Namer) -> str:
    def one(action: int) -> str:
        return name((action,))

    match remark:
        case Timed(form="verb"):
            return f"{name(remark.actions)} {_window(remark)}"
        case Timed():
            return f"BEFORE {clock(remark.time)}, {name(remark.actions)} {remark.edge.upper()}S"
        case Neighbours(form, direction, subject, object_):
            pattern = _NEIGHBOUR_PATTERNS[form]
            return pattern.format(d=direction, s=one(subject), o=one(object_))
        case End(place, action):
            return f"{one(action)} {place.upper()}"
        case Alternative((first, second)):
            return f"{one(first)} OR {one(second)}"
        case Conditional(asks, _, then, otherwise):
            branch = "" if otherwise is None else f" ELSE {one(otherwise)}"
            if remark.form == "then first":
                return f"{one(then)} IF {one(asks)}{branch}"
            return f"IF {one(asks)} THEN {one(then)}{branch}"
        case RepeatRemark(action, times):
            return f"{one(action)} TIMES {times}"
        case Limited(action, most):
            return f"{one(action)} LIMIT {most}"
        case BudgetRemark(most):
            return f"SPEND {most}"
        case HandOver(giver, taker, value):
            return f"{one(giver)} GIVES {value.replace(' ', '_')} TO {one(taker)}"
        case Replacing(action, by):
            return f"{one(by)} FOR {one(action)}"
        case Duty(actions):
            return f"{name(actions)} DUE"
        case Giving(action, arguments):
            return f"{one(action)} GIVEN {','.join(arguments)}"
        case _:
            assert_never(remark)
