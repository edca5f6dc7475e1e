"""Shapes of an order (chains, joins and forks) and forms of sentences."""

from collections.abc import Callable, Collection, Iterable, Iterator

from misstep.planning.language.semantics import Relation, relations
from misstep.planning.language.syntax import (
    Clause,
    Duty,
    Group,
    Neighbours,
    Sentence,
    Timed,
    TimedRelative,
    groups_in,
)
from misstep.planning.plans.order import Order, bits


def told_order(paragraph: Iterable[Sentence], size: int) -> Order:
    """The plain order that sentences demand of this many actions.

    A relation that contradicts earlier ones, which is possible if not all actions are due, is ignored.
    """
    order = Order(size)
    for sentence in paragraph:
        for first, then in relations(sentence):
            order.add(first, then)
    return order


def shapes_of(order: Order) -> set[str]:
    """The shapes in a closed order."""
    return {shape for shape in SHAPES if has_any(order, (shape,))}


def has_any(order: Order, shapes: Collection[str]) -> bool:
    """Whether a closed order has one of the shapes; other names are ignored."""
    return any([shape in shapes and next(members(order), None) is not None for shape, members in _MEMBERS])


def making(shape: str, order: Order, pairs: Iterable[Relation]) -> list[Relation]:
    """The relations that contribute to a shape."""
    members = sum([1 << action for action in dict(_MEMBERS)[shape](order)])
    toward, away = shape in ("chain", "join"), shape in ("chain", "fork")
    return [
        (first, then)
        for first, then in pairs
        if (toward and (1 << then | order.after[then]) & members)
        or (away and (1 << first | order.before[first]) & members)
    ]


def _chained(order: Order) -> Iterator[int]:
    """The actions in the middle: something comes before them, and something after."""
    return (i for i in range(order.size) if order.before[i] and order.after[i])


def _joining(order: Order) -> Iterator[int]:
    """The actions that wait for two unordered others."""
    return _meeting(order, order.before)


def _forking(order: Order) -> Iterator[int]:
    """The actions that two unordered others wait for."""
    return _meeting(order, order.after)


def _meeting(order: Order, neighbours: list[int]) -> Iterator[int]:
    for i, mask in enumerate(neighbours):
        for j in bits(mask):
            if mask & ~(order.before[j] | order.after[j] | 1 << j):
                yield i
                break


_MEMBERS: tuple[tuple[str, Callable[[Order], Iterator[int]]], ...] = (
    ("chain", _chained),
    ("join", _joining),
    ("fork", _forking),
)
SHAPES = tuple(shape for shape, _ in _MEMBERS)


LIST = "list"
JOINED = "joined sentence"
READING_ORDER = "reading order"
TIMES = {"verb": "time", "fronted": "fronted time", "relative": "relative time"}


def forms_of(sentence: Sentence) -> set[str]:
    """The names of the forms in a sentence; clause forms are named as in the reader."""
    found = {JOINED} if sentence.joins else set[str]()
    for part in sentence.parts:
        groups = groups_in(part)
        match part:
            case Clause(form):
                found.add(form)
            case Timed(form, _, _, _, actions):
                found.add(TIMES[form])
                groups = (Group(actions),)
            case Duty(actions):
                groups = (Group(actions),)
            case Neighbours(form):
                found.add(f"adjacent {form}")
        for group in groups:
            found |= {LIST} if len(group.actions) > 1 else set()
            if isinstance(group.relative, TimedRelative):
                found.add(TIMES["relative"])
            elif group.relative:
                found.add(f"relative {group.relative.form}")
    return found
