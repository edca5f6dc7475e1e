"""Runs that fuzz tools keep a report on each."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "tool_reports",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.Integer, sa.ForeignKey("runs.number"), nullable=False),
        sa.Column("tool", sa.String, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("run", "tool", name="one_report_per_tool"),
    )
