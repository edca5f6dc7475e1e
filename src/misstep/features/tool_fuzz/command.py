"""`misstep tool fuzz`: find inputs that break tools; `misstep verify`: try a finding in another version."""

import os
import sys
from collections.abc import Iterator
from functools import partial

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult, ExitPolicy
from misstep.cli.help import command
from misstep.cli.listeners import close_run, followed, watched
from misstep.cli.options import ABOUT_TRYING, GATE, KEEPING, run_argument, settings_options
from misstep.cli.output import (
    INCONCLUSIVE,
    check_specs,
    hint,
    point_to_page,
    print_json,
    print_json_text,
    to_report,
)
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.results.trial import REFUSALS
from misstep.core.settings import RunSettings, ToolFuzzSettings
from misstep.errors import UsageError
from misstep.features.tool_fuzz import view
from misstep.features.tool_fuzz.issues.text import issues_of
from misstep.features.tool_fuzz.reach_view import passage_as_json
from misstep.features.tool_fuzz.replay import regression_tests, replay_finding
from misstep.features.tool_fuzz.reproduce import REQUESTS
from misstep.features.tool_fuzz.run import find_finding, fuzz_tools, resume_fuzzing, view_fuzzing
from misstep.features.tool_fuzz.verify import verify_finding
from misstep.runs.lookup import find_run
from misstep.runs.setup.configuration import CALLING, FUZZING, TRYING, USUALLY_TRYING
from misstep.store.files import refuse_unwritable, write_text
from misstep.store.location import way_to

ABOUT = {**ABOUT_TRYING, "count": f"Requests per tool for greybox and whitebox (default: {REQUESTS})."}


@command(
    "fuzz",
    "misstep tool fuzz shop.py:search",
    "misstep tool fuzz 'mcp:npx -y my-server' --calls-per-tool 300 --report html",
    shown="only time_per_tool calls_per_tool sandbox allow_network workspace agent model report resume",
)
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option("--emit", type=click.Choice(["pytest"]), help="Also write the findings as tests to --out.")
@settings_options(
    *(*FUZZING, *TRYING, "requests_per_crash", "tool_method", "skip_sanity", "count", "timeout"),
    *(*CALLING, "on", "ray_address", "out", *GATE, *KEEPING),
    usual=USUALLY_TRYING,
    about=ABOUT,
    shared_agent="none",
)
def fuzz(settings: ToolFuzzSettings, specs: tuple[str, ...], emit: str | None) -> int:
    """Find inputs that crash or hang tools.

    SPEC is file.py:name or package.module:name (a function, a tool of a framework, a list of them, a
    toolkit), mcp:COMMAND, mcp:URL or mcp.json. Tools run in a bubblewrap sandbox: they can't write to
    your files, and read only their own. --sandbox none runs them with all your permissions instead.

    With --agent, natural requests are sent to the agent, to see whether they lead to a defect that was found.
    With --method greybox or whitebox nothing is fuzzed: a model is asked for requests that make the tools
    crash.
    """
    check_specs(settings, specs)
    if settings.out and not emit:
        raise UsageError("--out requires --emit pytest", "add --emit pytest, or omit it")
    if emit:
        refuse_unwritable(settings.out or "test_misstep.py", "name another file with --out")
        if settings.out and not settings.out.endswith(".py"):
            advice = "end it with .py: pytest ignores others"
            raise UsageError(f"--out {settings.out} is no Python file", advice)
    exit_policy = ExitPolicy(settings, "fuzz")
    report = followed(
        watched(settings),
        partial(resume_fuzzing, settings) if settings.resume else partial(fuzz_tools, settings, specs),
        partial(view_fuzzing, settings),
        partial(_finish, settings, emit, CommandResult(1)),
    )
    # The required share of tested tools without findings.
    judged = [tool for tool in report.tools if tool.findings or tool.is_tested]
    sound = sum(not tool.findings for tool in judged)
    ending = exit_policy.close(report.run, sound, len(judged), len(report.tools) - len(judged))
    close_run(settings, report.run, ending)
    _finish(settings, emit, ending, report)
    return ending.leave()


def _finish(settings: RunSettings, emit: str | None, ending: CommandResult, report: FuzzReport) -> None:
    if emit:
        _write_tests(settings, report)
    if not to_report(settings):
        _show(settings, report, ending)


def show_stored(settings: RunSettings, run: str, _: int) -> None:
    _show(settings, view_fuzzing(settings, run), CommandResult(0))


def show_part(settings: RunSettings, run: str, name: str) -> None:
    stored, finding = find_finding(settings, run, name)
    report = view_fuzzing(settings, stored.id)
    passage = report.passage_of(finding)
    if settings.json:
        through_agent = {"through_agent": passage_as_json(passage)} if passage else {}
        cause = view.cause_ids(report.causes).get(finding.id, "")
        print_json_text({**view.finding_as_json(finding, cause), **through_agent})
        return
    console = Console()
    console.print(view.finding_detail(finding, passage))
    hint(console, f"Replay: misstep replay {stored.id}/{finding.id}{way_to(settings.store)}")


def issues(settings: RunSettings, run: str, part: str) -> Iterator[tuple[str, str]]:
    """For `misstep report --format issue`: ids of findings, and the texts."""
    for finding, text in issues_of(settings, run, part):
        yield finding.id, text


def _write_tests(settings: RunSettings, report: FuzzReport) -> None:
    if not report.findings:
        print("there are no findings to write tests for", file=sys.stderr)
        return
    path = settings.out or f"test_misstep_{report.run}.py"
    own = find_run(settings, report.run).settings
    write_text(path, regression_tests(report, own, os.path.dirname(os.path.abspath(path))))
    print(f"regression tests are in {path}: run them with pytest {path}", file=sys.stderr)


def _show(settings: RunSettings, report: FuzzReport, ending: CommandResult) -> None:
    if settings.json:
        print_json_text(ending.added_to(view.as_json(report)))
    else:
        console = Console()
        console.print(view.fuzz_view(report, f"misstep replay {report.run}", way_to(settings.store)))
        ending.show(console)
        point_to_page(console, report.run, way_to(settings.store))


def replay_part(settings: RunSettings, run: str, name: str) -> int:
    before, after = replay_finding(settings, run, name)
    is_refusal = before.kind == "refusal"
    same = after.ruling in REFUSALS if is_refusal else after.signature == before.signature
    if settings.json:
        print_json(after)
    else:
        console = Console()
        console.print(view.finding_view(before))
        console.print(view.judged_view(after))
        hint(console, "as before" if same else f"was before: {before.kind}, {before.error}")
    harmless = ("fine", "environment") if is_refusal else ("fine", "refused", "environment")
    return int(after.ruling not in harmless)


CODES = {"still there": 1, "gone": 0, "different": INCONCLUSIVE, "cannot tell": INCONCLUSIVE}


@command(
    "verify",
    "misstep verify last/f4c986843e --against 1.4.0",
    "misstep verify last/f4c986843e --against ../server/dist/server-1.4.0.tgz",
)
@run_argument("finding")
@click.option(
    "--against", metavar="VERSION|PATH", required=True, help="Version of the package, or a folder or file."
)
@settings_options("trust_store", "store", "json")
def verify(settings: RunSettings, finding: str, against: str) -> int:
    """Check whether another version has a finding.

    FINDING is RUN/FINDING. Its calls are made in the other version and, for comparison, in the original,
    several times, each time from a fresh start. For a server that npx, uvx or pipx starts, VERSION is another
    version of its package, and PATH a folder or file to install instead. For other servers and for Python
    files, PATH is a file, or a folder with a file of the same name.

    Exit codes: 0 it is gone, 1 it is still there, 4 the calls end in another defect, or nothing can be said.
    """
    run, slash, part = finding.partition("/")
    if not slash or not part:
        raise UsageError(f"'{finding}' is not RUN/FINDING", f"misstep show {run} lists the findings")
    found = verify_finding(settings, run, part, against)
    if settings.json:
        print_json_text(view.verified_as_json(found, against))
    else:
        Console().print(view.verified_view(found, against))
    return CODES[found.outcome]
