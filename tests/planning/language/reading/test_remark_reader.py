"""The reader against sentences that demand more than order, with meanings written by hand."""

import json
from collections.abc import Collection, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from misstep.core.constraint import (
    Adjacent,
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
from misstep.planning.language.lexicon import (
    Count,
    Data,
    Lexicon,
    Linker,
    Linkers,
    ReportedFinding,
    Times,
    Value,
    Verb,
    load_lexicon,
)
from misstep.planning.language.phrases import SentenceText, tabulate
from misstep.planning.language.reader import Relation, SentenceReading, family_frames, find, index, read

NAMES = ("audit", "briefing", "count", "drill", "exam", "filing", "stock check")
LEXICON = load_lexicon()
TEN, THREE = 10 * 60, 15 * 60


def capital(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def order(reading: SentenceReading) -> set[str]:
    """Relations by initials: "ab" says that the audit comes before the briefing."""
    return {relation.first[0] + relation.then[0] for relation in reading.relations}


def check(sentence: str, *meanings: Collection[str | Constraint]) -> None:
    """The sentence has exactly these meanings, in any order."""
    found = [{*order(reading), *map(str, reading.demands)} for reading in read(sentence, NAMES)]
    expected = [{str(claim) for claim in meaning} for meaning in meanings]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected)), sentence


def the_one(sentence: str) -> SentenceReading:
    (reading,) = read(sentence, NAMES)
    return reading


# A few sentences as people write them.


@pytest.mark.parametrize(
    ("sentence", "demand"),
    [
        ("The audit must start after 10:00.", Window("audit", "start", "after", 600)),
        ("The audit has to begin no earlier than 09:05.", Window("audit", "start", "after", 545)),
        ("The stock check must get under way by 23:59.", Window("stock check", "start", "before", 1439)),
        ("The audit has to be finished at or before 00:00.", Window("audit", "end", "before", 0)),
        ("No later than 15:00, the audit must be over.", Window("audit", "end", "before", 900)),
        ("The audit immediately precedes the briefing.", Adjacent("audit", "briefing")),
        ("The audit must be directly preceded by the briefing.", Adjacent("briefing", "audit")),
        ("The audit takes place straight after the briefing.", Adjacent("briefing", "audit")),
        ("As the very next task after the briefing, the audit occurs.", Adjacent("briefing", "audit")),
        ("Right before the stock check, the audit takes place.", Adjacent("audit", "stock check")),
        ("The audit must be the very first task.", Place("audit", "first")),
        ("The audit has to follow all the other tasks.", Place("audit", "last")),
        ("Either the audit or the drill happens, but not both.", Choice(("audit", "drill"))),
        ("Of the drill and the audit, exactly one must take place.", Choice(("drill", "audit"))),
        (
            "There is a choice between the drill and the audit; exactly one of them happens.",
            Choice(("drill", "audit")),
        ),
        ("One, and only one, of the drill and the audit occurs.", Choice(("drill", "audit"))),
        (
            "If the audit reports a problem, the drill has to be carried out afterwards;"
            " otherwise, the drill must be left out.",
            Condition("audit", "a problem", "drill"),
        ),
        (
            "In the event that the audit shows a flaw, the drill must take place afterwards;"
            " in all other cases, the exam has to happen afterwards.",
            Condition("audit", "a flaw", "drill", "exam"),
        ),
        (
            "If it emerges that the audit identifies a risk, the drill has to happen afterwards;"
            " otherwise, the drill must be omitted.",
            Condition("audit", "a risk", "drill"),
        ),
        ("The audit has to be carried out exactly twice.", Repeat("audit", 2)),
        ("The audit must take place three times in all.", Repeat("audit", 3)),
        ("The audit needs to happen a total of two times.", Repeat("audit", 2)),
        ("At most one other task may come before the audit.", Limit("audit", 1)),
        ("Before the audit, no more than four other tasks may be carried out.", Limit("audit", 4)),
        ("The audit may be preceded by twelve other tasks at most.", Limit("audit", 12)),
        ("In total, no more than 250 euros may be spent.", Spend(250)),
        ("The overall budget of 1200 euros must not be exceeded.", Spend(1200)),
        ("The total cost of the tasks must stay within 60 euros.", Spend(60)),
        (
            "The audit returns a reference code, which has to be passed on to the drill.",
            Handover("audit", "drill", "reference_code"),
        ),
        ("The drill needs the head count that the audit returns.", Handover("audit", "drill", "head_count")),
        (
            "The order quantity that comes from the audit has to be passed to the drill.",
            Handover("audit", "drill", "order_quantity"),
        ),
        (
            "If the tool for the audit is out of service, the drill has to be carried out instead.",
            StandIn("audit", "drill"),
        ),
        (
            "The drill must replace the audit if the tool for the latter is out of service.",
            StandIn("audit", "drill"),
        ),
        (
            'For the audit, the arguments are `{"city": "Paris", "days": 3}`.',
            Given("audit", {"city": "Paris", "days": 3}),
        ),
        ('The arguments of the audit are `{"days": 3}`.', Given("audit", {"days": 3})),
    ],
)
def test_sentences_as_people_write_them(sentence: str, demand: Constraint) -> None:
    assert [reading.demands for reading in read(sentence, NAMES)] == [(demand,)]
    assert the_one(sentence).relations == ()


# Every phrase of the lexicon in every form that it may take.

WINDOWS = [
    *(("start", verb, "after", linker) for verb in LEXICON.times.start for linker in LEXICON.times.after),
    *(("start", verb, "before", linker) for verb in LEXICON.times.start for linker in LEXICON.times.before),
    *(("end", verb, "before", linker) for verb in LEXICON.times.end for linker in LEXICON.times.before),
]


@pytest.mark.parametrize(("edge", "verb", "bound", "linker"), WINDOWS)
def test_times(edge: str, verb: Verb, bound: str, linker: Linker) -> None:
    def windows(*names: str) -> set[str | Constraint]:
        return {Window(name, edge, bound, TEN) for name in names}  # type: ignore[arg-type]

    check(f"The audit {verb.one} {linker.text} 10:00.", windows("audit"))
    check(f"The audit and the drill {verb.many} {linker.text} 10:00.", windows("audit", "drill"))
    check(
        f"The exam, the audit and the drill {verb.many} {linker.text} 10:00.",
        windows("exam", "audit", "drill"),
    )
    check(f"The audit, which {verb.one} {linker.text} 10:00, precedes the exam.", {"ae", *windows("audit")})
    assert the_one(f"The audit {verb.one} {linker.text} 10:00.").phrases == (verb.one, linker.text)


@pytest.mark.parametrize("verb", LEXICON.times.end, ids=lambda verb: verb.one)
@pytest.mark.parametrize("linker", LEXICON.times.before, ids=lambda linker: linker.text)
def test_times_at_the_front(verb: Verb, linker: Linker) -> None:
    audit, drill = Window("audit", "end", "before", THREE), Window("drill", "end", "before", THREE)
    opening = linker.text[0].upper() + linker.text[1:]
    check(f"{opening} 15:00, the audit {verb.one}.", *([{audit}] if linker.front else []))
    check(
        f"{opening} 15:00, both the audit and the drill {verb.many}.",
        *([{audit, drill}] if linker.front else []),
    )


@pytest.mark.parametrize("verb", LEXICON.duties, ids=lambda verb: verb.one)
def test_duties(verb: Verb) -> None:
    """Nothing is demanded of actions that are merely due, but they are mentioned."""
    assert read(f"The audit {verb.one}.", NAMES) == [SentenceReading((), ("audit",))]
    assert read(f"The drill, the audit and the exam {verb.many}.", NAMES) == [
        SentenceReading((), ("drill", "audit", "exam"))
    ]
    if verb.one != verb.many:
        check(f"The audit {verb.many}.")
        check(f"The audit and the drill {verb.one}.")


NEAR = [
    *(("ab", verb) for verb in LEXICON.adjacency.verbs.before),
    *(("ba", verb) for verb in LEXICON.adjacency.verbs.after),
]
BESIDE = [
    *(("ab", linker) for linker in LEXICON.adjacency.prepositions.before),
    *(("ba", linker) for linker in LEXICON.adjacency.prepositions.after),
]


def adjacent(pair: str) -> Adjacent:
    return Adjacent("audit", "briefing") if pair == "ab" else Adjacent("briefing", "audit")


@pytest.mark.parametrize(("pair", "verb"), NEAR)
def test_adjacency_in_the_verb(pair: str, verb: Verb) -> None:
    sentence = f"The audit {verb.one} the briefing."
    check(sentence, {adjacent(pair)})
    assert the_one(sentence).phrases == (verb.one,)


@pytest.mark.parametrize(("pair", "linker"), BESIDE)
@pytest.mark.parametrize("verb", LEXICON.verbs.neutral, ids=lambda verb: verb.one)
def test_adjacency_in_the_preposition(pair: str, linker: Linker, verb: Verb) -> None:
    sentence = f"The audit {verb.one} {linker.text} the briefing."
    check(sentence, {adjacent(pair)})
    assert the_one(sentence).phrases == (linker.text,)
    fronted = capital(f"{linker.text} the briefing, the audit {verb.one}")
    check(fronted, *([{adjacent(pair)}] if linker.front else []))


@pytest.mark.parametrize("verb", LEXICON.adjacency.first, ids=lambda verb: verb.one)
def test_the_first_place(verb: Verb) -> None:
    check(f"The audit {verb.one}.", {Place("audit", "first")})


@pytest.mark.parametrize("verb", LEXICON.adjacency.last, ids=lambda verb: verb.one)
def test_the_last_place(verb: Verb) -> None:
    check(f"The audit {verb.one}.", {Place("audit", "last")})


@pytest.mark.parametrize("frame", LEXICON.choices)
@pytest.mark.parametrize("verb", LEXICON.verbs.neutral, ids=lambda verb: verb.one)
def test_choices(frame: str, verb: Verb) -> None:
    sentence = capital(frame.format(a="the audit", b="the drill", verb=verb.one))
    reading = the_one(sentence)
    assert [set(demand.options) for demand in reading.demands if isinstance(demand, Choice)] == [
        {"audit", "drill"}
    ]
    assert reading.phrases == (frame,)
    if verb.one != verb.many:
        check(capital(frame.format(a="the audit", b="the drill", verb=verb.many)))


def conditions() -> Iterator[tuple[str, str, str, str, str, str]]:
    """Each phrase of each class at least once, and each opener with each word for the other case."""
    words = LEXICON.conditions
    for number in range(len(words.openers) * len(words.otherwise)):
        yield (
            words.openers[number % len(words.openers)],
            words.reports[number % len(words.reports)],
            words.obligations[number % len(words.obligations)],
            words.otherwise[number // len(words.openers)],
            words.skips[number % len(words.skips)],
            words.obligations[(number + 1) % len(words.obligations)],
        )


@pytest.mark.parametrize(("opener", "report", "duty", "otherwise", "skip", "other"), list(conditions()))
def test_conditions(opener: str, report: str, duty: str, otherwise: str, skip: str, other: str) -> None:
    first = f"{opener} the audit {report} a gap, the drill {duty}; {otherwise}, "
    skipped = capital(f"{first}the drill {skip}")
    check(skipped, {Condition("audit", "a gap", "drill")})
    assert the_one(skipped).phrases == (opener, report, duty, otherwise, skip)
    check(capital(f"{first}the exam {other}"), {Condition("audit", "a gap", "drill", "exam")})
    check(capital(f"{first}the exam {duty}"), {Condition("audit", "a gap", "drill", "exam")})


@pytest.mark.parametrize("finding", LEXICON.conditions.findings, ids=lambda finding: finding.some)
def test_findings(finding: ReportedFinding) -> None:
    rest = "the drill has to happen afterwards; otherwise, the drill must be left out."
    check(f"If the audit finds {finding.some}, {rest}", {Condition("audit", finding.some, "drill")})
    check(f"If the audit finds {finding.none}, {rest}")


@pytest.mark.parametrize("verb", LEXICON.repeats.verbs)
@pytest.mark.parametrize("count", LEXICON.repeats.counts, ids=lambda count: count.text)
def test_repeats(verb: str, count: Count) -> None:
    sentence = f"The audit {verb} {count.text}."
    check(sentence, {Repeat("audit", count.times)})
    assert the_one(sentence).phrases == (count.text,)


NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905


@pytest.mark.parametrize("frame", LEXICON.repeats.limits)
@pytest.mark.parametrize("count", LEXICON.repeats.limit_counts)
def test_limits(frame: str, count: str) -> None:
    for most, number in enumerate(NUMBERS, start=1):
        tasks, wrong = ("task", "tasks") if number == "one" else ("tasks", "task")
        sentence = capital(frame.format(a="the audit", count=count.format(number=number, tasks=tasks)))
        check(sentence, {Limit("audit", most)})
        assert the_one(sentence).phrases == (frame, count)
        check(capital(frame.format(a="the audit", count=count.format(number=number, tasks=wrong))))
    check(capital(frame.format(a="the audit", count=count.format(number="no", tasks="tasks"))))


@pytest.mark.parametrize("frame", LEXICON.budgets)
def test_budgets(frame: str) -> None:
    assert the_one(capital(frame.format(amount="75 euros"))) == SentenceReading(
        (), (), (Spend(75),), (frame,)
    )
    check(capital(frame.format(amount="1 euro")), {Spend(1)})
    for wrong in ("1 euros", "75 euro", "075 euros", "7.5 euros", "75", "seven euros", "-5 euros", "٣ euros"):
        check(capital(frame.format(amount=wrong)))


@pytest.mark.parametrize("frame", LEXICON.data.frames)
@pytest.mark.parametrize("value", LEXICON.data.values, ids=lambda value: value.noun)
def test_data(frame: str, value: Value) -> None:
    def sentence(article: str) -> str:
        a_value = f"{article} {value.noun}"
        return capital(frame.format(giver="the audit", taker="the drill", value=value.noun, a_value=a_value))

    check(sentence(value.article), {Handover("audit", "drill", value.noun.replace(" ", "_"))})
    assert the_one(sentence(value.article)).phrases == (frame,)
    if "{a_value}" in frame:
        check(sentence("a" if value.article == "an" else "an"))


@pytest.mark.parametrize("frame", LEXICON.stand_ins)
def test_stand_ins(frame: str) -> None:
    sentence = capital(frame.format(a="the audit", b="the drill"))
    check(sentence, {StandIn("audit", "drill")})
    assert the_one(sentence).phrases == (frame,)


VALUES = [
    {"city": "Paris"},
    {"days": 3, "exact": True},
    {"a": None, "b": [1, 2.5, "x"], "c": {"d": "e, and f. g; h"}},
    {"text": 'A "quoted" word, and the drill. The audit must start after 10:00.', "n": -1, "z": 0.5, "y": ""},
]


@pytest.mark.parametrize("frame", LEXICON.given)
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_given_arguments(frame: str, values: dict[str, object]) -> None:
    reading = the_one(capital(frame.format(a="the audit", arguments=f"`{json.dumps(values)}`")))
    assert reading == SentenceReading((), ("audit",), (Given("audit", values),), (frame,))


def test_given_arguments_may_be_long() -> None:
    long = "x, and y. " * 2000
    assert the_one(f'For the audit, the arguments are `{{"text": "{long}"}}`.').demands == (
        Given("audit", {"text": long}),
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "`Paris`",
        "``",
        "`{}`",
        "`[3]`",
        '`{"days": NaN}`',
        '`{"days": 3}` `{"city": 4}`',
        '`{"days": 3}` and `{"city": 4}`',
        '`{"days": 3, "days": 4}`',
        '{"days": 3}',
        '`{"days": 3}',
        '`{"days": 3}``',
        "`{'days': 3}`",
        '`{"days": ' + "[" * 100_000 + "]" * 100_000 + "}`",
        '`{"days": ' + "9" * 10_000 + "}`",
    ],
    ids=lambda text: text[:50],
)
def test_given_arguments_that_nobody_can_read(arguments: str) -> None:
    check(f"For the audit, the arguments are {arguments}.")


# Activities in the order of the text.


@pytest.mark.parametrize(
    ("sentence", "mentioned"),
    [
        ("The exam, the audit and the drill must start after 10:00.", ("exam", "audit", "drill")),
        ("Right after the drill, the audit takes place.", ("drill", "audit")),
        ("Either the drill or the audit happens, but not both.", ("drill", "audit")),
        (
            "If the drill finds a gap, the audit has to happen afterwards;"
            " otherwise, the count has to happen afterwards.",
            ("drill", "audit", "count"),
        ),
        (
            "If the drill finds a gap, the audit has to happen afterwards; otherwise, the audit must be omitted.",
            ("drill", "audit"),
        ),
        ("The drill needs the head count that the audit returns.", ("drill", "audit")),
        (
            "The drill must replace the audit if the tool for the latter is out of service.",
            ("drill", "audit"),
        ),
        ("The audit, which must start after 10:00, precedes the count.", ("audit", "count")),
        ("Altogether, at most 5 euros may be spent.", ()),
    ],
)
def test_mentioned(sentence: str, mentioned: tuple[str, ...]) -> None:
    assert the_one(sentence).mentioned == mentioned


# Times in relative clauses.

AUDIT, DRILL = Window("audit", "start", "after", TEN), Window("drill", "start", "after", TEN)
COUNT = Window("count", "end", "before", THREE)


def test_times_in_relative_clauses() -> None:
    check("The audit, which has to start after 10:00, precedes the briefing.", {"ab", AUDIT})
    check("The briefing follows the audit, which must start after 10:00.", {"ab", AUDIT})
    check("Before the audit, which must start after 10:00, the briefing happens.", {"ba", AUDIT})
    check(
        "Before the audit, which must start after 10:00, the briefing and the exam happen.",
        {"ba", "ea", AUDIT},
    )
    check("Before the audit, which must start after 10:00, happens, the briefing occurs.", {"ba", AUDIT})
    check("After the briefing, the audit, which must start after 10:00, takes place.", {"ba", AUDIT})
    check("The briefing happens before the audit, which must start after 10:00, happens.", {"ba", AUDIT})
    check(
        "The audit, which must start after 10:00, precedes the count, which must be over by 15:00.",
        {"ac", AUDIT, COUNT},
    )
    check(
        "The audit, which must start after 10:00, precedes the drill; the count, which must be over by 15:00,"
        " follows the drill.",
        {"ad", "dc", AUDIT, COUNT},
    )
    check(
        "The audit precedes the briefing, which precedes the drill, which has to start after 10:00, and the exam"
        " follows the filing.",
        {"ab", "bd", "fe", DRILL},
    )


def test_relations_and_phrases_of_times_in_relative_clauses() -> None:
    reading = the_one(
        "The audit, which must start after 10:00, precedes the count, which must be over by 15:00."
    )
    assert reading == SentenceReading(
        (Relation("audit", "count", "precedes", "verb"),),
        ("audit", "count"),
        (AUDIT, COUNT),
        ("must start", "after", "must be over", "by"),
    )


def test_number_tells_whose_time_it_is() -> None:
    check(
        "The exam follows the audit and the drill, which have to start after 10:00.",
        {"ae", "de", AUDIT, DRILL},
    )
    check("The exam follows the audit and the drill, which has to start after 10:00.", {"ae", "de", DRILL})
    check(
        "The exam follows the audit and the drill, both of which must start after 10:00.",
        {"ae", "de", AUDIT, DRILL},
    )


def test_a_modal_leaves_open_whose_time_it_is() -> None:
    check(
        "The exam follows the audit and the drill, which must start after 10:00.",
        {"ae", "de", DRILL},
        {"ae", "de", AUDIT, DRILL},
    )
    check(
        "The audit and the drill, which must start after 10:00, precede the exam.",
        {"ae", "de", DRILL},
        {"ae", "de", AUDIT, DRILL},
    )


def test_a_fronted_preposition_may_be_one_more_bound_of_what_has_a_time() -> None:
    check(
        "The exam precedes the audit, which must start after 10:00, and before the count, the drill happens.",
        {"ea", "dc", AUDIT},
        {"ea", "dc", "ac", AUDIT},
    )
    check(
        "The exam precedes the audit, which must start after 10:00; before the count, the drill happens.",
        {"ea", "dc", AUDIT},
    )
    check(
        "The audit, which must start after 10:00, precedes the exam, and before the count, the drill happens.",
        {"ae", "dc", AUDIT},
    )


def test_a_fronted_part_with_a_time_still_may_govern_the_next_clause() -> None:
    check(
        "Before the audit, which must start after 10:00, the briefing happens, and the count follows the drill.",
        {"ba", "dc", AUDIT},
        {"ba", "ca", "dc", AUDIT},
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "The audit, which must start after 10:00 precedes the briefing.",
        "The audit, which have to start after 10:00, precedes the briefing.",
        "The audit and the drill, both of which has to start after 10:00, precede the briefing.",
        "The audit, which must be over after 10:00, precedes the briefing.",
        "The audit, which by 10:00 must be over, precedes the briefing.",
        "The audit, which must start after 10:00, which must be over by 11:00, precedes the briefing.",
        "The audit, which must start after 10:00, which precedes the drill, precedes the briefing.",
        "The audit, which must start after 10:00 and precedes the drill, precedes the briefing.",
        "The audit, which must start after 10:00, the drill and the exam precede the briefing.",
        "The audit, which must start after 10:00.",
        "The audit must start after 10:00, which precedes the briefing.",
        "The audit, which precedes the briefing, must start after 10:00.",
    ],
)
def test_other_relative_clauses_with_times_are_unreadable(sentence: str) -> None:
    check(sentence)


# Sentences that a careless writer might produce.


def both_ways(sentence: str, lexicon: Lexicon, *expected: tuple[Constraint, ...]) -> None:
    readings = read(sentence, NAMES, lexicon)
    assert [reading.demands for reading in readings] == list(expected)


def test_a_preposition_that_is_also_mere_order_gives_two_readings() -> None:
    near = replace(LEXICON.adjacency, prepositions=Linkers((), (Linker("after"),)))
    lexicon = replace(LEXICON, adjacency=near)
    for sentence in ("The audit happens after the briefing.", "After the briefing, the audit happens."):
        both_ways(sentence, lexicon, (), (Adjacent("briefing", "audit"),))


def test_a_verb_that_is_also_mere_order_gives_two_readings() -> None:
    near = replace(LEXICON.adjacency, verbs=replace(LEXICON.adjacency.verbs, before=LEXICON.verbs.before))
    lexicon = replace(LEXICON, adjacency=near)
    both_ways("The audit precedes the briefing.", lexicon, (), (Adjacent("audit", "briefing"),))


def test_a_linker_that_bounds_a_time_on_both_sides_gives_two_readings() -> None:
    around = (Linker("around", front=False),)
    times = Times(LEXICON.times.start, LEXICON.times.end, around, around)
    lexicon = replace(LEXICON, times=times)
    before = Window("audit", "start", "before", TEN)
    both_ways("The audit must start around 10:00.", lexicon, (AUDIT,), (before,))
    readings = read("The audit, which must start around 10:00, precedes the drill.", NAMES, lexicon)
    assert {reading.demands for reading in readings} == {(AUDIT,), (before,)}


def test_a_verb_for_either_end_gives_two_readings() -> None:
    verbs = (Verb("is due", "are due"),)
    lexicon = replace(LEXICON, times=replace(LEXICON.times, start=verbs, end=verbs))
    start, end = Window("audit", "start", "before", TEN), Window("audit", "end", "before", TEN)
    both_ways("The audit is due by 10:00.", lexicon, (start,), (end,))


def test_a_frame_that_points_both_ways_gives_two_readings() -> None:
    frames = ("{giver} and {taker} share {a_value}", "{taker} and {giver} share {a_value}")
    lexicon = replace(LEXICON, data=Data(LEXICON.data.values, frames))
    there, back = Handover("audit", "drill", "head_count"), Handover("drill", "audit", "head_count")
    both_ways("The audit and the drill share a head count.", lexicon, (there,), (back,))


def test_a_frame_of_two_families_gives_two_readings() -> None:
    frame = "if need be, {a} gives way to {b}"
    lexicon = replace(LEXICON, stand_ins=(frame,), choices=(frame,))
    both_ways(
        "If need be, the audit gives way to the drill.",
        lexicon,
        (Choice(("audit", "drill")),),
        (StandIn("audit", "drill"),),
    )


def test_a_count_of_two_numbers_gives_two_readings() -> None:
    repeats = replace(LEXICON.repeats, counts=(Count(2, "two more times"), Count(3, "two more times")))
    lexicon = replace(LEXICON, repeats=repeats)
    both_ways("The audit must happen two more times.", lexicon, (Repeat("audit", 2),), (Repeat("audit", 3),))


def test_names_that_run_into_one_another_give_two_readings() -> None:
    names = ("audit", "drill", "audit and the drill")
    readings = read("The audit and the drill must start after 10:00.", names)
    assert {reading.mentioned for reading in readings} == {("audit", "drill"), ("audit and the drill",)}
    names = ("audit", "audit or the drill", "exam")
    readings = read(
        "Either the audit or the drill or the exam happens, but not both.", [*names, "drill or the exam"]
    )
    assert {reading.mentioned for reading in readings} == {
        ("audit", "drill or the exam"),
        ("audit or the drill", "exam"),
    }


def test_two_frames_of_the_same_meaning_are_one_reading() -> None:
    lexicon = replace(LEXICON, budgets=("the limit is {amount}", "the limit is {amount}"))
    both_ways("The limit is 5 euros.", lexicon, (Spend(5),))


# What is not in the language.


@pytest.mark.parametrize(
    "sentence",
    [
        # number
        "The audit have to start after 10:00.",
        "The audit and the drill has to start after 10:00.",
        "Both the audit and the drill has to start after 10:00.",
        "By 15:00, the audit have to be finished.",
        "By 15:00, the audit and the drill has to be finished.",
        "The audit immediately follow the briefing.",
        "The audit take place right after the briefing.",
        "Right after the briefing, the audit take place.",
        "The audit are to be the first of all the tasks.",
        "The audit must be the very first tasks.",
        "Either the audit or the drill happen, but not both.",
        # several where only one can be
        "The audit and the drill immediately follow the briefing.",
        "The audit immediately follows the briefing and the drill.",
        "The audit and the drill must be the very first tasks.",
        "The audit and the drill have to be carried out exactly twice.",
        "Either the audit, the drill or the exam happens, but not both.",
        # times
        "The audit must start after 9:30.",
        "The audit must start after 24:00.",
        "The audit must start after 10:60.",
        "The audit must start after 10.00.",
        "The audit must start after 10:00 o'clock.",
        "The audit must start after ten.",
        "The audit must start after the briefing.",
        "The audit must start after ١٠:٠٠.",
        "The audit must start.",
        "The audit must be over after 10:00.",
        "After 10:00, the audit must be over.",
        "By 10:00, the audit must start.",
        "By 10:00 the audit must be over.",
        "By 10:00, the audit must be over by 11:00.",
        "The audit must start after 10:00 and by 11:00.",
        "The audit must start after 10:00 and the drill must start after 10:00.",
        "The audit must start after 10:00; the drill must start after 11:00.",
        "The audit must start after 10:00, and the drill precedes the exam.",
        # itself
        "The audit immediately follows the audit.",
        "Either the audit or the audit happens, but not both.",
        "The audit needs the head count that the audit returns.",
        "The audit must replace the audit if the tool for the latter is out of service.",
        "The audit and the audit must start after 10:00.",
        "If the audit finds a gap, the audit has to happen afterwards; otherwise, the audit must be omitted.",
        # conditions that demand something else, or nothing certain
        "If the audit finds a gap, the drill has to happen afterwards.",
        "If the audit finds a gap, the drill has to happen afterwards; otherwise, it must be left out.",
        "If the audit finds a gap, the drill has to happen afterwards; otherwise, the audit must be left out.",
        "If the audit finds a gap, the drill has to happen afterwards; otherwise, the exam must be left out.",
        "If the audit finds a gap, the drill must be left out; otherwise, the drill has to happen afterwards.",
        "If the audit finds a gap, the drill has to happen afterwards; otherwise, the drill has to happen afterwards.",
        "If the audit finds a gap, the drill has to happen afterwards; otherwise the drill must be left out.",
        "If the audit finds a gap, the drill has to happen afterwards, otherwise, the drill must be left out.",
        "If the audit finds the gap, the drill has to happen afterwards; otherwise, the drill must be left out.",
        "If the audit, the drill finds a gap has to happen afterwards; otherwise, the drill must be left out.",
        # others
        "The audit must be carried out after the drill and 10:00.",
        "The audit, which must be carried out, precedes the drill.",
        "The audit must be carried out; the drill must be carried out.",
        "The audit must happen two times.",
        "The audit must happen exactly four times.",
        "The audit happens exactly twice.",
        "At most two other task may come before the audit.",
        "At most thirteen other tasks may come before the audit.",
        "At most 2 other tasks may come before the audit.",
        "At most two other tasks may come before the party.",
        "In total, no more than 250 may be spent.",
        "In total, no more than 250 dollars may be spent.",
        "The audit returns an reference code, which has to be passed on to the drill.",
        "The audit returns a mood, which has to be passed on to the drill.",
        "The audit returns the head count, which has to be passed on to the drill.",
        "The drill needs the head count that returns the audit.",
        "If the audit is out of service, nothing has to be carried out instead.",
        # capitals, stops and spaces
        "the audit must start after 10:00.",
        "The audit must start after 10:00",
        "The audit must start after 10:00 .",
        "The audit  must start after 10:00.",
        "The audit must start after 10:00. The drill must start after 10:00.",
        "By 15:00 , the audit must be over.",
        "In total no more than 250 euros may be spent.",
    ],
)
def test_anything_else_is_unreadable(sentence: str) -> None:
    check(sentence)


# Whatever could be a sentence of a family is looked at.

PIECES = (
    "the audit",
    "the drill",
    "both",
    "and",
    ",",
    ";",
    ", which",
    "must start",
    "has to be finished",
    "have to be finished",
    "after",
    "by",
    "10:00",
    "takes place",
    "immediately follows",
    "right before",
    "must be the very last task",
    "either",
    "or",
    "but not both",
    "if",
    "finds",
    "a gap",
    "has to happen afterwards",
    "otherwise",
    "must be omitted",
    "exactly twice",
    "at most two other tasks",
    "may precede",
    "in total",
    "no more than",
    "5 euros",
    "may be spent",
    "needs the",
    "head count",
    "that",
    "returns",
    'the arguments are `{"a": 1}`',
    "for",
)


def written(pieces: list[str]) -> str:
    return capital(" ".join(pieces).replace(" ,", ",").replace(" ;", ";")) if pieces else ""


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_any_row_of_phrases_can_be_given(pieces: list[str]) -> None:
    readings = read(written(pieces), NAMES)
    claims = [frozenset([*order(reading), *map(str, reading.demands)]) for reading in readings]
    assert len(set(claims)) == len(claims)


TABLE = tabulate(LEXICON)
FRAMES = list(family_frames(LEXICON))
SENTENCES = [
    "The audit and the drill must be carried out.",
    "The audit must be over by 15:00.",
    "At or before 15:00, both the audit and the drill have to end.",
    "As the very next task after the drill, the audit is conducted.",
    "The audit has to come before everything else.",
    "Exactly one of the audit and the drill must be carried out.",
    "If it should turn out that the audit exposes a risk, the drill must take place afterwards;"
    " without such a finding, the drill must not take place.",
    "The audit must be carried out a total of two times.",
    "Ahead of the audit, at the most two other tasks may take place.",
    "The total cost must not exceed 5 euros.",
    "The drill must receive the shelf number that the audit yields.",
    "The drill has to be carried out instead of the audit if the tool for the latter is out of service.",
    'As for the audit, its arguments are `{"a": 1}`.',
]


@pytest.mark.parametrize(
    "usual", [frozenset[str](), frozenset(word for _, word in TABLE)], ids=["rare", "usual"]
)
def test_the_index_hides_no_frame(usual: frozenset[str]) -> None:
    """Every sentence has a full stop, so all frames under that word are all frames always."""
    chosen = index(FRAMES, TABLE, usual)
    assert {frame for frames in chosen.values() for frame in frames} == set(FRAMES)
    for sentence in SENTENCES:
        text = SentenceText(sentence[0].lower() + sentence[1:], NAMES, TABLE)
        found = list(find(text, {".": FRAMES}))
        assert len(found) == 1, sentence
        assert list(find(text, chosen)) == found


@given(st.text())
def test_any_text_can_be_given(text: str) -> None:
    for sentence in (
        f"The audit must start {text} 10:00.",
        f"If the audit finds {text}, the drill has to happen afterwards; otherwise, the drill must be omitted.",
        f"For the audit, the arguments are `{text}`.",
        f"In total, no more than {text} may be spent.",
    ):
        assert isinstance(read(sentence, NAMES), list)


@pytest.mark.parametrize(
    "unit",
    [
        "the audit, the drill and ",
        "the audit must start after 10:00, and ",
        "the audit, which must start after 10:00, ",
        "if the audit finds a gap, ",
        '`{"a": 1}`, ',
        "`",
        "10:00 ",
        "at most two other tasks ",
    ],
)
@pytest.mark.parametrize("size", [4_000, 100_000])
def test_hostile_text_comes_back(unit: str, size: int) -> None:
    text = unit * (size // len(unit))
    for sentence in (
        f"{text[:1].upper()}{text[1:]}.",
        f"The audit precedes {text}the count.",
        f"For the audit, the arguments are {text}`{{}}`.",
        f"By 10:00, {text}the audit must be over.",
    ):
        assert isinstance(read(sentence, NAMES), list)
