"""Every step makes a problem smaller or plainer, and leaves one that is sound and says just what it demands."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.constraint import Choice, Condition, Constraint, Family, Limit, Repeat, Spend, Window
from misstep.core.outcome import Call, Transcript
from misstep.core.rng import Dice
from misstep.planning.admission.validation import validate_case
from misstep.planning.judging.check import judge
from misstep.planning.language.reader import read
from misstep.planning.shrinking.measure import measure
from misstep.planning.shrinking.reductions import STAGES
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import assemble, take_apart
from tests.planning.shrinking.problems import (
    MIXTURES,
    mixed_cases,
    own_tool_cases,
    reductions,
    steps_from,
)
from tests.quality.test_families import wander

FIGURES = {Spend: "most", Window: "time", Repeat: "times", Limit: "most"}


def made_from(families: tuple[Family, ...]) -> Iterator[tuple[Case, Case]]:
    """Cases with those that a step makes of them."""
    return ((each.case, each.made) for each in steps_from(families) if each.made)


@pytest.mark.full(after=3)
@pytest.mark.parametrize("families", MIXTURES, ids="+".join)
def test_every_step_makes_it_smaller(families: tuple[Family, ...]) -> None:
    """Steps that come to nothing are left out, but there are none that make it larger."""
    for case, steps in groupby(steps_from(families), key=lambda each: each.case):
        taken = list(steps)
        now = measure(taken[0].anatomy)
        assert all(each.step == each.anatomy or measure(each.step) < now for each in taken), case.id
        assert list(reductions(taken[0].anatomy)) == [e.step for e in taken if e.step != e.anatomy]


@pytest.mark.full
def test_all_kinds_of_steps_are_taken() -> None:
    """Each stage has something to offer somewhere."""
    steps = [each for families in MIXTURES for each in steps_from(families)]
    offered = {each.stage for each in steps if each.made and each.step != each.anatomy}
    assert offered == {stage.__name__ for stage in STAGES}


def test_it_ends() -> None:
    """Whatever is chosen, there is a smallest one at the end."""
    for number, case in enumerate(mixed_cases(MIXTURES[-1], 1)):
        dice, anatomy, steps = Dice(number), take_apart(case), 0
        while options := list(reductions(anatomy)):
            anatomy, steps = dice.pick(options), steps + 1
        assert steps < 300
        assert len(anatomy.actions) == 1
        assert len(anatomy.paragraph) == 1


@pytest.mark.parametrize("families", MIXTURES, ids="+".join)
def test_text_and_constraints_still_mean_the_same(families: tuple[Family, ...]) -> None:
    for _, made in made_from(families):
        check_reading(made)


def check_reading(case: Case) -> None:
    """The reader finds one meaning in each sentence: the constraints."""
    ids = {action.name: action.id for action in case.actions}
    for number, sentence in enumerate(case.sentences):
        readings = read(sentence, ids)
        assert len(readings) == 1, sentence
        heard = {("before", ids[r.first], ids[r.then]) for r in readings[0].relations}
        heard |= {named(demand, ids) for demand in readings[0].demands}
        names = {action.id: action.id for action in case.actions}
        assert heard == {named(c, names) for c in case.constraints if c.sentence == number}, sentence


def named(constraint: Constraint, names: dict[str, str], figures: bool = True) -> tuple[object, ...]:
    """What a constraint says, with other names for its actions, perhaps without its figures."""
    left_out = {"sentence", *([] if figures else [FIGURES.get(type(constraint), "")])}
    told = msgspec.to_builtins(constraint)
    kind = told.pop("kind")
    values = [repr(_renamed(value, names)) for key, value in told.items() if key not in left_out]
    if kind == "before":
        return (kind, *[_renamed(value, names) for key, value in told.items() if key not in left_out])
    return (kind, *values)


def _renamed(value: object, names: dict[str, str]) -> object:
    if isinstance(value, str):
        return names.get(value, value)
    return [names.get(each, each) for each in value] if isinstance(value, tuple | list) else value


@pytest.mark.parametrize("families", MIXTURES, ids="+".join)
def test_nothing_is_demanded_that_was_not(families: tuple[Family, ...]) -> None:
    """By the names of the activities; a sum, a deadline, a limit or a count may be another."""
    for case, made in made_from(families):
        more = demanded(made) - demanded(case)
        # Where one of two branches goes, the condition is another.
        assert all(kind == "condition" for kind, *_ in more), (case.sentences, made.sentences)
        assert {action.tool for action in made.actions} <= {action.tool for action in case.actions}
        assert {action.tool for action in made.distractors} <= {a.tool for a in case.distractors}


def demanded(case: Case) -> Counter[tuple[object, ...]]:
    names = {action.id: action.name for action in case.actions}
    return Counter(named(constraint, names, figures=False) for constraint in case.constraints)


@pytest.mark.parametrize("families", MIXTURES, ids="+".join)
def test_what_is_left_is_sound(families: tuple[Family, ...]) -> None:
    """It would be let in from outside, its solution is right, and nobody who does everything right is trapped."""
    for _, made in made_from(families):
        assert validate_case(made) == made
        plan = [Call(call.tool, call.arguments) for call in made.solution]
        tools = {action.id: action.tool for action in made.actions}
        calls = plan or [Call(tools[action]) for action in made.witness]
        assert judge(made, Transcript(made.id, tuple(calls))).verdict == "passed"
        if "time" not in families:
            assert wander(made, Dice(0)).verdict == "passed", made.sentences


def test_arguments_are_given_as_long_as_their_action_is_there() -> None:
    for case in own_tool_cases(4):
        for made in smaller_cases(case):
            check_reading(made)
            given = {c.action for c in made.constraints if "arguments" in c.__struct_fields__}
            needy = [a for a in made.actions if a.parameters and a.parameters["required"]]
            assert given == {action.id for action in needy}


def test_rules_that_keep_a_sentence_from_being_read_otherwise() -> None:
    """What the reader can't see in the words, seen in the skeletons."""
    several, three = r"a\d+\+a\d+[a0-9+]*", r"a\d+\+a\d+\+a\d+[a0-9+]*"
    joins = r", (?:and|but|yet|while|whereas) "
    for families in (("order",), ("order", "time"), ("order", "time", "data", "dynamic")):
        for _, made in made_from(families):
            for part in re.split(rf"; |\. |\.$|{joins}", made.skeleton):
                assert not re.search(rf"SC< {several}(\[[^]]*\]+)? VP0", part)
                assert not re.search(rf"SC> {three}(\[[^]]*\]+)? VP0", part)
                assert not (part.startswith("P") and re.search(three, part)), part
                assert all("+" in group for group in re.findall(r"\[which [^][]* ([a0-9+]+)\[", part))
            assert not re.search(r", while [a0-9+]+(\[[^]]*\]+)? VP0", made.skeleton)
            assert all(len(re.findall(joins, said)) <= 1 for said in made.skeleton.split(". "))
            assert not re.search(rf"\[which (START|END)S[^]]*\](?:{joins})", made.skeleton)


def test_what_repeats_nothing_any_more_is_not_called_redundant() -> None:
    suite = Suite(1, 4, 6, recipe=Recipe(redundancy=1.0))
    for index in range(12):
        for made in smaller_cases(make_case(suite, index)):
            for number in made.redundant:
                said = {(c.first, c.then) for c in made.constraints if c.sentence == number}  # type: ignore[union-attr]
                others = {(c.first, c.then) for c in made.constraints if c.sentence != number}  # type: ignore[union-attr]
                assert said <= closure(others)


def smaller_cases(case: Case) -> list[Case]:
    return [made for step in reductions(take_apart(case)) if (made := assemble(step))]


def closure(relations: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Transitive closure the plain way."""
    closed = set(relations)
    while True:
        more = {(a, d) for a, b in closed for c, d in closed if b == c} - closed
        if not more:
            return closed
        closed |= more


def test_a_budget_stays_as_tight_as_it_was() -> None:
    """Whoever chooses best has as much to spare, and whoever chooses worst too little."""
    for case, made in made_from(("budget",)):
        (most,) = [c.most for c in case.constraints if isinstance(c, Spend)]
        for left in [c.most for c in made.constraints if isinstance(c, Spend)]:
            assert left - cheapest(made) == most - cheapest(case)


def cheapest(case: Case) -> int:
    """The cheaper one of each choice, and all else that is due; what is not reported is not."""
    choices = [c.options for c in case.constraints if isinstance(c, Choice)]
    optional = {option for options in choices for option in options}
    optional |= {
        c.otherwise if case.world.findings[c.asks] else c.then
        for c in case.constraints
        if isinstance(c, Condition)
    }
    fixed = sum(case.world.costs[action.id] for action in case.actions if action.id not in optional)
    return fixed + sum(min(case.world.costs[option] for option in options) for options in choices)
