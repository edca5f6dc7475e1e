"""The reader against sentences and meanings written by hand.

A relation is written with the initials of its activities: "ab" says that the audit comes before the briefing.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from misstep.planning.language.lexicon import Linker, Verb, Verbs, load_lexicon
from misstep.planning.language.reader import Relation, SentenceReading, read

NAMES = ("audit", "briefing", "count", "drill", "exam", "filing")
LEXICON = load_lexicon()


def meanings(sentence: str) -> list[set[str]]:
    readings = read(sentence, NAMES)
    return [{relation.first[0] + relation.then[0] for relation in reading.relations} for reading in readings]


def check(sentence: str, *expected: str) -> None:
    """The sentence has exactly the expected meanings, in any order."""
    found = sorted(" ".join(sorted(meaning)) for meaning in meanings(sentence))
    assert found == sorted(" ".join(sorted(meaning.split())) for meaning in expected)


def the_one(sentence: str) -> SentenceReading:
    (reading,) = read(sentence, NAMES)
    return reading


# Every phrase of the lexicon in every form that it may take.


@pytest.mark.parametrize("verb", LEXICON.verbs.before, ids=lambda verb: verb.one)
def test_verbs_that_put_the_subject_first(verb: Verb) -> None:
    check(f"The audit {verb.one} the briefing.", "ab")
    check(f"The audit and the count {verb.many} the briefing.", "ab cb")
    check(f"The audit, which {verb.one} the briefing, precedes the count.", "ab ac")


@pytest.mark.parametrize("verb", LEXICON.verbs.after, ids=lambda verb: verb.one)
def test_verbs_that_put_the_subject_second(verb: Verb) -> None:
    check(f"The audit {verb.one} the briefing.", "ba")
    check(f"The audit and the count {verb.many} the briefing.", "ba bc")
    check(f"The audit, which {verb.one} the briefing, precedes the count.", "ba ac")


@pytest.mark.parametrize("verb", LEXICON.verbs.neutral, ids=lambda verb: verb.one)
def test_neutral_verbs(verb: Verb) -> None:
    check(f"The audit {verb.one} before the briefing.", "ab")
    check(f"The audit and the count {verb.many} before the briefing.", "ab cb")
    check(f"After the briefing, the audit {verb.one}.", "ba")
    check(f"The audit {verb.one} before the briefing happens.", "ab")
    check(f"The count precedes the audit, which {verb.one} before the briefing.", "ca ab")


@pytest.mark.parametrize("verb", LEXICON.verbs.neutral, ids=lambda verb: verb.one)
def test_only_some_verbs_fit_a_dependent_clause(verb: Verb) -> None:
    expected = [] if verb.main else ["ab"]
    check(f"The audit happens before the briefing {verb.one}.", *expected)
    check(f"Before the briefing {verb.one}, the audit happens.", *expected)


@pytest.mark.parametrize("verb", LEXICON.verbs.free, ids=lambda verb: verb.one)
def test_free_clauses(verb: Verb) -> None:
    check(f"The audit {verb.one}.", "")
    check(f"The audit and the count {verb.many}.", "")
    assert the_one(f"The audit, the count and the briefing {verb.many}.") == SentenceReading(
        (), ("audit", "count", "briefing")
    )


LINKERS = [
    *(("before", linker) for linker in LEXICON.prepositions.before),
    *(("after", linker) for linker in LEXICON.prepositions.after),
]
DEPENDENT = [
    *(("before", linker) for linker in LEXICON.conjunctions.before),
    *(("after", linker) for linker in LEXICON.conjunctions.after),
]


@pytest.mark.parametrize(("direction", "linker"), LINKERS)
def test_prepositions(direction: str, linker: Linker) -> None:
    expected = "ab" if direction == "before" else "ba"
    check(f"The audit happens {linker.text} the briefing.", expected)
    fronted = linker.text[0].upper() + linker.text[1:]
    check(f"{fronted} the briefing, the audit happens.", *([expected] if linker.front else []))


@pytest.mark.parametrize(("direction", "linker"), DEPENDENT)
def test_conjunctions(direction: str, linker: Linker) -> None:
    expected = "ab" if direction == "before" else "ba"
    check(f"The audit happens {linker.text} the briefing occurs.", expected)
    fronted = linker.text[0].upper() + linker.text[1:]
    check(f"{fronted} the briefing occurs, the audit happens.", *([expected] if linker.front else []))


# Groups.


def test_groups_relate_all_to_all() -> None:
    check("The audit precedes the briefing and the count.", "ab ac")
    check("Both the audit and the briefing precede the count.", "ac bc")
    check("The audit is preceded by both the briefing and the count.", "ba ca")
    check("The audit, the briefing and the count precede the drill and the exam.", "ad ae bd be cd ce")
    check("The audit, the briefing, the count and the drill follow the exam.", "ea eb ec ed")
    check("The audit and the briefing take place before the count and the drill happen.", "ac ad bc bd")


def test_a_list_after_a_fronted_part_is_cut_in_the_right_place() -> None:
    check("Before the audit, the briefing and the count take place.", "ba ca")
    check("Before the audit, the briefing, the count and the drill take place.", "ba ca da")
    check("Before the audit, the briefing and the count, the drill takes place.", "da db dc")
    check("After the audit and the briefing happen, the count and the drill take place.", "ac ad bc bd")
    check("Before the audit, which follows the briefing, the count and the drill take place.", "ba ca da")
    check(
        "Before the audit, which follows the briefing, the count and the drill, the exam takes place.",
        "ba ca da ea",
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "The audit precede the briefing.",
        "The audit and the count precedes the briefing.",
        "Both the audit and the count precedes the briefing.",
        "The audit take place before the briefing.",
        "The audit and the count takes place before the briefing.",
        "Before the briefing, the audit take place.",
        "Before the briefing, the audit and the count takes place.",
        "The audit happens before the briefing occur.",
        "The audit happens before the briefing and the count occurs.",
        "After the briefing occur, the audit happens.",
        "The audit, which precede the briefing, follows the count.",
        "The audit, which precedes the briefing, follow the count.",
        "The audit and the briefing, both of which precedes the count, follow the drill.",
        "The audit are not tied to any particular moment.",
        "The audit and the count is not tied to any particular moment.",
    ],
)
def test_number_must_agree(sentence: str) -> None:
    check(sentence)


# Relative clauses.


def test_relative_clauses_on_the_subject() -> None:
    check("The audit, which precedes the briefing, follows the count.", "ab ca")
    check("The audit, which takes place after the briefing, follows the count.", "ba ca")
    check("The audit, which follows the briefing, may take place at any time.", "ba")
    check("The audit, which follows the briefing, happens before the count.", "ba ac")
    check("The audit, which follows the briefing, happens before the count occurs.", "ba ac")
    check("Before the count, the audit, which follows the briefing, happens.", "ba ac")
    check("Before the count occurs, the audit, which follows the briefing, happens.", "ba ac")


def test_relative_clauses_on_the_object() -> None:
    check("The audit follows the briefing, which precedes the count.", "ba bc")
    check("The audit follows the briefing, which must take place after the count.", "ba cb")
    check("The audit happens before the briefing, which precedes the count.", "ab bc")
    check("The audit happens before the briefing, which precedes the count, happens.", "ab bc")
    check("After the briefing, which precedes the count, the audit happens.", "ba bc")
    check("After the briefing, which precedes the count, takes place, the audit happens.", "ba bc")
    check("The audit, which follows the count, precedes the briefing, which follows the drill.", "ca ab db")


def test_relative_clauses_on_the_object_of_another() -> None:
    check("The audit precedes the briefing, which precedes the count, which follows the drill.", "ab bc dc")
    check("The audit, which precedes the briefing, which precedes the count, follows the drill.", "ab bc da")
    check(
        "Before the audit, which follows the briefing, which follows the count, which follows the drill,"
        " the exam takes place.",
        "ba cb dc ea",
    )
    check(
        "The audit precedes the briefing, which precedes the count and the drill,"
        " both of which precede the exam.",
        "ab bc bd ce de",
    )


def test_relative_clauses_are_closed_by_what_follows() -> None:
    check(
        "The audit precedes the briefing, which precedes the count; the drill precedes the exam.", "ab bc de"
    )
    check(
        "The audit precedes the briefing, which precedes the count, and the drill precedes the exam.",
        "ab bc de",
    )
    check("The audit, which precedes the briefing precedes the count.")
    check("The audit, which precedes the briefing; precedes the count.")
    check("The audit happens before the briefing, which precedes the count happens.")
    check("The audit precedes the briefing, which precedes the count,.")


def test_relative_clauses_on_groups() -> None:
    check("The audit and the briefing, both of which precede the count, follow the drill.", "ac bc da db")
    check(
        "Both the audit and the briefing, both of which must precede the count, follow the drill.",
        "ac bc da db",
    )
    check(
        "The audit follows the briefing, the count and the drill, all of which happen after the exam.",
        "ba ca da eb ec ed",
    )
    check("The audit, both of which precede the count, follow the drill.")
    check("The audit, the briefing and the exam, both of which precede the count, follow the drill.")
    check("The audit and the briefing, all of which precede the count, follow the drill.")


def test_rule_1_number_tells_what_a_bare_which_refers_to() -> None:
    check("The audit and the briefing, which precede the count, follow the drill.", "ac bc da db")
    check("The audit and the briefing, which precedes the count, follow the drill.", "bc da db")
    check(
        "The audit follows the briefing, the count and the drill, which follow the exam.", "ba ca da eb ec ed"
    )
    check(
        "The audit follows the briefing, the count and the drill, which happens after the exam.",
        "ba ca da ed",
    )


def test_rule_1_a_modal_leaves_it_open() -> None:
    check(
        "The audit and the briefing, which must precede the count, follow the drill.",
        "ac bc da db",
        "bc da db",
    )
    check(
        "The audit follows the briefing and the count, which must take place after the drill.",
        "ba ca db dc",
        "ba ca dc",
    )
    check("The audit, which must precede the count, follows the drill.", "ac da")
    check(
        "The audit, which precedes the briefing and the count, which must follow the drill and the exam,"
        " which must follow the filing, may take place at any time.",
        "ab ac dc ec fe",
        "ab ac db eb dc ec fe",
        "ab ac dc ec fd fe",
        "ab ac db eb dc ec fd fe",
    )


# Several clauses.


@pytest.mark.parametrize("tie", ["; ", ", and ", ", but ", ", yet ", ", while ", ", whereas "])
def test_plain_clauses_can_be_joined(tie: str) -> None:
    check(f"The audit precedes the briefing{tie}the count follows the drill.", "ab dc")
    check(f"The audit happens after the briefing{tie}the count may take place at any time.", "ba")
    check(f"The audit may take place at any time{tie}the count happens before the drill happens.", "cd")
    check(
        f"The audit precedes the briefing{tie}the count follows the drill{tie}the exam precedes the filing.",
        "ab dc ef",
    )
    check(
        f"The audit precedes the briefing{tie}the count, the drill and the exam follow the filing.",
        "ab fc fd fe",
    )


@pytest.mark.parametrize("tie", [", and ", ", but ", ", yet ", ", while ", ", whereas "])
def test_rule_2_a_fronted_part_may_govern_the_next_clause(tie: str) -> None:
    check(f"Before the audit, the briefing happens{tie}the count follows the drill.", "ba dc", "ba ca dc")
    check(
        f"After the audit happens, the briefing happens{tie}the count follows the drill.", "ab dc", "ab ac dc"
    )
    check(f"Before the audit, the briefing happens{tie}the count may take place at any time.", "ba", "ba ca")
    check(
        f"The filing precedes the exam{tie}before the audit, the briefing happens{tie}"
        "the count and the drill may take place at any time.",
        "fe ba",
        "fe ba ca da",
    )


def test_rule_2_reaches_over_a_run_of_clauses() -> None:
    check(
        "Before the audit, the briefing happens, and the count may take place at any time,"
        " and the drill precedes the exam.",
        "ba de",
        "ba ca de",
        "ba ca da de",
    )
    check(
        "Before the audit, the briefing happens, and the count precedes the audit,"
        " and the drill precedes the exam.",
        "ba ca de",
        "ba ca da de",
    )


@pytest.mark.parametrize("tie", [", and ", ", but ", ", yet ", ", while ", ", whereas "])
def test_rule_3_a_dependent_clause_may_take_in_the_next_clause(tie: str) -> None:
    check(
        f"The audit happens before the briefing happens{tie}the count follows the drill.", "ab dc", "ab ac dc"
    )
    check(
        f"The audit happens after the briefing happens{tie}the count follows the drill.", "ba dc", "ba ca dc"
    )
    check(
        f"The audit and the exam happen before the briefing happens{tie}"
        "the count may take place at any time.",
        "ab eb",
        "ab eb ac ec",
    )


def test_rule_4_a_preposition_may_belong_to_the_clause_before() -> None:
    check(
        "The audit happens after the briefing, and before the count, the drill happens.", "ba dc", "ba dc ac"
    )
    check(
        "The audit and the exam happen before the briefing, but after the count, the drill happens.",
        "ab eb cd",
        "ab eb cd ca ce",
    )
    check("The audit follows the briefing, and before the count, the drill happens.", "ba dc")
    check("The audit happens after the briefing, and before the count happens, the drill happens.", "ba dc")


def test_a_semicolon_ends_all_that() -> None:
    check("Before the audit, the briefing happens; the count follows the drill.", "ba dc")
    check("After the audit happens, the briefing happens; the count follows the drill.", "ab dc")
    check("The audit happens before the briefing happens; the count follows the drill.", "ab dc")
    check("The audit happens after the briefing; before the count, the drill happens.", "ba dc")
    check(
        "Before the audit, the briefing happens; the count follows the drill,"
        " and the exam follows the filing.",
        "ba dc fe",
    )


def test_readings_that_mean_the_same_are_one() -> None:
    reading = the_one("Before the audit, the briefing happens, and the count precedes the audit.")
    assert [relation.form for relation in reading.relations] == ["fronted preposition", "verb"]
    check(
        "The audit precedes the count, and the audit and the briefing, which must precede the count,"
        " follow the drill.",
        "ac bc da db",
    )


def test_nobody_hears_that_an_action_precedes_itself() -> None:
    check("Before the audit, the briefing happens, and the audit precedes the count.", "ba ac")
    check("The audit and the briefing, which must precede the audit, follow the drill.", "ba da db")
    check("The audit precedes the audit.")
    check("The audit and the audit precede the briefing.")


def test_many_doubts_are_counted_only_so_far() -> None:
    doubtful = "before the audit happens, the briefing happens, and the count happens after the drill happens"
    sentence = f"The exam precedes the filing, and {', and '.join([doubtful] * 30)}."
    assert len(read(sentence, NAMES)) > 1
    names = [f"job {number}" for number in range(60)]
    clauses = [f"the {name} happens before the exam happens" for name in names]
    assert len(read(f"The exam precedes the audit, and {', and '.join(clauses)}.", [*NAMES, *names])) >= 64


# What a reading tells.


@pytest.mark.parametrize(
    ("sentence", "relation"),
    [
        (
            "The audit and the count are followed at some point by the briefing.",
            Relation("audit", "briefing", "is followed at some point by", "verb"),
        ),
        (
            "The briefing happens subsequent to the audit.",
            Relation("audit", "briefing", "subsequent to", "preposition"),
        ),
        (
            "Prior to the briefing, the audit happens.",
            Relation("audit", "briefing", "prior to", "fronted preposition"),
        ),
        (
            "The audit happens before the time at which the briefing happens.",
            Relation("audit", "briefing", "before the time at which", "conjunction"),
        ),
        (
            "At some point after the audit happens, the briefing happens.",
            Relation("audit", "briefing", "at some point after", "fronted conjunction"),
        ),
        (
            "The audit, which precedes the briefing, follows the count.",
            Relation("audit", "briefing", "precedes", "relative verb"),
        ),
        (
            "The audit, which takes place ahead of the briefing, follows the count.",
            Relation("audit", "briefing", "ahead of", "relative preposition"),
        ),
    ],
)
def test_relations_tell_phrase_and_form(sentence: str, relation: Relation) -> None:
    assert the_one(sentence).relations[0] == relation


def order(sentence: str) -> str:
    return " ".join(relation.first[0] + relation.then[0] for relation in the_one(sentence).relations)


def test_relations_come_in_the_order_of_the_text() -> None:
    assert order("The audit, which precedes the briefing, follows the count and the drill.") == "ab ca da"
    assert order(
        "The audit follows the briefing, which precedes the count; the drill precedes the exam."
    ) == ("ba bc de")
    assert order(
        "Before the audit, which precedes the exam, the count, which precedes the drill, occurs."
    ) == ("ae ca cd")
    assert order("The audit and the briefing, which precede the count and the drill, follow the exam.") == (
        "ac ad bc bd ea eb"
    )


def test_readings_of_one_sentence_come_plainest_first() -> None:
    plain, heard = read("Before the audit, the briefing happens, and the count follows the drill.", NAMES)
    assert [relation.form for relation in plain.relations] == ["fronted preposition", "verb"]
    assert [(relation.first, relation.then) for relation in heard.relations] == [
        ("briefing", "audit"),
        ("count", "audit"),
        ("drill", "count"),
    ]
    first = "Before the audit, the briefing happens, and the count and the drill precede the exam"
    second = "before the audit, the briefing happens, and the filing precedes the exam"
    sizes = [len(reading.relations) for reading in read(f"{first}; {second}.", NAMES)]
    assert sizes == [5, 6, 7, 8]


def test_a_doubtful_which_keeps_the_order_of_the_text() -> None:
    last, whole = read("The exam follows the audit and the count, which must precede the drill.", NAMES)
    assert [relation.first for relation in last.relations] == ["audit", "count", "count"]
    assert [relation.first for relation in whole.relations] == ["audit", "count", "audit", "count"]


def test_activities_are_mentioned_in_the_order_of_the_text() -> None:
    sentence = "Before the drill, which follows the count, the exam and the audit happen"
    assert the_one(f"{sentence}; the count follows the briefing.").mentioned == (
        "drill",
        "count",
        "exam",
        "audit",
        "briefing",
    )


def test_names_of_several_words() -> None:
    (reading,) = read("The stock count precedes the network diagnosis.", ["stock count", "network diagnosis"])
    assert reading == SentenceReading(
        (Relation("stock count", "network diagnosis", "precedes", "verb"),),
        ("stock count", "network diagnosis"),
    )


def test_another_lexicon_can_be_given() -> None:
    lexicon = replace(LEXICON, verbs=Verbs((Verb("beats", "beat"),), (), (), ()))
    (reading,) = read("The audit beats the count.", NAMES, lexicon)
    assert reading.relations == (Relation("audit", "count", "beats", "verb"),)
    assert read("The audit precedes the count.", NAMES, lexicon) == []


def test_a_phrase_that_points_both_ways_gives_two_readings() -> None:
    verbs = (Verb("meets", "meet"),)
    lexicon = replace(LEXICON, verbs=Verbs(verbs, verbs, (), ()))
    readings = read("The audit meets the count.", NAMES, lexicon)
    assert [(reading.relations[0].first, reading.relations[0].then) for reading in readings] == [
        ("audit", "count"),
        ("count", "audit"),
    ]


# What is not in the language.


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        ".",
        "The",
        "The.",
        "The audit.",
        "The audit precedes the briefing",
        "the audit precedes the briefing.",
        "THE audit precedes the briefing.",
        "The Audit precedes the briefing.",
        " The audit precedes the briefing.",
        "The audit precedes the briefing. ",
        "The audit precedes the briefing.\n",
        "The audit precedes the briefing..",
        "The audit  precedes the briefing.",
        "The audit precedes\tthe briefing.",
        "The audit precedes the briefing .",
        "The audit precedes the briefing, .",
        "The audit precedes the briefing. The count precedes the drill.",
        "The audit precedes the briefing. the count precedes the drill.",
        "The audit precedes the briefing;the count precedes the drill.",
        "The audit precedes the briefing; The count precedes the drill.",
        "The audit precedes the briefing and the count precedes the drill.",
        "The audit precedes the briefing, so the count precedes the drill.",
        "The audit precedes the briefing, the count precedes the drill.",
        "The audit precedes the briefing, and.",
        "The audit precedes the briefing;.",
        "The audit precedes the party.",
        "The audit probably precedes the briefing.",
        "The audit precedes briefing.",
        "Audit precedes the briefing.",
        "The audit precedes the briefing, the count, and the drill.",
        "The audit precedes the briefing, the count.",
        "The audit precedes the briefing and the count and the drill.",
        "The audit precedes both the briefing, the count and the drill.",
        "The audit precedes both the briefing.",
        "The audit takes place.",
        "The audit takes place the briefing.",
        "The audit happens before.",
        "Before the briefing the audit happens.",
        "Before the briefing, the audit precedes the count.",
        "Before the briefing happens the audit happens.",
        "The audit precedes the briefing happens.",
        "The audit, which may take place at any time, precedes the briefing.",
        "The audit which precedes the briefing, precedes the count.",
    ],
)
def test_anything_else_is_unreadable(sentence: str) -> None:
    assert read(sentence, NAMES) == []


@given(st.text())
def test_any_text_can_be_given(text: str) -> None:
    for sentence in (text, f"The {text}.", f"The audit{text} the count."):
        assert isinstance(read(sentence, NAMES), list)


PIECES = (
    "the audit",
    "the briefing",
    "the count",
    "both",
    "and",
    ",",
    ", which",
    ", both of which",
    ";",
    ", and",
    ", while",
    "precedes",
    "precede",
    "must follow",
    "takes place",
    "take place",
    "happens",
    "before",
    "after",
    "following",
    "after the time at which",
    "may take place at any time",
)


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_row_of_phrases_can_be_given(pieces: list[str]) -> None:
    text = " ".join(pieces).replace(" ,", ",").replace(" ;", ";").capitalize() + "."
    readings = read(text, NAMES)
    meant = [
        frozenset((relation.first, relation.then) for relation in reading.relations) for reading in readings
    ]
    assert len(set(meant)) == len(meant)


@pytest.mark.parametrize(
    "unit",
    [
        "the audit, ",
        "the audit and ",
        "the audit, the briefing and the count, ",
        "the audit, which precedes ",
        "the audit and the briefing, which must precede ",
        "the audit precedes the briefing, and ",
        "before the audit, ",
        "before the audit, the briefing happens, and ",
        "the audit happens before the briefing happens; ",
        "both ",
        ", which ",
        ",",
        " ",
        "İ",
        "\ud800 ",
    ],
)
@pytest.mark.parametrize("size", [4_000, 100_000])
def test_hostile_text_comes_back(unit: str, size: int) -> None:
    text = unit * (size // len(unit))
    for sentence in (
        text,
        f"T{text[1:]}",
        f"{text[:1].upper()}{text[1:]}.",
        f"The audit precedes {text}the count.",
    ):
        assert isinstance(read(sentence, NAMES), list)
