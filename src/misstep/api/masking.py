"""Keeps the secrets of this process out of what is kept, told or shown."""

from typing import TypeVar

import msgspec

from misstep.api.execution import known_secrets
from misstep.core.secrets import Redactor
from misstep.errors import MisstepError

T = TypeVar("T", bound=msgspec.Struct)


def masked(told: T) -> T:
    """The same without secrets, whoever has said them: tools, models and agents may have come by some."""
    plain = msgspec.to_builtins(told)
    clean = Redactor(known_secrets()).within(plain)
    return told if clean == plain else msgspec.convert(clean, type(told))


def mask_error(error: MisstepError) -> None:
    """Take secrets out of what an error tells: it may quote what a model has said."""
    redact = Redactor(known_secrets())
    error.message, error.where = redact(error.message), redact(error.where)
    error.hints = tuple(map(redact, error.hints))
