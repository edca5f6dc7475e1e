"""`misstep tool consistency`: find tools that answer paraphrases differently."""

from functools import partial

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult, ExitPolicy
from misstep.cli.help import command
from misstep.cli.listeners import close_run, followed, watched
from misstep.cli.options import ABOUT_TRYING, CONSISTENCY, GATE, KEEPING, settings_options
from misstep.cli.output import check_specs, hint, own_output, point_to_page, print_json_text, to_report
from misstep.core.results.consistency import ConsistencyRun
from misstep.core.settings import AgentRunSettings, ConsistencySettings, RunSettings
from misstep.features.consistency import run as api
from misstep.features.consistency import view
from misstep.runs.setup.configuration import CALLING, SANDBOX_OPTIONS, TRYING, USUALLY_TRYING
from misstep.store.location import way_to

USUAL = {**USUALLY_TRYING, "count": api.SETS}
ABOUT = {**ABOUT_TRYING, "count": "Paraphrase sets per tool."}


@command(
    "consistency",
    "misstep tool consistency shop.py:search --agent tools --model openai/gpt-4o",
    "misstep tool consistency mcp.json --agent tools --model openai/gpt-4o --count 5",
    shown="agent model only count variants checks sandbox budget_usd report resume",
)
@click.argument("specs", metavar="SPEC...", nargs=-1)
@settings_options(
    *("only", *TRYING, "count", *CONSISTENCY, "time_per_tool", "timeout"),
    *(*SANDBOX_OPTIONS, *CALLING, *GATE, *KEEPING),
    usual=USUAL,
    about=ABOUT,
    shared_agent="real",
)
def consistency(settings: ConsistencySettings, specs: tuple[str, ...]) -> int:
    """Find tools that answer paraphrases differently.

    SPEC is as for `tool fuzz`. A model writes --count sets of --variants paraphrases for each tool, and the
    agent works on them with the real tool in its sandbox. A set fails if the tool's inputs differ, its
    outputs differ, and a judge finds an answer wrong.
    """
    check_specs(settings, specs)
    exit_policy = ExitPolicy(settings, "consistency")
    report = followed(
        watched(settings),
        partial(api.resume_consistency, settings)
        if settings.resume
        else partial(api.check_consistency, settings, specs),
        partial(api.view_consistency, settings),
        partial(_finish, settings, CommandResult(1)),
    )
    # The required share of passed sets, of those that could be judged.
    verdicts = [each.verdict for each in report.sets]
    passed, failed = verdicts.count("passed"), verdicts.count("failed")
    unknown = sum(tool.verdict == "inconclusive" for tool in report.tools)
    ending = exit_policy.close(report.run, passed, passed + failed, unknown)
    close_run(settings, report.run, ending)
    _finish(settings, ending, report)
    return ending.leave()


def show_stored(settings: RunSettings, run: str, _: int) -> None:
    _show(settings, api.view_consistency(settings, run), CommandResult(0))


def show_part(settings: RunSettings, run: str, name: str) -> None:
    stored, tool, one = api.find_set(settings, run, name)
    if settings.json:
        print_json_text(view.set_as_json(one, tool.name))
        return
    console = Console()
    console.print(view.set_detail(one, tool.name))
    hint(console, f"Replay: misstep replay {stored.id}/{one.id}{way_to(settings.store)}")


def replay_part(settings: AgentRunSettings, run: str, name: str) -> int:
    """Run the agent on the requests of a set again; 1 if the set fails again."""
    _, tool, _ = api.find_set(settings, run, name)
    with own_output() as screen:
        before, after = api.replay_set(settings, run, name, lambda text: print(text, file=screen))
    if settings.json:
        print_json_text(view.set_as_json(after, tool.name))
    else:
        console = Console()
        console.print(view.set_view(after, tool.name))
        same = before.verdict == after.verdict
        hint(console, f"{'as before' if same else 'was before'}: {before.verdict}")
    return int(after.verdict == "failed")


def _finish(settings: RunSettings, ending: CommandResult, report: ConsistencyRun) -> None:
    if not to_report(settings):
        _show(settings, report, ending)


def _show(settings: RunSettings, report: ConsistencyRun, ending: CommandResult) -> None:
    if settings.json:
        print_json_text(ending.added_to(view.consistency_as_json(report)))
    else:
        console = Console()
        console.print(view.consistency_view(report, f"misstep replay {report.run}", way_to(settings.store)))
        ending.show(console)
        if any(tool.verdict == "failed" for tool in report.tools):
            hint(console, f"Label them: misstep label {report.run}{way_to(settings.store)}")
        else:
            point_to_page(console, report.run, way_to(settings.store))
