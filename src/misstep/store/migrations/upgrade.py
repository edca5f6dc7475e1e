"""The only place that drives Alembic, which is loaded when there is something to migrate."""

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


def upgrade(connection: sa.Connection, revision: str = "base") -> None:
    """Bring the tables from a revision to the newest, within the transaction that is under way."""
    config = Config()
    config.set_main_option("script_location", "misstep.store:migrations")
    config.attributes["connection"] = connection
    if not sa.inspect(connection).has_table("alembic_version"):
        command.stamp(config, revision)
    command.upgrade(config, "head")
