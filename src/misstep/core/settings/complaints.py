"""What is wrong with a value that somebody has set, in words."""

import re

import msgspec

from misstep.core.settings.kinds import DURATIONS, LISTS, field_type, listed_choices
from misstep.errors import UsageError, did_you_mean

PASSWORD = re.compile(r"(://[^/@\s]*:)[^@\s]*@")
_WRITTEN = {
    "actions": "a number or a range such as 3-5",
    "fail_on": "any, none or threshold:RATE with a rate from 0 to 1",
}


def bad_value(name: str, given: object, where: str) -> UsageError:
    """What there is to say about a value that won't do."""
    # The place of a flag or variable names the setting already; a line of a file does not.
    named = where.startswith(("--", "MISSTEP_", "Settings."))
    kind = field_type(name)
    choices = [str(value) for value in kind.values] if isinstance(kind, msgspec.inspect.LiteralType) else []
    shown = _shown(name, given)
    message = f"{shown} won't do" if named else f"{name} = {shown} won't do"
    return UsageError(message, f"expected {_expected(name)}", did_you_mean(str(given), choices), where=where)


def _expected(name: str) -> str:
    """What a setting takes, in words."""
    match field_type(name):
        case _ if name in _WRITTEN:
            return _WRITTEN[name]
        case msgspec.inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case msgspec.inspect.VarTupleType(item_type=msgspec.inspect.LiteralType()):
            return f"one or more of {', '.join(listed_choices(name))}"
        case msgspec.inspect.IntType(ge=low, le=high):
            return f"a whole number{_between(low, high)}"
        case msgspec.inspect.FloatType(gt=low, le=high) if low is not None:
            also = ", or a time such as 90s, 5m or 1h30m" if name in DURATIONS else ""
            return f"a number above {low:g}, at most {high:,.0f}{also}"
        case msgspec.inspect.FloatType(ge=low, le=high):
            return f"a number{_between(low, high)}"
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.VarTupleType():
            return "a list of texts"
        case msgspec.inspect.DictType():
            return "a table of texts"
        case _:
            return "a text"


def _shown(name: str, given: object) -> str:
    """A value as it was given, less the password of an address."""
    text = ", ".join(map(str, given)) if name in LISTS and isinstance(given, list | tuple) else given
    return PASSWORD.sub(r"\1…@", repr(text))


def _between(low: float | None, high: float | None) -> str:
    if high is not None:
        return f" from {low or 0:,} to {high:,}"
    return f", {low} or more" if low is not None else ""
