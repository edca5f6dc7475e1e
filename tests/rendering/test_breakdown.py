"""A run by one facet of its cases, as people see it."""

import msgspec
import pytest

from misstep.core.results.comparison import Breakdown, Facet, Portion
from misstep.rendering.comparison import breakdown_view, finding
from tests.rendering.screens import shown

PORTIONS = (
    Portion("waiter", 12, 11, 1 / 12, (0.0149, 0.354), 0.00042, True),
    Portion("news editor", 30, 9, 0.7, (0.521, 0.833), 0.34, False),
    Portion("baker", 8, 0, 1.0, (0.676, 1.0), 1.0, False),
)


def test_topics() -> None:
    assert shown(breakdown_view(Breakdown("aaaaaa", "topic", PORTIONS))) == (
        """\
topic        cases  failed  success      95 % interval        p
waiter          12      11    8.3 %    1.5 % to 35.4 %  < 0.001
news editor     30       9   70.0 %   52.1 % to 83.3 %     0.34
baker            8       0  100.0 %  67.6 % to 100.0 %     1.00

3 topics were compared: p is corrected for that (Holm); waiter fails significantly more than the
others"""
    )


def test_the_rest_is_counted() -> None:
    view = shown(breakdown_view(Breakdown("aaaaaa", "topic", PORTIONS), 1))
    assert "\n… and 2 more\n\n3 topics were compared" in view
    assert "baker" not in view


def standing_out(count: int, of: int) -> tuple[Portion, ...]:
    sample = PORTIONS[0]
    return tuple(
        msgspec.structs.replace(sample, value=f"v{number}", significant=number < count)
        for number in range(of)
    )


@pytest.mark.parametrize(
    ("by", "portions", "words"),
    [
        ("topic", standing_out(0, 50), "none fails significantly more than the others"),
        ("actions", standing_out(1, 3), "v0 fails significantly more than the others"),
        ("family", standing_out(2, 3), "v0, v1 fail significantly more than the others"),
        (
            "topic",
            standing_out(7, 50),
            "v0, v1, v2, v3, v4 and 2 more fail significantly more than the others",
        ),
    ],
)
def test_what_follows_is_said(by: Facet, portions: tuple[Portion, ...], words: str) -> None:
    names = {"topic": "topics", "actions": "numbers of actions", "family": "families"}
    compared = f"{len(portions)} {names[by]} were compared: p is corrected for that (Holm)"
    assert finding(Breakdown("aaaaaa", by, portions)) == f"{compared}; {words}"


@pytest.mark.parametrize(
    ("portions", "words"),
    [
        ((), "nothing to compare: no case was judged"),
        (PORTIONS[:1], "nothing to compare: all cases are alike"),
    ],
)
def test_nothing_to_compare(portions: tuple[Portion, ...], words: str) -> None:
    assert finding(Breakdown("aaaaaa", "family", portions)) == words


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "[red]x[/red]", "\u202ex", "y" * 100_000])
def test_hostile_topics_are_harmless(evil: str) -> None:
    portions = tuple(msgspec.structs.replace(portion, value=evil) for portion in PORTIONS)
    view = shown(breakdown_view(Breakdown("aaaaaa", "topic", portions)))
    assert not set(view) & set("\x1b\x07\u202e")
    assert len(view) < 5_000
    assert "[red]x[/red]" in view or "red" not in evil
