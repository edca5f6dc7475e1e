"""What is kept back from training never stands in a request that a model may be trained on.

Requests are looked through with the lexicon's own file and with patterns written here, so that nothing depends
on how the parts were made.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

import pytest

from misstep.core.case import Case
from misstep.core.constraint import FAMILIES, Family
from misstep.core.settings import PORTIONS, Portion
from misstep.errors import UsageError
from misstep.planning.language import syntax
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.language.parts import LanguagePart, is_of, part_of
from misstep.planning.language.rendering import Option, write
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    RELATIVE_FORMS,
    Clause,
    Free,
    Group,
    Relative,
    Sentence,
    SubSentence,
)
from misstep.planning.synthesis.suite import Suite, make_case

MIXTURES: tuple[tuple[Family, ...], ...] = (
    ("order",),
    *((family,) for family in FAMILIES if family != "order"),
    ("order", "time"),
    ("order", "adjacent", "choice", "repeat"),
    ("order", "data", "budget", "dynamic"),
    FAMILIES,
)
EVERYTHING_UNSEEN = LanguagePart("unseen", "unseen", "unseen")

# What is left of a sentence without its phrases: names of actions, figures, and these.
FUNCTION_WORDS = {"the", "a", "an", "and", "but", "yet", "while", "whereas", "both", "all", "of", "which"}
NAME = r"the ‹\d+›"
CONDITION_SECOND = re.compile(rf"(?<!\w)after ({NAME} [^‹;,]+) the latter(?= )")
GAPS = {
    "{a}": NAME,
    "{b}": NAME,
    "{giver}": NAME,
    "{taker}": NAME,
    "{amount}": r"\d+ euros",
    "{number}": r"\w+",
    "{tasks}": "tasks?",
}


def cases(part: LanguagePart, each: int) -> Iterator[Case]:
    for seed, families in enumerate(MIXTURES):
        size = 8 if families == FAMILIES else 5
        chosen = part if "order" in families else LanguagePart(part.topics, part.words)
        suite = Suite(seed, size, size, families=families, part=chosen)
        suite.validate()
        for index in range(each):
            yield make_case(suite, index)


@cache
def trained_on() -> tuple[Case, ...]:
    return tuple(cases(part_of(("train",)), 80))


@cache
def said_in_training() -> set[str]:
    return occurring(sentence for case in trained_on() for sentence in sentences(case))


@cache
def never_seen() -> tuple[Case, ...]:
    return tuple(cases(EVERYTHING_UNSEEN, 20))


def sentences(case: Case) -> Iterator[str]:
    """All that is said about tasks, with numbers for their names."""
    numbers = {action.name: number for number, action in enumerate((*case.actions, *case.distractors))}
    names = re.compile("|".join(map(re.escape, numbers)))
    for sentence in case.sentences:
        assert sentence in case.query
    for sentence in (*case.sentences, *case.world.announcements.values()):
        text = sentence[0].lower() + sentence[1:].removesuffix(".")
        yield names.sub(lambda found: f"‹{numbers[found[0]]}›", text)


def phrases() -> Iterator[str]:
    """Everything in the lexicon's file that is said to somebody."""

    def walk(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            for name, inner in part.items():
                if name not in ("none", "article", "type"):
                    yield from walk(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from walk(inner)

    file = resources.files("misstep.planning.language").joinpath("data/lexicon.toml")
    yield from walk(tomllib.loads(file.read_text(encoding="utf-8")))


@cache
def pattern(phrase: str) -> re.Pattern[str]:
    """A phrase as it stands in a sentence; a gap with words of their own is a group."""
    pieces = re.split(r"(\{\w+\})", phrase)
    text = "".join(
        [GAPS.get(piece, "(.+)") if piece.startswith("{") else re.escape(piece) for piece in pieces]
    )
    return re.compile(rf"(?<!\w){text}(?!\w)")


def occurring(texts: Iterable[str]) -> set[str]:
    joined = "\n".join(texts)
    return {phrase for phrase in phrases() if pattern(phrase).search(joined)}


def stripped(sentence: str, of: Iterable[str]) -> set[str]:
    """The words of a sentence that are left without these phrases, function words and figures.

    What has gaps for other phrases is taken away before those, then what is long. The condition that comes
    second has two words of its own, which stand there on either side.
    """
    sentence = CONDITION_SECOND.sub(r"| \1 |", sentence)
    for phrase in sorted(of, key=lambda phrase: (pattern(phrase).groups, len(phrase)), reverse=True):
        sentence = pattern(phrase).sub(lambda found: " | ".join(found.groups()), sentence)
    return set(re.findall(r"[a-z]+", sentence)) - FUNCTION_WORDS


@pytest.mark.full
def test_no_phrase_that_is_kept_back_is_said_in_training() -> None:
    """Every sentence of the unseen part consists of phrases of which none stands anywhere in training."""
    unseen = set(phrases()) - said_in_training()
    for case in never_seen():
        for sentence in sentences(case):
            assert not stripped(sentence, unseen), sentence
    used = occurring(sentence for case in never_seen() for sentence in sentences(case)) & unseen
    assert len(used) > 60
    assert len(said_in_training()) > 200


@pytest.mark.full
def test_whoever_looks_for_phrases_finds_them() -> None:
    """Requests that are made of everything hold a good deal of what training has."""
    unseen = set(phrases()) - said_in_training()
    everything = [sentence for case in cases(LanguagePart(), 5) for sentence in sentences(case)]
    assert all(not stripped(sentence, phrases()) for sentence in everything)
    assert sum(bool(stripped(sentence, unseen)) for sentence in everything) > len(everything) / 2


@pytest.mark.full
def test_no_topic_that_is_kept_back_is_met_in_training() -> None:
    met = {case.topic for case in trained_on()}
    other = {case.topic for case in never_seen()}
    assert len(met) > 30
    assert len(other) == 10
    assert met.isdisjoint(other)
    tools = {action.tool for case in trained_on() for action in case.actions}
    assert tools.isdisjoint(action.tool for case in never_seen() for action in case.actions)


def shapes(case: Case) -> set[str]:
    """The sentences of a request, whatever they are about."""
    figures = r"\ba\d+|\d+:\d+|(?<=TIMES )\d+|(?<=LIMIT )\d+|(?<=SPEND )\d+|(?<=GIVES )\S+"
    return {re.sub(figures, mark(), text) for text in re.split(r"\. ?", case.skeleton) if text}


def mark() -> Any:
    """Numbers what it is given in the order in which it comes."""
    numbers = dict[str, int]()
    return lambda found: f"#{numbers.setdefault(found[0], len(numbers))}" if found[0][0] == "a" else "#"


def test_no_structure_that_is_kept_back_is_met_in_training() -> None:
    met = set[str]().union(*map(shapes, trained_on()))
    assert len(met) > 200
    ordering = [case for case in never_seen() if re.search(r"VP[<>]|\b(P|SC)[<>]", case.skeleton)]
    assert len(ordering) == 20 * sum("order" in families for families in MIXTURES)
    for case in ordering:
        assert shapes(case) - met, case.skeleton


@pytest.mark.parametrize("aspect", ["topics", "words", "structures"])
def test_what_is_not_named_is_as_in_training(aspect: Portion) -> None:
    met = {case.topic for case in trained_on()}
    unseen = set(phrases()) - said_in_training()
    suite = Suite(2, 5, 5, part=part_of((aspect,)))
    for case in [make_case(suite, index) for index in range(30)]:
        told = [stripped(sentence, unseen) for sentence in sentences(case)]
        assert all(told) if aspect != "words" else not any(told)
        assert (case.topic in met) == (aspect != "topics")


class Asked:
    """Takes down what it is asked to choose from."""

    def __init__(self) -> None:
        self.lists = set[tuple[Option, ...]]()

    def draw(self, options: tuple[Option, ...]) -> Option:
        self.lists.add(options)
        return options[0]


def parts_of_sentences() -> Iterator[SubSentence]:
    """Whatever can be said, with one, two or three actions in each place."""
    plain = [Group((1,)), Group((1, 2)), Group((1, 2, 3))]
    relatives = [
        Relative(form, direction, group)
        for form, direction, group in product(RELATIVE_FORMS, DIRECTIONS, plain)
    ]
    timed = [syntax.TimedRelative(edge, bound, 600) for edge, bound in syntax.TIMED]
    groups = [*plain, *(Group((4,), relative) for relative in (*relatives, *timed))]
    for form, direction, subject, object_ in product(FORMS, DIRECTIONS, groups, groups):
        yield Clause(form, direction, subject, object_)
    yield from map(Free, plain)
    for edge, bound in syntax.TIMED:
        yield from (syntax.Timed("verb", edge, bound, 600, group.actions) for group in plain)
        yield from (syntax.Timed("fronted", edge, "before", 600, group.actions) for group in plain[:2])
    for near, direction in product(syntax.NEIGHBOUR_FORMS, DIRECTIONS):
        yield syntax.Neighbours(near, direction, 0, 1)
    yield from (syntax.End("first", 0), syntax.End("last", 0), syntax.Alternative((0, 1)))
    for finding, other, condition in product(("a gap", "a warning"), (None, 2), syntax.CONDITIONAL_FORMS):
        yield syntax.Conditional(0, finding, 1, other, condition)
    yield from (
        syntax.RepeatRemark(0, 2),
        syntax.RepeatRemark(0, 3),
        syntax.Limited(0, 1),
        syntax.Limited(0, 2),
    )
    yield from (syntax.BudgetRemark(10), syntax.Replacing(0, 1), syntax.Giving(0, {"x": 1}))
    yield from (syntax.HandOver(0, 1, value.noun) for value in load_lexicon().data.values)
    yield from (syntax.Duty(group.actions) for group in plain)


def test_whatever_is_asked_for_there_is_something_on_either_side() -> None:
    asked = Asked()
    names = [f"task {number}" for number in range(5)]
    for part in parts_of_sentences():
        write((Sentence((part,)),), names, asked.draw)
    assert len(asked.lists) > 35
    lists = [[option.one for option in options] for options in asked.lists]
    lists.append([finding.some for finding in load_lexicon().conditions.findings])
    lists.append([value.noun for value in load_lexicon().data.values])
    for options in lists:
        for side in ("seen", "unseen"):
            assert any(is_of(option, side) for option in options), (side, options)


def test_parts_by_their_names() -> None:
    assert part_of(()) == LanguagePart()
    assert part_of(("train",)) == LanguagePart("seen", "seen", "seen")
    assert part_of(("topics",)) == LanguagePart("unseen", "seen", "seen")
    assert part_of(("structures", "words")) == LanguagePart("seen", "unseen", "unseen")
    assert part_of(PORTIONS[1:]) == EVERYTHING_UNSEEN


@pytest.mark.parametrize("portion", PORTIONS[1:])
def test_training_goes_with_nothing_that_is_unseen(portion: Portion) -> None:
    for both in (("train", portion), (portion, "train")):
        with pytest.raises(UsageError, match=f"part train can't be combined with {portion}"):
            part_of(both)
