"""A stored run as a table: what its rows are depends on what the run was made of."""

from collections.abc import Iterator

import msgspec

from misstep.api.costs import may_price, price_of
from misstep.api.models import model_name
from misstep.core.benchmark import TaskReport
from misstep.core.consistency import ConsistencyReport
from misstep.core.crosstalk import GroupReport
from misstep.core.fixing import FixReport
from misstep.core.run_spec import BENCHMARKS
from misstep.interop.tables import rows
from misstep.interop.tables.rows import Row, Subject
from misstep.store.runs import Store


class Table(msgspec.Struct, frozen=True):
    """The rows of a run, one after the other; `kind` is what all of them are."""

    run: str
    kind: type[Row]
    rows: Iterator[Row]


def table_of(store: Store, name: str) -> Table:
    """The rows come while the store is open."""
    run = store.find_run(name)
    price = price_of(run.settings) if may_price(run) else lambda *_: None
    subject = Subject(run.id, run.settings.agent, model_name(run.settings), price)
    verb = run.purpose.verb
    if verb == "fuzz":
        reports = store.tool_reports(run.id)
        return Table(
            run.id, rows.FindingRow, (row for each in reports for row in rows.finding_rows(subject, each))
        )
    if verb == "consistency":
        sets = store.tool_documents(run.id, ConsistencyReport)
        return Table(run.id, rows.SetRow, (row for each in sets for row in rows.set_rows(subject, each)))
    if verb == "crosstalk":
        groups = store.tool_documents(run.id, GroupReport)
        return Table(run.id, rows.GroupRow, (rows.group_row(subject, each) for each in groups))
    if verb == "fix":
        fixes = store.tool_documents(run.id, FixReport)
        return Table(run.id, rows.FixRow, (rows.fix_row(subject, each) for each in fixes))
    if verb in BENCHMARKS:
        tasks = store.tool_documents(run.id, TaskReport)
        return Table(run.id, rows.TaskRow, (rows.task_row(subject, each) for each in tasks))
    return Table(run.id, rows.CaseRow, (rows.case_row(subject, each) for each in store.outcomes(run.id)))
