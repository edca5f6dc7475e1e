"""The tables of settings, one for each group."""

from misstep.cli.options import flag
from misstep.core import settings
from misstep.core.settings import Settings, SettingsGroup
from misstep.core.settings.reading import help_text
from tests.reference.tables import table


def every_setting() -> str:
    kinds = [
        kind for kind in vars(settings).values() if isinstance(kind, type) and issubclass(kind, SettingsGroup)
    ]
    sections = [
        f"### {(kind.__doc__ or '').rstrip('.')}\n\n{_table(kind)}" for kind in kinds if kind.__annotations__
    ]
    return "\n\n".join(sections)


def _table(kind: type[SettingsGroup]) -> str:
    rows = []
    for name in kind.__annotations__:
        default = getattr(Settings, name)
        default = ", ".join(default) if isinstance(default, tuple) else default
        shown = "" if default in ("", (), {}, None) or default is False else f"`{default}`"
        rows.append((f"`{name}`", f"`{flag(name)}`", shown, help_text(name)))
    return table(("key", "flag", "default", "meaning"), rows)
