"""Other sentences for what a paragraph demands, and sentences ordered so that the text follows a plan."""

from collections.abc import Iterator, Sequence
from itertools import product

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.clarity import is_clear, joined
from misstep.planning.language.semantics import Relation, relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    NEIGHBOUR_FORMS,
    OPPOSITE,
    Alternative,
    Clause,
    Conditional,
    Duty,
    Form,
    Free,
    Group,
    Neighbours,
    Paragraph,
    Remark,
    Sentence,
    SubSentence,
    Timed,
)
from misstep.planning.plans.order import Order
from misstep.planning.synthesis.paragraphs import JOIN_RATE, MOST_PARTS, Recipe, draft_for_order
from misstep.planning.variation.anatomy import Anatomy, is_about_order, spoken_of
from misstep.planning.variation.phrasing import Drawn, draw_words, options_of
from misstep.planning.variation.positions import mentions
from misstep.planning.variation.rewriting.clauses import appointments_in, phrased, tell_time, turned
from misstep.planning.variation.rewriting.restructuring import parts_of, put_together
from misstep.planning.variation.words import Choosing, Keeping, Worded


def arranged(said: Sequence[Worded], pairs: Sequence[Relation], choosing: Choosing) -> list[Worded]:
    """The sentences arranged so that of two related actions the first is mentioned first.

    They are reordered and reversed as far as needed. If that is not enough, a sentence that demands nothing
    mentions an action beforehand. The relations must not contradict each other.
    """
    waiting, told, mentioned = list(said), list[Worded](), set[int]()
    while waiting:
        number, way = _next(waiting, pairs, mentioned, choosing)
        if way is None:
            way = _mention(_free(waiting, pairs, mentioned), choosing)
        else:
            del waiting[number]
        told.append(way)
        mentioned.update(mentions(way.sentence, way.words))
    return told


def _next(
    waiting: Sequence[Worded], pairs: Sequence[Relation], mentioned: set[int], choosing: Choosing
) -> tuple[int, Worded | None]:
    """The first sentence that may come now, in the first variant that may."""
    for number, each in enumerate(waiting):
        for way in _ways(each, choosing):
            if _may_come(way, pairs, mentioned):
                return number, way
    return -1, None


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


def _mention(action: int, choosing: Choosing) -> Worded:
    sentence = Sentence((Duty((action,)),))
    return Worded(sentence, draw_words(sentence, choosing))


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
        swapped = msgspec.structs.replace(
            part, direction=OPPOSITE[part.direction], subject=part.object, object=part.subject
        )
        yield swapped, draw_words(Sentence((swapped,)), Keeping(words, choosing))
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
    """Remarks about anything but order and times, without mere mentions."""
    parts = [part for sentence in paragraph for part in sentence.parts]
    return [part for part in parts if not isinstance(part, Clause | Free | Timed | Duty)]


def left_over(sentences: Sequence[Sentence], anatomy: Anatomy) -> list[int]:
    """The actions that none of the sentences mentions."""
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
        clause = _plain_clause(first, then, dice.pick(FORMS), dice)
        if parts and len(parts[-1]) < MOST_PARTS and dice.chance(JOIN_RATE):
            parts[-1].append(clause)
        else:
            parts.append([clause])
    return [joined(clauses, dice) for clauses in parts]


def _plain_clause(first: int, then: int, form: Form, dice: Dice) -> Clause:
    """One action before another, stated from either end."""
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
