"""Sentences that can be heard in one way only."""

import pytest

from misstep.core.rng import Dice
from misstep.planning.language.clarity import is_clear, joined, rejoined
from misstep.planning.language.syntax import (
    FORMS,
    JOINS,
    Clause,
    Duty,
    Form,
    Free,
    Group,
    Join,
    Relative,
    Sentence,
    TimedRelative,
)
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import take_apart

A, B, C, D, E = range(5)
TIME = TimedRelative("end", "before", 600)

PLAIN = Clause("verb", "<", Group((A,)), Group((B,)))
OTHER = Clause("verb", ">", Group((C,)), Group((D,)))
SEVERAL = Clause("verb", ">", Group((C, D)), Group((E,)))
LATE = Clause("verb", "<", Group((A,)), Group((B,), TIME))


def test_joins_become_semicolons_where_they_would_be_misheard() -> None:
    assert rejoined([PLAIN, OTHER], [", and"]) == Sentence((PLAIN, OTHER), (", and",))
    assert rejoined([PLAIN, SEVERAL], [", and"]).joins == (";",)
    assert rejoined([LATE, OTHER], [", whereas"]).joins == (";",)
    assert rejoined([PLAIN, OTHER, SEVERAL], [", whereas", ", whereas"]).joins == (", whereas", ";")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("join", JOINS)
def test_no_comma_follows_a_time(form: Form, join: Join) -> None:
    """Whether or not the form ends with its object."""
    timed = Clause(form, "<", Group((A,)), Group((B,), TIME))
    assert rejoined([timed, OTHER], [join]).joins == (";",)


def test_what_is_joined_by_chance_stays_as_it_is_when_joined_again() -> None:
    met = set[Join]()
    for seed in range(200):
        sentence = joined([PLAIN, OTHER, SEVERAL], Dice(seed))
        assert rejoined(sentence.parts, sentence.joins) == sentence
        assert sum(join != ";" for join in sentence.joins) <= 1
        met.update(sentence.joins)
    assert met == set(JOINS)


def nested(inner: tuple[int, ...], form: Form = "verb") -> Clause:
    """Two relative clauses, one inside the other, on the object."""
    within = Group(inner, Relative("verb", "<", Group((E,))))
    return Clause(form, "<", Group((A,)), Group((B,), Relative("verb", ">", within)))


def test_a_relative_clause_in_another_hangs_on_several_at_the_end() -> None:
    assert is_clear(nested((C, D)))
    assert not is_clear(nested((C,)))
    assert not is_clear(nested((C, D), "conjunction"))


def test_lists_are_short_enough_for_their_form() -> None:
    three = Group((B, C, D))
    assert is_clear(Clause("preposition", "<", Group((A,)), three))
    assert not is_clear(Clause("fronted preposition", "<", Group((A,)), three))
    assert not is_clear(Clause("conjunction", "<", Group((A,)), Group((B, C))))
    assert is_clear(Clause("conjunction", ">", Group((A,)), Group((B, C))))


def test_a_time_is_said_of_one_action() -> None:
    assert is_clear(LATE)
    assert not is_clear(Clause("verb", "<", Group((A,)), Group((B, C), TIME)))


def test_what_is_no_clause_is_clear() -> None:
    assert is_clear(Free(Group((A, B, C))))
    assert is_clear(Duty((A, B, C)))


def test_announcements_are_as_clear_as_the_request() -> None:
    several = 0
    for index in range(40):
        for announcement in take_apart(make_case(Suite(5, 5, 7, families=("dynamic",)), index)).announcements:
            (clause,) = announcement.sentence.parts
            assert is_clear(clause), clause
            several += isinstance(clause, Clause) and len(clause.object.actions) > 1
    assert several > 50
