"""`misstep replay`: run a case, a finding or a task of a stored run again."""

import click
from rich.console import Console

from misstep.cli.options import ABOUT_TYPED, TYPED, settings_options
from misstep.cli.output import hint, own_command, own_output, print_json
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.planning.difficulty import measure
from misstep.rendering.case import case_view
from misstep.runs import executor as api
from misstep.runs.lookup import find_run


@click.command("replay")
@click.argument("finding")
@settings_options("agent", "python", "trust_store", "store", "json", preset=TYPED, about=ABOUT_TYPED)
def replay(settings: Settings, finding: str) -> int:
    """Run a case of a run, or the calls that broke a tool, once more.

    FINDING is RUN/CASE, RUN/FINDING, RUN/SET for requests that mean the same, or RUN/TASK for a task of a
    benchmark; the agent gets these again.
    """
    name, slash, part = finding.partition("/")
    replay_part = own_command(find_run(settings, name).purpose, "replay_part") if slash and part else None
    if replay_part:
        code: int = replay_part(settings, name, part)
        return code
    with own_output():
        before, after = api.replay(settings, finding)
    if settings.json:
        print_json(after)
    else:
        console = Console()
        console.print(case_view(after, measure(after.case)))
        same = _ending(before) == _ending(after)
        hint(console, f"{'as before' if same else 'before, it was'}: {_ending(before)}")
    return int(after.verdict.verdict != "passed")


def _ending(outcome: Outcome) -> str:
    verdict = outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    return verdict.verdict + (f", {verdict.error}" if verdict.error else "") + step
