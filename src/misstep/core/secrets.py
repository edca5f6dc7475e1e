"""Keeps keys out of whatever is stored or shown."""

import re
from collections.abc import Iterable, Mapping

SECRET_NAME = re.compile(r"(^|[_-])(api_?key|key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
SHORTEST = 8  # anything shorter would be found in innocent text
MASK = "[secret]"


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose names say that they are secret, the longest first."""
    found = {value for name, value in environment.items() if SECRET_NAME.search(name)}
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=len, reverse=True))


class Redactor:
    """Masks the secrets it knows in any text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text
