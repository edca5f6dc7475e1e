"""Exports a run as flat rows, one named column per field, to CSV and Parquet."""

import csv
import io
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import IO, Any, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from misstep.core.case import families_of
from misstep.core.outcome import Outcome, Usage, storable
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ranked
from misstep.core.results.fixing import FixReport
from misstep.core.results.fuzzing import ToolReport
from misstep.errors import MissingExtra

# The cost of a role's tokens; None if no price is known.
Price: TypeAlias = Callable[[str, Usage], float | None]


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    run: str


class SpendingRow(TableRow, frozen=True, kw_only=True):
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None
    seconds: float


R = TypeVar("R", bound=TableRow)


class Table(msgspec.Struct, frozen=True):
    """The rows of a run, one after the other; `kind` is what all of them are."""

    kind: type["TableRow"]
    rows: Iterator["TableRow"]


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


class FindingRow(TableRow, frozen=True, kw_only=True):
    """`calls` is the JSON of the smallest calls that show it, `arguments` those of the last call."""

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


class SetRow(TableRow, frozen=True, kw_only=True):
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


def columns(kind: type[TableRow]) -> dict[str, Any]:
    """The names and types of a table's columns; costs come last."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    costs = {*SpendingRow.__struct_fields__} - {"run"}
    return {name: each for name, each in fields.items() if name not in costs} | fields


class RowSubject(msgspec.Struct, frozen=True):
    run: str
    agent: str
    model: str | None
    price: Price


def _row(kind: type[R], *sources: Any, **own: Any) -> R:
    """A row with these values; all others are those of the same name in one of the sources."""
    rest = [name for name in kind.__struct_fields__ if name not in own]
    found = {name: next(getattr(each, name) for each in sources if hasattr(each, name)) for name in rest}
    return kind(**found, **own)


def case_row(subject: RowSubject, outcome: Outcome) -> CaseRow:
    case, transcript, baselines = outcome.case, outcome.transcript, outcome.baselines
    turns = {call.turn for call in transcript.calls if call.turn is not None}
    return _row(
        CaseRow,
        subject,
        case,
        outcome.verdict,
        transcript,
        case=case.id,
        families=tuple(families_of(case)),
        actions=len(case.actions),
        constraints=len(case.constraints),
        distractors=len(case.distractors),
        text_order=bool(baselines.text_order) if baselines else None,
        ignores_family=bool(baselines.ignores_family) if baselines else None,
        calls=len(transcript.calls),
        turns=len(turns) or None,
        request=case.query,
        **_spent(subject, {"agent": transcript.usage}, outcome.seconds),
    )


def task_row(subject: RowSubject, report: TaskReport) -> TaskRow:
    trial = report.trial
    return _row(
        TaskRow,
        subject,
        report,
        task=report.name,
        ended=trial.ended if trial else None,
        answer=trial.answer if trial else "",
        **_spent(subject, report.usage, report.seconds),
    )


def finding_rows(subject: RowSubject, report: ToolReport) -> Iterator[FindingRow]:
    for finding in (*ranked(report.findings), *ranked(report.unconfirmed)):
        yield _row(
            FindingRow,
            subject,
            finding,
            finding=finding.id,
            arguments=finding.calls[-1].arguments if finding.calls else "",
            calls=msgspec.json.encode(finding.calls).decode(),
            confirmed=finding.reproduced > 0,
        )


def set_rows(subject: RowSubject, report: ConsistencyReport) -> Iterator[SetRow]:
    for each in report.sets:
        yield _row(SetRow, subject, each, set=each.id, tool=report.name)


def group_row(subject: RowSubject, report: GroupReport) -> GroupRow:
    return _row(
        GroupRow,
        subject,
        report,
        group=report.name,
        requests=len(report.requests),
        judged=len(report.judged),
        activating=len(report.activating),
        **_spent(subject, report.usage, report.seconds),
    )


def fix_row(subject: RowSubject, report: FixReport) -> FixRow:
    return _row(
        FixRow,
        subject,
        report,
        better=report.is_better,
        candidates=len(report.candidates),
        attempts=len(report.attempts),
        **_spent(subject, report.usage, report.seconds),
    )


def _spent(subject: RowSubject, usage: dict[str, Usage], seconds: float) -> dict[str, Any]:
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


# A text that a spreadsheet would run as a formula gets a leading apostrophe; numbers are never changed.
# Leading white space does not keep a spreadsheet from reading a formula. It may also follow any line break,
# if a program takes the break for the end of a row.
_FORMULA = re.compile(r"\A\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|\A[\t\r\n]")
_UNSEEN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f]")


def csv_lines(kind: type[TableRow], rows: Iterable[TableRow]) -> Iterator[bytes]:
    """The header, then a line for each row, in UTF-8 with CRLF."""
    names = list(columns(kind))
    yield _line(names)
    for row in rows:
        yield _line([_cell(getattr(row, name)) for name in names])


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """Lists become JSON, because names may contain any separator; None is an empty cell."""
    if isinstance(value, tuple):
        return harmless(json.dumps(value, ensure_ascii=False)) if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    text = _UNSEEN.sub("\ufffd", storable(text))
    return f"'{text}" if _FORMULA.match(text) else text


GROUP = 1_000  # rows in memory at a time


def check_parquet() -> None:
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", "parquet")


def write_parquet(file: IO[bytes], kind: type[TableRow], rows: Iterable[TableRow]) -> None:
    check_parquet()
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    schema = pyarrow.schema([_column(pyarrow, *each) for each in columns(kind).items()])
    with ParquetWriter(file, schema, compression="zstd") as writer:
        left = iter(rows)
        while some := list(islice(left, GROUP)):
            table = {name: [_stored(getattr(row, name)) for row in some] for name in schema.names}
            writer.write_table(pyarrow.table(table, schema=schema))


def _column(pyarrow: Any, name: str, kind: Any) -> Any:
    plain = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    optional = isinstance(kind, types.UnionType)
    if optional:
        (kind,) = [each for each in get_args(kind) if each is not type(None)]
    made = pyarrow.list_(plain[get_args(kind)[0]]) if get_origin(kind) is tuple else plain[kind]
    return pyarrow.field(name, made, nullable=optional)


def _stored(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    return [_stored(each) for each in value] if isinstance(value, tuple) else value
