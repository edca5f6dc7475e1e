"""Keeps keys out of whatever is stored or shown."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

SECRET_NAME = re.compile(
    r"passw|passphrase|secret|credential"
    r"|(keys?|tokens?)([_-]?\d+)?$|(^|[_-])(pass|pat|auth|authorization)([_-]?\d+)?$",
    re.IGNORECASE,
)
SHORTEST = 8  # anything shorter would be found in innocent text
MASK = "[secret]"


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose names say that they are secret, and passwords in URLs, longest first."""
    found = set[str]().union(*(_known(name, value) for name, value in environment.items()))
    return tuple(sorted(found, key=len, reverse=True))


@lru_cache(maxsize=1024)  # every case asks, and the environment hardly changes
def _known(name: str, value: str) -> frozenset[str]:
    """All spellings of the secrets that a variable holds."""
    found = [secret.strip() for secret in _secrets(name, value)]
    return frozenset(form for secret in found if len(secret) >= SHORTEST for form in _spellings(secret))


def _spellings(secret: str) -> Iterator[str]:
    """The secret, and what JSON, Python and URLs make of it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)


def _secrets(name: str, value: str) -> Iterator[str]:
    if SECRET_NAME.search(name):
        yield value
    if "://" in value and "@" in value:
        try:
            yield urlsplit(value).password or ""
        except ValueError:
            return


class Redactor:
    """Masks the secrets it knows."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def within(self, value: Any) -> Any:
        """A JSON value with every text in it masked, keys included."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(str(key)): self.within(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.within(each) for each in value)
        return value
