"""Shapes of an order (chains, joins and forks) and forms of sentences."""

from collections.abc import Collection, Iterable, Iterator

from misstep.planning.language import syntax
from misstep.planning.language.semantics import Relation, relations
from misstep.planning.plans.order import Order, bits, loose_order


def told_order(paragraph: Iterable[syntax.Sentence], size: int) -> Order:
    """The plain order that sentences demand of this many actions.

    A relation that contradicts earlier ones, which is possible if not all actions are due, is ignored.
    """
    return loose_order(size, [pair for sentence in paragraph for pair in relations(sentence)])


def shapes_of(order: Order) -> set[str]:
    return {shape for shape in SHAPES if has_any(order, (shape,))}


def has_any(order: Order, shapes: Collection[str]) -> bool:
    """Whether a closed order has one of the shapes; other names are ignored."""
    return any([shape in shapes and next(_members(shape, order), None) is not None for shape in SHAPES])


def making(shape: str, order: Order, pairs: Iterable[Relation]) -> list[Relation]:
    members = sum([1 << action for action in _members(shape, order)])
    toward, away = shape in ("chain", "join"), shape in ("chain", "fork")
    return [
        (first, then)
        for first, then in pairs
        if (toward and (1 << then | order.after[then]) & members)
        or (away and (1 << first | order.before[first]) & members)
    ]


def _members(shape: str, order: Order) -> Iterator[int]:
    """The actions in the middle of a chain, those that wait for two unordered others, or those waited for."""
    if shape == "chain":
        yield from (i for i in range(order.size) if order.before[i] and order.after[i])
        return
    for i, mask in enumerate(order.before if shape == "join" else order.after):
        for j in bits(mask):
            if mask & ~(order.before[j] | order.after[j] | 1 << j):
                yield i
                break


SHAPES = ("chain", "join", "fork")

LIST = "list"
JOINED = "joined sentence"
READING_ORDER = "reading order"
TIMES = {"verb": "time", "fronted": "fronted time", "relative": "relative time"}


def forms_of(sentence: syntax.Sentence) -> set[str]:
    """The names of the forms in a sentence; clause forms are named as in the reader."""
    found = {JOINED} if sentence.joins else set[str]()
    for part in sentence.parts:
        groups = syntax.groups_in(part)
        match part:
            case syntax.Clause(form):
                found.add(form)
            case syntax.Timed(form, _, _, _, actions):
                found.add(TIMES[form])
                groups = (syntax.Group(actions),)
            case syntax.Duty(actions):
                groups = (syntax.Group(actions),)
            case syntax.Neighbours(form):
                found.add(f"adjacent {form}")
        for group in groups:
            found |= {LIST} if len(group.actions) > 1 else set()
            if isinstance(group.relative, syntax.TimedRelative):
                found.add(TIMES["relative"])
            elif group.relative:
                found.add(f"relative {group.relative.form}")
    return found
