"""`misstep runs`, `show` and `compare`: list, name and delete runs, show one, and compare two."""

import sys

import click
import msgspec
from rich.console import Console

from misstep.cli.help import command
from misstep.cli.options import (
    CURVES_BESIDE,
    MOST,
    refuse_curves_beside,
    refuse_curves_in_json,
    run_argument,
    run_arguments,
    settings_options,
)
from misstep.cli.output import case_words, curve_command, hint, own_command, print_json, quoted
from misstep.core.outcome import Outcome
from misstep.core.results.comparison import FACETS, Facet
from misstep.core.results.summary import ListedRun, RunView, Summary
from misstep.core.settings import RunSettings
from misstep.core.settings.reading import parse_setting
from misstep.errors import UsageError
from misstep.planning.difficulty import measure
from misstep.rendering.case import case_view
from misstep.rendering.comparison import breakdown_view, comparison_view
from misstep.rendering.terminal import counted, failures_view, runs_table, summary_view
from misstep.rendering.text import plain
from misstep.rendering.words import listed, subject_name
from misstep.runs import lookup as api
from misstep.runs.compare import break_down
from misstep.runs.compare import compare as compare_runs
from misstep.runs.lookup import feature_of
from misstep.store.files import is_kept
from misstep.store.location import way_to
from misstep.store.runs import DamagedRun, Store


class RunLine(msgspec.Struct, frozen=True):
    run: str
    started: float
    total: int
    done: int
    agent: str
    model: str | None
    verb: str
    of: str
    live: bool
    summary: Summary | None
    name: str = ""
    tags: tuple[str, ...] = ()


class RunList(msgspec.Struct, frozen=True):
    """What `misstep runs --json` prints; `damaged` are runs that can't be read."""

    runs: list[RunLine]
    damaged: list[DamagedRun] = []


@command("list", "misstep runs list --tag nightly", "misstep runs list --json")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only runs with this tag; repeatable.")
@click.option("--most", type=MOST, default=50, show_default=True, help="Maximum runs to list.")
@settings_options("store", "json")
def list_command(settings: RunSettings, most: int, tags: tuple[str, ...]) -> int:
    """List runs, newest first.

    With --json all of them are listed."""
    found, total = api.list_runs(settings, None if settings.json else most, tags)
    damaged = api.list_damaged(settings)
    if settings.json:
        print_json(RunList([_line(listed) for listed in found], damaged))
    elif total:
        console = Console()
        console.print(runs_table(found))
        if total > most:
            hint(console, f"… and {total - most} more: --most {total} lists them all", gap=False)
    elif not damaged:
        missing = f"no runs with the tag {' and '.join(map(plain, tags))}" if tags else "no runs yet"
        Console().print(missing, style="dim", markup=False)
    for each in [] if settings.json else damaged:
        click.echo(f"run {plain(each.id)} is damaged: {plain(each.why)}")
    return 0


def _line(listed: ListedRun) -> RunLine:
    run, verb, of = listed.run, listed.run.purpose.verb, listed.run.purpose.run
    agent, model = run.settings.agent, run.settings.model or None
    sizes = run.total, run.done
    about = run.name, run.tags
    return RunLine(run.id, run.started, *sizes, agent, model, verb, of, listed.live, run.summary, *about)


@command("name", "misstep runs name last before-the-fix", "misstep runs name 3f2a ''")
@run_argument("run")
@click.argument("name")
@settings_options("store")
def name_command(settings: RunSettings, run: str, name: str) -> int:
    """Name a run.

    The name can be used in place of the id; if several runs share it, it stands for the newest. An empty NAME
    removes it.
    """
    parse_setting("run_name", name, "NAME")
    with Store(settings.store) as store:
        store.name_run(store.find_run(run).id, name)
    return 0


@command("tag", "misstep runs tag last nightly gpt-4o", "misstep runs tag 3f2a nightly --remove")
@run_argument("run")
@click.argument("tags", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove these tags.")
@settings_options("store")
def tag(settings: RunSettings, run: str, tags: tuple[str, ...], remove: bool) -> int:
    """Add or remove tags of a run."""
    for each in tags:
        parse_setting("tags", [each], "TAG")
    with Store(settings.store) as store:
        store.tag_run(store.find_run(run).id, tags, remove)
    return 0


@command("rm", "misstep runs rm 3f2a 9k4m", "misstep runs rm last --yes")
@run_arguments
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@settings_options("store")
def remove(settings: RunSettings, runs: tuple[str, ...], yes: bool) -> int:
    """Delete runs.

    Deletes their cases, findings and labels, too. That can't be undone. A run that others analyse can only be
    deleted together with them.
    """
    with Store(settings.store) as store:
        found = api.find_removable(store, runs)
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("deleting runs needs confirmation", "add --yes")
            for each in found:
                click.echo(f"{each.id}  {each.purpose.command}  {subject_name(each.settings, each.purpose)}")
            click.confirm(f"Delete {counted(len(found), 'run')} for good?", abort=True)
        store.remove_runs([each.id for each in found])
    return 0


@command("show", "misstep show last", "misstep show last f4c986843eb2")
@run_argument("run")
@click.argument("case", required=False)
@click.option("--most", type=MOST, default=20, show_default=True, help="Maximum failures to list.")
@click.option("--by", type=click.Choice(FACETS), help="Break success down by a property of the cases.")
@settings_options(*CURVES_BESIDE, "store", "json")
def show(settings: RunSettings, run: str, case: str | None, most: int, by: Facet | None) -> int:
    """Show a run or one of its cases.

    RUN may be shortened, or be 'last'. A FILE.json with a capability curve is shown like its run.
    """
    refuse_curves_in_json(settings)
    if case is None and is_kept(run):
        curve_command("show_kept")(settings, run)
        return 0
    if "/" in run and case is None:
        run, case = run.split("/", 1)
    purpose = api.find_run(settings, run).purpose
    if case or by or not feature_of(purpose).has_curve:
        refuse_curves_beside("a case" if case else "--by" if by else f"a run of {purpose.command}")
    show_part = own_command(purpose, "show_part") if case else None
    if show_part:
        show_part(settings, run, case)
    elif case:
        stored, outcome = api.view_case(settings, run, case)
        _show_case(settings, outcome, stored.id)
    elif by:
        breakdown = break_down(settings, run, by)
        print_json(breakdown) if settings.json else Console().print(breakdown_view(breakdown))
    else:
        _show_run(settings, api.view_run(settings, run, most), most)
    return 0


def _show_run(settings: RunSettings, view: RunView, most: int) -> None:
    purpose = view.run.purpose
    show_stored = own_command(purpose, "show_stored") if view.summary.cases else None
    if settings.json:
        show_stored(settings, view.run.id, most) if show_stored else print_json(view.summary)
        return
    console, place = Console(), way_to(settings.store)
    state = "running" if view.live else "unfinished"
    of = f" of {view.run.total}" if view.run.total else ""
    unfinished = "" if view.run.summary else f"   {state}: {view.run.done}{of} {purpose.kind.units}"
    subject = f" of {view.run.purpose.run}" if view.run.purpose.run else ""
    kind = f"   {view.run.purpose.command}{subject}" if purpose.verb != "test" else ""
    console.print(f"run [bold]{view.run.id}[/]{kind}{unfinished}\n", highlight=False)
    if view.run.settings.descriptions:
        console.print(
            f"descriptions: {plain(view.run.settings.descriptions)}\n", markup=False, highlight=False
        )
    if show_stored:
        show_stored(settings, view.run.id, most)
    if purpose.kind.has_cases:
        console.print(*[""] * bool(show_stored), summary_view(view.summary), sep="\n")
    if view.failures and not subject:  # otherwise the run itself made these cases
        hidden = view.summary.cases - view.summary.passed - len(view.failures)
        console.print()
        console.print(failures_view(view.failures))
        if hidden:
            all_of_them = hidden + len(view.failures)
            hint(console, f"… and {hidden} more: --most {all_of_them} lists them all", gap=False)
        hint(console, f"Details: misstep show {case_words(view.run.id, view.failures[0].case.id)}{place}")
    if not view.run.summary and not view.live:
        hint(console, f"Resume: misstep {view.run.purpose.command} --resume {view.run.id}{place}")


def _show_case(settings: RunSettings, outcome: Outcome, run: str) -> None:
    if settings.json:
        print_json(outcome)
        return
    console = Console()
    console.print(case_view(outcome, measure(outcome.case)))
    place = way_to(settings.store)
    hint(console, f"Replay: misstep replay {quoted(f'{run}/{outcome.case.id}')}{place}")


SHOWN_CASES = 5


@command("compare", "misstep compare 3f2a last", "misstep compare 3f2a last --json")
@run_argument("first")
@run_argument("second")
@settings_options("store", "json")
def compare(settings: RunSettings, first: str, second: str) -> int:
    """Compare two runs on what both judged.

    That is their cases, or the tasks of a benchmark. FIRST and SECOND are runs; either may be
    shortened, or be 'last'.
    """
    comparison = compare_runs(settings, first, second)
    if settings.json:
        print_json(comparison)
        return 0
    console = Console()
    both = [api.find_run(settings, run) for run in (comparison.first, comparison.second)]
    names = [subject_name(run.settings, run.purpose) for run in both]
    console.print(comparison_view(comparison, *names))
    place = way_to(settings.store)
    for which, cases in (("first", comparison.lost), ("second", comparison.won)):
        if cases:
            some = listed([quoted(case) for case in cases], SHOWN_CASES)
            hint(console, f"only the {which} passed: {some}")
            loser = comparison.second if which == "first" else comparison.first
            hint(console, f"Details: misstep show {case_words(loser, cases[0])}{place}", gap=False)
    return 0
