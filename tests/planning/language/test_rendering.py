"""Rendering: what the words of a slot depend on."""

import re

import pytest

from misstep.core.constraint import FAMILIES, Family
from misstep.core.rng import Dice
from misstep.planning.language.parts import LanguagePart, Side
from misstep.planning.language.rendering import render
from misstep.planning.language.syntax import Clause, Free, Group, Relative, Sentence
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case

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


MODAL = re.compile(
    r"\b(?:must|may|can|has to|have to|needs? to|is to|are to) (?:not )?(?:be )?(?:directly |right )?\w+"
)
# Verbs by which an order is told as a fact; those of the second kind may do so in a dependent clause.
FACT = re.compile(
    r"\b(?:precedes?|comes? (?:immediately |right )?(?:before|after|later than)|follows?"
    r"|(?:is|are) (?:immediately )?(?:preceded by|followed at some point by|followed by))\b"
)
HAPPENING = re.compile(r"\b(?:takes? place|happens?|occurs?|(?:is|are) (?:carried out|conducted))\b")
CONTRAST = re.compile(r", (?:but|yet|while|whereas) (?!not both)")
MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES),
    ("order", "adjacent"),
    ("order", "dynamic"),
    ("order", "time", "choice"),
    FAMILIES,
]


@pytest.mark.full(after=5)
@pytest.mark.parametrize("side", [None, "seen", "unseen"])
@pytest.mark.parametrize("families", MIXTURES)
def test_a_request_keeps_to_one_mood(families: tuple[Family, ...], side: Side | None) -> None:
    """No order is told as a fact where others are demands; a dependent clause may be about a fact."""
    suite = Suite(9, least_actions(families), 7, families=families, part=LanguagePart(words=side))
    moods = set[str]()
    for index in range(60):
        case = make_case(suite, index)
        said = list(zip(case.sentences, re.split(r"(?<=\.) ", case.skeleton), strict=True))
        said += [(text, "SC") for text in case.world.announcements.values()]
        demanded = any(MODAL.search(text) for text, _ in said)
        facts = [
            text
            for text, skeleton in said
            for rest in [MODAL.sub("", text.replace("it so happens", ""))]
            if FACT.search(rest) or ("SC" not in skeleton and HAPPENING.search(rest))
        ]
        assert not (demanded and facts), facts
        moods.add("modal" if demanded else "indicative")
    if families == ("order",):
        assert moods == ({"modal"} if side == "unseen" else {"modal", "indicative"})


def test_clauses_are_contrasted_only_where_they_differ() -> None:
    """Each clause begins with its subject, which is no part of that of the other."""
    joins = 0
    for index in range(600):
        case = make_case(Suite(4, 4, 8), index)
        for sentence in case.sentences:
            for join in CONTRAST.finditer(sentence):
                left = sentence[: join.start()].split("; ")[-1]
                right = sentence[join.end() :].split("; ")[0]
                subjects = [
                    subject_of(clause, [action.name for action in case.actions]) for clause in (left, right)
                ]
                assert subjects[0].isdisjoint(subjects[1]), sentence
                joins += 1
    assert joins > 20


def subject_of(clause: str, names: list[str]) -> set[str]:
    """The activities that a clause lists first."""
    the = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    listed = re.match(rf"(?:the (?:{the})(?:, (?=the)| and )?)+", clause, re.IGNORECASE)
    assert listed, clause
    return set(re.findall(the, listed[0]))


@pytest.mark.full(after=1)
@pytest.mark.parametrize(
    "phrase",
    [
        "not later than",
        "must not cost more than",
        "turns up",
        "Only after that",
        "can be ignored",
        "not more than",
    ],
)
def test_what_nobody_would_write_is_gone(phrase: str) -> None:
    for families in MIXTURES:
        for index in range(40):
            case = make_case(Suite(6, least_actions(families), 7, families=families), index)
            assert phrase not in case.query, case.query
