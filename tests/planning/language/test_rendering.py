"""Rendering: what the words of a slot depend on."""

from misstep.core.dice import Dice
from misstep.planning.language.rendering import render
from misstep.planning.language.syntax import Clause, Free, Group, Relative, Sentence

NAMES = ("stock count", "till check", "price update", "floor sweep", "safe repair")
A, B, C, D, E = range(5)


def texts(clause: Clause | Free) -> set[str]:
    """The clause in as many wordings as a few hundred seeds give."""
    return {render((Sentence((clause,)),), NAMES, Dice(seed))[0] for seed in range(300)}


def test_one_time_is_for_one_action() -> None:
    for form in ("conjunction", "fronted conjunction"):
        single = texts(Clause(form, ">", Group((A,)), Group((B,))))
        several = texts(Clause(form, ">", Group((A,)), Group((B, C))))
        assert any("the time at which" in text for text in single)
        assert not any("the time at which" in text for text in several)


def test_a_pair_behind_an_opening_phrase_says_both() -> None:
    pair = texts(Clause("fronted preposition", "<", Group((A, B)), Group((C,))))
    assert all(", both the stock count and the till check " in text for text in pair)
    assert not any(
        "both" in text for text in texts(Clause("fronted preposition", "<", Group((A,)), Group((C,))))
    )
    assert not any(
        "both" in text for text in texts(Clause("fronted conjunction", "<", Group((A, B)), Group((C,))))
    )


def test_pronouns_name_the_whole_group() -> None:
    for actions, pronoun in (
        ((A,), ", which "),
        ((A, B), ", both of which "),
        ((A, B, C), ", all of which "),
    ):
        group = Group(actions, Relative("verb", "<", Group((D,))))
        assert all(pronoun in text for text in texts(Clause("verb", ">", group, Group((E,)))))


def test_a_relative_clause_inside_a_sentence_is_closed() -> None:
    group = Group((A,), Relative("verb", "<", Group((D,))))
    for text in texts(Clause("verb", ">", group, Group((E,)))):
        assert ", which " in text
        assert ", " in text.partition("the floor sweep")[2]
    for text in texts(Clause("verb", ">", Group((E,)), group)):
        assert text.endswith("the floor sweep.")


def test_what_can_t_open_a_sentence_does_not() -> None:
    openings = {
        text.split(" the ")[0] for text in texts(Clause("fronted preposition", ">", Group((A,)), Group((B,))))
    }
    assert openings == {"After", "Subsequent to", "Sometime after", "At some point after"}


def test_dependent_clauses_speak_of_no_duty() -> None:
    for text in texts(Clause("conjunction", "<", Group((A,)), Group((B,)))):
        assert not any(
            word in text.partition("the till check")[2] for word in ("must", "has to", "needs", "is to")
        )


def test_free_actions() -> None:
    assert "The stock count may take place at any time." in texts(Free(Group((A,))))
    assert "The stock count and the till check are free to happen at any point." in texts(Free(Group((A, B))))
