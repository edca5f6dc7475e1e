"""Outcomes of planning runs as entries of a report."""

from collections.abc import Iterator

from misstep.api.statements.spots import Home, replay
from misstep.core.diagnosis import Diagnosis
from misstep.core.outcome import Outcome
from misstep.core.run_report import Issue, ReportItem, SourceLocation
from misstep.core.settings import Settings
from misstep.core.verdict import Judgement
from misstep.report.call import written
from misstep.report.terminal import counted
from misstep.report.text import plain
from misstep.store.runs import Store

REQUEST = 4_000  # characters
TEXT = 2_000


def cases(settings: Settings, home: Home, verdict: Judgement | None) -> Iterator[ReportItem]:
    """The cases of a run, a few in memory at a time."""
    spot = spot_of_agent(home)
    with Store(settings.store) as store:
        for outcome in store.outcomes(home.run.id, verdict):
            yield entry_of(outcome, home, spot)


def spot_of_agent(home: Home) -> SourceLocation | None:
    """Where the agent of a run is defined."""
    return home.spot_of_name([home.run.settings.agent], "")


def entry_of(outcome: Outcome, home: Home, spot: SourceLocation | None) -> ReportItem:
    case, verdict = outcome.case, outcome.verdict
    failed = verdict.verdict == "failed"
    return ReportItem(
        id=case.id,
        name=f"{plain(case.id, 100)} ({counted(len(case.actions), 'action')})",
        group=plain(case.topic, 100),
        verdict=verdict.verdict,
        seconds=outcome.seconds,
        reason="" if failed or verdict.verdict == "passed" else plain(verdict.explanation, TEXT),
        flaws=(_flaw(outcome, home, spot),) if failed else (),
    )


def _flaw(outcome: Outcome, home: Home, spot: SourceLocation | None) -> Issue:
    case, verdict = outcome.case, outcome.verdict
    kind = verdict.error or "failed"
    step = f" at step {verdict.step}" if verdict.step else ""
    return Issue(
        id=case.id,
        rule=f"plan/{kind}",
        title=f"{kind}{step}",
        text=plain(verdict.explanation, TEXT),
        identity="\0".join((case.id, kind)),
        subject=plain(home.run.settings.agent, 200),
        misstep=_misstep(outcome),
        details=_details(outcome),
        replay=home.replay(case.id),
        spot=spot,
    )


def _misstep(outcome: Outcome) -> str:
    step, calls = outcome.verdict.step, outcome.transcript.calls
    if not step or step > len(calls):
        return ""
    call = calls[step - 1]
    return f"step {step}, {written(call.tool, call.arguments)}"


def _details(outcome: Outcome) -> dict[str, str]:
    tools = {action.id: plain(action.tool, 100) for action in outcome.case.actions}
    nearest = " → ".join(tools[action] for action in outcome.verdict.nearest)
    told = {"nearest correct plan": nearest, "request": outcome.case.query[:REQUEST]}
    return {name: text for name, text in told.items() if text}


def diagnosed(diagnosis: Diagnosis, of: str, home: Home) -> ReportItem:
    """A failure of another run, with its cause."""
    sure = f", {diagnosis.sure} sure" if diagnosis.sure else ""
    guilty = f": {plain(diagnosis.guilty, 200)}" if diagnosis.guilty else ""
    flaw = Issue(
        id=diagnosis.case,
        rule=f"cause/{diagnosis.cause}",
        title=f"{diagnosis.cause}{guilty}{sure}",
        text=plain(diagnosis.evidence, TEXT),
        identity="\0".join((diagnosis.case, diagnosis.cause)),
        subject=plain(home.run.settings.agent, 200),
        replay=replay(of, diagnosis.case, home.place),
        spot=spot_of_agent(home),
    )
    return ReportItem(diagnosis.case, plain(diagnosis.case, 100), diagnosis.cause, "failed", flaws=(flaw,))
