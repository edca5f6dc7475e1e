"""The lexicon: enough phrases, one direction each, nothing that two people read differently."""

import re
from itertools import product

import pytest

from misstep.planning.language.lexicon import load_lexicon

LEXICON = load_lexicon()
CLASSES = {
    "VP<": [verb.one for verb in LEXICON.verbs.before],
    "VP>": [verb.one for verb in LEXICON.verbs.after],
    "VP0": [verb.one for verb in LEXICON.verbs.neutral],
    "P<": [linker.text for linker in LEXICON.prepositions.before],
    "P>": [linker.text for linker in LEXICON.prepositions.after],
    "SC<": [linker.text for linker in LEXICON.conjunctions.before],
    "SC>": [linker.text for linker in LEXICON.conjunctions.after],
}
VERBS = [*LEXICON.verbs.before, *LEXICON.verbs.after, *LEXICON.verbs.neutral, *LEXICON.verbs.free]


@pytest.mark.parametrize("name", CLASSES)
def test_each_class_has_seven_phrases_or_more(name: str) -> None:
    assert len(set(CLASSES[name])) >= 7
    assert len(set(CLASSES[name])) == len(CLASSES[name])


@pytest.mark.parametrize(("before", "after"), [("VP<", "VP>"), ("P<", "P>"), ("SC<", "SC>")])
def test_no_phrase_points_both_ways(before: str, after: str) -> None:
    assert not set(CLASSES[before]) & set(CLASSES[after])


def test_the_direction_is_the_one_that_the_words_carry() -> None:
    """An opinion of its own on direction, from the one word in each phrase that tells it."""
    first = re.compile(r"\b(before|prior|ahead|advance|earlier|precedes?|followed at some point by)\b")
    second = re.compile(r"\b(after|subsequent|later than|at a later|follows?|preceded by)\b")
    for name, phrases in CLASSES.items():
        if name == "VP0":
            continue
        expected, other = (first, second) if name.endswith("<") else (second, first)
        for phrase in phrases:
            assert expected.search(phrase), f"{phrase} in {name}"
            assert not other.search(phrase), f"{phrase} in {name}"


def test_words_whose_reading_varies_are_not_there() -> None:
    doubtful = re.compile(
        r"\b(until|when|as|once|while|since|should|only|following|finished|completed|done)\b"
    )
    for phrase in (*(phrase for phrases in CLASSES.values() for phrase in phrases), *(v.many for v in VERBS)):
        assert not doubtful.search(phrase), phrase
    assert not [phrase for phrase in CLASSES["VP<"] if "followed" in phrase and "at some point" not in phrase]


def test_number_agreement() -> None:
    endings = {
        "has": "have",
        "is": "are",
        "needs": "need",
        "goes": "go",
        "must": "must",
        "may": "may",
        "can": "can",
    }
    for verb in VERBS:
        one, *rest = verb.one.split()
        many, *plural_rest = verb.many.split()
        assert many == endings.get(one, one.removesuffix("s"))
        assert rest == plural_rest


def test_no_ordering_verb_can_be_taken_for_a_neutral_one_with_a_preposition() -> None:
    combined = {f"{verb} {link}" for verb, link in product(CLASSES["VP0"], [*CLASSES["P<"], *CLASSES["P>"]])}
    assert not combined & {*CLASSES["VP<"], *CLASSES["VP>"]}


def test_dependent_clauses_have_verbs_that_speak_of_no_duty_and_no_end() -> None:
    dependent = [verb.one for verb in LEXICON.verbs.neutral if not verb.main]
    assert len(dependent) >= 5
    assert not [verb for verb in dependent if re.search(r"\b(must|has to|needs|is to|done)\b", verb)]


def test_something_can_open_a_sentence_in_each_class() -> None:
    for linkers in (LEXICON.prepositions, LEXICON.conjunctions):
        for direction in (linkers.before, linkers.after):
            assert sum(linker.front for linker in direction) >= 4
            assert any(linker.front and not linker.single for linker in direction)
