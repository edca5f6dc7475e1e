"""Parses settings from text, stores them with a run, and explains invalid values."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from misstep.core.outcome import storable
from misstep.core.settings import Settings, SettingsGroup, Span
from misstep.core.spending import AGENT
from misstep.errors import UsageError, did_you_mean

FIELDS = Settings.fields()
DURATIONS = ("budget_time", "time_per_request", "time_per_tool", "timeout")
LISTS = tuple(name for name, kind in FIELDS.items() if get_origin(get_args(kind)[0]) is tuple)


def listed_choices(name: str) -> tuple[str, ...]:
    """The allowed items of a list setting, in order; empty if any text is allowed."""
    item = get_args(get_args(FIELDS[name])[0])[0]
    return get_args(item) if get_origin(item) is Literal else ()


def help_text(name: str) -> str:
    return next(meta for meta in get_args(FIELDS[name]) if isinstance(meta, str))


def field_type(name: str) -> Any:
    """The type of a setting as `msgspec.inspect` describes it, without metadata and None."""
    info: Any = msgspec.inspect.type_info(FIELDS[name])
    while True:
        if isinstance(info, msgspec.inspect.Metadata):
            info = info.type
        elif isinstance(info, msgspec.inspect.UnionType):
            info = next(kind for kind in info.types if not isinstance(kind, msgspec.inspect.NoneType))
        else:
            return info


def plain_settings(settings: SettingsGroup) -> dict[str, Any]:
    """All settings as values of JSON."""
    return {name: msgspec.to_builtins(getattr(settings, name), enc_hook=str) for name in settings.fields()}


def encode_settings(settings: SettingsGroup) -> bytes:
    return msgspec.json.encode(plain_settings(settings))


def decode_settings(stored: bytes | str) -> Settings:
    given = msgspec.json.decode(stored, type=dict[str, Any])
    values = dict[str, Any]()
    for name in FIELDS.keys() & given.keys():
        try:
            values[name] = msgspec.convert(given[name], FIELDS[name], dec_hook=decode_part)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return Settings(**values)


def decode_part(kind: type, given: object) -> object:
    """Decode types that msgspec does not know."""
    if kind is Span:
        return Span.parse(given)
    raise NotImplementedError(kind)


PASSWORD = re.compile(r"(://[^/@\s]*:)[^@\s]*@")
_NAMED = "letters, digits, '.', '_' and '-', at most 64, and not 'last'"
_WRITTEN = {
    "run_name": _NAMED,
    "tags": _NAMED,
    "actions": "a number or a range such as 3-5",
    "fail_on": "any, none or threshold:RATE with a rate from 0 to 1",
}


def bad_value(name: str, given: object, where: str) -> UsageError:
    """The error for an invalid value."""
    # A flag or variable already names the setting; a line of a file does not.
    named = where.startswith(("--", "MISSTEP_", "Settings."))
    kind = field_type(name)
    choices = [str(value) for value in kind.values] if isinstance(kind, msgspec.inspect.LiteralType) else []
    shown = _shown(name, given)
    message = f"invalid value {shown}" if named else f"invalid value {shown} for {name}"
    return UsageError(message, f"expected {_expected(name)}", did_you_mean(str(given), choices), where=where)


def _expected(name: str) -> str:
    """The values that a setting accepts, as text."""
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
            return "a list of strings"
        case msgspec.inspect.DictType():
            return "a table of strings"
        case _:
            return "a text"


def _shown(name: str, given: object) -> str:
    """A value as it was given, with passwords in URLs removed."""
    text = ", ".join(map(str, given)) if name in LISTS and isinstance(given, list | tuple) else given
    return PASSWORD.sub(r"\1…@", repr(text))


def _between(low: float | None, high: float | None) -> str:
    if high is not None:
        return f" from {low or 0:,} to {high:,}"
    return f", {low} or more" if low is not None else ""


ROLES = (AGENT, "generator", "judge")


def parse_setting(name: str, given: object, where: str, lax: bool = False) -> Any:
    """Parse and validate a setting's value; `lax` also accepts numbers and booleans written as text."""
    if name not in FIELDS:
        raise UsageError(f"unknown setting '{name}'", did_you_mean(name, FIELDS), where=where)
    try:
        read = _read(name, given) if isinstance(given, str) else given
        value = msgspec.convert(read, FIELDS[name], strict=not lax, dec_hook=decode_part)
        if name == "fail_on" and value is not None:
            parse_gate(value)
        if name == "model_roles":
            _refuse_unknown_roles(value, where)
        if isinstance(value, str) and ("\0" in value or value != storable(value)):
            raise ValueError(value)
        return value
    except (msgspec.ValidationError, ValueError) as error:
        raise bad_value(name, given, where) from error


def _refuse_unknown_roles(roles: Mapping[str, str], where: str) -> None:
    for role in roles:
        if role not in ROLES:
            known = f"known roles: {', '.join(ROLES)}"
            raise UsageError(f"unknown role {role!r}", known, did_you_mean(role, ROLES), where=where)


def _read(name: str, text: str) -> object:
    """Split lists and parse durations; other text stays as it is."""
    if name in LISTS:
        return list(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))
    return _seconds(text.strip()) if name in DURATIONS else text


def _seconds(text: str) -> float | str:
    """Parse a duration such as `45s`, `5m` or `1h30m`; return anything else unchanged."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", text)
    if not match or not text:
        return text
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


Group = TypeVar("Group", bound=SettingsGroup)


def check_settings(settings: Group) -> Group:
    """Convert all settings to their types; raises `UsageError` for an invalid value."""
    given = plain_settings(settings).items()
    return type(settings)(**{name: parse_setting(name, value, f"Settings.{name}") for name, value in given})


def parse_gate(text: str) -> float | None:
    """The success rate that `fail_on` requires; None for `none`."""
    if text in ("any", "none"):
        return 1.0 if text == "any" else None
    kind, _, rate = text.partition(":")
    try:
        share = float(rate)
    except ValueError:
        share = -1.0
    if kind != "threshold" or not 0 <= share <= 1:
        raise ValueError(text)
    return share
