"""Column types that refuse values of another kind: SQLite keeps anything in any column."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

LARGEST = 10**18  # of counts and sums
LATEST = 2.5e11  # seconds: no calendar goes on for ever


class OddValue(ValueError):
    """A value that misstep never writes into its column; the message says what it is."""


def odd(value: object, expected: str) -> OddValue:
    text = repr(value[:40] if isinstance(value, str | bytes) else value)[:60]
    return OddValue(f"expected {expected}, found {text}")


def check_text(value: object) -> Any:
    if value is None or isinstance(value, str):
        return value
    raise odd(value, "text")


def check_bytes(value: object) -> Any:
    if value is None or isinstance(value, bytes):
        return value
    raise odd(value, "a document")


def check_whole(value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, int | Decimal) and -LARGEST <= value <= LARGEST:
        return int(value)
    raise odd(value, "a whole number")


def check_real(value: object) -> Any:
    if value is None:
        return value
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= LATEST:
        return float(value)
    raise odd(value, f"a number from 0 to {LATEST:g}")


def check_flag(value: object) -> Any:
    if value is None or (isinstance(value, int) and value in (0, 1)):
        return None if value is None else bool(value)
    raise odd(value, "true or false")


class Checked(sa.types.TypeDecorator[Any]):
    """A type of which no value is converted on reading before it has been checked."""

    impl: Any = sa.types.NullType
    cache_ok = True
    check: Callable[[object], Any]

    def result_processor(self, *_: object) -> Callable[[object], Any]:
        return type(self).check


class Text(Checked):
    impl = sa.String
    cache_ok = True
    check = staticmethod(check_text)


class Document(Checked):
    impl = sa.LargeBinary
    cache_ok = True
    check = staticmethod(check_bytes)


class Whole(Checked):
    impl = sa.Integer
    cache_ok = True
    check = staticmethod(check_whole)


class Large(Checked):
    impl = sa.BigInteger
    cache_ok = True
    check = staticmethod(check_whole)


class Real(Checked):
    impl = sa.Float
    cache_ok = True
    check = staticmethod(check_real)


class Flag(Checked):
    impl = sa.Boolean
    cache_ok = True
    check = staticmethod(check_flag)
