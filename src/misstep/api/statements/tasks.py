"""Tasks of a benchmark as entries of a report."""

from misstep.api.statements.planning import spot_of_agent
from misstep.api.statements.spots import Home
from misstep.core.benchmark import TaskReport
from misstep.core.run_report import Issue, ReportItem
from misstep.report.findings import written_call
from misstep.report.text import plain

TEXT = 2_000  # characters
MOST_CALLS = 20


def task_entry(task: TaskReport, home: Home) -> ReportItem:
    failed = task.verdict == "failed"
    why = "\n".join(plain(line, TEXT) for line in task.why)
    return ReportItem(
        id=task.name,
        name=f"{plain(task.name, 100)} ({plain(task.kind, 100)})",
        group=plain(task.domain or task.kind, 100),
        verdict=task.verdict,
        seconds=task.seconds,
        reason="" if failed or task.verdict == "passed" else (why or plain("; ".join(task.notes), TEXT)),
        flaws=(_flaw(task, home, why),) if failed else (),
    )


def _flaw(task: TaskReport, home: Home, why: str) -> Issue:
    uses = task.trial.uses if task.trial else ()
    return Issue(
        id=task.name,
        rule="bench/task",
        title=f"{plain(task.kind, 100)} was not done",
        text=why,
        identity=task.name,
        subject=plain(home.run.settings.agent, 200),
        calls=tuple(written_call(use.call) for use in uses[:MOST_CALLS]),
        details={"request": task.request[:TEXT]},
        replay=home.replay(task.name),
        spot=spot_of_agent(home),
    )
