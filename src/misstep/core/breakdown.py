"""A run by what its cases have in common: topic, number of actions, family."""

from typing import Literal, get_args

import msgspec

Facet = Literal["topic", "actions", "family"]
FACETS: tuple[Facet, ...] = get_args(Facet)


class Portion(msgspec.Struct, frozen=True):
    """The judged cases with one value of a facet. `p` is that of the test that they fail no more than the
    others, corrected for the number of values (Holm)."""

    value: str
    cases: int
    failed: int
    success: float
    interval: tuple[float, float]
    p: float
    significant: bool


class Breakdown(msgspec.Struct, frozen=True):
    """What `misstep show RUN --by FACET --json` prints; portions that fail most come first, sizes in their
    own order."""

    run: str
    by: Facet
    portions: tuple[Portion, ...]
