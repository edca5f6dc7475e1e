"""Settings out of what people write."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from misstep.core.settings.complaints import bad_value
from misstep.core.settings.fields import Settings
from misstep.core.settings.kinds import DURATIONS, FIELDS, LISTS
from misstep.core.settings.stored import decode_part
from misstep.core.spending import AGENT
from misstep.core.transcript import storable
from misstep.errors import UsageError, did_you_mean

ROLES = (AGENT, "generator", "judge")


def parse_setting(name: str, given: object, where: str, lax: bool = False) -> Any:
    """A setting's value from outside; `lax` also takes numbers and truth values written as text."""
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
    """What a text stands for where it may be written in several ways."""
    if name in LISTS:
        return list(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))
    return _seconds(text.strip()) if name in DURATIONS else text


def _seconds(text: str) -> float | str:
    """Seconds, written as `45s`, `5m` or `1h30m`; anything else is given back as it is."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", text)
    if not match or not text:
        return text
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def check_settings(settings: Settings) -> Settings:
    """The settings as values of their proper types; a `UsageError` for what was set to something else."""
    given = {name: msgspec.to_builtins(getattr(settings, name), enc_hook=str) for name in FIELDS}
    return Settings(**{name: parse_setting(name, value, f"Settings.{name}") for name, value in given.items()})


def parse_gate(text: str) -> float | None:
    """The success rate that `fail_on` demands; None where nothing is demanded."""
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
