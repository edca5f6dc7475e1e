"""The budget of a run on tools, with the limits of its models, shared by all who work on it."""

import time
from collections.abc import Callable

from misstep.core.rate_limiter import RateLimiters
from misstep.core.spending import Budget, Spent
from misstep.engine.budget import BudgetTracker, Pricing
from misstep.models.throttle import Throttles


class Allowance(BudgetTracker):
    """`gates` keep all requests to a model within its limits."""

    def __init__(
        self,
        budget: Budget,
        before: Spent,
        price: Pricing = lambda *_: 0.0,
        clock: Callable[[], float] = time.monotonic,
        gates: RateLimiters | None = None,
    ) -> None:
        super().__init__(budget, before, price, clock)
        self.gates: RateLimiters = gates or Throttles()
