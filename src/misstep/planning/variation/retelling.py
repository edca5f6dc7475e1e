"""Other sentences for a case: for the same constraints, another order of about the same size, or arranged."""

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from math import log2

import msgspec

from misstep.core.constraint import Before, Place, family_of
from misstep.core.rng import Dice
from misstep.planning.language.clarity import is_clear, joined, without_times
from misstep.planning.language.semantics import Relation, constraints_of, relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    NEIGHBOUR_FORMS,
    OPPOSITE,
    Alternative,
    Clause,
    Conditional,
    Duty,
    Free,
    Group,
    Neighbours,
    Paragraph,
    Remark,
    Replacing,
    Sentence,
    SubSentence,
    Timed,
)
from misstep.planning.plans.order import Order, count_orders, loose_order, relations_of
from misstep.planning.synthesis.paragraphs import JOIN_RATE, MOST_PARTS, Recipe, draft_for_order
from misstep.planning.variation.anatomy import (
    Anatomy,
    Worded,
    demands_of,
    fitting_world,
    is_about_order,
    said_in,
    saying,
    spoken_of,
)
from misstep.planning.variation.phrasing import Choosing, Drawn, draw_words, keeping, options_of
from misstep.planning.variation.positions import mentions
from misstep.planning.variation.restructuring import (
    appointments_in,
    parts_of,
    phrased,
    put_together,
    tell_time,
    turned,
)
from misstep.planning.variation.shapes import has_any, shapes_of, told_order


def arranged(said: Sequence[Worded], pairs: Sequence[Relation], choosing: Choosing) -> list[Worded]:
    """The sentences arranged so that of two related actions the first is mentioned first.

    They are reordered and reversed as far as needed. If that is not enough, a sentence that demands nothing
    mentions an action beforehand. The relations must not contradict each other.
    """
    waiting, told, mentioned = list(said), list[Worded](), set[int]()
    while waiting:
        tried = ((number, way) for number, each in enumerate(waiting) for way in _ways(each, choosing))
        found = next(((number, way) for number, way in tried if _may_come(way, pairs, mentioned)), None)
        if found is None:
            sentence = mention([_free(waiting, pairs, mentioned)], free=False)
            way = Worded(sentence, draw_words(sentence, choosing.draw))
        else:
            number, way = found
            del waiting[number]
        told.append(way)
        mentioned.update(mentions(way.sentence, way.words))
    return told


def _may_come(said: Worded, pairs: Sequence[Relation], mentioned: set[int]) -> bool:
    known = set(mentioned)
    for action in mentions(said.sentence, said.words):
        if any([then == action and first not in known for first, then in pairs]) and action not in known:
            return False
        known.add(action)
    return True


def _free(waiting: Sequence[Worded], pairs: Sequence[Relation], mentioned: set[int]) -> int:
    """An unmentioned action all of whose predecessors have been mentioned."""
    left = [action for each in waiting for action in mentions(each.sentence, each.words)]
    left = [action for action in left if action not in mentioned]
    earlier = {action: [first for first, then in pairs if then == action] for action in left}
    return next(action for action in left if mentioned.issuperset(earlier[action]))


def _ways(said: Worded, choosing: Choosing) -> Iterator[Worded]:
    """The sentence as it is, then reversed in every way that keeps its forms."""
    yield said
    ways = [list(_part_ways(part, words, choosing)) for part, words in parts_of(said)]
    for chosen in product(*ways):
        yield put_together(chosen, said)


def _part_ways(part: SubSentence, words: Drawn, choosing: Choosing) -> Iterator[tuple[SubSentence, Drawn]]:
    yield part, words
    if isinstance(part, Clause):
        other = turned(phrased(part, words))
        if is_clear(other.clause):
            yield other.clause, other.words(choosing)
    elif isinstance(part, Neighbours):
        swapped = _swapped(part)
        yield swapped, draw_words(Sentence((swapped,)), keeping(words, choosing))
    else:
        yield from ((part, other) for other in _other_frames(part, words, choosing))


def _other_frames(part: SubSentence, words: Drawn, choosing: Choosing) -> Iterator[Drawn]:
    """The words with other frames, which may name actions in another order."""
    for number, options in enumerate(options_of(Sentence((part,)))):
        for option in options:
            if "{" in option.one and option != words[number] and not choosing.avoids(option):
                yield (*words[:number], option, *words[number + 1 :])


def retell(anatomy: Anatomy, dice: Dice) -> Paragraph:
    """A paragraph that demands the same of the same actions, and mentions every one of them."""
    paragraph, size = anatomy.paragraph, len(anatomy.actions)
    parts = [part for sentence in paragraph for part in sentence.parts]
    remarks = [part for part in parts if not isinstance(part, Clause | Free | Timed | Duty)]
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


def left_over(sentences: Sequence[Sentence], anatomy: Anatomy) -> list[int]:
    spoken = spoken_of(tuple(sentences))
    return [action for action in range(len(anatomy.actions)) if action not in spoken]


def mention(actions: Sequence[int], free: bool) -> Sentence:
    """A sentence for actions without any other statement.

    It is `free` if there are only ordering constraints: otherwise "at any time" would say too much.
    """
    return Sentence((Free(Group(tuple(actions))) if free else Duty(tuple(actions)),))


def _tell_order(
    pairs: Sequence[Relation], size: int, branches: Sequence[tuple[int, ...]], dice: Dice
) -> list[Sentence]:
    """Sentences for these relations; no clause contains two actions that exclude each other.

    Order is transitive through an action only if the action is executed: with optional ones in between, every
    relation is stated explicitly. The same applies if relations contradict each other or are about two
    actions that exclude each other, which is fine as long as not all of them are executed.
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
        form, direction = dice.pick(FORMS), dice.pick(DIRECTIONS)
        subject, object_ = (first, then) if direction == "<" else (then, first)
        clause = Clause(form, direction, Group((subject,)), Group((object_,)))
        if parts and len(parts[-1]) < MOST_PARTS and dice.chance(JOIN_RATE):
            parts[-1].append(clause)
        else:
            parts.append([clause])
    return [joined(clauses, dice) for clauses in parts]


def _resaid(remark: Remark, dice: Dice) -> Remark:
    """The remark in another form or from its other end, if it has one."""
    if not isinstance(remark, Neighbours):
        return remark
    both = (remark, _swapped(remark))
    ways = [msgspec.structs.replace(each, form=form) for each in both for form in NEIGHBOUR_FORMS]
    return dice.pick([way for way in ways if way != remark])


def _swapped(said: Neighbours) -> Neighbours:
    """The same, stated from its other end."""
    return Neighbours(said.form, OPPOSITE[said.direction], said.object, said.subject)


def _branches(remark: Remark) -> tuple[int, ...]:
    """The actions that become optional because of a remark."""
    match remark:
        case Alternative(options):
            return options
        case Conditional(_, _, then, None):
            return (then,)
        case Conditional(_, _, then, int(otherwise)):
            return (then, otherwise)
        case _:
            return ()


def without_families(anatomy: Anatomy, families: Collection[str], choosing: Choosing) -> Anatomy:
    """The case without the statements of these families; actions left without a statement are mentioned.

    Without choices a budget is pointless, so it is removed with them.
    """
    families = {*families, "budget"} if "choice" in families else families
    told = [each for each in said_in(anatomy) if not _is_of(each, anatomy, families)]
    if "time" in families:
        told = [put_together([_untimed(*said, choosing) for said in parts_of(each)], each) for each in told]
    changed = saying(anatomy, told)
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
    return saying(fitting, [*said_in(fitting), Worded(sentence, draw_words(sentence, choosing.draw))])


def _is_of(said: Worded, anatomy: Anatomy, families: Collection[str]) -> bool:
    demands = constraints_of(said.sentence, anatomy.ids, 0)
    is_remark = not isinstance(said.sentence.parts[0], Clause)
    return is_remark and any([family_of(demand) in families for demand in demands])


def _untimed(part: SubSentence, words: Drawn, choosing: Choosing) -> tuple[SubSentence, Drawn]:
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
    standing_in = [said.parts[0].by for said in anatomy.paragraph if isinstance(said.parts[0], Replacing)]
    # A stand-in follows what is said of its action.
    bound, free = _bound(anatomy), [i for i in range(order.size) if i not in standing_in]
    others = [_draw(order, bound, free, avoid, choosing.dice) for _ in range(DRAWN)]
    target = min(others, key=lambda other: _difference(order, other, avoid))
    return _tell(anatomy, target, choosing)


def _bound(anatomy: Anatomy) -> Order:
    """The order required by anything other than ordering sentences."""
    ids, found = anatomy.ids, list[tuple[str, str]]()
    for constraint in demands_of(anatomy):
        pairs = relations_of(constraint)
        match constraint:
            case Before(announced=""):
                pairs = []
            case Place(action, "first"):
                pairs = [(action, other) for other in ids if other != action]
            case Place(action):
                pairs = [(other, action) for other in ids if other != action]
        found += pairs
    return loose_order(len(ids), [(ids.index(first), ids.index(then)) for first, then in found])


def _draw(order: Order, bound: Order, free: Sequence[int], avoid: Collection[str], dice: Dice) -> Order:
    """An order with about as many relations that lacks the shapes and includes what is required anyway."""
    wanted = _count(order)
    drawn, whole = Order(order.size), bound.copy()
    for first, then in dice.shuffled([(i, j) for i in free for j in free if i != j]):
        if whole.implies(first, then) or whole.implies(then, first):
            continue
        longer = drawn.copy()
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
    return sum([not before | after for before, after in zip(order.before, order.after, strict=True)])


def _count(order: Order) -> int:
    return sum([mask.bit_count() for mask in order.after])


def _tell(anatomy: Anatomy, order: Order, choosing: Choosing) -> Anatomy:
    told = said_in(anatomy)
    kept = [each for each in told if not isinstance(each.sentence.parts[0], Clause | Free | Duty)]
    dropped = [each for each in told if each not in kept]
    draft = draft_for_order(order, Recipe(), choosing.dice)
    sentences = [said for said in draft.paragraph if not isinstance(said.parts[0], Free)]
    for appointment in appointments_in([each.sentence for each in dropped]):
        sentences = tell_time(appointment, sentences, choosing.dice)
    kept_words = keeping([word for each in dropped for word in each.words], choosing)
    fresh = [Worded(sentence, draw_words(sentence, kept_words)) for sentence in sentences]
    return mention_left_over(saying(anatomy, choosing.dice.shuffled([*fresh, *kept])), choosing)
