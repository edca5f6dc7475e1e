"""`misstep bench files` and `bench forge`, and `--serve`, which runs the forge for people to try."""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import click
from rich.console import Console

from misstep.benchmarks.forge.forge import Forge
from misstep.cli.exit_policy import CommandResult, ExitPolicy
from misstep.cli.help import command
from misstep.cli.listeners import close_run, followed, watched
from misstep.cli.options import ABOUT_TRYING, GATE, KEEPING, PORT, TASKS, TRACING, settings_options, typed
from misstep.cli.output import hint, own_output, point_to_page, print_json_text, quoted, to_report
from misstep.core.results.benchmark import Benchmark, BenchmarkReport
from misstep.core.settings import AgentRunSettings, BenchSettings, RunSettings
from misstep.errors import UsageError
from misstep.features.bench.environments import new_task_folder
from misstep.features.bench.run import find_task, replay_task, resume_benchmark, run_benchmark, view_benchmark
from misstep.features.bench.view import benchmark_as_json, benchmark_view, task_as_json, task_view
from misstep.rendering.trial import picked
from misstep.runs.setup.configuration import AGENTS, CALLING, SANDBOX_OPTIONS, USUALLY_TRYING
from misstep.store.location import way_to

TAKEN = ("serve", "port", "json")  # the only options that have a meaning with --serve


def serve_forge(port: int, as_json: bool) -> int:
    # A settings file is shared by all commands, so only options that were typed are refused.
    if vain := typed(lambda name: name not in TAKEN):
        advice = f"omit {'it' if len(vain) == 1 else 'them'}: --serve takes only --port and --json"
        raise UsageError(f"{' and '.join(vain)} can't be combined with --serve", advice)
    with new_task_folder() as folder, Forge(folder.path, port) as served, suppress(KeyboardInterrupt):
        if as_json:
            print_json_text(picked(served, "url", "repository", "clone_url", "token", "read_token"))
        else:
            click.echo(f"interface   {served.url}")
            click.echo(f"repository  git clone {served.clone_url}")
            click.echo(f"token       {served.token}")
            click.echo(f"to look     {served.read_token}")
        click.echo("until Ctrl-C", err=True)
        threading.Event().wait()
    return 0


ABOUT = {
    **ABOUT_TRYING,
    "agent": f"{ABOUT_TRYING['agent']}; sim:right, sim:idle and sim:damage need no model.",
    "count": "Maximum tasks (default: all, or 100 fresh ones).",
    "seed": "Random seed for fresh tasks.",
    "jobs": "Tasks run concurrently.",
}
# Models in other roles are not used here, and the agent's calls are seen without a proxy.
UNUSED = ("model_roles", "record_proxy", "workspace")
ABOUT_FORGE = {**ABOUT, "split": "Tasks to run.", "count": "Maximum tasks (default: all)."}
NO_FORGE = ("data", "domains", "seed")  # its tasks are fixed, and have no domain
USED = (*AGENTS, *TASKS, "count", "max_steps", "time_per_request", "timeout", *SANDBOX_OPTIONS, *CALLING)
OPTIONS = tuple(name for name in dict.fromkeys(USED) if name not in UNUSED)


def tools_option(words: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option("--tools", "tools", multiple=True, metavar="SPEC", help=words)


@command(
    "files",
    "misstep bench files --agent tools --model openai/gpt-4o --split validation",
    "misstep bench files --agent my_agent.py:make_agent --tools shell --count 20",
    shown="agent model split kinds count seed jobs budget_usd report resume",
)
@tools_option("Tools to use: plain (default), shell, langchain, file.py:name or mcp:COMMAND; repeatable.")
@settings_options(*OPTIONS, *GATE, *TRACING, *KEEPING, usual=USUALLY_TRYING, about=ABOUT, shared_agent="real")
def files(settings: BenchSettings, tools: tuple[str, ...]) -> int:
    """Run an agent on tasks with files.

    The agent finds, moves, renames, sorts and describes files; then the folder is compared with the expected
    end state. Each task has its own folder in a sandbox. The validation and test splits are fixed; --split
    fresh generates other tasks from a seed.
    """
    return run("files", settings, tools)


@command(
    "forge",
    "misstep bench forge --agent tools --model openai/gpt-4o",
    "misstep bench forge --serve --port 8080",
    shown="agent model split kinds count jobs budget_usd report resume",
)
@tools_option("Tools to use: plain (default), langchain, file.py:name or mcp:COMMAND; repeatable.")
@click.option("--serve", is_flag=True, help="Only run the forge, until Ctrl-C, to try it by hand.")
@click.option("--port", type=PORT, help="Port for --serve (default: a free one).")
@settings_options(
    *(*[name for name in OPTIONS if name not in NO_FORGE], *GATE, *TRACING, *KEEPING),
    usual=USUALLY_TRYING,
    about=ABOUT_FORGE,
    choices={"split": "validation|test|all"},
    shared_agent="real",
)
def forge(settings: BenchSettings, tools: tuple[str, ...], serve: bool, port: int | None) -> int:
    """Run an agent on tasks in a code repository.

    The agent comments on issues, changes files, and creates branches and pull requests on a local server with
    GitHub's API, for PyGithub, LangChain's toolkit and git. Every task starts with the same repository and is
    judged by its end state.
    """
    if serve:
        return serve_forge(port or 0, settings.json)
    if port is not None:
        raise UsageError(f"--port {port} requires --serve", "add --serve, or omit --port")
    return run("forge", settings, tools)


def run(benchmark: Benchmark, settings: BenchSettings, tools: tuple[str, ...]) -> int:
    if settings.resume and tools:
        advice = "a resumed run has its own tools"
        raise UsageError(f"--tools {tools[0]} can't be combined with --resume", advice)
    exit_policy = ExitPolicy(settings, benchmark)
    report = followed(
        watched(settings),
        partial(resume_benchmark, benchmark, settings)
        if settings.resume
        else partial(run_benchmark, benchmark, settings, tools),
        partial(view_benchmark, settings),
        partial(_finish, settings, CommandResult(1)),
    )
    ending = exit_policy.close(report.run, report.rate.passed, len(report.tasks))
    close_run(settings, report.run, ending)
    _finish(settings, ending, report)
    return ending.leave()


def show_stored(settings: RunSettings, run: str, most: int) -> None:
    _show(settings, view_benchmark(settings, run), CommandResult(0), most)


def show_part(settings: RunSettings, run: str, name: str) -> None:
    stored, task = find_task(settings, run, name)
    if settings.json:
        print_json_text(task_as_json(task))
        return
    console = Console()
    console.print(task_view(task))
    hint(console, f"Replay: misstep replay {quoted(f'{stored.id}/{task.name}')}{way_to(settings.store)}")


def replay_part(settings: AgentRunSettings, run: str, name: str) -> int:
    """Run the agent on a task again; 1 if it does not pass."""
    with own_output() as screen:
        before, after = replay_task(settings, run, name, lambda text: print(text, file=screen))
    if settings.json:
        print_json_text(task_as_json(after))
    else:
        console = Console()
        console.print(task_view(after))
        same = before.verdict == after.verdict
        hint(console, f"{'as before' if same else 'was before'}: {before.verdict}")
    return int(after.verdict != "passed")


def _finish(settings: RunSettings, ending: CommandResult, report: BenchmarkReport) -> None:
    if not to_report(settings):
        _show(settings, report, ending)


def _show(settings: RunSettings, report: BenchmarkReport, ending: CommandResult, most: int = 20) -> None:
    if settings.json:
        print_json_text(ending.added_to(benchmark_as_json(report)))
    else:
        console = Console()
        console.print(benchmark_view(report, f"misstep show {report.run}", way_to(settings.store), most))
        ending.show(console)
        point_to_page(console, report.run, way_to(settings.store))
