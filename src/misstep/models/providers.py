"""Model names: `provider/model`, and what is known about the provider."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import msgspec

from misstep.errors import UsageError, did_you_mean
from misstep.models.local.names import PROVIDER, SHORT, find_embedded

DEFAULT_PROVIDER = "openai"
NO_KEY = "none"  # what servers get that want no key; the SDK insists on some


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where its interface is, which variable holds its key, whether it runs on the user's own machine."""

    base_url: str = ""
    key: str = ""
    own: bool = False


class ModelName(msgspec.Struct, frozen=True):
    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


class Endpoint(msgspec.Struct, frozen=True):
    """Where requests go and with which key; the key must never be shown."""

    base_url: str | None
    key: str


@cache
def load_providers() -> Mapping[str, Provider]:
    text = (files("misstep.models") / "data" / "providers.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Provider])


def parse_model(text: str, base_url: str = "") -> ModelName:
    """A model's name; without a provider it is OpenAI's, or that of the server at `base_url`."""
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
        did_you_mean(provider, known) or "any OpenAI-compatible server does with --model-base-url",
    )


def find_endpoint(model: ModelName, base_url: str, environment: Mapping[str, str]) -> Endpoint:
    """Where to reach a model. A missing key is an error unless the server is one of the user's own."""
    provider = load_providers()[model.provider]
    # The SDKs' own variables, which are named after the providers that have SDKs.
    usual = environment.get(f"{model.provider.upper()}_BASE_URL", "")
    own = check_base_url(base_url) or (usual if model.provider in ("openai", "anthropic") else "")
    address = own or provider.base_url or None
    key = environment.get(provider.key, "") if provider.key else ""
    if not key and provider.key and not own:
        raise UsageError(
            f"{provider.key} is not set, and {model} needs a key",
            f"export {provider.key}=…",
            "or give --model-base-url for a server of your own, or --model local, which needs neither",
            did_you_mean(model.model, SHORT),
        )
    return Endpoint(address, key or NO_KEY)


def check_base_url(url: str) -> str:
    """The URL, unless it is none, or holds a password: it is stored with the run."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        odd = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        odd = True
        parts = urlsplit("")
    if odd:
        raise UsageError(
            f"{url!r} won't do", "expected something like http://127.0.0.1:8000/v1", where="--model-base-url"
        )
    if parts.username or parts.password or "key" in parts.query.lower() or "token" in parts.query.lower():
        raise UsageError(
            "the URL holds a secret",
            "URLs are stored: put the key into the provider's variable",
            where="--model-base-url",
        )
    return url
