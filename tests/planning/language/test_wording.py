"""Remarks in English: every phrase of the lexicon in its place, and no sentence that says two things."""

import json
import re
from itertools import permutations, product

import pytest

from misstep.core.rng import Dice
from misstep.planning.language.lexicon import Value, Verb, load_lexicon
from misstep.planning.language.rendering import render
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import (
    FORMS,
    TIMED,
    Alternative,
    BudgetRemark,
    Clause,
    Conditional,
    Duty,
    End,
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
)

LEXICON = load_lexicon()
NAMES = ("stock count", "till check", "price update")
IDS = ("a1", "a2", "a3")
A, B, C = range(3)
NEUTRAL = [verb.one for verb in LEXICON.verbs.neutral]
MODAL = ("must ", "has to ", "needs to ", "is to ")
DEMANDING = [verb for verb in NEUTRAL if verb.startswith(MODAL)]


def words(remark: Remark | Clause, seeds: int = 400) -> set[str]:
    """The sentence in as many wordings as some seeds give."""
    return {render((Sentence((remark,)),), NAMES, Dice(seed))[0] for seed in range(seeds)}


def sentences(*texts: str) -> set[str]:
    return {f"{text[0].upper()}{text[1:]}." for text in texts}


# Every phrase in its place: the few wordings that there are, or all their parts.


@pytest.mark.parametrize(
    ("remark", "verbs"),
    [(End("first", A), LEXICON.adjacency.first), (End("last", A), LEXICON.adjacency.last)],
)
def test_places(remark: End, verbs: tuple[Verb, ...]) -> None:
    assert words(remark) == sentences(*(f"the stock count {verb.one}" for verb in verbs))


@pytest.mark.parametrize(("edge", "bound"), TIMED)
@pytest.mark.parametrize(
    ("actions", "subject"),
    [
        ((A,), "the stock count"),
        ((B, A), "the till check and the stock count"),
        ((C, A, B), "the price update, the stock count and the till check"),
    ],
)
def test_times(edge: str, bound: str, actions: tuple[int, ...], subject: str) -> None:
    verbs, linkers = getattr(LEXICON.times, edge), getattr(LEXICON.times, bound)
    number = "one" if len(actions) == 1 else "many"
    expected = sentences(
        *(f"{subject} {getattr(v, number)} {link.text} 09:05" for v, link in product(verbs, linkers))
    )
    assert words(Timed("verb", edge, bound, 545, actions), 2500) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actions", "subject", "number"),
    [((A,), "the stock count", "one"), ((B, C), "both the till check and the price update", "many")],
)
def test_fronted_times(actions: tuple[int, ...], subject: str, number: str) -> None:
    opening = [linker.text for linker in LEXICON.times.before if linker.front]
    expected = sentences(
        *(f"{o} 15:00, {subject} {getattr(v, number)}" for o, v in product(opening, LEXICON.times.end))
    )
    assert words(Timed("fronted", "end", "before", 900, actions), 2000) == expected


@pytest.mark.parametrize("direction", ["<", ">"])
def test_neighbours(direction: str) -> None:
    side = "before" if direction == "<" else "after"
    verbs = getattr(LEXICON.adjacency.verbs, side)
    prepositions = [linker.text for linker in getattr(LEXICON.adjacency.prepositions, side)]
    a, b = "the stock count", "the till check"
    expected = {
        "verb": sentences(*(f"{a} {verb.one} {b}" for verb in verbs)),
        "preposition": sentences(*(f"{a} {v} {p} {b}" for v, p in product(NEUTRAL, prepositions))),
        "fronted preposition": sentences(*(f"{p} {b}, {a} {v}" for v, p in product(NEUTRAL, prepositions))),
    }
    for form, texts in expected.items():
        assert words(Neighbours(form, direction, A, B), 2500) == texts  # type: ignore[arg-type]


def test_choices() -> None:
    expected = sentences(
        *(
            frame.replace("{a}", "the till check").replace("{b}", "the stock count").replace("{verb}", verb)
            for frame, verb in product(LEXICON.choices, DEMANDING)
        )
    )
    assert words(Alternative((B, A)), 2500) == expected


@pytest.mark.parametrize("otherwise", [None, C])
def test_conditions(otherwise: int | None) -> None:
    texts = words(Conditional(A, "a problem", B, otherwise), 2000)
    phrases = LEXICON.conditions
    pattern = re.compile(
        rf"(?P<opener>{'|'.join(phrases.openers)}) the stock count (?P<report>{'|'.join(phrases.reports)}) "
        rf"a problem, the till check (?P<so>{'|'.join(phrases.obligations)}); "
        rf"(?P<otherwise>{'|'.join(phrases.otherwise)}), the (?P<name>[a-z ]+?) "
        rf"(?P<then>{'|'.join((*phrases.skips, *phrases.obligations))})\."
    )
    found = [pattern.fullmatch(text[0].lower() + text[1:]) for text in texts]
    said = {part: {match[part] for match in found if match} for part in pattern.groupindex}
    assert None not in found
    assert said == {
        "opener": set(phrases.openers),
        "report": set(phrases.reports),
        "so": set(phrases.obligations),
        "otherwise": set(phrases.otherwise),
        "name": {"till check"} if otherwise is None else {"price update"},
        "then": set(phrases.skips if otherwise is None else phrases.obligations),
    }


@pytest.mark.parametrize("finding", [finding.some for finding in LEXICON.conditions.findings])
def test_findings(finding: str) -> None:
    assert all(f" {finding}, the till check " in text for text in words(Conditional(A, finding, B), 20))


@pytest.mark.parametrize("times", [2, 3])
def test_repeats(times: int) -> None:
    counts = [count.text for count in LEXICON.repeats.counts if count.times == times]
    expected = sentences(*(f"the stock count {v} {c}" for v, c in product(LEXICON.repeats.verbs, counts)))
    assert words(RepeatRemark(A, times), 2500) == expected


@pytest.mark.parametrize(("most", "said"), [(1, "one other task"), (2, "two other tasks")])
def test_limits(most: int, said: str) -> None:
    counts = [text.replace("{number} other {tasks}", said) for text in LEXICON.repeats.limit_counts]
    expected = sentences(
        *(
            frame.replace("{a}", "the stock count").replace("{count}", count)
            for frame, count in product(LEXICON.repeats.limits, counts)
        )
    )
    assert words(Limited(A, most), 2500) == expected


def test_budgets() -> None:
    assert words(BudgetRemark(240)) == sentences(
        *(frame.replace("{amount}", "240 euros") for frame in LEXICON.budgets)
    )


@pytest.mark.parametrize("value", LEXICON.data.values, ids=lambda value: value.noun)
def test_data(value: Value) -> None:
    noun, article = value.noun, value.article
    expected = sentences(
        *(
            frame.replace("{giver}", "the stock count")
            .replace("{taker}", "the till check")
            .replace("{value}", noun)
            .replace("{a_value}", f"{article} {noun}")
            for frame in LEXICON.data.frames
        )
    )
    assert words(HandOver(A, B, noun), 200) == expected


def test_duties() -> None:
    assert words(Duty((B,))) == sentences(*(f"the till check {verb.one}" for verb in LEXICON.duties))
    several = "the till check, the stock count and the price update"
    assert words(Duty((B, A, C))) == sentences(*(f"{several} {verb.many}" for verb in LEXICON.duties))


def test_stand_ins() -> None:
    assert words(Replacing(A, B)) == sentences(
        *(
            frame.replace("{a}", "the stock count").replace("{b}", "the till check")
            for frame in LEXICON.stand_ins
        )
    )


def test_given_arguments() -> None:
    """A backtick inside a value would end it too early."""
    arguments = {"city": "São`s", "days": 3, "far": [True, None]}
    said = r'`{"city": "São\u0060s", "days": 3, "far": [true, null]}`'
    texts = words(Giving(A, arguments))
    assert texts == sentences(
        *(frame.replace("{a}", "the stock count").replace("{arguments}", said) for frame in LEXICON.given)
    )
    for text in texts:
        (quoted,) = text.split("`")[1::2]
        assert json.loads(quoted) == arguments


# One sentence of each kind, as a person would write it.


@pytest.mark.full(after=5)
@pytest.mark.parametrize(
    ("remark", "sentence"),
    [
        (
            Timed("verb", "start", "after", 600, (A, B, C)),
            "The stock count, the till check and the price update have to start no earlier than 10:00.",
        ),
        (Timed("verb", "end", "before", 900, (A,)), "The stock count has to be finished by 15:00."),
        (
            Timed("fronted", "end", "before", 900, (A, B)),
            "By 15:00, both the stock count and the till check must be over.",
        ),
        (Neighbours("verb", "<", A, B), "The stock count is immediately followed by the till check."),
        (
            Neighbours("preposition", ">", A, B),
            "The stock count takes place straight after the till check.",
        ),
        (
            Neighbours("fronted preposition", ">", A, B),
            "As the very next task after the till check, the stock count must be carried out.",
        ),
        (End("first", A), "The stock count must be the very first task."),
        (End("last", A), "The stock count must come after all the other tasks."),
        (Alternative((A, B)), "Either the stock count or the till check must take place, but not both."),
        (
            Conditional(A, "a flaw", B),
            "If the stock count reports a flaw, the till check must take place afterwards; "
            "otherwise, the till check must be left out.",
        ),
        (
            Conditional(A, "a flaw", B, C),
            "In the event that the stock count reveals a flaw, the till check has to be carried out "
            "afterwards; otherwise, the price update must take place afterwards.",
        ),
        (RepeatRemark(A, 2), "The stock count has to be carried out exactly twice."),
        (Limited(A, 3), "No more than three other tasks may come before the stock count."),
        (Limited(A, 1), "Before the stock count, at most one other task may be carried out."),
        (BudgetRemark(95), "In total, no more than 95 euros may be spent."),
        (
            HandOver(A, B, "order quantity"),
            "The stock count returns an order quantity, which has to be passed on to the till check.",
        ),
        (
            Replacing(A, B),
            "If the tool for the stock count is out of service, the till check has to be carried out instead.",
        ),
        (
            Giving(A, {"days": 3, "city": "Rome"}),
            'For the stock count, the arguments are `{"days": 3, "city": "Rome"}`.',
        ),
    ],
)
def test_examples(remark: Remark, sentence: str) -> None:
    paragraph = (Sentence((remark,)),)
    assert any(render(paragraph, NAMES, Dice(seed)) == (sentence,) for seed in range(400_000))


# What holds for all of them.


def remarks() -> list[Remark]:
    """Remarks of all kinds on the three actions, no two of which demand the same."""
    pairs = list(permutations(range(3), 2))
    every: list[Remark] = [
        Timed("verb", edge, bound, time, actions)
        for edge, bound in TIMED
        for time in (600, 605)
        for actions in ((A,), (B,), (A, B), (A, B, C))
    ]
    every += [Neighbours("verb", "<", *pair) for pair in pairs]
    every += [End(place, action) for place in ("first", "last") for action in range(3)]  # type: ignore[arg-type]
    every += [Alternative((A, B)), Alternative((A, C))]
    every += [Conditional(A, finding, B, c) for finding in ("a gap", "a risk") for c in (None, C)]
    every += [Conditional(B, "a gap", A), Conditional(A, "a gap", C, B)]
    every += [RepeatRemark(action, times) for action in (A, B) for times in (2, 3)]
    every += [Limited(action, most) for action in (A, B) for most in (1, 2)]
    every += [BudgetRemark(100), BudgetRemark(105)]
    every += [
        HandOver(*pair, noun) for pair in pairs for noun in ("release key", "head count", "order quantity")
    ]
    every += [Replacing(*pair) for pair in pairs]
    every += [Duty((A, B))]
    every += [Giving(A, {"x": 1}), Giving(A, {"x": "1"}), Giving(B, {"x": 1}), Giving(A, {"x": 1, "y": 2})]
    return every


def test_no_sentence_is_written_for_two_demands() -> None:
    written: dict[str, object] = {}
    for remark in remarks():
        demands = constraints_of(Sentence((remark,)), IDS, 0)
        for text in words(remark, 150):
            assert written.setdefault(text, demands) == demands, text


def test_all_sentences_are_well_formed() -> None:
    for remark in remarks():
        for text in words(remark, 40):
            assert re.match(r"[A-Z]", text)
            assert text.endswith(".")
            assert text.count(".") == 1
            assert not re.search(r"[{}]|  | [,;.]|,,", re.sub(r"`[^`]*`", "x", text))
            assert not re.search(r"\ba [aeio]|\ban [^aeiou]", text)
            assert "the the" not in text


def test_words_do_not_come_again_while_others_are_left() -> None:
    times = tuple([Sentence((Timed("verb", "start", "after", 600, (A,)),))] * 7)
    for seed in range(30):
        assert len(set(render((Sentence((End("first", A),)),) * 8, NAMES, Dice(seed)))) == 8
        texts = render(times, NAMES, Dice(seed))
        said = [
            re.split(r"(?<=start|begin|r way) ", text.removesuffix(" 10:00."), maxsplit=1) for text in texts
        ]
        assert len({verb for verb, _ in said}) == 7
        assert {linker for _, linker in said} == {linker.text for linker in LEXICON.times.after}


def test_a_kind_of_word_is_shared_by_all_who_use_it() -> None:
    """A neutral verb of an ordering clause is not used again for neighbours or a choice."""
    paragraph = (
        Sentence((Clause("preposition", "<", Group((A,)), Group((B,))),)),
        Sentence((Neighbours("preposition", "<", B, C),)),
        Sentence((Alternative((A, C)),)),
    )
    for seed in range(200):
        text = " ".join(render(paragraph, NAMES, Dice(seed)))
        said = re.findall("|".join(sorted(NEUTRAL, key=len, reverse=True)), text)
        assert len(said) == 3
        assert len({verb.rsplit(" ", 1)[-1] for verb in said}) == 3


def test_the_same_dice_write_the_same() -> None:
    paragraph = tuple(Sentence((remark,)) for remark in remarks())
    assert render(paragraph, NAMES, Dice(7)) == render(paragraph, NAMES, Dice(7))
    assert render(paragraph, NAMES, Dice(7)) != render(paragraph, NAMES, Dice(8))


# Relative clauses about times.


@pytest.mark.parametrize(("edge", "bound"), TIMED)
@pytest.mark.parametrize("form", FORMS)
def test_a_timed_relative_clause_is_closed_where_more_is_to_come(edge: str, bound: str, form: str) -> None:
    relative = TimedRelative(edge, bound, 675)  # type: ignore[arg-type]
    timed = Group((A,), relative)
    for text in words(Clause(form, "<", timed, Group((B,))), 100):  # type: ignore[arg-type]
        assert re.search(r"he stock count, which (must|has to|needs to|is to) [a-z ]+ 11:15, ", text)
    for text in words(Clause(form, "<", Group((B,)), timed), 100):  # type: ignore[arg-type]
        ends = form in ("verb", "preposition")
        assert re.search(r"he stock count, which [a-z ]+ 11:15" + (r"\.$" if ends else ", "), text)


def test_a_timed_relative_clause_may_hang_on_another() -> None:
    inner = Relative("verb", "<", Group((B,), TimedRelative("end", "before", 675)))
    for text in words(Clause("verb", "<", Group((A,), inner), Group((C,))), 100):
        assert re.search(r"the till check, which [a-z ]+ 11:15, [a-z ]+ the price update\.$", text)
