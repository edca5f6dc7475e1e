"""`misstep replay`: a case once more."""

import click
from rich.console import Console

from misstep.api import replay as api
from misstep.api.runs import difficulty_of
from misstep.cli.options import settings_options
from misstep.cli.output import hint, ours_alone, print_json
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.report.case import case_view


@click.command("replay")
@click.argument("finding")
@settings_options("store", "json")
def replay(settings: Settings, finding: str) -> int:
    """Run a case of a run once more. FINDING is RUN/CASE."""
    with ours_alone():
        before, after = api.replay(settings, finding)
    if settings.json:
        print_json(after)
    else:
        console = Console()
        console.print(case_view(after, difficulty_of(after.case)))
        same = _ending(before) == _ending(after)
        hint(console, f"{'as before' if same else 'before, it was'}: {_ending(before)}")
    return int(after.verdict.verdict != "passed")


def _ending(outcome: Outcome) -> str:
    verdict = outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    return verdict.verdict + (f", {verdict.error}" if verdict.error else "") + step
