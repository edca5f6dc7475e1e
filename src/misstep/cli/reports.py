"""Writes the reports of a run: one during the run, the others when it has ended, or by `misstep report`."""

import json
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from misstep.cli.exit_policy import CommandResult, ExitPolicy
from misstep.cli.help import command
from misstep.cli.options import CURVES_BESIDE, refuse_curves_beside, run_argument, settings_options, typed
from misstep.cli.output import curve_command, own_command
from misstep.core.event import Event, ItemStarted, Listener, RunStarted, Spending
from misstep.core.results.report import RunReport
from misstep.core.settings import OutputSettings, Report, RunSettings, StoreSettings, ViewSettings
from misstep.errors import StoreError, UsageError
from misstep.rendering.text import plain
from misstep.runs.lookup import feature_of, find_run
from misstep.store.files import is_kept, opened, write_text

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

# Makes the object that `--json` prints; called only if it is to be written.
Summed = Callable[[], object]


def summed(settings: StoreSettings, run: str, ending: CommandResult) -> dict[str, Any]:
    """The object that `--json` prints for a stored run; its code is imported when needed."""
    from misstep.runs.reporting.statement import run_as_json

    return ending.added_to(run_as_json(settings, run))


@contextmanager
def make_reports(settings: OutputSettings, stdout: BinaryIO) -> Iterator[list[Listener]]:
    """A listener for the report that is written during the run, if it was requested."""
    check_reports(settings)
    early, reports = list[Event](), list[NdjsonReport]()

    def write(event: Event) -> None:
        """The report is opened when the name of its run is known."""
        if isinstance(event, RunStarted):
            path = report_path(settings, event.run, "ndjson")
            reports.append(stack.enter_context(NdjsonReport(path, stdout)))
            for earlier in early:
                reports[-1](earlier)
        if reports:
            reports[-1](event)
        else:
            early.append(event)

    with ExitStack() as stack:
        yield [write] if "ndjson" in settings.report else []


def check_reports(settings: OutputSettings) -> None:
    """Check before a run starts that its reports can be written."""
    if settings.report and settings.report_dir == "-":
        if settings.json:
            raise UsageError(
                "--json and a report can't both go to standard output", "name a folder with --report-dir"
            )
        if len(settings.report) > 1:
            raise UsageError(
                f"only one report can go to standard output, not {', '.join(settings.report)}",
                "name a folder with --report-dir",
            )
    elif settings.report:
        try:
            os.makedirs(settings.report_dir, exist_ok=True)
            with tempfile.TemporaryFile(dir=settings.report_dir):
                pass
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError("the report can't be written", reason, where=settings.report_dir) from error


def write_reports(settings: RunSettings, statement: RunReport, summed: Summed) -> None:
    """Write all reports except the one that is written during a run, and say where they are."""
    for kind in settings.report:
        if kind != "ndjson":
            path = write_report(settings, kind, statement, summed)
            if path != "-":
                print(f"report: {plain(path)}", file=sys.stderr)


def write_report(settings: RunSettings, kind: Report, statement: RunReport, summed: Summed) -> str:
    """Write one report completely or not at all, and return its path."""
    name = statement.run or statement.command.replace(" ", "-")
    path = report_path(settings, name, kind)
    with opened(path) as file:
        for piece in _pieces(settings, kind, statement, summed):
            file.write(piece.encode("utf-8", "replace"))
    return path


def _pieces(settings: ViewSettings, kind: Report, statement: RunReport, summed: Summed) -> Iterable[str]:
    """A report in pieces. The code for each format is imported when needed."""
    match kind:
        case "html":
            return [_page(settings, statement)]
        case "junit":
            from misstep.interop.junit import junit

            return junit(statement)
        case "sarif":
            from misstep.interop.sarif import find_root, sarif

            return sarif(statement, find_root(Path.cwd()))
        case "json":
            return [json.dumps(summed(), ensure_ascii=True), "\n"]
        case "md":
            from misstep.rendering.markdown import markdown

            return [markdown(statement)]
        case "ndjson":
            from misstep.runs.reporting.statement import retell

            events = retell(settings, statement.run, statement.unit)
            return (msgspec.json.encode(event).decode() + "\n" for event in events)


def _page(settings: ViewSettings, statement: RunReport) -> str:
    if not statement.run:
        from misstep.rendering.html.page import outline

        return outline(statement)
    from misstep.rendering.html.page import run_page
    from misstep.runs.reporting.statement import page_of

    return run_page(msgspec.structs.replace(page_of(settings, statement.run), held=statement.held))


def add_step_summary(settings: OutputSettings, statement: RunReport) -> None:
    """Add Markdown to the summary of a GitHub job. A failure to write it does not fail the run."""
    path = os.environ.get(STEP_SUMMARY, "")
    if not path or not settings.step_summary:
        return
    from misstep.rendering.markdown import markdown

    try:
        with open(path, "ab") as file:
            file.write(markdown(statement).encode("utf-8", "replace"))
    except OSError as error:
        print(f"${STEP_SUMMARY} can't be written: {error.strerror or error}", file=sys.stderr)


def report_path(settings: OutputSettings, name: str, kind: Report) -> str:
    """The path of a report, inside its folder whatever the name is."""
    if os.path.basename(name) != name:
        raise StoreError(f"'{plain(name, 60)}' can't be the name of a report", where=settings.report_dir)
    folder, ending = settings.report_dir, "xml" if kind == "junit" else kind
    return "-" if folder == "-" else os.path.join(folder, f"{name}.{ending}")


USUAL = {"report": ("html",)}


@command(
    "report",
    "misstep report last --open",
    "misstep report last --report sarif --report-dir out",
    "misstep report last --format issue",
)
@run_argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(["issue"]),
    help="Write a text for a bug tracker for each cause, or for RUN/FINDING.",
)
@click.option("--open", "opening", is_flag=True, help="Open the HTML report in your browser.")
@settings_options("report", "report_dir", "baseline", *CURVES_BESIDE, "trust_store", "store", usual=USUAL)
def report(settings: RunSettings, run: str, form: str | None, opening: bool) -> int:
    """Write reports of a run.

    The run may be unfinished. The paths of the written files are printed. RUN may be shortened, or be 'last';
    a FILE.json with a capability curve works as well.
    """
    if form:
        return _write_issues(settings, run)
    if opening and ("html" not in settings.report or settings.report_dir == "-"):
        raise UsageError("--open requires an HTML report in a file", "add --report html, or omit --open")
    if is_kept(run):
        code: int = curve_command("report_kept")(settings, run, opening)
        return code
    from misstep.runs.reporting.statement import state

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
        if opening and kind == "html":
            open_page(path)
    return ending.leave()


def _write_issues(settings: RunSettings, name: str) -> int:
    """Write a text for a bug tracker for each cause of a run, the worst first."""
    if vain := typed(lambda each: each in ("report", "opening", "baseline", *CURVES_BESIDE)):
        raise UsageError(f"{vain[0]} can't be combined with --format issue", "omit one of them")
    run, _, part = name.partition("/")
    found = find_run(settings, run)
    write = own_command(found.purpose, "issues")
    if write is None:
        raise UsageError(f"run {found.id} has no findings to report", "name a run of misstep tool fuzz")
    if settings.report_dir != "-":
        check_reports(settings.overlay({"report": ("md",)}))
    for number, (finding, text) in enumerate(write(settings, found.id, part), 1):
        if settings.report_dir == "-":
            click.echo(text)
            continue
        path = os.path.join(settings.report_dir, f"{found.id}-{number:02}-{finding}.md")
        write_text(path, text)
        click.echo(plain(path))
    return 0


def open_page(path: str) -> None:
    if not webbrowser.open(Path(path).absolute().as_uri()):
        click.echo("no browser found: open the file yourself", err=True)


class NdjsonReport:
    """A listener that writes each event, except spending, as one line and flushes it.

    Lines are appended, so that a resumed run continues in the same file; a line that was cut when a run was
    killed is ended first. The path `-` means `stdout`. A write error is reported once.
    """

    def __init__(self, path: str, stdout: BinaryIO | None = None) -> None:
        self._path = path
        self._stdout = stdout
        self._file: BinaryIO | None = None

    def __enter__(self) -> "NdjsonReport":
        if self._path == "-":
            assert self._stdout is not None
            self._file = self._stdout
            return self
        try:
            torn = _is_torn(self._path)
            self._file = open(self._path, "ab")
            if torn:
                self._file.write(b"\n")
        except OSError as error:
            raise self._failed(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file and self._file is not self._stdout:
            with suppress(OSError):  # already reported, and every line is flushed
                self._file.close()
        self._file = None

    def __call__(self, event: Event) -> None:
        if self._file is None or isinstance(event, Spending | ItemStarted):
            return
        try:
            self._file.write(msgspec.json.encode(event) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> StoreError:
        self.__exit__()
        where = "standard output" if self._path == "-" else self._path
        return StoreError("the report can't be written", error.strerror or str(error), where=where)


def _is_torn(path: str) -> bool:
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
