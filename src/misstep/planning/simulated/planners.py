"""Simulated planners: agents whose every fault is known, to measure the detectors against.

They get what any agent gets, the request and the tools, and understand it through the independent reader.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta

from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.dice import Dice
from misstep.errors import UsageError, did_you_mean
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.reader import Reading, Relation, read
from misstep.planning.language.topics import load_topics
from misstep.planning.plans.order import Order, bits, first_available

FORMS = (
    "verb",
    "preposition",
    "fronted preposition",
    "conjunction",
    "fronted conjunction",
    "relative verb",
    "relative preposition",
)

Share = Annotated[float, Meta(ge=0, le=1)]


class Understanding:
    """What a planner makes of a request; it reads only if it has to, and never guesses."""

    def __init__(self, request: str, activities: tuple[str, ...]) -> None:
        self._request = request
        self.activities = activities

    @cached_property
    def sentences(self) -> list[Reading]:
        """The line of the request that speaks of the order; other lines are not about it."""
        for line in self._request.splitlines():
            sentences = [f"{sentence}." for sentence in line.removesuffix(".").split(". ")]
            readings = [read(sentence, self.activities) for sentence in sentences]
            if all(readings):
                return [reading[0] for reading in readings]
        raise ValueError("a simulated planner reads only what misstep has written")

    @property
    def relations(self) -> list[Relation]:
        return [relation for sentence in self.sentences for relation in sentence.relations]

    @property
    def order(self) -> Order:
        numbers = {activity: number for number, activity in enumerate(self.activities)}
        return Order(len(numbers), [(numbers[r.first], numbers[r.then]) for r in self.relations])


class Planner(Protocol):
    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        """The activities in the order in which they are to be carried out."""
        ...


class SimulatedAgent:
    """An agent that understands a request, makes one plan and carries it out."""

    def __init__(self, name: str, planner: Planner) -> None:
        self.name = name
        self._planner = planner

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        tools = {tool.name.replace("_", " "): tool.name for tool in toolbox.tools}
        understood = Understanding(assignment.request, tuple(tools))
        for activity in self._planner.plan(understood, Dice(assignment.seed)):
            toolbox.call(tools[activity], {})
        return Answer("All the tasks have been carried out.")


def simulated_agent(kind: str, options: Mapping[str, str]) -> SimulatedAgent:
    """The planner called `sim:KIND`, its parameters set from options."""
    planner = PLANNERS.get(kind)
    if planner is None:
        known = [f"sim:{name}" for name in PLANNERS]
        raise UsageError(
            f"unknown agent 'sim:{kind}'",
            f"known agents: {', '.join(known)}",
            did_you_mean(f"sim:{kind}", known),
        )
    for key in options:
        known = [field.name for field in msgspec.structs.fields(planner)]
        if key not in known:
            hint = f"it takes {', '.join(known)}" if known else "it takes no parameters"
            raise UsageError(f"sim:{kind} has no parameter '{key}'", hint, did_you_mean(key, known))
    try:
        return SimulatedAgent(f"sim:{kind}", msgspec.convert(dict(options), planner, strict=False))
    except msgspec.ValidationError as error:
        raise UsageError(f"sim:{kind} can't be set up with {dict(options)}", str(error)) from error


def arrange(activities: Sequence[str], relations: Iterable[Relation]) -> list[str]:
    """The activities in an order that keeps the relations, where they clash the earlier ones."""
    numbers = {activity: number for number, activity in enumerate(activities)}
    order = Order(len(activities))
    for relation in relations:
        order.add(numbers[relation.first], numbers[relation.then])
    return [activities[i] for i in first_available(order.before)]


class Perfect(msgspec.Struct, frozen=True):
    """Never wrong."""

    def plan(self, understood: Understanding, _: Dice) -> Sequence[str]:
        return arrange(understood.activities, understood.relations)


class Random(msgspec.Struct, frozen=True):
    """Any order: what luck alone achieves."""

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        return dice.shuffled(understood.activities)


class Idle(msgspec.Struct, frozen=True):
    """Does nothing and says it is done."""

    def plan(self, _: Understanding, __: Dice) -> Sequence[str]:
        return []


class Greedy(msgspec.Struct, frozen=True):
    """Reads from left to right and carries out each sentence before it reads the next."""

    def plan(self, understood: Understanding, _: Dice) -> Sequence[str]:
        done = list[str]()
        for sentence in understood.sentences:
            done += [name for name in arrange(sentence.mentioned, sentence.relations) if name not in done]
        return done


class Terminal(msgspec.Struct, frozen=True):
    """Takes one phrase for its opposite."""

    phrase: str = "prior to"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("phrase", self.phrase, _phrases())

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        return _misread(
            understood, lambda relation: relation.phrase == self.phrase and dice.chance(self.strength)
        )


class Structure(msgspec.Struct, frozen=True):
    """Takes everything said in one sentence form for its opposite."""

    form: str = "fronted preposition"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("form", self.form, FORMS)

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        return _misread(
            understood, lambda relation: relation.form == self.form and dice.chance(self.strength)
        )


class Topic(msgspec.Struct, frozen=True):
    """Gets everything backwards in one job."""

    topic: str = "baker"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("topic", self.topic, load_topics())

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        at_home = set(understood.activities) <= set(load_topics()[self.topic].activities)
        return _right_or_wrong(understood, wrong=at_home and dice.chance(self.strength))


class Shape(msgspec.Struct, frozen=True):
    """Gets everything backwards where the constraints have a certain shape, however they are worded.

    A join is an action that waits for two others which are free to come in either order, a fork one that
    two such others wait for, a chain three actions in a row.
    """

    shape: Literal["join", "fork", "chain"] = "join"
    strength: Share = 1.0

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        occurs = has_shape(self.shape, understood)
        return _right_or_wrong(understood, wrong=occurs and dice.chance(self.strength))


class Coin(msgspec.Struct, frozen=True):
    """Gets everything backwards at a given rate, for no reason at all."""

    rate: Share = 0.5

    def plan(self, understood: Understanding, dice: Dice) -> Sequence[str]:
        return _right_or_wrong(understood, wrong=dice.chance(self.rate))


PLANNERS: dict[
    str, "type[Perfect | Random | Greedy | Idle | Terminal | Topic | Structure | Shape | Coin]"
] = {
    "perfect": Perfect,
    "random": Random,
    "greedy": Greedy,
    "idle": Idle,
    "terminal": Terminal,
    "topic": Topic,
    "structure": Structure,
    "constraint": Shape,
    "probability": Coin,
}


def has_shape(shape: str, understood: Understanding) -> bool:
    order = understood.order
    if shape == "chain":
        return any(before and after for before, after in zip(order.before, order.after, strict=True))
    neighbours = order.before if shape == "join" else order.after
    return any(
        i != j and not (order.before[i] | order.after[i]) >> j & 1
        for mask in neighbours
        for i in bits(mask)
        for j in bits(mask)
    )


def _misread(understood: Understanding, wrongly: Callable[[Relation], bool]) -> list[str]:
    """A plan from a reading in which some relations are turned round; those are believed most."""
    believed, turned = list[Relation](), list[Relation]()
    for relation in understood.relations:
        if wrongly(relation):
            turned.append(msgspec.structs.replace(relation, first=relation.then, then=relation.first))
        else:
            believed.append(relation)
    return arrange(understood.activities, [*turned, *believed])


def _right_or_wrong(understood: Understanding, wrong: bool) -> list[str]:
    plan = arrange(understood.activities, understood.relations)
    return plan[::-1] if wrong else plan


def _phrases() -> list[str]:
    lexicon = load_lexicon()
    linkers = [lexicon.prepositions, lexicon.conjunctions]
    verbs = [verb.one for verb in (*lexicon.verbs.before, *lexicon.verbs.after)]
    return sorted({*verbs, *(linker.text for kind in linkers for linker in (*kind.before, *kind.after))})


def _check_choice(key: str, given: str, known: Iterable[str]) -> None:
    known = list(known)
    if given not in known:
        raise UsageError(f"unknown {key} '{given}'", f"known: {', '.join(known)}", did_you_mean(given, known))
