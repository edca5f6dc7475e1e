"""Texts that are cut, and say by how much."""

import pytest

from misstep.core.text import cut


@pytest.mark.parametrize("length", [601, 700, 3_100, 5_000_000])
@pytest.mark.parametrize("second", [1, 300, 499, 500])
def test_what_is_cut_again_keeps_count(length: int, second: int) -> None:
    once = cut("x" * length, 500)
    assert cut(once, second) == cut("x" * length, second)


def test_a_note_that_does_not_fit_is_no_reason_to_cut() -> None:
    once = cut("x" * 600, 500)
    assert cut(once, 501) == cut(once, len(once)) == once


def test_a_note_that_is_no_number_is_text() -> None:
    assert cut("x" * 30 + "… (,,, more characters)", 30) == "x" * 30 + "… (,,, more characters)"
    assert cut("x" * 30 + "… (9 more characters) ", 10).endswith("… (42 more characters)")
    assert cut("x" * 30 + f"… ({'9' * 5_000} more characters)", 10).endswith("more characters)")
