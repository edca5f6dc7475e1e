"""Suites that several tests look at."""

from collections.abc import Callable, Iterator

import pytest

from misstep.core.case import Case
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case

CaseMaker = Callable[..., Iterator[Case]]


@pytest.fixture
def make_cases() -> CaseMaker:
    """Cases by number, sizes and recipe."""

    def make(count: int, low: int = 3, high: int = 5, seed: int = 0, **recipe: float) -> Iterator[Case]:
        suite = Suite(seed, low, high, recipe=Recipe(**recipe))  # type: ignore[arg-type]
        return (make_case(suite, index) for index in range(count))

    return make
