"""The syntax of planning requests: a paragraph as a tree, before words are chosen.

The productions of clauses are those of PDoctor's Fig. 4; a sentence about anything but plain order is one
remark. Actions are numbers from 0; a direction tells whether the subject comes before (`<`) or after (`>`)
the object.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import Any, Literal, TypeAlias, TypeVar, assert_never

import msgspec

from misstep.planning.language.requests import clock

Direction = Literal["<", ">"]
Form = Literal["verb", "preposition", "fronted preposition", "conjunction", "fronted conjunction"]
RelativeForm = Literal["verb", "preposition"]
Join = Literal[";", ", and", ", but", ", yet", ", while", ", whereas"]
Edge = Literal["start", "end"]
Bound = Literal["after", "before"]
NeighbourForm = Literal["verb", "preposition", "fronted preposition"]
ConditionalForm = Literal["asks first", "then first"]

DIRECTIONS: tuple[Direction, ...] = ("<", ">")
FORMS: tuple[Form, ...] = ("verb", "preposition", "fronted preposition", "conjunction", "fronted conjunction")
RELATIVE_FORMS: tuple[RelativeForm, ...] = ("verb", "preposition")
JOINS: tuple[Join, ...] = (";", ", and", ", but", ", yet", ", while", ", whereas")
TIMED: tuple[tuple[Edge, Bound], ...] = (("start", "after"), ("start", "before"), ("end", "before"))
CONDITIONAL_FORMS: tuple[ConditionalForm, ...] = ("asks first", "then first")
NEIGHBOUR_FORMS: tuple[NeighbourForm, ...] = ("verb", "preposition", "fronted preposition")
OPPOSITE: dict[Direction, Direction] = {"<": ">", ">": "<"}

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


class Timed(msgspec.Struct, frozen=True):
    """`S starts after T`, or `before T, S ends`: the same demand on each of some actions."""

    form: Literal["verb", "fronted"]
    edge: Edge
    bound: Bound
    time: int
    actions: tuple[int, ...]


class TimedRelative(msgspec.Struct, frozen=True):
    """`which starts after T`, attached to a single action in an ordering clause."""

    edge: Edge
    bound: Bound
    time: int


class Neighbours(msgspec.Struct, frozen=True):
    """The subject comes directly before (`<`) or directly after (`>`) the object."""

    form: NeighbourForm
    direction: Direction
    subject: int
    object: int


class End(msgspec.Struct, frozen=True):
    """An action is the first or the last of all."""

    place: Literal["first", "last"]
    action: int


class Alternative(msgspec.Struct, frozen=True):
    """One of two actions, not both, in the order in which they are named."""

    options: tuple[int, int]


class Conditional(msgspec.Struct, frozen=True):
    """If `asks` reports the finding, `then`; otherwise the other one, or nothing.

    The text names `asks` first, or `then`.
    """

    asks: int
    finding: str
    then: int
    otherwise: int | None = None
    form: ConditionalForm = "asks first"


class RepeatRemark(msgspec.Struct, frozen=True):
    action: int
    times: int


class Limited(msgspec.Struct, frozen=True):
    """At most `most` others come before an action."""

    action: int
    most: int


class BudgetRemark(msgspec.Struct, frozen=True):
    most: int


class HandOver(msgspec.Struct, frozen=True):
    """A value, named by its noun, is passed from one action to another."""

    giver: int
    taker: int
    value: str


class Replacing(msgspec.Struct, frozen=True):
    """`by` replaces an action that is out of service."""

    action: int
    by: int


class Duty(msgspec.Struct, frozen=True):
    """Actions that are due but not mentioned otherwise."""

    actions: tuple[int, ...]


class Giving(msgspec.Struct, frozen=True):
    """The arguments for one of the user's own tools."""

    action: int
    arguments: dict[str, Any]


Remark: TypeAlias = (
    Timed
    | Neighbours
    | End
    | Alternative
    | Conditional
    | RepeatRemark
    | Limited
    | BudgetRemark
    | HandOver
    | Replacing
    | Duty
    | Giving
)


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
AnyPart = TypeVar("AnyPart", bound=SubSentence)


class Sentence(msgspec.Struct, frozen=True):
    """Sub-sentences with the joins between them, one fewer than there are sub-sentences.

    A remark is never joined to anything.
    """

    parts: tuple[SubSentence, ...]
    joins: tuple[Join, ...] = ()


Paragraph: TypeAlias = tuple[Sentence, ...]
Namer: TypeAlias = Callable[[tuple[int, ...]], str]


# The fields of a remark that name actions.
_NAMING: dict[type, tuple[str, ...]] = {
    Timed: ("actions",),
    Neighbours: ("subject", "object"),
    End: ("action",),
    Alternative: ("options",),
    Conditional: ("asks", "then", "otherwise"),
    RepeatRemark: ("action",),
    Limited: ("action",),
    BudgetRemark: (),
    HandOver: ("giver", "taker"),
    Replacing: ("action", "by"),
    Duty: ("actions",),
    Giving: ("action",),
}


def nested(group: Group) -> Iterator[Group]:
    """The group, the object of its relative clause, the object of that one's, and so on."""
    yield group
    while isinstance(group.relative, Relative):
        group = group.relative.object
        yield group


def groups_in(part: SubSentence) -> tuple[Group, ...]:
    """The groups of a clause, each before the object of its relative clause; a remark has none."""
    if isinstance(part, Clause):
        return (*nested(part.subject), *nested(part.object))
    return tuple(nested(part.subject)) if isinstance(part, Free) else ()


def actions_in(part: SubSentence) -> set[int]:
    named = {action for group in groups_in(part) for action in group.actions}
    for field in _NAMING.get(type(part), ()):
        value = getattr(part, field)
        named |= {*value} if isinstance(value, tuple) else {value} - {None}
    return named


def change_groups(part: AnyPart, change: Callable[[Group], Group]) -> AnyPart:
    """The same sub-sentence with every group changed, inner ones first."""

    def changed(group: Group) -> Group:
        if isinstance(group.relative, Relative):
            inner = msgspec.structs.replace(group.relative, object=changed(group.relative.object))
            group = Group(group.actions, inner)
        return change(group)

    if isinstance(part, Clause):
        return msgspec.structs.replace(part, subject=changed(part.subject), object=changed(part.object))
    return msgspec.structs.replace(part, subject=changed(part.subject)) if isinstance(part, Free) else part


def renumbered(part: SubSentence, numbers: Mapping[int, int]) -> SubSentence:
    def new(named: Any) -> Any:
        """An action, several of them, or none."""
        if isinstance(named, tuple):
            return tuple([numbers[action] for action in named])
        return None if named is None else numbers[named]

    fields = {field: new(getattr(part, field)) for field in _NAMING.get(type(part), ())}
    part = msgspec.structs.replace(part, **fields)
    return change_groups(part, lambda group: Group(new(group.actions), group.relative))


def skeleton(paragraph: Paragraph) -> str:
    """The paragraph with slots for words, e.g. `a1+a3 VP< a2[which VP0 P> a4]; P> a5, a1 VP0.`"""
    texts = list[str]()
    for sentence in paragraph:
        text = _part_skeleton(sentence.parts[0], _names)
        for join, part in zip(sentence.joins, sentence.parts[1:], strict=True):
            text += f"{join} {_part_skeleton(part, _names)}"
        texts.append(f"{text}.")
    return " ".join(texts)


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
    return set(parts) & all_shapes()


@cache
def all_shapes() -> frozenset[str]:
    """Every shape of an ordering sub-sentence with relative clauses one level deep."""
    plain = Group((0,))
    relatives = [Relative(f, d, plain) for f in RELATIVE_FORMS for d in DIRECTIONS]
    groups = [plain, *(Group((0,), relative) for relative in relatives)]
    clauses = product(FORMS, DIRECTIONS, groups, groups)
    return frozenset([shape(Clause(*parts)) for parts in clauses])


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
