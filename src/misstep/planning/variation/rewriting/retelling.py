"""Other sentences for what a paragraph demands."""

from collections.abc import Sequence

import msgspec

from misstep.core.dice import Dice
from misstep.planning.language.clarity import joined
from misstep.planning.language.remarks import (
    NEIGHBOUR_FORMS,
    Alternative,
    Conditional,
    Duty,
    Neighbours,
    Remark,
    Timed,
)
from misstep.planning.language.semantics import Relation, relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    OPPOSITE,
    Clause,
    Form,
    Free,
    Group,
    Paragraph,
    Sentence,
)
from misstep.planning.plans.order import Order
from misstep.planning.synthesis.paragraphs import JOIN_RATE, MOST_PARTS, Recipe, draft_for_order
from misstep.planning.variation.anatomy import Anatomy, is_about_order, spoken_of
from misstep.planning.variation.rewriting.times import appointments_in, tell_time


def retell(anatomy: Anatomy, dice: Dice) -> Paragraph:
    """A paragraph that demands the same of the same actions, and mentions every one of them."""
    paragraph, size = anatomy.paragraph, len(anatomy.actions)
    remarks = _remarks_in(paragraph)
    branches = [_branches(remark) for remark in remarks]
    pairs = list(dict.fromkeys([pair for sentence in paragraph for pair in relations(sentence)]))
    sentences = _tell_order(pairs, size, branches, dice)
    for appointment in appointments_in(paragraph):
        sentences = tell_time(appointment, sentences, dice)
    sentences += [Sentence((_resaid(remark, dice),)) for remark in remarks]
    rest = left_over(sentences, anatomy)
    if rest:
        sentences.append(mention(dice.shuffled(rest), is_about_order(anatomy)))
    return tuple(dice.shuffled(sentences))


def _remarks_in(paragraph: Paragraph) -> list[Remark]:
    """What is said of anything but order and times, but for actions that are merely mentioned."""
    parts = [part for sentence in paragraph for part in sentence.parts]
    return [part for part in parts if not isinstance(part, Clause | Free | Timed | Duty)]


def left_over(sentences: Sequence[Sentence], anatomy: Anatomy) -> list[int]:
    """The actions that none of the sentences speaks of."""
    spoken = spoken_of(tuple(sentences))
    return [action for action in range(len(anatomy.actions)) if action not in spoken]


def mention(actions: Sequence[int], free: bool) -> Sentence:
    """A sentence for actions of which nothing else is said.

    It is `free` if there is nothing but order to heed: elsewhere "at any time" would say too much.
    """
    return Sentence((Free(Group(tuple(actions))) if free else Duty(tuple(actions)),))


def _tell_order(
    pairs: Sequence[Relation], size: int, branches: Sequence[tuple[int, ...]], dice: Dice
) -> list[Sentence]:
    """Sentences that say what comes to these relations, none of them in one clause of two that exclude
    each other.

    What an action passes on from those before it to those behind it, it passes on only if it is carried out:
    with optional ones in between, every relation is said as it stands. So it is where some contradict each
    other, or are about two that exclude each other, which is no harm if not all of them are carried out.
    """
    optional = {action for each in branches for action in each}
    apart = [0] * size
    for one, other in [each for each in branches if len(each) > 1]:
        apart[one] |= 1 << other
        apart[other] |= 1 << one
    order = Order(size)
    is_sound = all([order.add(first, then) and not apart[first] >> then & 1 for first, then in pairs])
    if not is_sound or any([order.before[action] and order.after[action] for action in optional]):
        return _tell_one_by_one(pairs, dice)
    draft = draft_for_order(order, Recipe(), dice, apart if optional else ())
    return [sentence for sentence in draft.paragraph if not isinstance(sentence.parts[0], Free)]


def _tell_one_by_one(pairs: Sequence[Relation], dice: Dice) -> list[Sentence]:
    parts = list[list[Clause]]()
    for first, then in dice.shuffled(pairs):
        clause = _plain_clause(first, then, dice.pick(FORMS), dice)
        if parts and len(parts[-1]) < MOST_PARTS and dice.chance(JOIN_RATE):
            parts[-1].append(clause)
        else:
            parts.append([clause])
    return [joined(clauses, dice) for clauses in parts]


def _plain_clause(first: int, then: int, form: Form, dice: Dice) -> Clause:
    """One action before another, said from either end."""
    direction = dice.pick(DIRECTIONS)
    subject, object_ = (first, then) if direction == "<" else (then, first)
    return Clause(form, direction, Group((subject,)), Group((object_,)))


def _resaid(remark: Remark, dice: Dice) -> Remark:
    """The remark in another form or from its other end, if it has one."""
    if not isinstance(remark, Neighbours):
        return remark
    turned = msgspec.structs.replace(
        remark, direction=OPPOSITE[remark.direction], subject=remark.object, object=remark.subject
    )
    ways = [msgspec.structs.replace(each, form=form) for each in (remark, turned) for form in NEIGHBOUR_FORMS]
    return dice.pick([way for way in ways if way != remark])


def _branches(remark: Remark) -> tuple[int, ...]:
    """The actions that may be left out because of a remark."""
    match remark:
        case Alternative(options):
            return options
        case Conditional(_, _, then, None):
            return (then,)
        case Conditional(_, _, then, int(otherwise)):
            return (then, otherwise)
        case _:
            return ()
