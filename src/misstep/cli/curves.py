"""Capability curves among others, as commands show them."""

from rich.console import Console

from misstep.api.curves import levels_beside, with_others
from misstep.cli.groups import COMPANY
from misstep.cli.options import typed
from misstep.core.capability import Capability
from misstep.core.settings import Settings
from misstep.errors import UsageError
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


def refuse_company_in_json(settings: Settings) -> None:
    """One JSON object has room for one curve."""
    given = {"--beside": settings.beside, "--published": settings.published}
    if settings.json and (vain := [flag for flag, value in given.items() if value]):
        hint = "misstep show RUN --json prints each curve by itself"
        raise UsageError(f"{' and '.join(vain)} can't go with --json", hint)


def refuse_company_of(what: str) -> None:
    """What is no curve has nothing beside it. What a file of settings says is for other commands."""
    if vain := typed(lambda name: name in COMPANY):
        hint = f"{'it is' if len(vain) == 1 else 'they are'} for runs of plan capability"
        raise UsageError(f"{' and '.join(vain)} can't go with {what}", hint)
