"""`misstep plan test` and `plan check`."""

import msgspec
from rich.console import Console

from misstep.cli import output
from misstep.cli.exit_policy import CommandResult, ExitPolicy
from misstep.cli.help import command
from misstep.cli.listeners import close_run, watched
from misstep.cli.options import ABOUT_FAIL_ON, GATE, RUNNING, settings_options
from misstep.core.event import CaseFinished, Event, ItemStarted
from misstep.core.outcome import Outcome
from misstep.core.results.summary import Summary, Tally
from misstep.core.settings import BUDGETS, AgentRunSettings, CheckSettings, PlanTestSettings
from misstep.errors import UsageError
from misstep.features.plan_test.run import check_plans, estimate, resume_run, run_agent
from misstep.rendering import terminal
from misstep.runs.setup.configuration import AGENTS, LIMITS, SYNTHESIS
from misstep.store.files import write_lines
from misstep.store.location import way_to

SHOWN_FAILURES = 3
FEW_FAILURES = 5


@command(
    "check",
    "misstep plan check --cases cases.jsonl --plans plans.jsonl",
    "misstep plan check --cases cases.jsonl --plans inspect.eval --out verdicts.jsonl",
)
@settings_options(
    *("cases", "plans", "case", "out", "parallel", "verify", "fail_on", "json"),
    about={"cases": "File of cases that the plans are for.", "fail_on": ABOUT_FAIL_ON},
)
def check(settings: CheckSettings) -> int:
    """Judge plans against their cases.

    Writes the verdicts as JSON lines.
    """
    for name in ("cases", "plans"):
        if not getattr(settings, name):
            raise UsageError(f"no {name} were given", f"name a file with --{name}")
    output.one_output(settings, "verdicts")
    output.spare_inputs(settings, "verdicts")
    tally = Tally()
    verdicts = (tally.seen(outcome).verdict for outcome in check_plans(settings))
    # Print nothing before the last plan has been read, so that a bad one leaves no partial output.
    write_lines(settings.out, list(verdicts) if output.to_stdout(settings) else verdicts)
    summary = tally.summary(run="", agent="", usd=0.0)
    output.sum_up(settings, summary, _check_lines(summary))
    return CommandResult.by_gate(settings, summary.passed, summary.cases).leave()


class FirstFailures:
    """A listener that keeps the first few cases that did not pass.

    The first are those that started first: cases start in the order of the run, and end in any order.
    """

    def __init__(self) -> None:
        self._places = dict[str, int]()
        self.outcomes = list[Outcome]()

    def __call__(self, event: Event) -> None:
        if isinstance(event, ItemStarted):
            self._places.setdefault(event.name, len(self._places))
        elif isinstance(event, CaseFinished) and event.outcome.verdict.verdict != "passed":
            found = sorted([*self.outcomes, event.outcome], key=self._place)
            distinct = {_identity(outcome): outcome for outcome in reversed(found)}
            self.outcomes = [*distinct.values()][::-1][:SHOWN_FAILURES]

    def _place(self, outcome: Outcome) -> int:
        return self._places.get(outcome.case.id, len(self._places))


def _identity(outcome: Outcome) -> tuple[str, str]:
    """The same for cases in which the agent raised the same error."""
    error = outcome.transcript.error if outcome.verdict.verdict == "errored" else ""
    return error.partition("\n")[0], "" if error else outcome.case.id


@command(
    "test",
    "misstep plan test --agent my_agent.py:agent",
    "misstep plan test --agent tools --model openai/gpt-4o --count 50 --report html",
    shown="agent model actions family count seed jobs budget_usd report resume",
)
@settings_options(*AGENTS, *SYNTHESIS, "cases", *LIMITS, *BUDGETS, *GATE, *RUNNING)
def test(settings: PlanTestSettings) -> int:
    """Run an agent on planning problems and judge what it does."""
    if settings.dry_run:
        return output.announce(settings, lambda: (settings, estimate(settings)))
    exit_policy = ExitPolicy(settings, "test")
    failures = FirstFailures()
    with watched(settings) as listeners:
        run = resume_run if settings.resume else run_agent
        summary = run(settings, failures, *listeners)
    ending = exit_policy.close(summary.run, summary.passed, summary.cases)
    close_run(settings, summary.run, ending)
    if settings.json:
        output.print_json(ending.added_to(msgspec.to_builtins(summary)))
    elif not output.to_report(settings):
        console = Console()
        _show(console, summary, failures.outcomes, settings)
        ending.show(console)
        output.hint(console, _next_step(summary, failures.outcomes, settings), gap=not failures.outcomes)
    return ending.leave()


def _show(console: Console, summary: Summary, examples: list[Outcome], settings: PlanTestSettings) -> None:
    place = way_to(settings.store)
    console.print(terminal.summary_view(summary))
    for line in terminal.easy_lines(summary.chance, bool(settings.tools)):
        output.hint(console, line, gap=line.startswith("warning"))
    if examples:
        hidden = summary.cases - summary.passed > len(examples)
        first = terminal.counted(len(examples), "failure").removeprefix("1 ")
        console.print(f"\n[bold]First {first}[/]\n" if hidden else "")
        console.print(terminal.failures_view(examples))
        output.hint(console, f"Show all:  misstep show {summary.run}{place}", gap=False)
        first_case = output.quoted(f"{summary.run}/{examples[0].case.id}")
        output.hint(console, f"Replay:    misstep replay {first_case}{place}", gap=False)


def _next_step(summary: Summary, examples: list[Outcome], settings: AgentRunSettings) -> str:
    """The suggested next command: why it fails, or at which size it would start to fail."""
    place = way_to(settings.store)
    if summary.failed:
        few = f" --sample {FEW_FAILURES}" if summary.failed > FEW_FAILURES else ""  # each takes many runs
        return f"Why:       misstep plan dissect {summary.run}{few}{place}"
    if examples:
        return f"Details:   misstep show {summary.run} {output.quoted(examples[0].case.id)}{place}"
    words = ["--agent", summary.agent, *(["--model", summary.model] if summary.model else [])]
    words += [word for key, value in settings.agent_args.items() for word in ("-A", f"{key}={value}")]
    return f"Capability: misstep plan capability {' '.join(map(output.quoted, words))}"


def _check_lines(summary: Summary) -> list[str]:
    counts = [f"{count} {name}" for name, count in (("passed", summary.passed), ("failed", summary.failed))]
    counts += [f"{summary.errored} errored"] if summary.errored else []
    kinds, interval = terminal.kinds_of_errors(summary), f"95 % interval {terminal.from_to(summary.interval)}"
    success, chance = terminal.percent(summary.success), terminal.percent(summary.chance)
    errors = f" (errors: {kinds})" if kinds else ""
    return [
        f"{terminal.counted(summary.cases, 'plan')}: {', '.join(counts)}{errors}",
        f"success {success}, {interval}, chance level {chance}",
        f"baselines: {terminal.baselines_in_words(summary.baselines)}",
        *terminal.easy_lines(summary.chance),
    ]
