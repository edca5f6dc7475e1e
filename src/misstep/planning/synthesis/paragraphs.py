"""Generates planning paragraphs with PDoctor's Algorithm 1, and lists all partial orders of a size.

Sentences are drawn one by one and kept only if all constraints together can still be met. The check is a
bitset look-up, so it is made for every relation as it is drawn, and nothing has to be discarded.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, product

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.clarity import OBJECT_LAST, Pronouns, joined, most_actions, spoken_order
from misstep.planning.language.parts import Side
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    OPPOSITE,
    RELATIVE_FORMS,
    Clause,
    Direction,
    Free,
    Group,
    Paragraph,
    Relative,
    Sentence,
    SubSentence,
)
from misstep.planning.plans.order import Order, bits

MOST_ELEMENTS = 7  # 2,045 orders; eight elements have 16,999

Closure = tuple[int, ...]
"""For each element the mask of those after it."""


@cache
def unlabelled_orders(size: int) -> tuple[Closure, ...]:
    """The partial orders on `size` elements up to isomorphism, in a fixed sequence.

    Each is made from one on `size - 1` elements by adding an element above a down-closed set.
    """
    if size == 0:
        return ((),)
    found: dict[Closure, Closure] = {}
    for smaller in unlabelled_orders(size - 1):
        for below in _down_sets(smaller):
            grown = (*(mask | (below >> i & 1) << size - 1 for i, mask in enumerate(smaller)), 0)
            found.setdefault(_canonical(grown), grown)
    return tuple(found[key] for key in sorted(found))


def relabelled(closure: Closure, labels: list[int]) -> Order:
    """The same order with element `i` called `labels[i]`."""
    pairs = [(labels[i], labels[j]) for i, mask in enumerate(closure) for j in bits(mask)]
    return Order(len(closure), pairs)


def _down_sets(closure: Closure) -> Iterator[int]:
    before = [sum(1 << j for j, mask in enumerate(closure) if mask >> i & 1) for i in range(len(closure))]
    for chosen in range(1 << len(closure)):
        if all(not before[i] & ~chosen for i in bits(chosen)):
            yield chosen


def _canonical(closure: Closure) -> Closure:
    """The least relabelling among those that sort elements by their colours."""
    size = len(closure)
    colours = _colours(closure)
    classes: dict[object, list[int]] = {}
    for i in sorted(range(size), key=lambda i: colours[i]):
        classes.setdefault(colours[i], []).append(i)
    candidates = product(*(permutations(members) for members in classes.values()))
    return min(_relabel(closure, [i for part in candidate for i in part]) for candidate in candidates)


def _colours(closure: Closure) -> list[int]:
    """A number for each element, equal only if its relations look alike recursively."""
    size = len(closure)
    colours = [0] * size
    for _ in range(size):
        seen = [
            (
                colours[i],
                sorted(colours[j] for j in range(size) if closure[i] >> j & 1),
                sorted(colours[j] for j in range(size) if closure[j] >> i & 1),
            )
            for i in range(size)
        ]
        ranks = sorted(seen)
        colours = [ranks.index(look) for look in seen]
    return colours


def _relabel(closure: Closure, sequence: list[int]) -> Closure:
    place = {element: i for i, element in enumerate(sequence)}
    return tuple(sum(1 << place[j] for j in bits(closure[element])) for element in sequence)


MOST_PARTS = 3  # sub-sentences in a sentence; more is a run-on
JOIN_RATE = 0.3
GROUP_RATE = 0.25
ACTIONS_PER_SENTENCE = 2 * MOST_PARTS  # actions that a sentence can always accommodate


class Recipe(msgspec.Struct, frozen=True):
    """What paragraphs should be like.

    `sentences` is the maximum (0: one fewer than there are actions), `iterations` how often a sentence is
    tried, `redundancy` the rate of sentences that repeat what is implied, `group` the most actions in one
    place of a clause, `relative` the rate of relative clauses. `attempts` is the number of attempts in a
    timed problem, `words` the side of the lexicon that findings and values are taken from, `own_tools`
    whether actions are calls of the user's own tools.
    """

    sentences: int = 0
    iterations: int = 50
    redundancy: float = 0.0
    group: int = 3
    relative: float = 0.2
    attempts: int = 3
    words: Side | None = None
    own_tools: bool = False


class ParagraphDraft(msgspec.Struct, frozen=True):
    """A paragraph, the order it demands, and which of its sentences are deliberately redundant.

    `unmentioned` masks the actions that it does not mention.
    """

    paragraph: Paragraph
    order: Order
    redundant: tuple[int, ...]
    unmentioned: int = 0


def draft_paragraph(size: int, recipe: Recipe, dice: Dice) -> ParagraphDraft:
    """A satisfiable paragraph that mentions each of `size` actions."""
    most = recipe.sentences or max(1, size - 1)
    least = -(-size // ACTIONS_PER_SENTENCE)
    count = least + dice.below(most - least + 1)
    writer = _Writer(Order(size), recipe, dice)
    for left in range(count, 0, -1):
        if not writer.add_sentence(newcomers=-(-writer.unmentioned.bit_count() // left)):
            break
        room = len(writer.sentences) + left <= most
        if room and recipe.redundancy and dice.chance(recipe.redundancy):
            writer.add_redundant_sentence()
    return writer.draft()


def draft_for_order(target: Order, recipe: Recipe, dice: Dice, apart: Sequence[int] = ()) -> ParagraphDraft:
    """A paragraph that demands exactly `target`; unordered actions get a neutral sentence.

    `apart` is as in `continue_draft`; actions it keeps apart may be ordered only through others.
    """
    writer = _Writer(Order(target.size), recipe, dice, target, apart)
    while writer.order.after != target.after:
        writer.add_sentence(newcomers=0)
        if recipe.redundancy and dice.chance(recipe.redundancy):
            writer.add_redundant_sentence()
    free = [i for i in range(target.size) if not target.after[i] | target.before[i]]
    if free:
        writer.add_free_sentence(dice.shuffled(free))
    return writer.draft()


def continue_draft(
    order: Order, unmentioned: int, recipe: Recipe, dice: Dice, apart: Sequence[int] = ()
) -> ParagraphDraft:
    """Sentences that extend a problem: they are consistent with an order, refine it, and mention the rest.

    Actions that can't be mentioned, because nothing new can be said about them, stay unmentioned. If actions
    are optional, `apart` masks for each action those that are never executed together with it: no clause
    names both.
    """
    writer = _Writer(order, recipe, dice, apart=apart)
    writer.unmentioned = unmentioned
    count = max(1, -(-unmentioned.bit_count() // ACTIONS_PER_SENTENCE))
    count += dice.below(max(1, recipe.sentences - count + 1))
    for left in range(count, 0, -1):
        if not writer.add_sentence(newcomers=-(-writer.unmentioned.bit_count() // left)):
            break
        if len(writer.sentences) + left <= recipe.sentences and dice.chance(recipe.redundancy):
            writer.add_redundant_sentence()
    return writer.draft()


class _Writer:
    """A paragraph under construction."""

    def __init__(
        self, order: Order, recipe: Recipe, dice: Dice, target: Order | None = None, apart: Sequence[int] = ()
    ) -> None:
        self.order = order
        self._apart = apart
        self.unmentioned = (1 << order.size) - 1
        self._recipe = recipe
        self._dice = dice
        self._target = target
        self.sentences: list[Sentence] = []
        self._redundant: list[int] = []

    def draft(self) -> ParagraphDraft:
        return ParagraphDraft(tuple(self.sentences), self.order, tuple(self._redundant), self.unmentioned)

    def add_sentence(self, newcomers: int) -> bool:
        """Add a sentence that introduces at least `newcomers` actions; False if nothing is left to say."""
        goal = self.unmentioned.bit_count() - newcomers
        parts: list[SubSentence] = []
        while len(parts) < MOST_PARTS and (
            not parts or self.unmentioned.bit_count() > goal or self._dice.chance(JOIN_RATE)
        ):
            pair = self._find_pair(self.unmentioned.bit_count() - goal)
            if pair is None:
                break
            parts.append(self._write_clause(*pair))
        if parts:
            self.sentences.append(joined(parts, self._dice))
        return bool(parts)

    def add_redundant_sentence(self) -> None:
        """Repeat in other words something that already follows."""
        implied = [(i, j) for i in range(self.order.size) for j in bits(self.order.after[i])]
        if self._apart:  # what follows through an optional action need not follow
            implied = [pair for sentence in self.sentences for pair in relations(sentence)]
        pair, form, direction = self._dice.pick(implied), self._dice.pick(FORMS), self._dice.pick(DIRECTIONS)
        subject, object_ = pair if direction == "<" else pair[::-1]
        self._redundant.append(len(self.sentences))
        self.sentences.append(Sentence((Clause(form, direction, Group((subject,)), Group((object_,))),)))

    def add_free_sentence(self, actions: list[int]) -> None:
        place = self._dice.below(len(self.sentences) + 1)
        self.sentences.insert(place, Sentence((Free(Group(tuple(actions))),)))
        self._redundant = [index + (index >= place) for index in self._redundant]
        self.unmentioned &= ~sum(1 << action for action in actions)

    def _find_pair(self, newcomers: int) -> tuple[int, int] | None:
        """Two unrelated actions, the first of which may come before the second."""
        if self._target:
            missing = [
                (i, j)
                for i in range(self.order.size)
                for j in bits(self._target.after[i] & ~self.order.after[i] & ~self._excluded(i))
            ]
            return self._dice.pick(missing) if missing else None
        if self.order.is_total():
            return None
        fresh, everyone = bits(self.unmentioned), range(self.order.size)
        for _ in range(self._recipe.iterations):
            one = self._dice.pick(fresh or everyone)
            others = fresh if newcomers > 1 and len(fresh) > 1 else everyone
            other = self._dice.pick([i for i in others if i != one])
            # An unmentioned action is unrelated to everything, so a newcomer is never refused.
            related = self.order.after[one] | self.order.before[one]
            if not (related | self._excluded(one)) >> other & 1:
                return (one, other) if self._dice.chance(0.5) else (other, one)
        return None

    def _excluded(self, action: int) -> int:
        return self._apart[action] if self._apart else 0

    def _write_clause(self, first: int, then: int) -> Clause:
        """A clause that says `first` before `then`, and possibly more."""
        form, direction = self._dice.pick(FORMS), self._dice.pick(DIRECTIONS)
        subject, object_ = ([first], [then]) if direction == "<" else ([then], [first])
        self._relate(first, "<", [then])
        spare = self._dice.shuffled([i for i in range(self.order.size) if i not in (first, then)])
        self._leave_out(spare, first, then)
        most_subjects, most_objects = most_actions(form, direction)
        self._widen(subject, direction, object_, spare, most_subjects)
        self._widen(object_, OPPOSITE[direction], subject, spare, most_objects)
        pronouns = Pronouns(form)
        relatives = {
            id(group): self._relative(group, spare, pronouns, at_end=group is object_ and form in OBJECT_LAST)
            for group in spoken_order(form, subject, object_)
        }
        return Clause(
            form,
            direction,
            Group(tuple(subject), relatives[id(subject)]),
            Group(tuple(object_), relatives[id(object_)]),
        )

    def _widen(
        self, group: list[int], direction: Direction, others: list[int], spare: list[int], most: int
    ) -> None:
        """Add more actions to a group that is in `direction` to `others`."""
        while len(group) < most and len(group) < self._recipe.group and self._dice.chance(GROUP_RATE):
            newcomer = self._find(spare, direction, others)
            if newcomer is None:
                return
            group.append(newcomer)
            self._relate(newcomer, direction, others)

    def _relative(
        self, group: list[int], spare: list[int], pronouns: Pronouns, at_end: bool
    ) -> Relative | None:
        """A relative clause for a group; at the end of a sub-sentence its object may have another."""
        clear = pronouns.name(group)
        if not clear or not spare or not self._dice.chance(self._recipe.relative**pronouns.rarity):
            return None
        form, direction = self._dice.pick(RELATIVE_FORMS), self._dice.pick(DIRECTIONS)
        object_ = self._find(spare, OPPOSITE[direction], group)
        if object_ is None:
            return None
        pronouns.rarity += 1
        self._relate(object_, OPPOSITE[direction], group)
        objects = [object_]
        self._widen(objects, OPPOSITE[direction], group, spare, pronouns.most)
        inner = None
        if at_end and len(objects) > 1:
            inner = self._relative(objects, spare, pronouns, at_end)
        else:
            pronouns.name(objects)
        return Relative(form, direction, Group(tuple(objects), inner))

    def _relate(self, action: int, direction: Direction, others: list[int]) -> None:
        """Add what a clause says of one action to the order."""
        self.unmentioned &= ~(1 << action)
        for other in others:
            self.unmentioned &= ~(1 << other)
            self.order.add(*((action, other) if direction == "<" else (other, action)))

    def _leave_out(self, spare: list[int], *named: int) -> None:
        """Exclude actions that are never executed together with these."""
        if self._apart:
            masks = [self._apart[action] for action in named]
            spare[:] = [i for i in spare if not any(mask >> i & 1 for mask in masks)]

    def _find(self, spare: list[int], direction: Direction, others: list[int]) -> int | None:
        """Take an action out of `spare` that may be in `direction` to all others, if that is new."""
        mask = sum([1 << other for other in others])
        for place, action in enumerate(spare):
            if self._target:
                allowed = self._target.stands(action, direction, mask)
            else:
                allowed = not (self.order.before if direction == "<" else self.order.after)[action] & mask
            if allowed and not self.order.stands(action, direction, mask):
                del spare[place]
                self._leave_out(spare, action)
                return action
        return None
