"""`misstep replay`: whatever a run has put to an agent or a tool, once more."""

from collections.abc import Callable
from importlib import import_module

import click
from rich.console import Console

from misstep.cli.options import ABOUT_TYPED, TYPED, settings_options
from misstep.cli.output import hint, ours_alone, print_json
from misstep.core.outcome import Outcome
from misstep.core.results.trial import REFUSALS
from misstep.core.run import RunKind
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.view import finding_view, judged_view
from misstep.rendering.case import case_view
from misstep.runs import executor as api
from misstep.runs.lookup import difficulty_of, find_run

# Where runs that put something else to an agent have it done once more; loaded when it is wanted.
_REPLAYED: dict[RunKind | None, str] = {
    "consistency": "misstep.features.consistency.command",
    "files": "misstep.features.bench.command",
    "forge": "misstep.features.bench.command",
}


@click.command("replay")
@click.argument("finding")
@settings_options("agent", "python", "trust_store", "store", "json", preset=TYPED, about=ABOUT_TYPED)
def replay(settings: Settings, finding: str) -> int:
    """Run a case of a run, or the calls that broke a tool, once more.

    FINDING is RUN/CASE, RUN/FINDING, RUN/SET for requests that mean the same, or RUN/TASK for a task of a
    benchmark; the agent gets these again.
    """
    name, slash, part = finding.partition("/")
    verb = find_run(settings, name).purpose.verb if slash and part else None
    if verb == "fuzz":
        return _replay_tool(settings, name, part)
    if verb in _REPLAYED:
        replay_stored: Callable[..., int] = import_module(_REPLAYED[verb]).replay_stored
        return replay_stored(settings, name, part)
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


def _replay_tool(settings: Settings, run: str, name: str) -> int:
    from misstep.features.tool_fuzz.replay import replay_finding

    before, after = replay_finding(settings, run, name)
    is_refusal = before.kind == "refusal"
    same = after.ruling in REFUSALS if is_refusal else after.signature == before.signature
    if settings.json:
        print_json(after)
    else:
        console = Console()
        console.print(finding_view(before))
        console.print(judged_view(after))
        hint(console, "as before" if same else f"before, it was: {before.kind}, {before.error}")
    harmless = ("fine", "environment") if is_refusal else ("fine", "refused", "environment")
    return int(after.ruling not in harmless)


def _ending(outcome: Outcome) -> str:
    verdict = outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    return verdict.verdict + (f", {verdict.error}" if verdict.error else "") + step
