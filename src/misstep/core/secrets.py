"""Keeps keys and passwords out of everything that is stored or shown."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log2
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

SECRET_NAME = re.compile(
    r"passw|passphrase|secret|credential"
    r"|(keys?|tokens?)([_-]?\d+)?$|(^|[_-])(pass|pat|auth|authorization)([_-]?\d+)?$",
    re.IGNORECASE,
)
# Environment variables hold secrets far more often than other named values, so more names match.
SECRET_VARIABLE = re.compile(f"key|token|passw|{SECRET_NAME.pattern}", re.IGNORECASE)
SHORTEST = 8  # shorter values occur in ordinary text by coincidence
MASK = "[secret]"
CANARY = "misstep-canary-of-a-key"  # a value that is not secret: tools get it, to see which ones give it away

# Key formats of well-known services, and private keys in PEM files.
_KEYS = re.compile(
    r"\bsk(?:-|_live_|_test_)[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{1,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
# Long random values: letters of both cases and digits. Hex digests have one case; encoded images are longer.
_RANDOM = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9_-]{32,128}(?![A-Za-z0-9+/=_-])")
_LEAST_BITS = 4.4  # entropy per character; identifiers made of words have less
_LEAST_DIGITS = 3
_SHORTEST_SHAPE = 15  # characters
_SHORTEST_RANDOM = 32
# Substrings that keys contain, by one of their characters: checking for a character first is cheap.
_MARKS = {
    "-": ("sk-", "glpat-", "xox"),
    "_": ("sk_live_", "sk_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_"),
    "I": ("AIza", "AKIA", "ASIA", "PRIVATE KEY"),
    "J": ("eyJ",),
}


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-looking variables and passwords in URLs, longest first."""
    found = set[str]().union(*(_known(name, value) for name, value in environment.items()))
    return tuple(sorted(found, key=len, reverse=True))


@lru_cache(maxsize=1024)  # called for every case, and the environment rarely changes
def _known(name: str, value: str) -> frozenset[str]:
    """All encodings of the secrets in a variable."""
    found = [secret.strip() for secret in _secrets(name, value)]
    return frozenset(form for secret in found if len(secret) >= SHORTEST for form in _spellings(secret))


def _spellings(secret: str) -> Iterator[str]:
    """The secret as it is, and as JSON, Python and URLs encode it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)


def _secrets(name: str, value: str) -> Iterator[str]:
    if SECRET_VARIABLE.search(name) and value != CANARY:
        yield value
    if "://" in value and "@" in value:
        try:
            yield urlsplit(value).password or ""
        except ValueError:
            return


def mask_shapes(text: str) -> str:
    """Mask everything that looks like a key, whatever its value."""
    if len(text) < _SHORTEST_SHAPE:
        return text
    if any(rare in text and any([mark in text for mark in marks]) for rare, marks in _MARKS.items()):
        text = _KEYS.sub(MASK, text)
    for word in {word for word in text.split() if len(word) >= _SHORTEST_RANDOM}:
        if not word.islower() and not word.isupper() and (masked := _RANDOM.sub(_mask_random, word)) != word:
            text = text.replace(word, masked)
    return text


def _mask_random(found: re.Match[str]) -> str:
    value = found[0]
    digits = sum(map(value.count, "0123456789"))
    if digits < _LEAST_DIGITS or value.islower() or value.isupper():
        return value
    shares = [count / len(value) for count in Counter(value).values()]
    entropy = -sum(share * log2(share) for share in shares)
    return value if entropy < _LEAST_BITS else MASK


def without_values(words: Sequence[str], instead: str) -> tuple[str, ...]:
    """The words of a command without values of options and variables with secret names, and of URLs."""
    shown = list[str]()
    is_value = False  # of the option before
    for word in words:
        name, equals, _ = word.partition("=")
        is_secret = SECRET_VARIABLE.search(name) is not None and "://" not in name
        if is_value and not word.startswith("-"):
            shown.append(instead)
        else:
            shown.append(f"{name}={instead}" if is_secret and equals else without_credentials(word, instead))
        is_value = is_secret and not equals and word.startswith("-")
    return tuple(shown)


def without_credentials(url: str, instead: str) -> str:
    """A URL without user, password and values of its query; other texts as they are."""
    if "://" not in url:
        return url
    url = re.sub(r"(?<=://)[^/?#]*@", f"{instead}@", url)
    address, mark, query = url.partition("?")
    return address + mark + re.sub(r"(?<==)[^&#]+|(?<![^&])[^=&#]+(?![^&#])", instead, query)


class Redactor:
    """Masks known secrets, and everything that looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return mask_shapes(text)

    def within(self, value: Any) -> Any:
        """A JSON value with every text in it masked, including keys."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {self(str(key)): self.within(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.within(each) for each in value)
        return value
