"""The lexicon: enough phrases, one direction each, nothing that two people read differently."""

import re
from collections.abc import Iterable
from itertools import product
from string import Formatter

import pytest

from misstep.planning.language.lexicon import Linker, Verb, load_lexicon, load_topics

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
TIMES, NEAR, CONDITIONS, REPEATS, DATA = (
    LEXICON.times,
    LEXICON.adjacency,
    LEXICON.conditions,
    LEXICON.repeats,
    LEXICON.data,
)


def ones(verbs: Iterable[Verb]) -> list[str]:
    return [verb.one for verb in verbs]


def texts(linkers: Iterable[Linker]) -> list[str]:
    return [linker.text for linker in linkers]


BEYOND_ORDER = {
    "start": ones(TIMES.start),
    "end": ones(TIMES.end),
    "T>": texts(TIMES.after),
    "T<": texts(TIMES.before),
    "NEXT<": ones(NEAR.verbs.before),
    "NEXT>": ones(NEAR.verbs.after),
    "NP<": texts(NEAR.prepositions.before),
    "NP>": texts(NEAR.prepositions.after),
    "first": ones(NEAR.first),
    "last": ones(NEAR.last),
    "choices": list(LEXICON.choices),
    "openers": list(CONDITIONS.openers),
    "reports": list(CONDITIONS.reports),
    "findings": [finding.some for finding in CONDITIONS.findings],
    "obligations": list(CONDITIONS.obligations),
    "otherwise": list(CONDITIONS.otherwise),
    "skips": list(CONDITIONS.skips),
    "repeats": list(REPEATS.verbs),
    "limits": list(REPEATS.limits),
    "limit counts": list(REPEATS.limit_counts),
    "budgets": list(LEXICON.budgets),
    "data": list(DATA.frames),
    "stand-ins": list(LEXICON.stand_ins),
    "duties": ones(LEXICON.duties),
}
FRAMES = {
    "choices": (LEXICON.choices, {"a", "b", "verb"}),
    "limits": (REPEATS.limits, {"a", "count"}),
    "limit counts": (REPEATS.limit_counts, {"number", "tasks"}),
    "budgets": (LEXICON.budgets, {"amount"}),
    "stand-ins": (LEXICON.stand_ins, {"a", "b"}),
    "given": (LEXICON.given, {"a", "arguments"}),
}
NEW_VERBS = [
    *(verb for verbs in (TIMES.start, TIMES.end, NEAR.verbs.before, NEAR.verbs.after) for verb in verbs),
    *NEAR.first,
    *NEAR.last,
    *LEXICON.duties,
]


@pytest.mark.parametrize("name", [*CLASSES, *BEYOND_ORDER])
def test_each_class_has_seven_phrases_or_more(name: str) -> None:
    phrases = (CLASSES | BEYOND_ORDER)[name]
    assert len(set(phrases)) >= 7
    assert len(set(phrases)) == len(phrases)


def test_what_comes_in_other_numbers() -> None:
    assert len(set(BEYOND_ORDER["findings"])) >= 10
    assert len(set(LEXICON.given)) >= 3
    for times in (2, 3):
        assert len({count.text for count in REPEATS.counts if count.times == times}) >= 5
    assert {count.times for count in REPEATS.counts} == {2, 3}
    kinds = [value.type for value in DATA.values]
    assert kinds.count("text") >= 8
    assert kinds.count("integer") >= 3


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
    for verb in (*VERBS, *NEW_VERBS):
        adverb = re.match(r"(immediately|directly) ", verb.one)
        start = adverb.end() if adverb else 0
        one, *rest = verb.one[start:].split()
        many, *plural_rest = verb.many[start:].split()
        assert many == endings.get(one, one.removesuffix("s"))
        assert [word.removesuffix("s") for word in plural_rest] == [word.removesuffix("s") for word in rest]


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


# What is demanded beyond plain order.


def slots(frame: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(frame) if name is not None}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_have_their_slots(name: str) -> None:
    frames, expected = FRAMES[name]
    assert all(slots(frame) == expected for frame in frames)


def test_data_frames_name_the_value_once_and_say_whose_it_is() -> None:
    for frame in DATA.frames:
        assert slots(frame) in ({"giver", "taker", "value"}, {"giver", "taker", "a_value"})
        assert re.search(r"\{giver\} (returns|yields|produces)|comes from \{giver\}", frame)


ALL_FRAMES = [*(frame for frames, _ in FRAMES.values() for frame in frames), *DATA.frames]


@pytest.mark.parametrize("frame", ALL_FRAMES)
def test_a_word_or_a_comma_stands_between_two_slots(frame: str) -> None:
    """The neutral verb of a choice is a predicate like any other: it may follow its subject."""
    assert not re.search(r"\} ?\{(?!verb\})", frame)
    assert all(frame.count(f"{{{slot}}}") == 1 for slot in slots(frame))


@pytest.mark.parametrize("frame", ALL_FRAMES)
def test_a_frame_becomes_a_sentence(frame: str) -> None:
    """It begins with a letter or with an activity, whose article gets the capital."""
    assert re.match(r"[a-z]|\{(a|b|giver|taker|count|number)\}", frame)
    assert not re.search(r"[.;,]$|  | ,", frame)


FAMILIES = {
    "order": [*CLASSES["VP<"], *CLASSES["VP>"], *CLASSES["VP0"], *(verb.one for verb in LEXICON.verbs.free)],
    "time": [*BEYOND_ORDER["start"], *BEYOND_ORDER["end"]],
    "adjacent": [*BEYOND_ORDER["NEXT<"], *BEYOND_ORDER["NEXT>"]],
    "place": [*BEYOND_ORDER["first"], *BEYOND_ORDER["last"]],
    "repeat": [f"{verb} {count.text}" for verb in REPEATS.verbs for count in REPEATS.counts],
}


def test_no_predicate_belongs_to_two_families() -> None:
    said = [predicate for predicates in FAMILIES.values() for predicate in predicates]
    assert len(set(said)) == len(said)


def test_no_predicate_of_a_family_is_one_of_order_with_something_behind_it() -> None:
    """An activity begins with "the": after words for order nothing else may come first."""
    ordering = [
        *CLASSES["VP<"],
        *CLASSES["VP>"],
        *(f"{verb} {link}" for verb in CLASSES["VP0"] for link in (*CLASSES["P<"], *CLASSES["P>"])),
    ]
    for name in ("adjacent", "place", "repeat", "time"):
        for said in FAMILIES[name]:
            for order in ordering:
                assert not said.startswith(f"{order} the "), f"{said} in {name}"


def test_the_neighbour_s_side_is_the_one_that_the_words_carry() -> None:
    first = re.compile(r"\b(before|prior|ahead|precedes?|followed by)\b")
    second = re.compile(r"\b(after|subsequent|follows?|preceded by)\b")
    for kind, expected, other in (("<", first, second), (">", second, first)):
        for phrase in (*BEYOND_ORDER[f"NEXT{kind}"], *BEYOND_ORDER[f"NP{kind}"]):
            assert expected.search(phrase), phrase
            assert not other.search(phrase), phrase
            assert re.search(r"\b(immediately|directly|right|straight|very next)\b", phrase), phrase
            assert not re.search(r"\b(just|shortly|soon)\b", phrase), phrase


def test_first_and_last_are_among_all_and_not_early_or_late() -> None:
    for phrase in (*BEYOND_ORDER["first"], *BEYOND_ORDER["last"]):
        assert re.search(r"very (first|last) task|all the|any other task|(any|every)thing else", phrase)
        assert not re.search(r"every other|early|late\b|beginning|day|start|end\b", phrase)
    for phrase in BEYOND_ORDER["first"]:
        assert re.search(r"\b(first|before|precede)\b", phrase)
        assert not re.search(r"\b(last|after|follow)\b", phrase)
    for phrase in BEYOND_ORDER["last"]:
        assert re.search(r"\b(last|after|follow)\b", phrase)
        assert not re.search(r"\b(first|before|precede)\b", phrase)


def test_what_is_said_of_times_is_a_duty_that_includes_the_time() -> None:
    for phrase in (*BEYOND_ORDER["start"], *BEYOND_ORDER["end"]):
        assert re.match(r"(must|has to|needs to|is to) ", phrase)
    for phrase in BEYOND_ORDER["start"]:
        assert re.search(r"\b(start|begin|under way)\b", phrase)
    for phrase in BEYOND_ORDER["end"]:
        assert re.search(r"\b(end|over|finished|completed)\b", phrase)
    for phrase in BEYOND_ORDER["T>"]:
        assert re.search(r"\bafter\b|no (earlier|sooner) than", phrase)
    for phrase in BEYOND_ORDER["T<"]:
        assert re.search(r"\bbefore\b|\bby\b|no later than", phrase)
    assert not any(linker.front for linker in TIMES.after)
    assert sum(linker.front for linker in TIMES.before) >= 3
    assert not set(BEYOND_ORDER["T<"]) & set(BEYOND_ORDER["T>"])


def test_conditions_decide_on_the_finding_and_on_nothing_else() -> None:
    assert not set(CONDITIONS.openers) & {"in case", "when", "once", "assuming that", "given that"}
    assert not set(CONDITIONS.otherwise) & {"if not", "if it does not", "failing that"}
    for phrase in CONDITIONS.obligations:
        assert re.match(r"(must|has to|needs to|is to) ", phrase)
        assert re.search(r"\b(afterwards|subsequently)$", phrase)
    for phrase in CONDITIONS.skips:
        assert re.match(r"(must|has to|is to|is not to) ", phrase)
        assert re.search(r"\b(not|left out|skipped|omitted)\b", phrase)
        assert not re.search(r"\b(need not|may)\b", phrase)


def test_findings_have_a_negative_and_none_is_part_of_another() -> None:
    nouns = [finding.some.split(" ", 1)[1] for finding in CONDITIONS.findings]
    for finding, noun in zip(CONDITIONS.findings, nouns, strict=True):
        assert finding.some == f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
        assert finding.none == f"no {noun}"
        assert not [other for other in nouns if other != noun and noun in other]


def test_counts_say_exactly_how_often() -> None:
    for count in REPEATS.counts:
        assert re.search(r"\b(exactly|precisely|in all|in total|altogether|a total of)\b", count.text)
        assert bool(re.search(r"\b(twice|two)\b", count.text)) == (count.times == 2)
        assert bool(re.search(r"\bthree\b", count.text)) == (count.times == 3)
    for phrase in REPEATS.limit_counts:
        assert re.search(r"\bmost\b|\bmore than\b|\bmaximum\b", phrase)
        assert "{number} other {tasks}" in phrase


def test_values_have_their_article_and_none_is_part_of_another_or_of_an_activity() -> None:
    activities = [activity for topic in load_topics().values() for activity in topic.activities]
    nouns = [value.noun for value in DATA.values]
    for value in DATA.values:
        assert value.article == ("an" if value.noun[0] in "aeio" else "a")
        assert re.fullmatch(r"[a-z]+ [a-z]+", value.noun)
        assert not [other for other in (*nouns, *activities) if other != value.noun and value.noun in other]
        assert value.noun not in activities
        assert value.noun.replace(" ", "_") not in ("start_time", "task")


def test_duties_depend_on_no_other_sentence() -> None:
    for phrase in BEYOND_ORDER["duties"]:
        assert not re.search(r"\b(also|too|as well|time|point|finally|last|order)\b", phrase)


def test_stand_ins_speak_of_what_a_broken_tool_says() -> None:
    for frame in LEXICON.stand_ins:
        assert "out of service" in frame
        assert "in case" not in frame
        assert re.search(r"tool for (\{a\}|the latter)", frame)
        if "the latter" in frame:
            assert frame.index("{b}") < frame.index("{a}") < frame.index("the latter")
