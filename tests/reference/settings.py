"""The table of settings."""

from misstep.cli.options import flag
from misstep.core.settings import FIELDS, Settings
from tests.reference.tables import table


def described(name: str) -> str:
    """What a setting is, in its own words."""
    return next(meta.description for meta in Settings.__annotations__[name].__metadata__ if meta.description)


def every_setting() -> str:
    rows = []
    for name in FIELDS:
        default = getattr(Settings(), name)
        default = ", ".join(default) if isinstance(default, tuple) else default
        shown = "" if default in ("", (), {}, None) or default is False else f"`{default}`"
        rows.append((f"`{name}`", f"`{flag(name)}`", shown, described(name)))
    return table(("key", "flag", "default", "meaning"), rows)
