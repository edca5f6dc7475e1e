"""Root causes, as people see them."""

import msgspec
import pytest

from misstep.core.results.diagnosis import Cause, Diagnosis, Dissection
from misstep.features.dissect.view import causes_table, diagnoses_table
from tests.rendering.screens import shown

FAILURES = (
    Diagnosis(
        "5d41402abc4b",
        "terminal",
        0.974,
        "“prior to”",
        (1,),
        "fails with it in 9 of 9 runs, without in 0 of 9",
        18,
    ),
    Diagnosis(
        "7f6e9fdf53fa", "topic", 0.91, "waiter", (), "fails with it in 7 of 8 runs, without in 1 of 8", 16
    ),
    Diagnosis("c4ca4238a0b9", "undetermined", None, "", (), "nothing stood out", 30),
)
GREEDY = Dissection(
    "rrrrrr",
    "aaaaaa",
    "sim:greedy",
    None,
    "sequential",
    FAILURES,
    {"terminal": 1, "topic": 1, "undetermined": 1},
)


def test_causes_of_one_agent() -> None:
    assert shown(causes_table([GREEDY])) == (
        """\
cause         sim:greedy
probability            –
terminal          33.3 %
topic             33.3 %
name                   –
structure              –
position               –
constraint             –
size                   –
undetermined      33.3 %
failures               3"""
    )


def test_causes_of_several_agents_with_models() -> None:
    react = msgspec.structs.replace(
        GREEDY, agent="react", model="openai/gpt-4o", causes={"probability": 3, "constraint": 1, "topic": 0}
    )
    none = msgspec.structs.replace(GREEDY, agent="tools", model="local", failures=(), causes={})
    assert shown(causes_table([react, GREEDY, none])) == (
        """\
cause         react, openai/gpt-4o  sim:greedy  tools, local
probability                 75.0 %           –             –
terminal                         –      33.3 %             –
topic                        0.0 %      33.3 %             –
name                             –           –             –
structure                        –           –             –
position                         –           –             –
constraint                  25.0 %           –             –
size                             –           –             –
undetermined                     –      33.3 %             –
failures                         4           3             0"""
    )


def test_single_failures() -> None:
    assert shown(diagnoses_table(GREEDY, 10)) == (
        """\
case          cause         sure  guilty      evidence                                         runs
5d41402abc4b  terminal      97 %  “prior to”  fails with it in 9 of 9 runs, without in 0 of 9    18
7f6e9fdf53fa  topic         91 %  waiter      fails with it in 7 of 8 runs, without in 1 of 8    16
c4ca4238a0b9  undetermined     –              nothing stood out                                  30"""
    )


@pytest.mark.parametrize(
    ("cause", "confidence", "told"),
    [
        ("terminal", 0.996, "99 %"),
        ("terminal", 0.904, "90 %"),
        ("undetermined", 0.5, ""),
        ("topic", None, ""),
    ],
)
def test_nothing_is_sure_to_the_last_percent(cause: Cause, confidence: float | None, told: str) -> None:
    assert Diagnosis("c", cause, confidence, "", (), "", 1).sure == told


def test_only_so_many_failures() -> None:
    assert shown(diagnoses_table(GREEDY, 1)).count("\n") == 1


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "[red]x[/red]", "\u202ex"])
def test_hostile_words_are_harmless(evil: str) -> None:
    failure = Diagnosis(evil, "terminal", 0.5, evil, (), evil, 1)
    dissection = msgspec.structs.replace(GREEDY, agent=evil, model=evil, failures=(failure,))
    for table in (causes_table([dissection]), diagnoses_table(dissection, 5)):
        view = shown(table, 200)
        assert not set(view) & set("\x1b\x07\u202e")
        assert "[red]x[/red]" in view or "red" not in evil
