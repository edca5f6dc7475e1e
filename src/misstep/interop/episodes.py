"""What an agent did with one case or task, in the common form that all export formats are made from."""

from typing import Any

import msgspec

from misstep.core.case import families_of
from misstep.core.outcome import Call, Ended, ErrorKind, Judgement, Metered, Outcome, Usage
from misstep.core.results.benchmark import TaskReport
from misstep.rendering.case import in_brief


class EpisodeAgent(msgspec.Struct, frozen=True):
    """The agent of some episodes; `provider` is that of its model, and both are empty if unknown."""

    run: str
    name: str
    model: str = ""
    provider: str = ""
    version: str = ""  # of misstep


class Episode(msgspec.Struct, frozen=True, omit_defaults=True):
    """One case or task. `subject` is its name, `about` what else is known of it, as plain values."""

    subject: str
    request: str
    calls: tuple[Call, ...]
    answer: str
    ended: Ended
    verdict: Judgement
    explanation: str = ""
    kind: ErrorKind | None = None
    step: int | None = None
    chance: float | None = None
    error: str = ""
    usage: Usage = Usage()
    metered: tuple[Metered, ...] = ()
    seconds: float = 0.0
    about: dict[str, Any] = {}


def episode_of(report: Outcome | TaskReport) -> Episode:
    return episode_of_case(report) if isinstance(report, Outcome) else episode_of_task(report)


def episode_of_case(outcome: Outcome) -> Episode:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    names = {action.id: action.name for action in case.actions}
    constraints = [in_brief(constraint, names) for constraint in case.constraints]
    return Episode(
        subject=case.id,
        request=case.query,
        calls=transcript.calls,
        answer=transcript.answer,
        ended=transcript.ended,
        verdict=verdict.verdict,
        explanation=verdict.explanation,
        kind=verdict.error,
        step=verdict.step,
        chance=case.chance,
        error=transcript.error,
        usage=transcript.usage,
        metered=transcript.metered,
        seconds=outcome.seconds,
        about={
            "topic": case.topic,
            "seed": case.seed,
            "families": list(families_of(case)),
            "actions": len(case.actions),
            "constraints": constraints,
            "violated": [constraints[number] for number in verdict.violated],
            "missing": [names.get(action, action) for action in verdict.missing],
            "nearest": list(verdict.nearest),
        },
    )


def episode_of_task(report: TaskReport) -> Episode:
    trial = report.trial
    return Episode(
        subject=report.name,
        request=report.request,
        calls=tuple(Call(use.tool, _read(use.arguments), use.result) for use in trial.uses) if trial else (),
        answer=trial.answer if trial else "",
        ended=trial.ended if trial else "error",
        verdict=report.verdict,
        explanation="\n".join(report.why),
        error=trial.error if trial else "\n".join(report.notes),
        usage=sum(report.usage.values(), Usage()),
        seconds=report.seconds,
        about={"kind": report.kind, "domain": report.domain, "split": report.split},
    )


def _read(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments
