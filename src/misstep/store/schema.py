"""The tables of the store, the same in every database."""

import sqlalchemy as sa

from misstep.store.checked import Document, Flag, Large, Real, Text, Whole

STORE_VERSION = 6

metadata = sa.MetaData()

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # there, only an INTEGER counts up by itself

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", Text, nullable=False, unique=True),
    sa.Column("started", Real, nullable=False),
    sa.Column("total", Whole, nullable=False),
    sa.Column("settings", Document, nullable=False),
    sa.Column("summary", Document),
    sa.Column("digest", Document),
    sa.Column("purpose", Document),
    sa.Column("result", Document),
    sqlite_autoincrement=True,
)

# What is summed up and listed; numbered in the order of arrival.
outcomes = sa.Table(
    "outcomes",
    metadata,
    sa.Column("number", _Number, autoincrement=True),
    sa.Column("run", Whole, nullable=False),
    sa.Column("case_id", Text, nullable=False),
    sa.Column("verdict", Text, nullable=False),
    sa.Column("error", Text),
    sa.Column("chance", Real),
    sa.Column("calls", Whole, nullable=False),
    sa.Column("input", Large, nullable=False),
    sa.Column("output", Large, nullable=False),
    sa.Column("cached", Large, nullable=False),
    sa.Column("seconds", Real, nullable=False),
    sa.Column("fingerprint", Document, nullable=False),
    sa.Column("text_order", Real),
    sa.Column("ignores_family", Real),
    sa.PrimaryKeyConstraint("number", name="outcome_numbers"),
    sa.ForeignKeyConstraint(["run"], ["runs.number"], name="outcome_of_run"),
    sa.UniqueConstraint("run", "case_id", name="one_outcome_per_case"),
    sa.Index("outcomes_by_arrival", "run", "number"),
    sa.Index("outcomes_by_verdict", "run", "verdict", "number"),
)

# The outcomes themselves, apart, so that sums and lists never read them.
records = sa.Table(
    "records",
    metadata,
    sa.Column("outcome", _Number, sa.ForeignKey("outcomes.number"), primary_key=True, autoincrement=False),
    sa.Column("document", Document, nullable=False),
)

# What was found out about a tool, a document each.
tool_reports = sa.Table(
    "tool_reports",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", Whole, sa.ForeignKey("runs.number"), nullable=False),
    sa.Column("tool", Text, nullable=False),
    sa.Column("document", Document, nullable=False),
    sa.UniqueConstraint("run", "tool", name="one_report_per_tool"),
)

# What people say about what runs have discovered.
labels = sa.Table(
    "labels",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", Whole, sa.ForeignKey("runs.number"), nullable=False),
    sa.Column("item", Text, nullable=False),
    sa.Column("labeller", Text, nullable=False),
    sa.Column("erroneous", Flag, nullable=False),
    sa.Column("at", Real, nullable=False),
    sa.UniqueConstraint("run", "item", "labeller", name="one_label_per_item_and_labeller"),
)

sittings = sa.Table(
    "sittings",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", Whole, sa.ForeignKey("runs.number"), nullable=False, index=True),
    sa.Column("started", Real, nullable=False),
    sa.Column("ended", Real),
    sa.Column("spent", Document, nullable=False),
)

# Where the version stands, as Alembic keeps it, should the tables ever have to be migrated.
alembic_version = sa.Table(
    "alembic_version",
    metadata,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
