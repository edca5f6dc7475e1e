"""`misstep plan capability`, and `misstep show` and `report` for curves that are stored in files."""

import os

import click
from rich.console import Console

from misstep.cli.help import command
from misstep.cli.listeners import close_run, watched
from misstep.cli.options import CURVE, CURVES_BESIDE, RUNNING, refuse_curves_in_json, settings_options, typed
from misstep.cli.output import announce, hint, point_to_page, print_json, quoted, to_report
from misstep.cli.reports import check_reports, open_page, report_path
from misstep.core.results.capability import Capability
from misstep.core.settings import BUDGETS, CapabilitySettings, RunSettings, Span, ViewSettings
from misstep.errors import UsageError
from misstep.features.capability import run as api
from misstep.features.capability.kind import curves_page
from misstep.features.capability.view import capability_plot, capability_table, error_table, how_far_table
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.runs.setup.configuration import AGENTS, LIMITS, SYNTHESIS
from misstep.store.files import read_curve, write_text
from misstep.store.location import way_to


def show_curves(console: Console, settings: ViewSettings, first: Capability) -> None:
    curves, levels = api.with_others(settings, first), api.levels_beside(settings)
    console.print(capability_plot(curves, levels))
    console.print()
    console.print(capability_table(curves[0]))
    console.print()
    console.print(how_far_table(curves, levels))
    if any(sum(curve.errors.values()) for curve in curves):
        console.print()
        console.print(error_table(curves))


USUAL = {"actions": Span(2, 9)}
# Settings that a file may have for other commands: here the numbers of actions decide the number of cases.
NOT_ASKED = {"cases": "", "count": None, "exhaustive": False}
SIZES = tuple(name for name in SYNTHESIS if name not in ("count", "exhaustive"))


@command(
    "capability",
    "misstep plan capability --agent my_agent.py:agent --adaptive",
    "misstep plan capability --agent tools --model local --actions 2-6 --most-cases 30",
    shown="agent model actions family adaptive most_cases seed jobs budget_usd report resume",
)
@settings_options(*AGENTS, *SIZES, *CURVE, *CURVES_BESIDE, *LIMITS, *BUDGETS, *RUNNING, usual=USUAL)
def capability(settings: CapabilitySettings) -> int:
    """Measure success as the number of actions grows."""
    settings = settings.overlay(NOT_ASKED)
    if settings.dry_run:
        return announce(settings, lambda: (settings, api.estimate_capability(settings)))
    if settings.width is not None and not settings.adaptive:
        raise UsageError("--width is for --adaptive", "add --adaptive, or omit it")
    refuse_curves_in_json(settings)
    settings = api.settle_others(settings)
    with watched(settings) as listeners:
        measure = api.resume_capability if settings.resume else api.measure_capability
        measured = measure(settings, *listeners)
    close_run(settings, measured.run, None)
    if not to_report(settings):
        _show(settings, measured)
    return 0


def show_stored(settings: RunSettings, run: str, _: int) -> None:
    _show(settings, api.view_capability(settings, run))


def _show(settings: RunSettings, measured: Capability) -> None:
    if settings.json:
        print_json(measured)
        return
    console, place = Console(), way_to(settings.store)
    show_curves(console, settings, measured)
    unjudged = sum(point.cases - point.passed - point.failed for point in measured.curve)
    if unjudged:
        hint(console, f"{counted(unjudged, 'case')} could not be judged: misstep show {measured.run}{place}")
    if sum(measured.errors.values()):
        hint(console, f"Find causes: misstep plan dissect {measured.run}{place}")
    else:
        point_to_page(console, measured.run, place)


def show_kept(settings: RunSettings, path: str) -> None:
    _refuse_cases(path, "by", "most")
    curve = read_curve(path)
    if settings.json:
        print_json(curve)
        return
    console = Console()
    show_curves(console, settings, curve)
    hint(console, f"Report: misstep report {quoted(path)}")


def report_kept(settings: RunSettings, path: str, opening: bool) -> int:
    """Write the page of a stored curve, and print the path of its file."""
    _refuse_cases(path, "baseline")
    for kind in settings.report:
        if kind != "html":
            advice = "it has no cases; use --report html"
            raise UsageError(f"a curve has no {kind} report", advice, where=path)
    check_reports(settings)
    name, _ = os.path.splitext(os.path.basename(path))
    target = report_path(settings, name, "html")
    write_text(target, curves_page(api.with_others(settings, read_curve(path)), api.levels_beside(settings)))
    if target != "-":
        click.echo(plain(target))
    if opening:
        open_page(target)
    return 0


def _refuse_cases(path: str, *names: str) -> None:
    if vain := typed(lambda name: name in names):
        advice = "it has no cases"
        raise UsageError(f"{' and '.join(vain)} can't be combined with a curve in a file", advice, where=path)
