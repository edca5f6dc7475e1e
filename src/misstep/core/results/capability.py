"""How far an agent gets: its success as the number of actions grows."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from misstep.core.case import MOST_ACTIONS, Baselines
from misstep.core.outcome import ErrorKind

CURVE_VERSION = 1  # of the form in which curves are kept

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Size = Annotated[int, Meta(ge=1, le=MOST_ACTIONS)]


class Point(msgspec.Struct, frozen=True):
    """All cases with one number of actions; only those that passed or failed enter the rate.

    `chance` is the mean chance level of the same cases, `baselines` what agents reach on them that
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
    """The number of actions at which the fitted curve passes 50 %; an end left open is None."""

    at: float
    interval: tuple[float | None, float | None]


class Fit(msgspec.Struct, frozen=True):
    """A logistic curve `1 / (1 + exp((n - half) / spread))` through the points.

    `misfit` is the p-value of the test that the points come from such a curve, where there are enough of them
    to ask.
    """

    half: Half
    spread: Annotated[float, Meta(gt=0)]
    misfit: Share | None = None


class Capability(msgspec.Struct, frozen=True):
    """What `plan capability --json` prints.

    `limit` is the largest number of actions up to which success never fell under the threshold; None where it
    was under it from the start. `reached` says whether it ever fell under it. `half` is None where no curve
    can be fitted, or where it passes 50 % outside of what was tried. `errors` counts the failures up to the
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
