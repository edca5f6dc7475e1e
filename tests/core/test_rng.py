"""Chance has to be the same everywhere, and fair."""

from collections import Counter

from misstep.core.rng import SEED_LIMIT, Dice, case_seed, derive_seed


def test_draws_are_pinned() -> None:
    dice = Dice(42)
    assert [dice.below(100) for _ in range(8)] == [63, 2, 27, 22, 73, 67, 89, 8]
    assert dice.sample("abcdef", 3) == ["c", "b", "a"]


def test_a_sample_has_no_item_twice_and_leaves_its_source_alone() -> None:
    source = list(range(10))
    for seed in range(200):
        drawn = Dice(seed).sample(source, 6)
        assert len(set(drawn)) == 6
    assert source == list(range(10))


def test_shuffles_are_fair() -> None:
    dice = Dice(1)
    counts = Counter(tuple(dice.shuffled("abc")) for _ in range(12_000))
    assert len(counts) == 6
    assert all(1_800 < count < 2_200 for count in counts.values())


def test_the_first_case_of_a_suite_has_the_suites_seed() -> None:
    assert case_seed(7, 0) == 7
    assert case_seed(case_seed(7, 5), 0) == case_seed(7, 5)


def test_seeds_differ_by_path_and_stay_exact_in_json() -> None:
    seeds = {derive_seed(seed, index) for seed in range(20) for index in range(500)}
    assert len(seeds) == 10_000
    assert all(0 <= seed < SEED_LIMIT for seed in seeds)
    assert derive_seed(1, 23) != derive_seed(12, 3)
