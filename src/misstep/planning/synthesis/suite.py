"""Suites of cases: from a seed and a number to a whole, identified case."""

from collections.abc import Iterable
from functools import cache
from math import factorial

import msgspec

from misstep.core.case import CASE_VERSION, Action, Before, Case
from misstep.core.dice import Dice, case_seed
from misstep.errors import UsageError, did_you_mean
from misstep.planning.language.rendering import render
from misstep.planning.language.requests import describe, load_requests, tool_name, write_request
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import skeleton
from misstep.planning.language.topics import Topic, load_topics
from misstep.planning.plans.order import count_orders, first_available
from misstep.planning.synthesis.paragraphs import (
    ACTIONS_PER_SENTENCE,
    Draft,
    Recipe,
    draft_for_order,
    draft_paragraph,
)
from misstep.planning.synthesis.posets import MOST_ELEMENTS, Closure, relabelled, unlabelled_orders

MOST_ACTIONS = 20  # activities in a topic

_IDS = [f"a{number}" for number in range(1, MOST_ACTIONS + 1)]


class Suite(msgspec.Struct, frozen=True):
    """Which cases to make: their seed, sizes, topics (none: all), wording and recipe."""

    seed: int
    low: int
    high: int
    topics: tuple[str, ...] = ()
    request: str = "role-play"
    exhaustive: bool = False
    recipe: Recipe = Recipe()

    def validate(self) -> None:
        """Raise a `UsageError` for what can't be synthesised."""
        if self.low > self.high:
            raise UsageError(
                f"actions {self.low}-{self.high} is an empty range", f"write {self.high}-{self.low}"
            )
        most = MOST_ELEMENTS if self.exhaustive else MOST_ACTIONS
        if self.low < 2 or self.high > most:
            kind = "an exhaustive suite" if self.exhaustive else "a problem"
            raise UsageError(
                f"actions {self.low}-{self.high} is out of range", f"{kind} has between 2 and {most} actions"
            )
        if self.exhaustive and self.recipe.sentences:
            raise UsageError("an exhaustive suite needs as many sentences as it takes", "leave sentences out")
        room = self.recipe.sentences * ACTIONS_PER_SENTENCE
        if room and self.high > room:
            raise UsageError(
                f"{self.high} actions are too many for sentences = {self.recipe.sentences}",
                f"a sentence is sure to hold {ACTIONS_PER_SENTENCE} new actions: allow more sentences",
            )
        _check_names(self.topics, load_topics(), "topic")
        _check_names((self.request,), load_requests().templates, "request template")

    def orders(self) -> int:
        """How many different orders an exhaustive suite has to cover."""
        return len(_all_orders(self.low, self.high))


def make_case(suite: Suite, index: int) -> Case:
    """The case number `index` of a suite; it depends on nothing but the two."""
    seed = case_seed(suite.seed, index)
    dice = Dice(seed)
    draft = _draft(suite, index, dice)
    topic = load_topics()[dice.pick(suite.topics or _topic_names())]
    return _compose(suite, seed, topic, draft, dice)


def _draft(suite: Suite, index: int, dice: Dice) -> Draft:
    if suite.exhaustive:
        orders = _all_orders(suite.low, suite.high)
        closure = orders[index % len(orders)]
        return draft_for_order(relabelled(closure, dice.shuffled(range(len(closure)))), suite.recipe, dice)
    return draft_paragraph(suite.low + dice.below(suite.high - suite.low + 1), suite.recipe, dice)


def _compose(suite: Suite, seed: int, topic: Topic, draft: Draft, dice: Dice) -> Case:
    size = draft.order.size
    names = dice.sample(topic.activities, size)
    sentences = render(draft.paragraph, names, dice)
    ids = _IDS[:size]
    return Case(
        version=CASE_VERSION,
        id="",
        seed=seed,
        topic=topic.name,
        query=write_request(suite.request, topic, sentences),
        actions=tuple([_action(i, name) for i, name in zip(ids, names, strict=True)]),
        constraints=tuple(
            [
                Before(ids[first], ids[then], number)
                for number, sentence in enumerate(draft.paragraph)
                for first, then in relations(sentence)
            ]
        ),
        witness=tuple([ids[i] for i in first_available(draft.order.before)]),
        chance=count_orders(tuple(draft.order.before)) / factorial(size),
        skeleton=skeleton(draft.paragraph),
        sentences=sentences,
        redundant=draft.redundant,
    ).identified()


@cache  # topics offer a thousand names
def _action(action_id: str, name: str) -> Action:
    return Action(action_id, name, tool_name(name), describe(name))


@cache
def _all_orders(low: int, high: int) -> tuple[Closure, ...]:
    return tuple(closure for size in range(low, high + 1) for closure in unlabelled_orders(size))


@cache
def _topic_names() -> tuple[str, ...]:
    return tuple(load_topics())


def _check_names(given: tuple[str, ...], known: Iterable[str], kind: str) -> None:
    for name in given:
        if name not in known:
            raise UsageError(
                f"unknown {kind} '{name}'", f"known: {', '.join(known)}", did_you_mean(name, known)
            )
