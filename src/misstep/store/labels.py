"""Labels as rows: one for each item of a run and each person who labels."""

import sqlalchemy as sa

from misstep.core.label import Label
from misstep.store.rows import key_of
from misstep.store.schema import labels

_PUT = sa.text(
    "INSERT INTO labels (run, item, labeller, erroneous, at) VALUES (:run, :item, :labeller, :erroneous, :at)"
    " ON CONFLICT (run, item, labeller) DO UPDATE SET erroneous = excluded.erroneous, at = excluded.at"
)


def put(connection: sa.Connection, run: int, label: Label) -> None:
    """Keep a label, in the place of what the same person said about the same item before."""
    key = {"run": run, "item": key_of(label.item), "labeller": key_of(label.labeller)}
    connection.execute(_PUT, {**key, "erroneous": label.erroneous, "at": label.at})


def select(connection: sa.Connection, run: int) -> list[Label]:
    """All labels of a run in the order in which items were first labelled."""
    query = sa.select(labels).where(labels.c.run == run).order_by(labels.c.number)
    return [Label(row.item, row.labeller, row.erroneous, row.at) for row in connection.execute(query)]
