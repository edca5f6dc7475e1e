"""`misstep tool consistency`: tools that serve people differently who mean the same."""

import click
from rich.console import Console

from misstep.api import consistency as api
from misstep.api.questioning import SETS
from misstep.cli.options import ABOUT_TRYING, CONSISTENCY, TRYING, settings_options
from misstep.cli.output import hint, ours_alone, print_json_text, to_report
from misstep.cli.watching import Started, watched
from misstep.core.consistency import ConsistencyRun, PromptSet
from misstep.core.settings import Settings, parse_gate, store_flag
from misstep.errors import MisstepError, UsageError
from misstep.report.consistency import consistency_view, set_detail, set_view
from misstep.report.consistency_json import consistency_as_json, set_as_json
from misstep.store.location import shown

USUAL = {"timeout": 10.0, "jobs": 2, "count": SETS}
ABOUT = {
    **ABOUT_TRYING,
    "only": "The name of a tool to test; may be repeated (default: all).",
    "count": "How many sets of requests for each tool.",
    "time_per_tool": "How long to test each tool, e.g. 90s or 5m.",
    "jobs": "Tools tested at a time.",
}


@click.command("consistency")
@click.argument("specs", metavar="SPEC...", nargs=-1)
@settings_options(
    "only",
    *TRYING,
    "count",
    *CONSISTENCY,
    "time_per_tool",
    "timeout",
    "memory",
    "sandbox",
    "allow_network",
    "workspace",
    "python",
    "seed",
    "jobs",
    "budget_usd",
    "budget_tokens",
    "budget_time",
    "budget_calls",
    "fail_on",
    "resume",
    "store",
    "report",
    "report_dir",
    "display",
    "json",
    usual=USUAL,
    about=ABOUT,
)
def consistency(settings: Settings, specs: tuple[str, ...]) -> int:
    """Find tools that answer people differently who mean the same, through an agent that has them.

    SPEC is as for `tool fuzz`. A model makes --count sets of --variants synonymous requests for each tool,
    the agent works on them with the real tool in its sandbox, and a set has failed if what the tool was given
    differs, what it gave back differs, and a judge finds an answer wrong.
    """
    _check(settings, specs)
    started = Started()
    try:
        with watched(settings) as listeners:
            if settings.resume:
                report = api.resume_consistency(settings, started, *listeners)
            else:
                report = api.check_consistency(settings, specs, started, *listeners)
    except MisstepError:
        if started.run:
            _finish(settings, api.view_consistency(settings, started.run))
        raise
    _finish(settings, report)
    return _exit_code(report, settings)


def show_stored(settings: Settings, run: str, _: int) -> None:
    _show(settings, api.view_consistency(settings, run))


def show_set(settings: Settings, run: str, name: str) -> None:
    """One set in full."""
    stored, tool, one = api.find_set(settings, run, name)
    if settings.json:
        print_json_text(set_as_json(one, tool.name))
        return
    console = Console()
    console.print(set_detail(one, tool.name))
    hint(console, f"again: misstep replay {stored.id}/{one.id}{_place(settings)}")


def replay_stored(settings: Settings, run: str, name: str) -> int:
    """Put the requests of a set to the agent once more; 1 if the set fails again."""
    from misstep.api.consistency_replay import replay_set

    _, tool, _ = api.find_set(settings, run, name)
    with ours_alone() as screen:
        before, after = replay_set(settings, run, name, lambda text: print(text, file=screen))
    if settings.json:
        print_json_text(set_as_json(after, tool.name))
    else:
        console = Console()
        console.print(set_view(after, tool.name))
        hint(console, _compared(before, after))
    return int(after.verdict == "failed")


def _compared(before: PromptSet, after: PromptSet) -> str:
    same = before.verdict == after.verdict
    return f"{'as before' if same else 'before, it was'}: {before.verdict}"


def _check(settings: Settings, specs: tuple[str, ...]) -> None:
    if settings.resume and specs:
        raise UsageError(f"{specs[0]} can't go with --resume", "the run to be resumed knows its tools")
    if not settings.resume and not specs:
        raise UsageError("no tools were given", "name them as file.py:name, mcp:COMMAND or mcp.json")


def _finish(settings: Settings, report: ConsistencyRun) -> None:
    if not to_report(settings):
        _show(settings, report)


def _show(settings: Settings, report: ConsistencyRun) -> None:
    if settings.json:
        print_json_text(consistency_as_json(report))
    else:
        Console().print(consistency_view(report, f"misstep replay {report.run}", _place(settings)))


def _place(settings: Settings) -> str:
    return store_flag(shown(settings.store))


def _exit_code(report: ConsistencyRun, settings: Settings) -> int:
    """0 if the gate is passed: of the sets that could be judged, so many have to pass."""
    demanded = parse_gate(settings.fail_on)
    verdicts = [each.verdict for each in report.sets]
    passed, failed = verdicts.count("passed"), verdicts.count("failed")
    return int(demanded is not None and passed < demanded * (passed + failed))
