"""Outcomes of planning runs as entries of a report."""

import shlex
from collections.abc import Iterator

from misstep.api.statements.spots import spot_of_name
from misstep.core.diagnosis import Diagnosis
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.statement import Entry, Flaw, Spot
from misstep.core.verdict import Judgement
from misstep.report.call import written
from misstep.report.terminal import counted
from misstep.report.text import plain
from misstep.store.runs import Run, Store

REQUEST = 4_000  # characters
TEXT = 2_000


def cases(settings: Settings, run: Run, place: str, verdict: Judgement | None) -> Iterator[Entry]:
    """The cases of a run, a few in memory at a time."""
    spot = spot_of_name([run.settings.agent], "")
    with Store(settings.store) as store:
        for outcome in store.outcomes(run.id, verdict):
            yield entry_of(outcome, run, place, spot)


def entry_of(outcome: Outcome, run: Run, place: str, spot: Spot | None) -> Entry:
    case, verdict = outcome.case, outcome.verdict
    failed = verdict.verdict == "failed"
    return Entry(
        id=case.id,
        name=f"{plain(case.id, 100)} ({counted(len(case.actions), 'action')})",
        group=plain(case.topic, 100),
        verdict=verdict.verdict,
        seconds=outcome.seconds,
        reason="" if failed or verdict.verdict == "passed" else plain(verdict.explanation, TEXT),
        flaws=(_flaw(outcome, run, place, spot),) if failed else (),
    )


def _flaw(outcome: Outcome, run: Run, place: str, spot: Spot | None) -> Flaw:
    case, verdict = outcome.case, outcome.verdict
    kind = verdict.error or "failed"
    step = f" at step {verdict.step}" if verdict.step else ""
    return Flaw(
        id=case.id,
        rule=f"plan/{kind}",
        title=f"{kind}{step}",
        text=plain(verdict.explanation, TEXT),
        identity="\0".join((case.id, kind)),
        subject=plain(run.settings.agent, 200),
        misstep=_misstep(outcome),
        details=_details(outcome),
        replay=replay(run.id, case.id, place),
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


def replay(run: str, part: str, place: str) -> str:
    """The command that does it once more."""
    return f"misstep replay {shlex.quote(plain(f'{run}/{part}'))}{place}"


def diagnosed(diagnosis: Diagnosis, of: str, agent: str, place: str) -> Entry:
    """A failure of another run, with its cause."""
    sure = "" if diagnosis.confidence is None else f", {100 * diagnosis.confidence:.0f} % sure"
    guilty = f": {plain(diagnosis.guilty, 200)}" if diagnosis.guilty else ""
    flaw = Flaw(
        id=diagnosis.case,
        rule=f"cause/{diagnosis.cause}",
        title=f"{diagnosis.cause}{guilty}{sure}",
        text=plain(diagnosis.evidence, TEXT),
        identity="\0".join((diagnosis.case, diagnosis.cause)),
        subject=plain(agent, 200),
        replay=replay(of, diagnosis.case, place),
        spot=spot_of_name([agent], ""),
    )
    return Entry(diagnosis.case, plain(diagnosis.case, 100), diagnosis.cause, "failed", flaws=(flaw,))
