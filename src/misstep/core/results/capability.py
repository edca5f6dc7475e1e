"""Capability curves: an agent's success rate as the number of actions grows."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from misstep.core.case import MOST_ACTIONS, Baselines
from misstep.core.outcome import ErrorKind

CURVE_VERSION = 1  # version of the stored format

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Size = Annotated[int, Meta(ge=1, le=MOST_ACTIONS)]


class Point(msgspec.Struct, frozen=True):
    """All cases with one number of actions; only those that passed or failed enter the rate.

    `chance` is the mean chance level of the same cases, `baselines` the success rates on them of agents that
    don't plan.
    """

    actions: Size
    cases: Count
    passed: Count
    failed: Count
    success: Share | None
    interval: tuple[Share, Share]
    chance: Share | None
    baselines: Baselines | None = None


class Half(msgspec.Struct, frozen=True):
    """The number of actions at which the fitted curve crosses 50 %; an open end of the interval is None."""

    at: float
    interval: tuple[float | None, float | None]


class Fit(msgspec.Struct, frozen=True):
    """A logistic curve `1 / (1 + exp((n - half) / spread))` through the points.

    `misfit` is the p-value of a goodness-of-fit test, if there are enough points for one.
    """

    half: Half
    spread: Annotated[float, Meta(gt=0)]
    misfit: Share | None = None


class Capability(msgspec.Struct, frozen=True):
    """What `plan capability --json` prints.

    `limit` is the largest number of actions up to which success never fell below the threshold; None if it
    was below from the start. `reached` says whether it ever fell below. `half` is None if no curve can be
    fitted, or if it crosses 50 % outside the range that was tried. `errors` counts the failures up to the
    limit by kind.
    """

    run: str
    agent: str
    model: str | None
    curve: tuple[Point, ...]
    threshold: Share
    limit: Size | None
    reached: bool
    half: Half | None
    fit: Fit | None
    errors: Mapping[ErrorKind, Count]
    version: int = CURVE_VERSION
