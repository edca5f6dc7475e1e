"""Simulated planners, each with one known fault, to evaluate the detectors with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from misstep.core.constraint import (
    Choice,
    Condition,
    Constraint,
    Family,
    Handover,
    Repeat,
    Spend,
    StandIn,
    Window,
    family_of,
)
from misstep.core.rng import Dice
from misstep.core.stats import logistic
from misstep.errors import UsageError, did_you_mean
from misstep.planning.language import syntax
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.reader import Relation
from misstep.planning.plans.order import first_available, loose_order
from misstep.planning.plans.strategy import Strategist
from misstep.planning.simulated.agent import (
    FixedOrder,
    IgnoresAnnouncements,
    LeavesRoom,
    Planner,
    SimulatedAgent,
    Understanding,
)
from misstep.planning.variation.shapes import has_any

FORMS = (*syntax.FORMS, *(f"relative {form}" for form in syntax.RELATIVE_FORMS))
Share = Annotated[float, Meta(ge=0, le=1)]


def simulated_agent(kind: str, options: Mapping[str, str]) -> SimulatedAgent:
    """The planner called `sim:KIND`, with parameters from options."""
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
            hint = f"it takes {', '.join(known)}" if known else "it has no parameters"
            raise UsageError(f"sim:{kind} has no parameter '{key}'", hint, did_you_mean(key, known))
    try:
        return SimulatedAgent(f"sim:{kind}", msgspec.convert(dict(options), planner, strict=False))
    except msgspec.ValidationError as error:
        raise UsageError(f"sim:{kind} can't be created with {dict(options)}", str(error)) from error


class Perfect(Planner, frozen=True):
    """Never wrong."""

    def act(self, understood: Understanding, _: Dice) -> Strategist:
        return LeavesRoom(understood.brief())


class Random(Planner, frozen=True):
    """Any order, any option, either branch: the chance level."""

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        left_out, demands = _leave_to_chance(understood.demands, dice)
        brief = understood.brief((), demands)
        times = {demand.action: demand.times for demand in demands if isinstance(demand, Repeat)}
        due = [a for a in brief.actions if a not in left_out for _ in range(times.get(a, 1))]
        return FixedOrder(brief, dice.shuffled(due))


class Idle(Planner, frozen=True):
    """Does nothing and says that it is done."""

    def act(self, understood: Understanding, _: Dice) -> Strategist:
        return FixedOrder(understood.brief((), ()), ())


class Greedy(Planner, frozen=True):
    """Reads from left to right and executes each sentence before it reads the next.

    Of two alternatives it takes the first one, whatever they cost; if an action is named before the condition
    that it depends on, it is executed before the condition is read.
    """

    def act(self, understood: Understanding, _: Dice) -> Strategist:
        plan = list[str]()
        for sentence in understood.sentences:
            numbers = {name: number for number, name in enumerate(sentence.mentioned)}
            pairs = [(numbers[relation.first], numbers[relation.then]) for relation in sentence.relations]
            order = loose_order(len(numbers), pairs)
            arranged = [sentence.mentioned[i] for i in first_available(order.before)]
            plan += [name for name in arranged if name not in plan]
        demands = [
            demand
            for sentence in understood.sentences
            for demand in sentence.demands
            if not isinstance(demand, Spend) and not _is_late(demand, sentence.mentioned)
        ]
        return FixedOrder(understood.brief(None, demands), plan)


class Deaf(Planner, frozen=True):
    """Ignores everything in one family."""

    family: Family = "order"
    strength: Share = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        if not dice.chance(self.strength):
            return Strategist(understood.brief())
        demands = [demand for demand in understood.demands if family_of(demand) != self.family]
        brief = understood.brief(() if self.family == "order" else None, demands)
        return IgnoresAnnouncements(brief) if self.family == "dynamic" else Strategist(brief)


class Stubborn(Planner, frozen=True):
    """Never starts over, even if the attempt can't succeed any more."""

    def act(self, understood: Understanding, _: Dice) -> Strategist:
        return Strategist(msgspec.structs.replace(understood.brief(), attempts=1))


class Terminal(Planner, frozen=True):
    """Misreads one phrase as its opposite."""

    phrase: str = "prior to"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("phrase", self.phrase, _phrases())

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        return _misread(
            understood, lambda relation: relation.phrase == self.phrase and dice.chance(self.strength)
        )


class Structure(Planner, frozen=True):
    """Misreads everything in one sentence form as its opposite."""

    form: str = "fronted preposition"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("form", self.form, FORMS)

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        return _misread(
            understood, lambda relation: relation.form == self.form and dice.chance(self.strength)
        )


class BackwardsTopic(Planner, frozen=True):
    """Gets everything backwards in one topic."""

    topic: str = "baker"
    strength: Share = 1.0

    def __post_init__(self) -> None:
        _check_choice("topic", self.topic, load_topics())

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        at_home = set(understood.activities) <= set(load_topics()[self.topic].activities)
        return _right_or_wrong(understood, wrong=at_home and dice.chance(self.strength))


class Name(Planner, frozen=True):
    """Gets everything backwards if the request includes one activity."""

    activity: str = "flour delivery"
    strength: Share = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        occurs = self.activity in understood.activities
        return _right_or_wrong(understood, wrong=occurs and dice.chance(self.strength))


class Position(Planner, frozen=True):
    """Misreads everything in one sentence as its opposite: the first is 1, the last -1."""

    sentence: Annotated[int, Meta(ge=-20, le=20)] = -1
    strength: Share = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        said = understood.sentences
        place = self.sentence - 1 if self.sentence > 0 else self.sentence
        meant = said[place].relations if -len(said) <= place < len(said) else ()
        return _misread(understood, lambda relation: relation in meant and dice.chance(self.strength))


class BackwardsFromSize(Planner, frozen=True):
    """Gets everything backwards from a number of activities, sentences or characters on."""

    least: Annotated[int, Meta(ge=1, le=100_000)] = 5
    of: Literal["actions", "sentences", "characters"] = "actions"
    strength: Share = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        size = {
            "actions": len(understood.activities),
            "sentences": len(understood.sentences),
            "characters": len(understood.request),
        }[self.of]
        return _right_or_wrong(understood, wrong=size >= self.least and dice.chance(self.strength))


class Lister(Planner, frozen=True):
    """Calls the tools in the order in which they are listed."""

    def act(self, understood: Understanding, _: Dice) -> Strategist:
        return FixedOrder(understood.brief(), understood.activities)


class Shape(Planner, frozen=True):
    """Gets everything backwards if the constraints have a certain shape, however they are worded.

    A join is an action that waits for two unordered others, a fork one that two unordered others wait for, a
    chain three actions in a row.
    """

    shape: Literal["join", "fork", "chain"] = "join"
    strength: Share = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        occurs = has_any(understood.order, (self.shape,))
        return _right_or_wrong(understood, wrong=occurs and dice.chance(self.strength))


class RandomlyBackwards(Planner, frozen=True):
    """Gets everything backwards at a given rate, at random."""

    rate: Share = 0.5

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        return _right_or_wrong(understood, wrong=dice.chance(self.rate))


class Capacity(Planner, frozen=True):
    """Gets everything backwards more often with more tasks: half of the time at `half` tasks."""

    half: Annotated[float, Meta(ge=0, le=1000)] = 5.0
    spread: Annotated[float, Meta(gt=0, le=1000)] = 1.0

    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        success = logistic(len(understood.activities), self.half, self.spread)
        return _right_or_wrong(understood, wrong=not dice.chance(success))


PLANNERS: dict[str, type[Planner]] = {
    "perfect": Perfect,
    "random": Random,
    "greedy": Greedy,
    "idle": Idle,
    "terminal": Terminal,
    "topic": BackwardsTopic,
    "name": Name,
    "structure": Structure,
    "position": Position,
    "lister": Lister,
    "size": BackwardsFromSize,
    "constraint": Shape,
    "probability": RandomlyBackwards,
    "capacity": Capacity,
    "deaf": Deaf,
    "stubborn": Stubborn,
}


def _is_late(demand: Constraint, mentioned: Sequence[str]) -> bool:
    """Whether it is a condition that the text mentions only after what depends on it."""
    return isinstance(demand, Condition) and mentioned.index(demand.then) < mentioned.index(demand.asks)


def _misread(understood: Understanding, wrongly: Callable[[Relation], bool]) -> Strategist:
    """A strategist that has some relations reversed; in a conflict those take precedence."""
    believed, turned = list[Relation](), list[Relation]()
    for relation in understood.relations:
        if wrongly(relation):
            turned.append(msgspec.structs.replace(relation, first=relation.then, then=relation.first))
        else:
            believed.append(relation)
    return Strategist(understood.brief([*turned, *believed]))


def _right_or_wrong(understood: Understanding, wrong: bool) -> Strategist:
    brief = understood.brief()
    strategist = Strategist(brief)
    return FixedOrder(brief, strategist.outlook()[::-1]) if wrong else strategist


def _leave_to_chance(demands: Sequence[Constraint], dice: Dice) -> tuple[set[str], list[Constraint]]:
    """Activities that are not picked, and demands that are still obeyed: counts, values, earliest times."""
    left_out = set[str]()
    heeded = list[Constraint]()
    for demand in demands:
        match demand:
            case Choice(options):
                left_out |= {*options} - {dice.pick(options)}
            case Condition(_, _, then, otherwise):
                left_out.add(then if dice.chance(0.5) else otherwise)
            case StandIn():
                left_out.add(demand.by)
                heeded.append(demand)
            case Repeat() | Handover() | Window(bound="after"):
                heeded.append(demand)
    return left_out, heeded


def _phrases() -> list[str]:
    lexicon = load_lexicon()
    linkers = [lexicon.prepositions, lexicon.conjunctions]
    verbs = [verb.one for verb in (*lexicon.verbs.before, *lexicon.verbs.after)]
    return sorted({*verbs, *(linker.text for kind in linkers for linker in (*kind.before, *kind.after))})


def _check_choice(key: str, given: str, known: Iterable[str]) -> None:
    known = list(known)
    if given not in known:
        raise UsageError(f"unknown {key} '{given}'", f"known: {', '.join(known)}", did_you_mean(given, known))
