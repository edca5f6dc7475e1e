"""What a run has come to, in tokens and money."""

from misstep.api.budgets import hides_tokens
from misstep.api.models import model_name, price_agent
from misstep.core.settings import Settings
from misstep.core.summary import Summary, Tally
from misstep.errors import UsageError


def summarise(tally: Tally, run: str, settings: Settings) -> Summary:
    return tally.summary(run, settings.agent, model_name(settings), _cost(tally, settings))


def _cost(tally: Tally, settings: Settings) -> float | None:
    """What the tokens cost; None where they, or their price, are not known."""
    try:
        price = price_agent(settings)
    except UsageError:
        return None  # the list of prices has gone since
    return None if price is None or hides_tokens(tally, settings) else round(price.of(tally.usage), 6)
