"""The tree and its written forms."""

import pytest

from misstep.core.constraint import (
    Adjacent,
    Before,
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
from misstep.planning.language.clarity import Pronouns, most_actions, possible_joins
from misstep.planning.language.semantics import constraints_of, mentioned, relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    JOINS,
    Alternative,
    BudgetRemark,
    Clause,
    Conditional,
    Duty,
    End,
    Form,
    Free,
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
    all_shapes,
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


def test_only_a_semicolon_parts_what_a_comma_would_tie_together() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    other = Clause("verb", ">", Group((C,)), Group((D,)))
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
    other = Clause("verb", ">", Group((C,)), Group((D,)))
    listing = Clause("verb", "<", Group((A,)), Group((B, E)))
    several = Clause("verb", ">", Group((C, E)), Group((D,)))
    relative = Clause("verb", "<", Group((A,)), Group((B,), Relative("verb", "<", Group((E,)))))
    for left, right in ((listing, other), (plain, several), (relative, other)):
        assert set(possible_joins(left, right, ())) == {";", ", whereas", ", while"}


@pytest.mark.parametrize("form", ["verb", "preposition"])
def test_a_contrast_is_one_of_subject_and_direction(form: Form) -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    same_subject = Clause(form, ">", Group((A,)), Group((C,)))
    shared_subject = Clause(form, ">", Group((A, D)), Group((C,)))
    same_direction = Clause(form, "<", Group((C,)), Group((D,)))
    for other in (same_subject, shared_subject, same_direction):
        assert set(possible_joins(plain, other, ())) <= {";", ", and"}
        assert set(possible_joins(other, plain, ())) <= {";", ", and"}
    contrast = Clause(form, ">", Group((C,)), Group((B,)))
    assert {", but", ", yet", ", whereas"} <= set(possible_joins(plain, contrast, ()))


def test_while_introduces_only_what_cannot_be_heard_as_during() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    happening = Clause("preposition", ">", Group((C,)), Group((D,)))
    relation = Clause("verb", ">", Group((C,)), Group((D,)))
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


# What is said beyond plain order.

IDS = ("a1", "a2", "a3", "a4", "a5")
REMARKS: list[tuple[Remark, str, set[int], list[Constraint]]] = [
    (
        Timed("verb", "start", "after", 600, (A, C)),
        "a1+a3 STARTS>10:00",
        {A, C},
        [Window("a1", "start", "after", 600, 4), Window("a3", "start", "after", 600, 4)],
    ),
    (
        Timed("verb", "start", "before", 545, (B,)),
        "a2 STARTS<09:05",
        {B},
        [Window("a2", "start", "before", 545, 4)],
    ),
    (
        Timed("fronted", "end", "before", 900, (A,)),
        "BEFORE 15:00, a1 ENDS",
        {A},
        [Window("a1", "end", "before", 900, 4)],
    ),
    (Neighbours("verb", "<", A, B), "a1 NEXT< a2", {A, B}, [Adjacent("a1", "a2", 4)]),
    (Neighbours("preposition", ">", A, B), "a1 VP0 NEXT> a2", {A, B}, [Adjacent("a2", "a1", 4)]),
    (Neighbours("fronted preposition", ">", A, B), "NEXT> a2, a1 VP0", {A, B}, [Adjacent("a2", "a1", 4)]),
    (End("first", C), "a3 FIRST", {C}, [Place("a3", "first", 4)]),
    (End("last", C), "a3 LAST", {C}, [Place("a3", "last", 4)]),
    (Alternative((B, A)), "a2 OR a1", {A, B}, [Choice(("a2", "a1"), 4)]),
    (Conditional(A, "a gap", B), "IF a1 THEN a2", {A, B}, [Condition("a1", "a gap", "a2", "", 4)]),
    (
        Conditional(B, "a gap", C, A),
        "IF a2 THEN a3 ELSE a1",
        {A, B, C},
        [Condition("a2", "a gap", "a3", "a1", 4)],
    ),
    (RepeatRemark(A, 2), "a1 TIMES 2", {A}, [Repeat("a1", 2, 4)]),
    (Limited(A, 3), "a1 LIMIT 3", {A}, [Limit("a1", 3, 4)]),
    (BudgetRemark(240), "SPEND 240", set(), [Spend(240, 4)]),
    (
        HandOver(A, B, "release key"),
        "a1 GIVES release_key TO a2",
        {A, B},
        [Handover("a1", "a2", "release_key", 4)],
    ),
    (Replacing(A, B), "a2 FOR a1", {A, B}, [StandIn("a1", "a2", 4)]),
    (Duty((A, C)), "a1+a3 DUE", {A, C}, []),
    (Giving(A, {"x": 1, "y": [2]}), "a1 GIVEN x,y", {A}, [Given("a1", {"x": 1, "y": [2]}, 4)]),
]
ORDER = Clause("verb", "<", Group((A,)), Group((B,)))


@pytest.mark.parametrize(
    ("remark", "written", "actions", "demands"), REMARKS, ids=lambda value: str(value)[:40]
)
def test_remarks(remark: Remark, written: str, actions: set[int], demands: list[Constraint]) -> None:
    sentence = Sentence((remark,))
    assert skeleton((sentence,)) == f"{written}."
    assert mentioned((sentence,)) == actions
    assert constraints_of(sentence, IDS, 4) == demands
    assert relations(sentence) == []


@pytest.mark.parametrize("remark", [remark for remark, *_ in REMARKS], ids=lambda remark: str(remark)[:40])
def test_remarks_are_joined_to_nothing_and_have_no_shape_of_order(remark: Remark) -> None:
    assert possible_joins(ORDER, remark, ()) == possible_joins(remark, ORDER, ()) == ()
    assert shapes_in(skeleton((Sentence((remark,)),))) == set()
    assert shapes_in(skeleton((Sentence((ORDER,)), Sentence((remark,)), Sentence((ORDER,))))) == {"a VP< a"}
    assert shape(remark) not in set(all_shapes())


def test_times_in_a_relative_clause() -> None:
    clause = Clause(
        "verb",
        "<",
        Group((A,), TimedRelative("start", "after", 600)),
        Group((B,), Relative("verb", ">", Group((C,), TimedRelative("end", "before", 900)))),
    )
    sentence = Sentence((clause,))
    assert skeleton((sentence,)) == "a1[which STARTS>10:00] VP< a2[which VP> a3[which ENDS<15:00]]."
    assert mentioned((sentence,)) == {A, B, C}
    assert relations(sentence) == [(A, B), (C, B)]
    assert constraints_of(sentence, IDS, 0) == [
        Window("a1", "start", "after", 600, 0),
        Before("a1", "a2", 0),
        Before("a3", "a2", 0),
        Window("a3", "end", "before", 900, 0),
    ]


def test_a_clause_that_speaks_of_times_has_no_shape_of_order() -> None:
    timed = TimedRelative("start", "after", 600)
    nested = Group((C,), Relative("verb", ">", Group((D,), timed)))
    for form in FORMS:
        for direction in DIRECTIONS:
            for group in (Group((C,), timed), nested):
                for clause in (
                    Clause(form, direction, Group((A,)), group),
                    Clause(form, direction, group, Group((A,))),
                ):
                    assert shapes_in(skeleton((Sentence((clause,)),))) == set()
                    assert shapes_in(skeleton((Sentence((clause, ORDER), (";",)),))) == {"a VP< a"}


def test_a_time_at_the_end_of_a_clause_swallows_whatever_a_comma_ties_to_it() -> None:
    """In every form: those that don't end with their object have a semicolon anyway."""
    alone, timed = Group((A,)), Group((B,), TimedRelative("start", "after", 600))
    for form in FORMS:
        for other in FORMS:
            right = Clause(other, "<", Group((C,)), Group((D,)))
            assert possible_joins(Clause(form, "<", alone, timed), right, ()) == (";",)
            early, plain = Clause(form, "<", timed, alone), Clause(form, "<", Group((B,)), alone)
            assert possible_joins(early, right, ()) == possible_joins(plain, right, ())


def test_constraints_of_an_order_are_its_relations() -> None:
    first = Clause("verb", "<", Group((A, C)), Group((B,), Relative("preposition", ">", Group((D,)))))
    second = Clause("fronted preposition", ">", Group((B,)), Group((A,)))
    sentence = Sentence((first, second), (";",))
    assert constraints_of(sentence, IDS, 2) == [
        Before(IDS[first], IDS[then], 2) for first, then in relations(sentence)
    ]
    assert constraints_of(Sentence((Free(Group((A,))),)), IDS, 0) == []


def test_nothing_is_a_constraint_twice() -> None:
    timed = Group((A,), TimedRelative("start", "after", 600))
    parts = (Clause("verb", "<", timed, Group((B,))), Clause("preposition", "<", timed, Group((B,))))
    assert constraints_of(Sentence(parts, (";",)), IDS, 0) == [
        Window("a1", "start", "after", 600, 0),
        Before("a1", "a2", 0),
    ]
