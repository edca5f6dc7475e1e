"""A run says what it is for, and what it has found out; those that don't are tests."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("runs", sa.Column("purpose", sa.LargeBinary))
    op.add_column("runs", sa.Column("result", sa.LargeBinary))
