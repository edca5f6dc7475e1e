"""`misstep replay` and `rejudge`: run a part of a stored run again, or judge its recorded calls again."""

import msgspec
from rich.console import Console
from rich.text import Text

from misstep.cli.help import command
from misstep.cli.options import ABOUT_TYPED, TYPED, run_argument, settings_options
from misstep.cli.output import hint, own_command, own_output, print_json
from misstep.core.outcome import Verdict
from misstep.core.settings import AgentRunSettings, RunSettings, StoreSettings
from misstep.errors import UsageError
from misstep.planning.difficulty import measure
from misstep.planning.judging.check import check
from misstep.rendering.case import case_view
from misstep.rendering.layout import bare_table
from misstep.rendering.text import plain
from misstep.runs import executor as api
from misstep.runs.lookup import find_run
from misstep.store.location import way_to
from misstep.store.runs import Store


@command(
    "replay", "misstep replay last/f4c986843eb2", "misstep replay last/f4c986843eb2 --agent my_agent.py:agent"
)
@run_argument("finding")
@settings_options("agent", "python", "trust_store", "store", "json", preset=TYPED, about=ABOUT_TYPED)
def replay(settings: AgentRunSettings, finding: str) -> int:
    """Run a case or a finding again.

    FINDING is RUN/CASE, RUN/FINDING, RUN/SET for a set of paraphrases, or RUN/TASK for a task of a benchmark.
    The agent gets the same requests again.
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
        was, now = (_in_short(outcome.verdict, ", ") for outcome in (before, after))
        hint(console, f"{'as before' if was == now else 'was before'}: {was}")
    return int(after.verdict.verdict != "passed")


def _in_short(verdict: Verdict, separator: str = ": ") -> str:
    step = f" at step {verdict.step}" if verdict.step else ""
    return verdict.verdict + (f"{separator}{verdict.error}" if verdict.error else "") + step


class Difference(msgspec.Struct, frozen=True):
    """A case whose stored verdict differs from the one that its calls get now."""

    case: str
    stored: Verdict
    judged: Verdict


class Rejudgement(msgspec.Struct, frozen=True):
    """The object that `misstep rejudge --json` prints."""

    run: str
    cases: int
    confirmed: int
    differences: tuple[Difference, ...]


def rejudge_run(settings: StoreSettings, name: str) -> Rejudgement:
    """Compare every stored verdict of a run with a new one on the same case and calls."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        if not run.purpose.kind.has_cases:
            what = f"run {run.id} is of '{run.purpose.command}', which has no planning cases"
            raise UsageError(what, "name a run of plan test, capability, dissect or shrink")
        cases, differences = 0, list[Difference]()
        for outcome in store.outcomes(run.id):
            cases += 1
            judged = check(outcome.case, outcome.transcript, run.settings.parallel)
            if _decision(judged) != _decision(outcome.verdict):
                differences.append(Difference(outcome.case.id, outcome.verdict, judged))
    return Rejudgement(run.id, cases, cases - len(differences), tuple(differences))


def _decision(verdict: Verdict) -> Verdict:
    return msgspec.structs.replace(verdict, explanation="", nearest=())


SHOWN = 20


@command("rejudge", "misstep rejudge last", "misstep rejudge last --json")
@run_argument("run")
@settings_options("store", "json")
def rejudge(settings: RunSettings, run: str) -> int:
    """Check the verdicts of a run against its recorded calls.

    No agent is loaded or run. RUN may be shortened, or be 'last'.

    Exit code 1: a stored verdict does not follow from the recorded calls.
    """
    found = rejudge_run(settings, run)
    if settings.json:
        print_json(found)
        return int(bool(found.differences))
    console = Console()
    console.print(f"{found.confirmed:,} of {found.cases:,} verdicts confirmed (run {found.run})")
    if not found.differences:
        return 0
    table = bare_table()
    for heading in ("case", "stored", "judged again", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "case")
    for each in found.differences[:SHOWN]:
        cells = each.case, _in_short(each.stored), _in_short(each.judged), each.judged.explanation
        table.add_row(*(Text(plain(cell, 500)) for cell in cells))
    console.print(table)
    more = len(found.differences) - SHOWN
    if more > 0:
        hint(console, f"{more:,} more: misstep rejudge {found.run} --json{way_to(settings.store)}")
    return 1
