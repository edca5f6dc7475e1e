"""The rows of a run: its outcomes and reports with their parts side by side, each under one name.

A field is a column. What has no single value, such as the families of a case, is a list.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from misstep.core.benchmark import TaskReport
from misstep.core.case import families_of
from misstep.core.consistency import ConsistencyReport
from misstep.core.crosstalk import GroupReport
from misstep.core.finding import ToolReport, ranked
from misstep.core.fixing import FixReport
from misstep.core.outcome import Outcome
from misstep.core.transcript import Usage

# What tokens of a role cost; None where nobody has said so.
Price: TypeAlias = Callable[[str, Usage], float | None]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What every row begins with."""

    run: str


class SpendingRow(Row, frozen=True, kw_only=True):
    """One about something that used up tokens and time."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None
    seconds: float


class CaseRow(SpendingRow, frozen=True, kw_only=True):
    case: str
    agent: str
    model: str | None
    topic: str
    seed: int
    families: tuple[str, ...]
    actions: int
    constraints: int
    distractors: int
    chance: float | None
    text_order: bool | None
    ignores_family: bool | None
    verdict: str
    error: str | None
    step: int | None
    violated: tuple[int, ...]
    missing: tuple[str, ...]
    explanation: str
    ended: str
    calls: int
    turns: int | None
    misread: int
    request: str
    answer: str


class TaskRow(SpendingRow, frozen=True, kw_only=True):
    task: str
    agent: str
    model: str | None
    kind: str
    domain: str
    split: str
    verdict: str
    why: tuple[str, ...]
    ended: str | None
    calls: int
    request: str
    answer: str


class FindingRow(Row, frozen=True, kw_only=True):
    """`calls` is the JSON text of the smallest calls that show it, `arguments` what the last one is given."""

    finding: str
    tool: str
    kind: str
    error: str
    where: str
    message: str
    why: str
    arguments: str
    calls: str
    found_after: int
    seen: int
    replayed: int
    reproduced: int
    origin: str
    request: str
    cause: str
    confirmed: bool


class SetRow(Row, frozen=True, kw_only=True):
    set: str
    tool: str
    verdict: str
    why: str
    requests: tuple[str, ...]
    calls: int


class GroupRow(SpendingRow, frozen=True, kw_only=True):
    group: str
    tools: tuple[str, ...]
    offered: tuple[str, ...]
    verdict: str
    requests: int
    judged: int
    activating: int
    calls: int


class FixRow(SpendingRow, frozen=True, kw_only=True):
    tool: str
    verdict: str
    better: bool
    candidates: int
    attempts: int
    calls: int


def columns(kind: type[Row]) -> dict[str, Any]:
    """The names and types of a table's columns; what was spent comes last."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    spent = [
        name for name in SpendingRow.__struct_fields__ if issubclass(kind, SpendingRow) and name != "run"
    ]
    return {name: fields[name] for name in (*[each for each in fields if each not in spent], *spent)}


class Subject(msgspec.Struct, frozen=True):
    """The run that rows are about."""

    run: str
    agent: str
    model: str | None
    price: Price


def case_row(subject: Subject, outcome: Outcome) -> CaseRow:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    turns = {call.turn for call in transcript.calls if call.turn is not None}
    return CaseRow(
        run=subject.run,
        agent=subject.agent,
        model=subject.model,
        case=case.id,
        topic=case.topic,
        seed=case.seed,
        families=tuple(families_of(case)),
        actions=len(case.actions),
        constraints=len(case.constraints),
        distractors=len(case.distractors),
        chance=case.chance,
        text_order=bool(outcome.baselines.text_order) if outcome.baselines else None,
        ignores_family=bool(outcome.baselines.ignores_family) if outcome.baselines else None,
        verdict=verdict.verdict,
        error=verdict.error,
        step=verdict.step,
        violated=verdict.violated,
        missing=verdict.missing,
        explanation=verdict.explanation,
        ended=transcript.ended,
        calls=len(transcript.calls),
        turns=len(turns) or None,
        misread=transcript.misread,
        request=case.query,
        answer=transcript.answer,
        **_spent(subject, {"agent": transcript.usage}, outcome.seconds),
    )


def task_row(subject: Subject, report: TaskReport) -> TaskRow:
    trial = report.trial
    return TaskRow(
        run=subject.run,
        agent=subject.agent,
        model=subject.model,
        task=report.name,
        kind=report.kind,
        domain=report.domain,
        split=report.split,
        verdict=report.verdict,
        why=report.why,
        ended=trial.ended if trial else None,
        calls=report.calls,
        request=report.request,
        answer=trial.answer if trial else "",
        **_spent(subject, report.usage, report.seconds),
    )


def finding_rows(subject: Subject, report: ToolReport) -> Iterator[FindingRow]:
    for finding in (*ranked(report.findings), *ranked(report.unconfirmed)):
        yield FindingRow(
            run=subject.run,
            finding=finding.id,
            tool=finding.tool,
            kind=finding.kind,
            error=finding.error,
            where=finding.where,
            message=finding.message,
            why=finding.why,
            arguments=finding.calls[-1].arguments if finding.calls else "",
            calls=msgspec.json.encode(finding.calls).decode(),
            found_after=finding.found_after,
            seen=finding.seen,
            replayed=finding.replayed,
            reproduced=finding.reproduced,
            origin=finding.origin,
            request=finding.request,
            cause=finding.cause,
            confirmed=finding.reproduced > 0,
        )


def set_rows(subject: Subject, report: ConsistencyReport) -> Iterator[SetRow]:
    for each in report.sets:
        yield SetRow(
            run=subject.run,
            set=each.id,
            tool=report.name,
            verdict=each.verdict,
            why=each.why,
            requests=each.requests,
            calls=each.calls,
        )


def group_row(subject: Subject, report: GroupReport) -> GroupRow:
    return GroupRow(
        run=subject.run,
        group=report.name,
        tools=report.tools,
        offered=report.offered,
        verdict=report.verdict,
        requests=len(report.requests),
        judged=len(report.judged),
        activating=len(report.activating),
        calls=report.calls,
        **_spent(subject, report.usage, report.seconds),
    )


def fix_row(subject: Subject, report: FixReport) -> FixRow:
    return FixRow(
        run=subject.run,
        tool=report.tool,
        verdict=report.verdict,
        better=report.is_better,
        candidates=len(report.candidates),
        attempts=len(report.attempts),
        calls=report.calls,
        **_spent(subject, report.usage, report.seconds),
    )


def _spent(subject: Subject, usage: dict[str, Usage], seconds: float) -> dict[str, Any]:
    total = sum(usage.values(), Usage())
    costs = [subject.price(role, each) for role, each in usage.items()]
    usd = None if None in costs else round(sum(cost for cost in costs if cost is not None), 9)
    return {
        "input_tokens": total.input,
        "output_tokens": total.output,
        "cached_tokens": total.cached,
        "usd": usd,
        "seconds": seconds,
    }
