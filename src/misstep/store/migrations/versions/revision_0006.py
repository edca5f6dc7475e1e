"""Outcomes tell whether agents that don't plan pass their cases; of those kept before, nobody knows."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for name in ("text_order", "ignores_family"):
        op.add_column("outcomes", sa.Column(name, sa.Float))
