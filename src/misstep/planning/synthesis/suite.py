"""Suites of cases: from a seed and a number to a complete case with its id."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from misstep.core.agent import Tool
from misstep.core.case import MOST_ACTIONS, Action, Case
from misstep.core.constraint import FAMILIES, Family
from misstep.core.rng import Dice, case_seed, derive_seed
from misstep.errors import UsageError, did_you_mean
from misstep.planning.difficulty import DifficultyBound, baselines, measure
from misstep.planning.language.lexicon import Topic, load_topics
from misstep.planning.language.parts import LEAST_ACTIONS, LanguagePart, structure_of, topics_of
from misstep.planning.language.requests import load_requests
from misstep.planning.synthesis import paragraphs
from misstep.planning.synthesis.composition import Setting, action_for, compose_order, compose_problem
from misstep.planning.synthesis.plot import IDS
from misstep.planning.synthesis.problems import draft_problem, least_actions
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER
from misstep.schemas.examples import make_up

MOST_MIXED = 10  # with more than ordering constraints, because every order has to be enumerated
TRIES = 1000  # for a case of the required difficulty
HARD = 0.3  # the target chance level of a problem of one family other than order
DRAFTS = 8  # for such a problem, in which the order of the text should be wrong as well
AS_DRAWN = 0.1  # the share that is used as drawn; several families together are hard enough
ASSISTANT = Topic("assistant", "an assistant", ())
BOUND_TO_OURS: tuple[Family, ...] = ("time", "data")  # they need tools with matching parameters


class Suite(msgspec.Struct, frozen=True):
    """Which cases to make: their seed, sizes, families, topics (empty: all), request template and recipe.

    `distractors` is the number of tools that no action needs. `tools` are the user's own, if actions use
    them. `difficulty` is what every case has to meet, `part` where its topic, its phrases and its structure
    come from.
    """

    seed: int
    low: int
    high: int
    topics: tuple[str, ...] = ()
    request: str = "role-play"
    exhaustive: bool = False
    recipe: paragraphs.Recipe = paragraphs.Recipe()
    families: tuple[Family, ...] = ("order",)
    distractors: int = 0
    tools: tuple[Tool, ...] = ()
    difficulty: tuple[DifficultyBound, ...] = ()
    part: LanguagePart = LanguagePart()

    @property
    def is_plain(self) -> bool:
        """Whether the cases have ordering constraints only, on generated tools."""
        return self.families == ("order",) and not self.tools

    def validate(self) -> None:
        """Raise `UsageError` for what can't be generated."""
        if not self.families:
            raise UsageError("no family was named", f"name one or more of {', '.join(FAMILIES)}")
        if self.exhaustive:
            self._check_exhaustive()
        if self.tools:
            self._check_tools()
        self._check_sizes()
        self._check_sentences()
        _check_names(self.topics, load_topics(), "topic")
        self._check_part()
        _check_names((self.request,), load_requests().templates, "request template")

    def orders(self) -> int:
        """How many different orders an exhaustive suite has to cover."""
        return len(_all_orders(self.low, self.high))

    @property
    def bounds(self) -> tuple[int, int]:
        return least_actions(self.families), self._most_actions()[0]

    def _check_sizes(self) -> None:
        if self.low > self.high:
            raise UsageError(
                f"actions {self.low}-{self.high} is an empty range", f"write {self.high}-{self.low}"
            )
        kind, (least, most) = self._most_actions()[1], self.bounds
        if self.low < least or self.high > most:
            hint = f"{kind} has between {least} and {most} actions"
            raise UsageError(f"actions {self.low}-{self.high} is out of range", hint)

    def _most_actions(self) -> tuple[int, str]:
        """The maximum number of actions, and what sets it."""
        if self.exhaustive and self.distractors <= MOST_ACTIONS - paragraphs.MOST_ELEMENTS:
            return paragraphs.MOST_ELEMENTS, "an exhaustive suite"
        listed = ", ".join(self.families)
        most, kind = (MOST_ACTIONS, "a problem") if self.is_plain else (MOST_MIXED, f"a problem of {listed}")
        if self.tools and len(self.tools) - self.distractors < most:
            return len(self.tools) - self.distractors, f"a problem on these {len(self.tools)} tools"
        if MOST_ACTIONS - self.distractors < most:
            return MOST_ACTIONS - self.distractors, f"a problem with {self.distractors} distractors"
        return most, kind

    def _check_sentences(self) -> None:
        sentences = self.recipe.sentences
        room = sentences * paragraphs.ACTIONS_PER_SENTENCE
        if room and self.high > room:
            raise UsageError(
                f"{self.high} actions are too many for sentences = {sentences}",
                f"a sentence has room for {paragraphs.ACTIONS_PER_SENTENCE} actions: raise --sentences",
            )
        least = len(self.families) + ("budget" in self.families and "choice" not in self.families)
        if sentences and sentences < least:
            raise UsageError(
                f"sentences = {sentences} is too few for {', '.join(self.families)}",
                f"they need at least {least}: raise --sentences",
            )

    def _check_part(self) -> None:
        if self.part.structures == "unseen":
            if "order" not in self.families or self.low < LEAST_ACTIONS:
                raise UsageError(
                    "these problems have no held-out structures",
                    f"use --family order and at least {LEAST_ACTIONS} actions",
                )
            if self.exhaustive:
                raise UsageError(
                    "some of the orders can't be stated with held-out sentences",
                    "omit --exhaustive, or structures from --part",
                )
        side = self.part.topics
        if self.tools and side == "unseen":
            raise UsageError("your own tools have no topic", "omit topics from --part")
        offered = topics_of(side) if side else self.topics
        for topic in self.topics:
            if topic not in offered:
                other = "seen" if side == "unseen" else "unseen"
                raise UsageError(
                    f"topic {topic} is {other} in training, but part asks for {side} topics",
                    f"omit --topic, or use one of {', '.join(offered)}",
                )

    def _check_exhaustive(self) -> None:
        if self.families != ("order",) or self.tools or self.difficulty:
            raise UsageError(
                "--exhaustive covers orders only", "omit --family, --timed, --tools and --difficulty"
            )
        if self.recipe.sentences:
            raise UsageError("--exhaustive determines the number of sentences", "omit --sentences")

    def _check_tools(self) -> None:
        for family in BOUND_TO_OURS:
            if family in self.families:
                raise UsageError(
                    f"family {family} can't be combined with --tools",
                    "it needs tools with special parameters: omit --tools or the family",
                )
        if self.topics:
            raise UsageError("your own tools have no topic", "omit --topic")
        for tool in self.tools:
            if tool.name in (START_OVER, ASK_PRICE):
                raise UsageError(f"tool {tool.name} has a name that misstep reserves", "rename it")
            _make_up(tool, Dice(self.seed))


def make_case(suite: Suite, index: int) -> Case:
    """The case number `index` of a suite; it depends on nothing but the two."""
    first = seed = case_seed(suite.seed, index)
    for attempt in range(TRIES):
        case = _make(suite, index, seed)
        if _is_wanted(suite, case):
            return case
        seed = derive_seed(first, "again", attempt)
    if suite.difficulty:
        raise UsageError(
            f"none of {TRIES:,} cases meets the difficulty bounds",
            "relax the bounds, or use more actions or other families",
        )
    raise UsageError(
        f"none of {TRIES:,} cases has structures of the requested part",
        "use other actions or families, or another part",
    )


def _is_wanted(suite: Suite, case: Case) -> bool:
    structures = suite.part.structures
    if structures and structure_of(case.skeleton) != structures:
        return False
    if not suite.difficulty:
        return True
    difficulty = measure(case)
    return all(bound.admits(difficulty) for bound in suite.difficulty)


def _make(suite: Suite, index: int, seed: int) -> Case:
    dice = Dice(seed)
    if suite.is_plain:
        if suite.exhaustive:
            orders = _all_orders(suite.low, suite.high)
            closure = orders[index % len(orders)]
            order = paragraphs.relabelled(closure, dice.shuffled(range(len(closure))))
            draft = paragraphs.draft_for_order(order, suite.recipe, dice)
        else:
            draft = paragraphs.draft_paragraph(_size(suite, dice), suite.recipe, dice)
        return compose_order(seed, _setting(suite, draft.order.size, dice), draft, dice)
    size = _size(suite, dice)
    setting = _setting(suite, size, dice)
    tools = {tool.name: tool for tool in suite.tools}
    given = {
        number: arguments
        for number, action in enumerate(setting.actions)
        if tools and (arguments := _make_up(tools[action.tool], dice))
    }
    recipe = msgspec.structs.replace(suite.recipe, words=suite.part.words, own_tools=bool(tools))
    drafts = (
        compose_problem(seed, setting, draft_problem(size, suite.families, recipe, dice, given), dice)
        for _ in range(1 if len(suite.families) > 1 or dice.chance(AS_DRAWN) else DRAFTS)
    )
    return _hardest(drafts)


def _hardest(drafts: Iterable[Case]) -> Case:
    """The first draft that is hard enough, or else the hardest one."""
    best: tuple[float, float] | None = None
    for draft in drafts:
        ease = (max(draft.chance or 0.0, HARD), baselines(draft).text_order)
        if best is None or ease < best:
            best, case = ease, draft
        if best == (HARD, 0.0):
            break
    return case


def _make_up(tool: Tool, dice: Dice) -> dict[str, Any]:
    try:
        return make_up(tool.parameters, dice, tool.description)
    except UsageError as error:
        raise UsageError(f"tool {tool.name}: {error.message}", *error.hints) from error


def _size(suite: Suite, dice: Dice) -> int:
    return suite.low + dice.below(suite.high - suite.low + 1)


def _setting(suite: Suite, size: int, dice: Dice) -> Setting:
    ids, topic = [*IDS[:size], *(f"d{number}" for number in range(1, suite.distractors + 1))], ASSISTANT
    if suite.tools:
        actions = [
            Action(action_id, f"{tool.name} call", tool.name, tool.description, tool.parameters)
            for action_id, tool in zip(ids, dice.sample(suite.tools, len(ids)), strict=True)
        ]
    else:
        topic = load_topics()[dice.pick(suite.topics or topics_of(suite.part.topics))]
        named = zip(ids, dice.sample(topic.activities, len(ids)), strict=True)
        actions = [action_for(action_id, name, suite.is_plain) for action_id, name in named]
    return Setting(suite.request, topic, tuple(actions[:size]), tuple(actions[size:]), suite.part.words)


@cache
def _all_orders(low: int, high: int) -> tuple[paragraphs.Closure, ...]:
    return tuple(closure for size in range(low, high + 1) for closure in paragraphs.unlabelled_orders(size))


def _check_names(given: tuple[str, ...], known: Iterable[str], kind: str) -> None:
    for name in given:
        if name not in known:
            raise UsageError(
                f"unknown {kind} '{name}'", f"known: {', '.join(known)}", did_you_mean(name, known)
            )
