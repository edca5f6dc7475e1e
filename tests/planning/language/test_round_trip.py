"""The writer against the reader: whatever is rendered is read back, and in one way only."""

from collections import Counter
from collections.abc import Callable

import pytest

from misstep.core.constraint import (
    Adjacent,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.reader import SentenceReading, read
from misstep.planning.language.rendering import render
from misstep.planning.language.syntax import (
    FORMS,
    TIMED,
    Alternative,
    BudgetRemark,
    Clause,
    Conditional,
    Duty,
    End,
    Giving,
    Group,
    HandOver,
    Limited,
    Neighbours,
    Relative,
    Remark,
    RepeatRemark,
    Replacing,
    Sentence,
    Timed,
    TimedRelative,
)

LEXICON = load_lexicon()
TOPICS = list(load_topics().values())
EACH = 500
# The remark and what it demands of activities with these names.
Made = tuple[Remark, list[Constraint]]


def time(dice: Dice) -> int:
    return dice.below(24 * 60)


def duty(dice: Dice, names: list[str]) -> Made:
    return Duty(tuple(dice.sample(range(len(names)), 1 + dice.below(6)))), []


def timed(dice: Dice, names: list[str]) -> Made:
    edge, bound = dice.pick(TIMED)
    fronted = edge == "end" and dice.chance(0.5)
    actions = dice.sample(range(len(names)), 1 + dice.below(2 if fronted else 3))
    moment = time(dice)
    remark = Timed("fronted" if fronted else "verb", edge, bound, moment, tuple(actions))
    return remark, [Window(names[action], edge, bound, moment) for action in actions]


def neighbours(dice: Dice, names: list[str]) -> Made:
    subject, obj = dice.sample(range(len(names)), 2)
    if dice.chance(0.5):
        before = Neighbours(dice.pick(("verb", "preposition", "fronted preposition")), "<", subject, obj)
        return before, [Adjacent(names[subject], names[obj])]
    after = Neighbours(dice.pick(("verb", "preposition", "fronted preposition")), ">", subject, obj)
    return after, [Adjacent(names[obj], names[subject])]


def end(dice: Dice, names: list[str]) -> Made:
    action = dice.below(len(names))
    if dice.chance(0.5):
        return End("first", action), [Place(names[action], "first")]
    return End("last", action), [Place(names[action], "last")]


def alternative(dice: Dice, names: list[str]) -> Made:
    a, b = dice.sample(range(len(names)), 2)
    return Alternative((a, b)), [Choice((names[a], names[b]))]


def conditional(dice: Dice, names: list[str]) -> Made:
    a, b, c = dice.sample(range(len(names)), 3)
    finding = dice.pick(LEXICON.conditions.findings).some
    if dice.chance(0.5):
        return Conditional(a, finding, b), [Condition(names[a], finding, names[b])]
    return Conditional(a, finding, b, c), [Condition(names[a], finding, names[b], names[c])]


def repeated(dice: Dice, names: list[str]) -> Made:
    action, times = dice.below(len(names)), 2 + dice.below(2)
    return RepeatRemark(action, times), [Repeat(names[action], times)]


def limited(dice: Dice, names: list[str]) -> Made:
    action, most = dice.below(len(names)), 1 + dice.below(12)
    return Limited(action, most), [Limit(names[action], most)]


def spending(dice: Dice, _: list[str]) -> Made:
    most = 1 + dice.below(2000)
    return BudgetRemark(most), [Spend(most)]


def passing(dice: Dice, names: list[str]) -> Made:
    giver, taker = dice.sample(range(len(names)), 2)
    noun = dice.pick(LEXICON.data.values).noun
    return HandOver(giver, taker, noun), [Handover(names[giver], names[taker], noun.replace(" ", "_"))]


def replacing(dice: Dice, names: list[str]) -> Made:
    action, by = dice.sample(range(len(names)), 2)
    return Replacing(action, by), [StandIn(names[action], names[by])]


def giving(dice: Dice, names: list[str]) -> Made:
    values = ["Paris", "a, b. C; and `d`", 'say "yes"', 3, -0.5, True, None, [1, "x"], {"k": "é"}]
    parameters = dice.sample(["city", "days", "unit_name", "x"], 1 + dice.below(4))
    arguments = {parameter: dice.pick(values) for parameter in parameters}
    action = dice.below(len(names))
    return Giving(action, arguments), [Given(names[action], arguments)]


MAKERS = [
    duty,
    timed,
    neighbours,
    end,
    alternative,
    conditional,
    repeated,
    limited,
    spending,
    passing,
    replacing,
    giving,
]


def write(names: list[str], dice: Dice, *parts: Clause | Remark) -> str:
    (text,) = render((Sentence(parts, tuple([";" for _ in parts[1:]])),), names, dice)
    return text


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_remarks_are_read_back(make: Callable[[Dice, list[str]], Made]) -> None:
    for seed in range(EACH):
        dice = Dice(seed)
        names = dice.shuffled(dice.pick(TOPICS).activities)
        remark, demands = make(dice, names)
        text = write(names, dice, remark)
        reading = the_one(text, names)
        assert reading.relations == (), text
        assert [_plain(demand) for demand in reading.demands] == [_plain(demand) for demand in demands], text
        assert set(reading.mentioned) == {name for name in names if f"the {name}" in text.lower()}, text


def the_one(text: str, names: list[str]) -> SentenceReading:
    readings = read(text, names)
    assert len(readings) == 1, f"{len(readings)} readings: {text}"
    return readings[0]


def _plain(demand: Constraint) -> Constraint:
    """Options have no order."""
    return Choice(tuple(sorted(demand.options))) if isinstance(demand, Choice) else demand


# Order, with times in relative clauses.


def group(dice: Dice, pool: list[int], depth: int = 2) -> Group:
    """Some actions, taken from the pool; a single one may have a relative clause."""
    actions = tuple(pool.pop() for _ in range(1 if dice.chance(0.6) else 1 + dice.below(3)))
    if len(actions) > 1 or dice.chance(0.3):
        return Group(actions)
    if depth and dice.chance(0.4):
        relative = Relative(
            dice.pick(("verb", "preposition")), dice.pick(("<", ">")), group(dice, pool, depth - 1)
        )
        return Group(actions, relative)
    return Group(actions, TimedRelative(*dice.pick(TIMED), time(dice)))


def said(names: list[str], one: Clause | Relative, subject: Group) -> list[object]:
    """What a clause says, counted as often as it says so: pairs and windows."""
    found = list[object]()
    for a in subject.actions:
        for b in one.object.actions:
            found.append((names[a], names[b]) if one.direction == "<" else (names[b], names[a]))
    return (
        found + described(names, one.object) + (described(names, subject) if isinstance(one, Clause) else [])
    )


def described(names: list[str], one: Group) -> list[object]:
    match one.relative:
        case None:
            return []
        case TimedRelative(edge, bound, moment):
            return [Window(names[action], edge, bound, moment) for action in one.actions]
        case Relative() as relative:
            return said(names, relative, Group(one.actions))


def test_times_in_relative_clauses_are_read_back() -> None:
    windows = 0
    for seed in range(4 * EACH):
        dice = Dice(seed)
        names = [f"job {number}" for number in range(40)]
        pool = dice.shuffled(range(len(names)))
        clauses = tuple(
            Clause(dice.pick(FORMS), dice.pick(("<", ">")), group(dice, pool), group(dice, pool))
            for _ in range(1 + dice.below(2))
        )
        text = write(names, dice, *clauses)
        reading = the_one(text, names)
        found = [(relation.first, relation.then) for relation in reading.relations]
        expected = [claim for clause in clauses for claim in said(names, clause, clause.subject)]
        assert Counter([*found, *reading.demands]) == Counter(expected), text
        windows += len(reading.demands)
    assert windows > EACH
