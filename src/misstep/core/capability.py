"""How far an agent gets: its success as the number of actions grows."""

from collections.abc import Mapping

import msgspec

from misstep.core.verdict import ErrorKind


class Point(msgspec.Struct, frozen=True):
    """All cases with one number of actions; only those that passed or failed enter the rate.

    `chance` is the mean chance level of the same cases.
    """

    actions: int
    cases: int
    passed: int
    failed: int
    success: float | None
    interval: tuple[float, float]
    chance: float | None


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
    spread: float
    misfit: float | None = None


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
    threshold: float
    limit: int | None
    reached: bool
    half: Half | None
    fit: Fit | None
    errors: Mapping[ErrorKind, int]
