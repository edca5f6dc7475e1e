"""`misstep plan dissect`: find out why an agent failed."""

import click
from rich.console import Console

from misstep.cli.help import command
from misstep.cli.listeners import close_run, watched
from misstep.cli.options import ABOUT_TYPED, INQUIRY, MOST, RUNNING, TYPED, run_argument, settings_options
from misstep.cli.output import announce, case_words, hint, print_json, subject, to_report
from misstep.core.results.diagnosis import Dissection
from misstep.core.settings import BUDGETS, DissectSettings, RunSettings
from misstep.features.dissect.run import dissect as dissect_run
from misstep.features.dissect.run import estimate_dissection, resume_dissection, view_dissection
from misstep.features.dissect.view import causes_table, diagnoses_table
from misstep.rendering.layout import Trimmed
from misstep.store.location import way_to

SHOWN = 10
ABOUT = {**ABOUT_TYPED, "most_runs": "Maximum agent runs per failure (default: 60)."}


@command(
    "dissect",
    "misstep plan dissect last",
    "misstep plan dissect last f4c986843eb2 --confidence 0.99",
    shown="sample confidence most_runs method budget_usd report resume",
)
@run_argument("run", required=False)
@click.argument("cases", nargs=-1)
@settings_options(*INQUIRY, "seed", *BUDGETS, "agent", "python", *RUNNING, preset=TYPED, about=ABOUT)
@click.option("--most", type=MOST, default=SHOWN, show_default=True, help="Maximum failures to list.")
def dissect(settings: DissectSettings, run: str | None, cases: tuple[str, ...], most: int) -> int:
    """Find out why an agent failed.

    The agent is run again on variants of each failed case that differ in one respect. RUN is the run whose
    failures are analysed; CASES are some of them (default: a sample).
    """
    run = subject(settings, run, "the run to analyse")
    if "/" in run:
        run, *cases_too = run.split("/", 1)
        cases = (*cases_too, *cases)
    if settings.dry_run:
        return announce(settings, lambda: estimate_dissection(settings, run, cases))
    with watched(settings) as listeners:
        if settings.resume:
            found = resume_dissection(settings, *listeners)
        else:
            found = dissect_run(settings, run, cases, *listeners)
    close_run(settings, found.run, None)
    if not to_report(settings):
        _show(settings, found, most)
    return 0


def show_stored(settings: RunSettings, run: str, most: int) -> None:
    _show(settings, view_dissection(settings, run), most)


def _show(settings: RunSettings, found: Dissection, most: int) -> None:
    if settings.json:
        print_json(found)
        return
    console, place = Console(), way_to(settings.store)
    if not found.failures:
        none = f"run {found.of} has no failures within the agent's capability"
        nothing = "nothing found yet" if found.run else none
        console.print(nothing, style="dim", highlight=False)
        return
    console.print(Trimmed(causes_table([found])))
    console.print()
    console.print(Trimmed(diagnoses_table(found, most)))
    hidden = len(found.failures) - most
    if hidden > 0:
        hint(
            console,
            f"… and {hidden} more: misstep show {found.run} --most {len(found.failures)}{place}",
            gap=False,
        )
    first = next((failure.case for failure in found.failures if failure.agent_runs), None)
    if first:
        hint(console, f"Minimise: misstep plan shrink {case_words(found.of, first)}{place}")
