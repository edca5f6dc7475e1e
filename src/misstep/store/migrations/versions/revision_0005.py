"""People label what runs have discovered."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "labels",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.Integer, sa.ForeignKey("runs.number"), nullable=False),
        sa.Column("item", sa.String, nullable=False),
        sa.Column("labeller", sa.String, nullable=False),
        sa.Column("erroneous", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.UniqueConstraint("run", "item", "labeller", name="one_label_per_item_and_labeller"),
    )
