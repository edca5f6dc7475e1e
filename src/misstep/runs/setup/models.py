"""Finds models by name, and their prices."""

import os
from collections.abc import Callable
from typing import TypeAlias

from misstep.core.model import LanguageModel
from misstep.core.results.descriptions import read_text
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.settings import AgentRunSettings, ModelSettings, ToolSettings
from misstep.core.settings.reading import encode_settings
from misstep.core.spending import AGENT, RateLimiters
from misstep.errors import UsageError
from misstep.models.providers import (
    FREE,
    ModelName,
    Price,
    check_base_url,
    find_endpoint,
    find_price,
    parse_model,
)
from misstep.store.location import shown

CACHE = ".misstep/cache"
Tell: TypeAlias = Callable[[str], None]


def name_model(settings: ModelSettings, role: str = AGENT) -> ModelName | None:
    text = settings.model_roles.get(role) or settings.model
    return parse_model(text, settings.model_base_url) if text else None


def model_name(settings: ModelSettings) -> str | None:
    model = name_model(settings)
    return str(model) if model else None


def open_model(
    settings: AgentRunSettings, tell: Tell, role: str = AGENT, rate_limiters: RateLimiters | None = None
) -> LanguageModel:
    """The model for a role; `tell` reports what takes a while.

    Callers that share `rate_limiters` share a model's rate limits.
    """
    model = name_model(settings, role)
    if model is None:
        raise UsageError(
            "no model given", "pass one with --model: provider/model, or local, which needs no key"
        )
    if model.provider == "local":
        from misstep.models.local.model import LocalModel

        return LocalModel(model.model, settings.temperature, settings.seed, on_load=tell)
    from misstep.models.client import Options

    options = Options(
        temperature=settings.temperature,
        retries=settings.most_retries,
        in_flight=settings.requests,
        per_minute=settings.requests_per_minute,
        cache=CACHE if settings.cache else "",
    )
    endpoint = find_endpoint(model, settings.model_base_url, os.environ)
    if model.provider == "anthropic":
        from misstep.models.anthropic import AnthropicModel

        return AnthropicModel(model, endpoint, options, rate_limiters)
    from misstep.models.openai import OpenAIModel

    return OpenAIModel(model, endpoint, options, rate_limiters)


def price_role(settings: AgentRunSettings, role: str = AGENT) -> Price | None:
    """The price of a role's tokens; None if unknown. Simulated agents use none."""
    if role == AGENT and settings.agent.startswith("sim:"):
        return FREE
    model = name_model(settings, role)
    return find_price(model, settings.prices) if model else None


def refuse_blind_budget(settings: AgentRunSettings) -> None:
    """Refuse a budget in money unless the price of every model that may use it is known."""
    if settings.budget_usd is None:
        return
    if price_role(settings) is None:
        raise _unpriced(name_model(settings))
    for role in settings.model_roles:
        model = name_model(settings, role)
        if role != AGENT and model and find_price(model, settings.prices) is None:
            raise _unpriced(model)


def _unpriced(model: ModelName | None) -> UsageError:
    if model is None:
        hint = "name the agent's model with --model to get its price"
        return UsageError("--budget-usd needs the price of the agent's model", hint)
    return UsageError(
        f"--budget-usd needs a price, and the price of {model} is unknown",
        "add it in a file with --prices:",
        f"  [{model.provider}]",
        f'  "{model.model}" = [1.00, 4.00]   # dollars per million tokens: input, output',
    )


def refuse_secrets(settings: AgentRunSettings) -> None:
    """Refuse secrets in settings and descriptions, which are stored with a run."""
    check_base_url(settings.model_base_url)
    redact = Redactor(secrets_in(os.environ))
    descriptions = settings.descriptions if isinstance(settings, ToolSettings) else ""
    said = read_text(descriptions)
    if redact(said) != said:
        hint = "tool descriptions are stored with the run and shown to models"
        raise UsageError("contains the value of a secret environment variable", hint, where=descriptions)
    kept = settings.overlay({"store": shown(settings.store)})  # it is stored without its password
    text = encode_settings(kept).decode()
    if redact(text) != text:
        raise UsageError(
            "the settings contain the value of a secret environment variable, and settings are stored",
            "let the agent read it from the environment",
        )
