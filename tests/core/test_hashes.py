"""Texts remembered by their hashes: the same answers as a set gives."""

import random

import pytest

from misstep.core.rng import Hashes


@pytest.mark.parametrize("seed", range(5))
def test_it_answers_like_a_set(seed: int) -> None:
    dice, hashes, known = random.Random(seed), Hashes(), set[str]()
    for _ in range(20_000):
        text = f"case {dice.randrange(15_000)}"
        assert hashes.add(text) == (text not in known)
        known.add(text)
