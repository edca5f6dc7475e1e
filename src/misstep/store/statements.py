"""What a run says to the database for every outcome, in as few words as possible."""

from collections.abc import Sequence

import sqlalchemy as sa

from misstep.store.rows import SLIM, Row

_AT_ONCE = 80  # rows in a statement: some builds of SQLite take no more than 999 values


class Statements:
    """Statements in the words of one driver: putting them together anew would take longer than their work."""

    def __init__(self, dialect: sa.Dialect) -> None:
        mark = "?" if dialect.paramstyle == "qmark" else "%s"
        self._place = f"({', '.join([mark] * len(SLIM))})"
        self._beginning = f"INSERT INTO outcomes ({', '.join(SLIM)}) VALUES "
        self._end = " ON CONFLICT DO NOTHING RETURNING case_id, number"
        self._document = f"INSERT INTO records (outcome, document) VALUES ({mark}, {mark})"
        self._spent = f"UPDATE sittings SET spent = {mark} WHERE number = {mark}"

    def add(self, connection: sa.Connection, run: int, rows: Sequence[Row]) -> list[int | None]:
        """The number that each row got, or None where its case had an outcome already."""
        numbers: dict[str, int] = {}
        for start in range(0, len(rows), _AT_ONCE):
            numbers |= self._add_slim(connection, run, rows[start : start + _AT_ONCE])
        places = [numbers.pop(row.key, None) for row in rows]
        pairs = zip(places, rows, strict=True)
        if documents := [(place, row.document) for place, row in pairs if place is not None]:
            connection.exec_driver_sql(self._document, documents)
        return places

    def spend(self, connection: sa.Connection, sitting: int, spent: bytes) -> None:
        connection.exec_driver_sql(self._spent, (spent, sitting))

    def _add_slim(self, connection: sa.Connection, run: int, rows: Sequence[Row]) -> dict[str, int]:
        statement = self._beginning + ", ".join([self._place] * len(rows)) + self._end
        values = tuple(value for row in rows for value in (run, *row.slim))
        return {row[0]: row[1] for row in connection.exec_driver_sql(statement, values)}
