"""What tokens have cost, where anybody can know."""

from collections.abc import Callable, Mapping

from misstep.api.models import name_model, price_agent
from misstep.core.settings import Settings
from misstep.core.spending import AGENT
from misstep.core.transcript import Usage
from misstep.errors import UsageError
from misstep.models.prices import find_price
from misstep.store.runs import Run
from misstep.store.trust import is_trusted


def price_of(settings: Settings) -> Callable[[str, Usage], float | None]:
    """What tokens of a role cost by the prices of now; None where they, or their price, are not known."""
    theirs = is_theirs(settings)

    def cost(role: str, usage: Usage) -> float | None:
        if role == AGENT and theirs and not usage.output:
            return None
        try:
            model = name_model(settings, role)
            price = price_agent(settings) if role == AGENT else model and find_price(model, settings.prices)
        except UsageError:
            return None  # the list of prices has gone since
        return price.of(usage) if price else None

    return cost


def may_price(run: Run) -> bool:
    """Whether the run's own list of prices may be read. One that only a store from elsewhere names may not:
    then what the run cost is not known."""
    return not run.settings.prices or is_trusted(run)


def cost_of_run(run: Run, usage: Mapping[str, Usage]) -> float | None:
    """What the tokens of a stored run cost, where that may be known."""
    return cost_of(run.settings, usage) if may_price(run) else None


def cost_of(settings: Settings, usage: Mapping[str, Usage]) -> float | None:
    """What the tokens of all roles cost together; None where one of them might have cost anything."""
    if is_theirs(settings) and not usage.get(AGENT, Usage()).output:
        return None
    price = price_of(settings)
    costs = [price(role, each) for role, each in usage.items() if each.input or each.output]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 6) if len(known) == len(costs) else None


def is_theirs(settings: Settings) -> bool:
    """Whether the agent is the user's own, which may hide its tokens."""
    return ":" in settings.agent and not settings.agent.startswith("sim:")
