"""Every phrase has a place, and keeps it when a sentence changes round it."""

import pytest

from misstep.core.constraint import Family
from misstep.planning.language.clarity import is_clear
from misstep.planning.language.rendering import write
from misstep.planning.language.syntax import Clause, Group, Relative, Sentence, Timed, TimedRelative
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.lines import close, lines_of
from misstep.planning.variation.phrasing import Drawn, say
from misstep.planning.variation.pieces import Piece, attribute, bare, fill, hoist, paths, untangled, without
from tests.planning.shrinking.problems import MIXTURES, mixed_cases, own_tool_cases

NAMES = ("audit", "backup", "cleaning", "dinner", "errand")
A, B, C, D, E = range(5)


class Last:
    """Takes the last phrase of every list, so that none is the plainest."""

    def __init__(self) -> None:
        self.drawn: list[object] = []

    def draw(self, options: tuple) -> object:  # type: ignore[type-arg]
        self.drawn.append(options[-1])
        return options[-1]


def said(*parts: Clause | Timed, joins: tuple = ()) -> tuple[Piece, ...]:  # type: ignore[type-arg]
    """Sub-sentences in the rarest words there are."""
    words = Last()
    sentence = Sentence(parts, joins)
    write((sentence,), NAMES, words.draw)  # type: ignore[arg-type]
    return attribute(sentence, words.drawn)  # type: ignore[arg-type]


def text(*parts: Piece) -> str:
    return " ".join(say((Sentence((each.part,)),), NAMES, (filled(each),))[0] for each in parts)


def filled(each: Piece) -> Drawn:
    return fill(Sentence((each.part,)), [each])


@pytest.mark.full(after=4)
@pytest.mark.parametrize("families", MIXTURES, ids="+".join)
def test_opened_and_closed_a_case_is_as_it_was(families: tuple[Family, ...]) -> None:
    for case in mixed_cases(families, 12):
        anatomy = take_apart(case)
        for sentence, words in zip(anatomy.paragraph, anatomy.words, strict=True):
            parts = attribute(sentence, words)
            assert sum(len(paths(part)) for part in sentence.parts) == len(words)
            assert all(len(set(paths(part))) == len(paths(part)) for part in sentence.parts)
            assert fill(sentence, parts) == words
        assert close(anatomy, lines_of(anatomy)) == anatomy


def test_tools_of_the_user_s_own_too() -> None:
    for case in own_tool_cases(30):
        anatomy = take_apart(case)
        assert close(anatomy, lines_of(anatomy)) == anatomy


RELATED = Clause(
    "preposition",
    "<",
    Group((A,), Relative("verb", ">", Group((B,)))),
    Group((C,), TimedRelative("end", "before", 600)),
)


def test_a_clause_keeps_its_words_when_its_relative_clauses_go() -> None:
    (whole,) = said(RELATED)
    assert text(whole) == (
        "The audit, which is to follow the backup, must be carried out at an earlier time than the cleaning, "
        "which is to be finished at a time before 10:00."
    )
    assert text(bare(whole)) == "The audit must be carried out at an earlier time than the cleaning."
    assert [
        text(hoist(whole, (name,), getattr(RELATED, name)) or whole) for name in ("subject", "object")
    ] == [
        "The audit is to follow the backup.",
        "The cleaning is to be finished at a time before 10:00.",
    ]


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ({A}, "The cleaning is to be finished at a time before 10:00."),
        ({C}, "The audit is to follow the backup."),
        (
            {B},
            "The audit must be carried out at an earlier time than the cleaning, which is to be finished at "
            "a time before 10:00.",
        ),
        ({A, C}, ""),
        (
            {D},
            "The audit, which is to follow the backup, must be carried out at an earlier time than the "
            "cleaning, which is to be finished at a time before 10:00.",
        ),
    ],
)
def test_what_is_left_when_actions_go(gone: set[int], left: str) -> None:
    (whole,) = said(RELATED)
    assert text(*without(whole, gone)) == left


def test_other_forms_keep_the_words_that_fit_them() -> None:
    (whole,) = said(Clause("fronted conjunction", "<", Group((A,)), Group((B,))))
    assert text(whole) == (
        "Ahead of the time at which the backup is conducted, the audit must be carried out."
    )
    turned = [
        text(Piece(Clause(form, "<", Group((A,)), Group((B,))), whole.words))
        for form in ("conjunction", "preposition", "verb")
    ]
    assert turned == [
        "The audit must be carried out ahead of the time at which the backup is conducted.",
        "The audit must be carried out before the backup.",
        "The audit precedes the backup.",
    ]


NESTED = Clause(
    "verb",
    "<",
    Group((A,)),
    Group((B,), Relative("verb", ">", Group((C, D), Relative("verb", "<", Group((E,)))))),
)


def test_what_can_t_be_said_clearly_any_more_is_said_apart() -> None:
    """One "which" inside another has to hang on several actions."""
    (whole,) = said(NESTED)
    assert is_clear(NESTED)
    (cut,) = without(whole, {D})
    assert not is_clear(cut.part)
    assert [text(each) for each in untangled(cut)] == [
        "The audit is to precede the backup.",
        "The backup is to follow the cleaning, which is to precede the errand.",
    ]
