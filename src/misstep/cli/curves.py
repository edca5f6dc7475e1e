"""Capability curves among others, as commands show them."""

from rich.console import Console

from misstep.api.curves import levels_beside, with_others
from misstep.core.capability import Capability
from misstep.core.settings import Settings
from misstep.report.plot import capability_plot, capability_table, error_table, how_far_table


def show_curves(console: Console, settings: Settings, first: Capability) -> None:
    """A curve with what follows from it, and whatever the settings put beside it."""
    curves, levels = with_others(settings, first), levels_beside(settings)
    console.print(capability_plot(curves, levels))
    console.print()
    console.print(capability_table(curves[0]))
    console.print()
    console.print(how_far_table(curves, levels))
    if any(sum(curve.errors.values()) for curve in curves):
        console.print()
        console.print(error_table(curves))
