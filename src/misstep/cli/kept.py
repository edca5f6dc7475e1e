"""`misstep show` and `report` of a curve that is kept in a file."""

import os

import click
from rich.console import Console

from misstep.api.curves import levels_beside, with_others
from misstep.cli.curves import show_curves
from misstep.cli.options import typed
from misstep.cli.output import hint, print_json, quoted
from misstep.cli.reports import check_reports, report_path
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.report.page import curves_page
from misstep.report.text import plain
from misstep.store.curves import read_curve
from misstep.store.files import write_text


def show_kept(settings: Settings, path: str) -> None:
    _refuse_cases(path, "by", "most")
    curve = read_curve(path)
    if settings.json:
        print_json(curve)
        return
    console = Console()
    show_curves(console, settings, curve)
    hint(console, f"as a page: misstep report {quoted(path)}")


def report_kept(settings: Settings, path: str) -> int:
    """Write the page of a kept curve, and print the path of its file."""
    _refuse_cases(path, "baseline")
    for kind in settings.report:
        if kind != "html":
            raise UsageError(
                f"a curve makes no {kind} report", "it has no cases: --report html is its page", where=path
            )
    check_reports(settings)
    name, _ = os.path.splitext(os.path.basename(path))
    target = report_path(settings, name, "html")
    write_text(target, curves_page(with_others(settings, read_curve(path)), levels_beside(settings)))
    if target != "-":
        click.echo(plain(target))
    return 0


def _refuse_cases(path: str, *names: str) -> None:
    if vain := typed(lambda name: name in names):
        raise UsageError(
            f"{' and '.join(vain)} can't go with a curve in a file", "it has no cases", where=path
        )
