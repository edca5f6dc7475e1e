"""The tree and its written forms."""

from misstep.planning.language.semantics import mentioned, relations, satisfied
from misstep.planning.language.syntax import (
    FORMS,
    JOINS,
    Clause,
    Free,
    Group,
    Pronouns,
    Relative,
    Sentence,
    all_shapes,
    most_actions,
    possible_joins,
    shape,
    shapes_in,
    skeleton,
)

A, B, C, D, E = range(5)


def test_a_skeleton_shows_slots_and_actions() -> None:
    first = Clause("verb", "<", Group((A, C)), Group((B,), Relative("preposition", ">", Group((D,)))))
    second = Clause("fronted preposition", ">", Group((A,)), Group((E,)))
    paragraph = (Sentence((first, second), (";",)), Sentence((Free(Group((B,))),)))
    assert skeleton(paragraph) == "a1+a3 VP< a2[which VP0 P> a4]; P> a5, a1 VP0. a2 free."


def test_the_five_forms() -> None:
    shapes = {form: shape(Clause(form, ">", Group((A, B)), Group((C,)))) for form in FORMS}
    assert shapes == {
        "verb": "a VP> a",
        "preposition": "a VP0 P> a",
        "fronted preposition": "P> a, a VP0",
        "conjunction": "a VP0 SC> a VP0",
        "fronted conjunction": "SC> a VP0, a VP0",
    }


def test_the_grammar_offers_250_shapes() -> None:
    """Five forms, two directions, and for subject and object each: plain, or one of four relative clauses."""
    assert len(list(all_shapes())) == len(set(all_shapes())) == 5 * 2 * 5 * 5


def test_shapes_can_be_read_off_a_skeleton() -> None:
    first = "a1 VP< a2+a3, and a4 VP0 P> a1[which VP< a2+a3[which VP> a7]]"
    written = f"{first}; SC< a12 VP0, a5 VP0. a6 free. P> a1, a2 VP0."
    assert shapes_in(written) == {"a VP< a", "a VP0 P> a[which VP< a]", "SC< a VP0, a VP0", "P> a, a VP0"}


def test_meaning_of_a_clause_with_relative_clauses() -> None:
    clause = Clause(
        "conjunction",
        "<",
        Group((A, B), Relative("verb", ">", Group((C,)))),
        Group((D,), Relative("preposition", "<", Group((E,)))),
    )
    assert set(relations(Sentence((clause,)))) == {(A, D), (B, D), (C, A), (C, B), (D, E)}
    assert mentioned((Sentence((clause,)),)) == {A, B, C, D, E}


def test_nothing_is_demanded_twice_by_one_sentence() -> None:
    clause = Clause("verb", "<", Group((A,)), Group((B,)))
    again = Clause("preposition", ">", Group((B,)), Group((A,)))
    assert relations(Sentence((clause, again), (";",))) == [(A, B)]


def test_an_order_satisfies_its_relations() -> None:
    assert satisfied([C, A, B], [(A, B), (C, B)])
    assert not satisfied([B, A, C], [(A, B), (C, B)])


def test_only_a_semicolon_parts_what_a_comma_would_tie_together() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    other = Clause("verb", "<", Group((C,)), Group((D,)))
    for form in FORMS:
        clause = Clause(form, "<", Group((A,)), Group((B,)))
        alone = (";",)
        assert (possible_joins(clause, other, ()) == alone) == (form not in ("verb", "preposition"))
        assert (possible_joins(other, clause, ()) == alone) == form.startswith("fronted")
    assert possible_joins(plain, Free(Group((C,))), ()) == (";",)
    assert set(possible_joins(plain, other, (";",))) == set(JOINS)
    assert possible_joins(plain, other, (";", ", and")) == (";",)


def test_a_list_or_a_relative_clause_swallows_an_and() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    other = Clause("verb", "<", Group((C,)), Group((D,)))
    listing = Clause("verb", "<", Group((A,)), Group((B, E)))
    several = Clause("verb", "<", Group((C, E)), Group((D,)))
    relative = Clause("verb", "<", Group((A,)), Group((B,), Relative("verb", "<", Group((E,)))))
    for left, right in ((listing, other), (plain, several), (relative, other)):
        assert set(possible_joins(left, right, ())) == {";", ", whereas", ", while"}


def test_a_contrast_needs_another_subject() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    again = Clause("verb", ">", Group((A,)), Group((C,)))
    assert not {", but", ", yet"} & set(possible_joins(plain, again, ()))


def test_while_introduces_only_what_cannot_be_heard_as_during() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    happening = Clause("preposition", "<", Group((C,)), Group((D,)))
    relation = Clause("verb", "<", Group((C,)), Group((D,)))
    assert ", while" in possible_joins(plain, relation, ())
    assert ", while" not in possible_joins(plain, happening, ())


def test_a_pronoun_hangs_on_a_group_that_it_can_t_miss() -> None:
    pronouns = Pronouns("verb")
    assert [pronouns.name(group) for group in ([A, B], [C], [D, E], [A, B, C], [B])] == [
        True,
        True,
        False,
        True,
        True,
    ]
    fronted = Pronouns("fronted preposition")
    assert [fronted.name(group) for group in ([A], [B, C])] == [True, False]
    assert Pronouns("fronted preposition").name([A, B])


def test_what_can_be_misread_stays_small() -> None:
    assert most_actions("fronted preposition", "<") == most_actions("fronted preposition", ">") == (2, 2)
    for form in ("conjunction", "fronted conjunction"):
        assert most_actions(form, "<")[1] == 1
        assert most_actions(form, ">")[1] == 2
