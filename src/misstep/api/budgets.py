"""The budgets of a run, in the run's own terms."""

from collections.abc import Callable, Mapping

from misstep.api.costs import is_theirs
from misstep.api.models import name_model, price_agent
from misstep.core.settings import Settings
from misstep.core.spending import AGENT, Spent
from misstep.core.summary import Tally
from misstep.core.transcript import Usage
from misstep.errors import BudgetExceeded, UsageError
from misstep.models.prices import find_price

FLAGS = {
    "usd": "--budget-usd",
    "tokens": "--budget-tokens",
    "seconds": "--budget-time",
    "calls": "--budget-calls",
}


def pricing(settings: Settings) -> Callable[[str, Usage], float]:
    """What the tokens of each role cost; nothing where nobody has said so, for then no money is budgeted."""
    prices = {AGENT: price_agent(settings)}

    def cost(role: str, usage: Usage) -> float:
        if role not in prices:
            model = name_model(settings, role)
            prices[role] = find_price(model, settings.prices) if model else None
        price = prices[role]
        return price.of(usage) if price else 0.0

    return cost


def unpriced_models(settings: Settings, usage: Mapping[str, Usage]) -> list[str]:
    """The models that have used tokens of which nobody has said what they cost."""
    used = [name_model(settings, role) for role, each in usage.items() if each.input or each.output]
    unknown = [str(model) for model in used if model and find_price(model, settings.prices) is None]
    return list(dict.fromkeys(unknown))


def _cost(settings: Settings, spent: Spent) -> float:
    """Dollars for the tokens of all roles."""
    price = pricing(settings)
    return sum(price(role, usage) for role, usage in spent.usage.items())


def left_of(settings: Settings, spent: Spent) -> dict[str, float]:
    """What the budget has left of everything that is limited."""
    used = {
        "usd": _cost(settings, spent),
        "tokens": spent.tokens,
        "seconds": spent.seconds,
        "calls": spent.calls,
    }
    limits = {kind: getattr(settings.budget, kind) for kind in used}
    return {kind: limit - used[kind] for kind, limit in limits.items() if limit is not None}


def hides_tokens(tally: Tally, settings: Settings) -> bool:
    """Whether an agent that is not ours has done something without a token to show for it."""
    return is_theirs(settings) and not tally.usage.output


def refuse_hidden_tokens(tally: Tally, settings: Settings) -> None:
    """A budget that nobody can see being spent is none."""
    budgeted = settings.budget_usd is not None or settings.budget_tokens is not None
    if budgeted and tally.calls and hides_tokens(tally, settings):
        flag = "--budget-usd" if settings.budget_usd is not None else "--budget-tokens"
        raise UsageError(
            "the budget can't be kept: the agent does not show its tokens",
            f"start a run with --record-proxy, which stands between it and its model, or without {flag}",
        )


def spent_of(lacking: str, settings: Settings, spent: Spent) -> str:
    """How much of what there is too little of has been used, in words."""
    return {
        "usd": f"{_cost(settings, spent):.6g} of {settings.budget_usd:g} USD" if settings.budget_usd else "",
        "tokens": f"{spent.tokens:,} of {settings.budget_tokens or 0:,} tokens",
        "seconds": f"{spent.seconds:.1f} of {settings.budget_time or 0:g} seconds",
        "calls": f"{spent.calls:,} of {settings.budget_calls or 0:,} calls",
    }[lacking]


def budget_exceeded(
    lacking: str, settings: Settings, spent: Spent, done: str, hints: list[str]
) -> BudgetExceeded:
    """Says what there is too little of; `done` is how far the run got."""
    used = spent_of(lacking, settings, spent)
    *shown, way_on = hints
    return BudgetExceeded(
        f"the budget has no room for another case after {done}: {used} are used",
        *shown,
        f"{way_on} {FLAGS[lacking]} MORE",
    )
