"""Problems of about the same size without some shapes of order or some families."""

from collections.abc import Collection, Sequence
from math import log2

import msgspec

from misstep.core.constraint import Before, Place, family_of
from misstep.core.rng import Dice
from misstep.planning.language.clarity import without_times
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Clause, Duty, Free, Replacing, SubSentence
from misstep.planning.plans.order import Order, count_orders
from misstep.planning.synthesis.paragraphs import Recipe, draft_for_order
from misstep.planning.variation.anatomy import Anatomy, demands_of, fitting_world, is_about_order
from misstep.planning.variation.phrasing import Drawn, draw_words
from misstep.planning.variation.positions import relations_of
from misstep.planning.variation.rewriting.clauses import appointments_in, phrased, tell_time
from misstep.planning.variation.rewriting.restructuring import parts_of, put_together
from misstep.planning.variation.rewriting.retelling import left_over, mention
from misstep.planning.variation.shapes import has_any, shapes_of, told_order
from misstep.planning.variation.words import Choosing, Keeping, Worded, said_in, saying


def without_families(anatomy: Anatomy, families: Collection[str], choosing: Choosing) -> Anatomy:
    """The case without the statements of these families; actions left without a statement are mentioned.

    Without choices a budget is pointless, so it is removed with them.
    """
    families = {*families, "budget"} if "choice" in families else families
    told = [each for each in said_in(anatomy) if not _is_of(each, anatomy, families)]
    changed = saying(anatomy, [_untimed(each, choosing) for each in told] if "time" in families else told)
    if "dynamic" in families:
        world = msgspec.structs.replace(anatomy.world, failures={}, retries=0)
        changed = msgspec.structs.replace(changed, announced=(), world=world)
    return mention_left_over(changed, choosing)


def mention_left_over(anatomy: Anatomy, choosing: Choosing) -> Anatomy:
    """The case with a sentence for actions that no other mentions, in a world that fits it."""
    fitting = msgspec.structs.replace(anatomy, world=fitting_world(anatomy.world, demands_of(anatomy)))
    rest = left_over(fitting.paragraph, fitting)
    if not rest:
        return fitting
    sentence = mention(choosing.dice.shuffled(rest), is_about_order(fitting))
    return saying(fitting, [*said_in(fitting), Worded(sentence, draw_words(sentence, choosing))])


def _is_of(said: Worded, anatomy: Anatomy, families: Collection[str]) -> bool:
    """Whether a sentence is a remark of one of the families."""
    if isinstance(said.sentence.parts[0], Clause):
        return False
    ids = [action.id for action in anatomy.actions]
    return any([family_of(demand) in families for demand in constraints_of(said.sentence, ids, 0)])


def _untimed(said: Worded, choosing: Choosing) -> Worded:
    parts = [_untimed_part(part, words, choosing) for part, words in parts_of(said)]
    return put_together(parts, said)


def _untimed_part(part: SubSentence, words: Drawn, choosing: Choosing) -> tuple[SubSentence, Drawn]:
    if not isinstance(part, Clause):
        return part, words
    clause = without_times(part)
    return clause, msgspec.structs.replace(phrased(part, words), clause=clause).words(choosing)


DRAWN = 12  # orders drawn, of which the most similar one is used
MOST_COUNTED = 10  # actions; counting the orders of larger problems takes too long


def reshaped(anatomy: Anatomy, avoid: Collection[str], choosing: Choosing) -> Anatomy:
    """The case with another order, in as many of its phrases as fit.

    It has as many relations as the original, about the same chance level and the same shapes except those to
    be avoided, as far as possible. It is not guaranteed to be solvable with the other demands.
    """
    order = told_order(anatomy.paragraph, len(anatomy.actions))
    bound, free = _bound(anatomy), _free(anatomy)
    others = [_draw(order, bound, free, avoid, choosing.dice) for _ in range(DRAWN)]
    target = min(others, key=lambda other: _difference(order, other, avoid))
    return _tell(anatomy, target, choosing)


def _bound(anatomy: Anatomy) -> Order:
    """The order required by anything other than ordering sentences."""
    ids = [action.id for action in anatomy.actions]
    bound = Order(len(ids))
    for constraint in demands_of(anatomy):
        pairs = relations_of(constraint)
        match constraint:
            case Before(first, then):
                pairs = [(first, then)] if constraint.announced else []
            case Place(action, "first"):
                pairs = [(action, other) for other in ids if other != action]
            case Place(action):
                pairs = [(other, action) for other in ids if other != action]
        for first, then in pairs:
            bound.add(ids.index(first), ids.index(then))
    return bound


def _free(anatomy: Anatomy) -> list[int]:
    """The actions that may be mentioned freely: a stand-in follows what is said of its action."""
    parts = [sentence.parts[0] for sentence in anatomy.paragraph]
    standing_in = [part.by for part in parts if isinstance(part, Replacing)]
    return [action for action in range(len(anatomy.actions)) if action not in standing_in]


def _draw(order: Order, bound: Order, free: Sequence[int], avoid: Collection[str], dice: Dice) -> Order:
    """An order with about as many relations that lacks the shapes and includes what is required anyway."""
    wanted = _count(order)
    drawn, whole = Order(order.size), _copy(bound)
    for first, then in dice.shuffled([(i, j) for i in free for j in free if i != j]):
        if whole.implies(first, then) or whole.implies(then, first):
            continue
        longer = _copy(drawn)
        longer.add(first, then)
        if has_any(longer, avoid):
            continue
        drawn = longer
        whole.add(first, then)
        if _count(drawn) >= wanted:
            break
    return drawn


def _difference(order: Order, other: Order, avoid: Collection[str]) -> float:
    """How much another order differs from the original; lower is better for comparison."""
    missing = len(shapes_of(order).difference(avoid) - shapes_of(other))
    alone = max(0, _alone(other) - _alone(order))
    chance = 0.0
    if order.size <= MOST_COUNTED:
        chance = abs(log2(count_orders(tuple(order.before)) / count_orders(tuple(other.before))))
    return 2 * missing + alone + chance / 2 + abs(_count(order) - _count(other)) / 4


def _alone(order: Order) -> int:
    """How many actions are unrelated to all others."""
    return sum([not before | after for before, after in zip(order.before, order.after, strict=True)])


def _count(order: Order) -> int:
    return sum([mask.bit_count() for mask in order.after])


def _copy(order: Order) -> Order:
    copy = Order(order.size)
    copy.after, copy.before = order.after[:], order.before[:]
    return copy


def _tell(anatomy: Anatomy, order: Order, choosing: Choosing) -> Anatomy:
    told = said_in(anatomy)
    kept = [each for each in told if not isinstance(each.sentence.parts[0], Clause | Free | Duty)]
    dropped = [each for each in told if each not in kept]
    draft = draft_for_order(order, Recipe(), choosing.dice)
    sentences = [said for said in draft.paragraph if not isinstance(said.parts[0], Free)]
    for appointment in appointments_in([each.sentence for each in dropped]):
        sentences = tell_time(appointment, sentences, choosing.dice)
    keeping = Keeping([word for each in dropped for word in each.words], choosing)
    fresh = [Worded(sentence, draw_words(sentence, keeping)) for sentence in sentences]
    return mention_left_over(saying(anatomy, choosing.dice.shuffled([*fresh, *kept])), choosing)
