"""Planning problems as a Hypothesis strategy, for property tests."""

from typing import TYPE_CHECKING, Any

import msgspec

from misstep.core.case import Case
from misstep.core.settings import Settings
from misstep.errors import MissingExtra
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.cases import suite_of
from misstep.runs.setup.configuration import SYNTHESIS
from misstep.testing.subjects import overlaid

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

KNOWN = tuple(name for name in SYNTHESIS if name not in ("count", "exhaustive", "seed"))
MOST_SEEDS = 2**32


def problems(**settings: Any) -> "SearchStrategy[Case]":
    """Cases as `misstep plan synth` makes them: `problems(actions=(2, 6), family="order,time")`.

    They shrink to fewer actions first, then to a smaller seed. Takes the settings that describe cases; files
    and the environment are ignored, so that the same example is the same case everywhere.
    """
    chosen = overlaid(Settings(), settings, KNOWN, "problems()")
    suite = suite_of(chosen)
    try:
        from hypothesis import strategies as st
    except ImportError as error:
        raise MissingExtra("Hypothesis", "fuzz") from error
    _case(suite, suite.low, 0)  # loads the word lists, which would count as time to draw the first example
    drawn = st.tuples(st.integers(suite.low, suite.high), st.integers(0, MOST_SEEDS - 1))
    return drawn.map(lambda each: _case(suite, *each))


def _case(suite: Suite, size: int, seed: int) -> Case:
    return make_case(msgspec.structs.replace(suite, low=size, high=size, seed=seed), 0)
