"""The budget of a run: prices, what has been spent, and what is left."""

import time
from collections.abc import Callable, Mapping

from misstep.core.outcome import Usage
from misstep.core.results.summary import Tally
from misstep.core.settings import AgentRunSettings, AgentSettings, ModelSettings
from misstep.core.spending import AGENT, Budget, RateLimiters, Spent
from misstep.engine.budget import BudgetTracker, Pricing
from misstep.errors import UsageError
from misstep.models.providers import Price, find_price
from misstep.models.throttle import Throttles
from misstep.runs.setup.models import name_model, price_role
from misstep.store.runs import Run
from misstep.store.trust import is_trusted


def price_of(settings: AgentRunSettings) -> Callable[[str, Usage], float | None]:
    """The current cost of a role's tokens; None if they or their price are not known."""
    theirs = is_theirs(settings)

    def cost(role: str, usage: Usage) -> float | None:
        if role == AGENT and theirs and not usage.output:
            return None
        price = current_price(settings, role)
        return price.of(usage) if price else None

    return cost


def current_price(settings: AgentRunSettings, role: str = AGENT) -> Price | None:
    """The current price of a role's tokens; None if it is not known."""
    try:
        return price_role(settings, role)
    except UsageError:
        return None  # the price list no longer exists


def may_price(run: Run) -> bool:
    """Whether the run's own price list may be read.

    A list that only a store from elsewhere names may not be read; the cost of the run is unknown then.
    """
    return not run.settings.prices or is_trusted(run)


def cost_of_run(run: Run, usage: Mapping[str, Usage]) -> float | None:
    """The cost of the tokens of all roles; None if that of one of them is unknown."""
    hidden = is_theirs(run.settings) and not usage.get(AGENT, Usage()).output
    if hidden or not may_price(run):
        return None
    price = price_of(run.settings)
    costs = [price(role, each) for role, each in usage.items() if each.input or each.output]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 6) if len(known) == len(costs) else None


def is_theirs(settings: AgentSettings) -> bool:
    """Whether the agent is the user's own, which may not report its tokens."""
    return ":" in settings.agent and not settings.agent.startswith("sim:")


class RunBudget(BudgetTracker):
    """The budget of a run on tools, shared by its threads. `rate_limiters` limit requests to models."""

    def __init__(
        self,
        budget: Budget,
        before: Spent,
        price: Pricing = lambda *_: 0.0,
        clock: Callable[[], float] = time.monotonic,
        rate_limiters: RateLimiters | None = None,
    ) -> None:
        super().__init__(budget, before, price, clock)
        self.rate_limiters: RateLimiters = rate_limiters or Throttles()


FLAGS = {
    "usd": "--budget-usd",
    "tokens": "--budget-tokens",
    "seconds": "--budget-time",
    "calls": "--budget-calls",
}


def pricing(settings: AgentRunSettings) -> Callable[[str, Usage], float]:
    """The cost of the tokens of each role; zero if no price is known, since no money is budgeted then."""
    prices = {AGENT: price_role(settings)}

    def cost(role: str, usage: Usage) -> float:
        if role not in prices:
            prices[role] = price_role(settings, role)
        price = prices[role]
        return price.of(usage) if price else 0.0

    return cost


def unpriced_models(settings: ModelSettings, usage: Mapping[str, Usage]) -> list[str]:
    used = [name_model(settings, role) for role, each in usage.items() if each.input or each.output]
    unknown = [str(model) for model in used if model and find_price(model, settings.prices) is None]
    return list(dict.fromkeys(unknown))


def _cost(settings: AgentRunSettings, spent: Spent) -> float:
    price = pricing(settings)
    return sum(price(role, usage) for role, usage in spent.usage.items())


def left_of(settings: AgentRunSettings, spent: Spent) -> dict[str, float]:
    used = {
        "usd": _cost(settings, spent),
        "tokens": spent.tokens,
        "seconds": spent.seconds,
        "calls": spent.calls,
    }
    limits = {kind: getattr(settings.budget, kind) for kind in used}
    return {kind: limit - used[kind] for kind, limit in limits.items() if limit is not None}


def hides_tokens(tally: Tally, settings: AgentSettings) -> bool:
    return is_theirs(settings) and not tally.usage.output


def refuse_hidden_tokens(tally: Tally, settings: AgentRunSettings) -> None:
    """Refuse a budget in tokens or money if the agent does not report its tokens."""
    budgeted = settings.budget_usd is not None or settings.budget_tokens is not None
    if budgeted and tally.calls and hides_tokens(tally, settings):
        flag = "--budget-usd" if settings.budget_usd is not None else "--budget-tokens"
        raise UsageError(
            "the budget can't be enforced: the agent does not report its tokens",
            f"add --record-proxy to count its model traffic, or omit {flag}",
        )


def spent_of(lacking: str, settings: AgentRunSettings, spent: Spent) -> str:
    """How much has been used of the resource that is exhausted, in words."""
    return {
        "usd": f"{_cost(settings, spent):.6g} of {settings.budget_usd:g} USD" if settings.budget_usd else "",
        "tokens": f"{spent.tokens:,} of {settings.budget_tokens or 0:,} tokens",
        "seconds": f"{spent.seconds:.1f} of {settings.budget_time or 0:g} seconds",
        "calls": f"{spent.calls:,} of {settings.budget_calls or 0:,} calls",
    }[lacking]
