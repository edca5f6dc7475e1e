"""The first tables: whole outcomes, one row each."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("started", sa.Float, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("settings", sa.LargeBinary, nullable=False),
        sa.Column("summary", sa.LargeBinary),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "outcomes",
        sa.Column("run", sa.String, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("case_id", sa.String, primary_key=True),
        sa.Column("verdict", sa.String, nullable=False),
        sa.Column("error", sa.String),
        sa.Column("outcome", sa.LargeBinary, nullable=False),
    )
