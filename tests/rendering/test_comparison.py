"""Two runs side by side, as people see them."""

import pytest

from misstep.core.results.comparison import Comparison, Pairing, SizePairing
from misstep.rendering.comparison import comparison_view, conclusion
from tests.rendering.screens import shown

LESS = Pairing(60, 6, 22, 2, 30, -20 / 60, (-0.469, -0.194), 0.0000359)
THREE = Pairing(15, 4, 6, 1, 4, -5 / 15, (-0.607, 0.014), 0.125)
FOUR = Pairing(45, 2, 16, 1, 26, -15 / 45, (-0.491, -0.178), 0.000275)


def comparison(pairing: Pairing, significant: bool, steps: tuple[SizePairing, ...] = ()) -> Comparison:
    return Comparison("aaaaaa", "bbbbbb", pairing, significant, steps, ("c1",), ("c2",))


def test_a_comparison_by_number_of_actions() -> None:
    steps = (SizePairing(3, THREE, 0.125), SizePairing(4, FOUR, 0.00055))
    assert shown(comparison_view(comparison(LESS, True, steps), "sim:greedy", "tools  openai/gpt-4o")) == (
        """\
first   aaaaaa  sim:greedy
second  bbbbbb  tools  openai/gpt-4o

60 cases in common  second passed  second failed
first passed                    6             22
first failed                    2             30

actions  cases   first  second  difference   95 % interval        p
      3     15  66.7 %  33.3 %       -33.3   -60.7 to +1.4     0.12
      4     45  40.0 %   6.7 %       -33.3  -49.1 to -17.8  < 0.001
    all     60  46.7 %  13.3 %       -33.3  -46.9 to -19.4  < 0.001
p: exact McNemar test; by actions, corrected for 2 of them (Holm)

the first is better by 33.3 points (95 % interval 19.4 to 46.9, p < 0.001)"""
    )


def test_one_size_needs_no_correction() -> None:
    view = shown(comparison_view(comparison(THREE, False), "a", "b"))
    assert "Holm" not in view
    assert view.count("\n    all ") == 1


@pytest.mark.parametrize(
    ("pairing", "significant", "words"),
    [
        (
            Pairing(60, 6, 2, 22, 30, 20 / 60, (0.194, 0.469), 0.0123),
            True,
            "the second is better by 33.3 points (95 % interval 19.4 to 46.9, p = 0.012)",
        ),
        (
            Pairing(60, 6, 12, 2, 40, -10 / 60, (-0.3, 0.001), 0.0498),
            True,
            "the first is better by 16.7 points (95 % interval -0.1 to 30.0, p = 0.050)",
        ),
        (
            Pairing(60, 20, 5, 8, 27, 3 / 60, (-0.07, 0.168), 0.3437),
            False,
            "no significant difference (p = 0.34, 95 % interval -7.0 to +16.8 points)",
        ),
        (
            Pairing(12, 7, 0, 0, 5, 0.0, (-0.24, 0.24), 1.0),
            False,
            "no difference: the same of 12 cases passed",
        ),
    ],
)
def test_the_closing_line(pairing: Pairing, significant: bool, words: str) -> None:
    compared = comparison(pairing, significant)
    assert conclusion(compared) == words
    assert shown(comparison_view(compared, "a", "b")).endswith(f"\n{words}")


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "[red]x[/red]", "\u202ex"])
def test_hostile_names_are_harmless(evil: str) -> None:
    view = shown(comparison_view(comparison(LESS, True), evil, evil))
    assert not set(view) & set("\x1b\x07\u202e")
    assert "[red]x[/red]" in view or "red" not in evil
