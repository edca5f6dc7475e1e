"""Suites that several tests look at."""

import os
import subprocess
import sys
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


def printed_by(script: str) -> set[str]:
    """What a script prints in processes of its own, each with another order of hashes."""
    return {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "random")
    }
