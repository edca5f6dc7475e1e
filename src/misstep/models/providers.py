"""Model names (`provider/model`), the known providers, and token prices."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from misstep.core.outcome import Usage
from misstep.errors import UsageError, did_you_mean

PROVIDER = "local"
PLANNER = "smollm2-135m-planner"  # with our adapter
BASE = "smollm2-135m"  # as published
SHORT = {PROVIDER: PLANNER, "local-base": BASE}


def find_embedded(text: str) -> str:
    """The embedded model with this short name, or this name after `local/`."""
    found = SHORT.get(text or PROVIDER, text)
    if found not in SHORT.values():
        known = [f"{short} is {PROVIDER}/{name}" for short, name in SHORT.items()]
        hints = (", ".join(known), did_you_mean(text, SHORT.values()))
        raise UsageError(f"there is no embedded model '{text}'", *hints)
    return found


DEFAULT_PROVIDER = "openai"
NO_KEY = "none"  # sent to servers that need no key; the SDK requires some value


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The provider's address, the variable with its key, and whether it runs on the user's own machine."""

    base_url: str = ""
    key: str = ""
    own: bool = False


class ModelName(msgspec.Struct, frozen=True):
    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


class Endpoint(msgspec.Struct, frozen=True):
    """The address and key for requests; the key must never be shown."""

    base_url: str | None
    key: str


@cache
def load_providers() -> Mapping[str, Provider]:
    text = (files("misstep.models") / "data" / "providers.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Provider])


def parse_model(text: str, base_url: str = "") -> ModelName:
    """Parse a model name; without a provider it is OpenAI's, or the server at `base_url`."""
    for separator in ("/", ":"):
        provider, found, model = text.partition(separator)
        if found and provider == PROVIDER:
            return ModelName(provider, find_embedded(model))
        if found and provider in load_providers() and model:
            return ModelName(provider, model)
    if text in SHORT:
        return ModelName(PROVIDER, find_embedded(text))
    if base_url or ("/" not in text and ":" not in text):
        return ModelName(DEFAULT_PROVIDER, text)
    provider = text.replace(":", "/").partition("/")[0]
    known = list(load_providers())
    raise UsageError(
        f"unknown provider '{provider}' in model '{text}'",
        f"known providers: {', '.join(known)}",
        did_you_mean(provider, known) or "for any OpenAI-compatible server use --model-base-url",
    )


def find_endpoint(model: ModelName, base_url: str, environment: Mapping[str, str]) -> Endpoint:
    """Find the address and key of a model. A missing key is an error unless the server is the user's own."""
    provider = load_providers()[model.provider]
    # The SDKs' own variables, named after the providers that have SDKs.
    usual = environment.get(f"{model.provider.upper()}_BASE_URL", "")
    own = check_base_url(base_url) or (usual if model.provider in ("openai", "anthropic") else "")
    address = own or provider.base_url or None
    key = environment.get(provider.key, "") if provider.key else ""
    if not key and provider.key and not own:
        raise UsageError(
            f"{provider.key} is not set, and {model} needs a key",
            f"export {provider.key}=…",
            "or use --model-base-url with your own server, or --model local",
            did_you_mean(model.model, SHORT),
        )
    return Endpoint(address, key or NO_KEY)


def check_base_url(url: str) -> str:
    """Validate a URL; it must not contain a password, because it is stored with the run."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError(url)
    except ValueError:
        hint = "expected e.g. http://127.0.0.1:8000/v1"
        raise UsageError(f"invalid URL {url!r}", hint, where="--model-base-url") from None
    if parts.username or parts.password or "key" in parts.query.lower() or "token" in parts.query.lower():
        raise UsageError(
            "the URL contains a secret",
            "URLs are stored: put the key in the provider's environment variable",
            where="--model-base-url",
        )
    return url


SNAPSHOT = re.compile(r"-(\d{4}-?\d{2}-?\d{2}|latest)$")  # dated versions cost the same as the model
MILLION = 1_000_000

Dollars = Annotated[float, msgspec.Meta(ge=0)]
Row = Annotated[list[Dollars], msgspec.Meta(min_length=2, max_length=3)]
Table = dict[str, dict[str, Row]]


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float

    def of(self, usage: Usage) -> float:
        fresh = usage.input - usage.cached
        total = fresh * self.input + usage.cached * self.cached + usage.output * self.output
        return total / MILLION


FREE = Price(0.0, 0.0, 0.0)


def find_price(model: ModelName, own_file: str = "") -> Price | None:
    """The price of a model, from the user's own file first; None if unknown."""
    for table in (_read(own_file) if own_file else {}, _shipped()):
        rows = table.get(model.provider, {})
        row = rows.get(model.model) or rows.get(SNAPSHOT.sub("", model.model))
        if row:
            return Price(row[0], row[1], row[2] if len(row) > 2 else row[0])
    return FREE if load_providers()[model.provider].own else None


@cache
def _shipped() -> Table:
    text = (files("misstep.models") / "data" / "prices.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


def _read(path: str) -> Table:
    hint = 'expected [provider] tables with lines such as "model" = [input, output, cached]'
    try:
        return msgspec.convert(tomllib.loads(Path(path).read_text("utf-8")), Table, strict=False)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=path) from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError("is not a list of prices", str(error), hint, where=path) from error
