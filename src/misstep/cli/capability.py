"""`misstep plan capability`: how far an agent gets."""

import click
from rich.console import Console

from misstep.api import capability as api
from misstep.api.curves import settle_others
from misstep.cli.closing import close_run
from misstep.cli.company import refuse_company_in_json
from misstep.cli.curves import show_curves
from misstep.cli.groups import AGENTS, COMPANY, CURVE, LIMITS, RUNNING, SYNTHESIS
from misstep.cli.listeners import watched
from misstep.cli.options import settings_options
from misstep.cli.output import announce, hint, point_to_page, print_json, to_report
from misstep.core.capability import Capability
from misstep.core.settings import BUDGETS, Settings, Span
from misstep.errors import UsageError
from misstep.report.terminal import counted
from misstep.store.location import way_to

USUAL = {"actions": Span(2, 9)}
# What a file may say for other commands: here, the numbers of actions say how many cases there are.
NOT_ASKED = {"cases": "", "count": None, "exhaustive": False}
SIZES = tuple(name for name in SYNTHESIS if name not in ("count", "exhaustive"))


@click.command("capability")
@settings_options(
    *AGENTS,
    *SIZES,
    *CURVE,
    *COMPANY,
    *LIMITS,
    *BUDGETS,
    *RUNNING,
    usual=USUAL,
)
def capability(settings: Settings) -> int:
    """Measure success as the number of actions grows."""
    settings = settings.overlay(NOT_ASKED)
    if settings.dry_run:
        return announce(settings, lambda: (settings, api.estimate_capability(settings)))
    if settings.width is not None and not settings.adaptive:
        raise UsageError("--width is for --adaptive", "add --adaptive, or leave it out")
    refuse_company_in_json(settings)
    settings = settle_others(settings)
    with watched(settings) as listeners:
        measure = api.resume_capability if settings.resume else api.measure_capability
        measured = measure(settings, *listeners)
    close_run(settings, measured.run, None)
    if settings.json:
        print_json(measured)
    elif not to_report(settings):
        _show(settings, measured)
    return 0


def show_stored(settings: Settings, run: str, _: int) -> None:
    measured = api.view_capability(settings, run)
    if settings.json:
        print_json(measured)
    else:
        _show(settings, measured)


def _show(settings: Settings, measured: Capability) -> None:
    """The curve, alone or among others, with what to do next."""
    console, place = Console(), way_to(settings.store)
    show_curves(console, settings, measured)
    unjudged = sum(point.cases - point.passed - point.failed for point in measured.curve)
    if unjudged:
        hint(console, f"{counted(unjudged, 'case')} could not be judged: misstep show {measured.run}{place}")
    if sum(measured.errors.values()):
        hint(console, f"why it fails: misstep plan dissect {measured.run}{place}")
    else:
        point_to_page(console, measured.run, place)
