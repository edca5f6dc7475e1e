"""What a driver and its workers tell each other, as bytes that mean the same on both sides."""

import os
from typing import TypeVar

import msgspec

import misstep.errors
from misstep.core.outcome import Outcome
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.spending import Spent
from misstep.core.transcript import storable
from misstep.errors import MisstepError

T = TypeVar("T")


class Failure(msgspec.Struct, frozen=True):
    """An error of ours: some of them can't be pickled, and none should show up as Ray's."""

    kind: str
    message: str
    hints: tuple[str, ...] = ()
    where: str = ""


class Ended(msgspec.Struct, frozen=True):
    """How a case ended in a worker and all that it used; without outcome or failure it was stopped."""

    spent: Spent
    outcome: Outcome | None = None
    failure: Failure | None = None


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)  # arguments of calls may be whole numbers too large for MessagePack


def decode(data: bytes, kind: type[T]) -> T:
    return msgspec.json.decode(data, type=kind)


def failure_of(error: BaseException, *hints: str) -> Failure:
    """An error as data; what is none of ours is told as one, without secrets and with `hints`."""
    if isinstance(error, MisstepError):
        kinds = [each.__name__ for each in type(error).__mro__ if each.__module__ == misstep.errors.__name__]
        return Failure(kinds[0], error.message, error.hints, error.where)
    told = Redactor(secrets_in(os.environ))(storable(f"{type(error).__name__}: {error}"))
    return Failure(MisstepError.__name__, f"a worker failed with {told}", hints)


def error_of(failure: Failure) -> MisstepError:
    kind = getattr(misstep.errors, failure.kind, MisstepError)
    error: MisstepError = kind.__new__(kind)
    MisstepError.__init__(error, failure.message, *failure.hints, where=failure.where)
    return error
