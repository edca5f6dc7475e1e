"""`misstep report`: write reports of a stored run."""

import click

from misstep.cli.exit_policy import ExitPolicy
from misstep.cli.listeners import summed
from misstep.cli.options import CURVES_BESIDE, refuse_curves_beside, settings_options
from misstep.cli.output import curve_command
from misstep.cli.reports import check_reports, write_report
from misstep.core.settings import Settings
from misstep.rendering.text import plain
from misstep.runs.kinds import feature_of
from misstep.runs.lookup import find_run
from misstep.runs.reporting.statement import state
from misstep.store.files import is_kept

ABOUT = {"baseline": "An earlier run to hold it against; exit with 1 if this one is significantly worse."}
USUAL = {"report": ("html",)}


@click.command("report")
@click.argument("run")
@settings_options("report", "report_dir", "baseline", *CURVES_BESIDE, "store", usual=USUAL, about=ABOUT)
def report(settings: Settings, run: str) -> int:
    """Write reports of a run.

    The run may be unfinished; the paths of the files are printed. RUN may be shortened, or be 'last'. A
    FILE.json with a capability curve has a page as well.
    """
    if is_kept(run):
        code: int = curve_command("report_kept")(settings, run)
        return code
    check_reports(settings)
    found = find_run(settings, run)
    if not feature_of(found.purpose).has_curve:
        refuse_curves_beside(f"a run of {found.purpose.command}")
    settings = settings.overlay({"fail_on": "none"})
    ending = ExitPolicy(settings, found.purpose.verb, found.id).close(found.id, 0, 0)
    statement = state(settings, found.id, ending.held, not ending.code if ending.held else None)
    for kind in settings.report:
        path = write_report(settings, kind, statement, lambda: summed(settings, found.id, ending))
        if path != "-":
            click.echo(plain(path))
    return ending.leave()
