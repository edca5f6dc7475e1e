"""Capability curves by name: those of stored runs, those that are kept in files."""

from misstep.api.capability import view_capability
from misstep.core.capability import Capability
from misstep.core.settings import Settings
from misstep.report.naming import told_apart
from misstep.report.published import Level, published_levels
from misstep.store.curves import is_kept, read_curve


def find_curve(settings: Settings, name: str) -> Capability:
    """The curve of a run, or the one in a file, whose name ends in .json."""
    return read_curve(name) if is_kept(name) else view_capability(settings, name)


def with_others(settings: Settings, curve: Capability) -> tuple[Capability, ...]:
    """A curve and all that the settings put beside it, each once, under names that tell them apart."""
    curves = [curve]
    for name in settings.beside:
        found = find_curve(settings, name)
        if found not in curves:
            curves.append(found)
    return tuple(told_apart(curves))


def levels_beside(settings: Settings) -> tuple[Level, ...]:
    """What others have published, where the settings ask for it."""
    return published_levels() if settings.published else ()


def settle_others(settings: Settings) -> Settings:
    """The same settings with runs beside the curve named by their ids, for 'last' will soon be another.

    What can't be found is told now rather than after a run.
    """
    found = [(name, find_curve(settings, name)) for name in settings.beside]
    return settings.overlay({"beside": tuple(name if is_kept(name) else curve.run for name, curve in found)})
