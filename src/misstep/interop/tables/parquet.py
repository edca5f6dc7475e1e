"""Rows as Parquet, with proper types, a group of rows in memory at a time."""

import types
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import IO, Any, get_args, get_origin

from misstep.core.transcript import storable
from misstep.errors import MissingExtra
from misstep.interop.tables.rows import Row, columns

GROUP = 1_000  # rows


def check_parquet() -> None:
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", "parquet")


def write_parquet(file: IO[bytes], kind: type[Row], rows: Iterable[Row]) -> None:
    check_parquet()
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    schema = pyarrow.schema([_column(pyarrow, *each) for each in columns(kind).items()])
    with ParquetWriter(file, schema, compression="zstd") as writer:
        for some in _in_groups(rows):
            table = {name: [_stored(getattr(row, name)) for row in some] for name in schema.names}
            writer.write_table(pyarrow.table(table, schema=schema))


def _in_groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while some := list(islice(left, GROUP)):
        yield some


def _column(pyarrow: Any, name: str, kind: Any) -> Any:
    kind, optional = _without_none(kind)
    if get_origin(kind) is tuple:
        made = pyarrow.list_(_plain(pyarrow, get_args(kind)[0]))
    else:
        made = _plain(pyarrow, kind)
    return pyarrow.field(name, made, nullable=optional)


def _plain(pyarrow: Any, kind: type) -> Any:
    return {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }[kind]


def _without_none(kind: Any) -> tuple[Any, bool]:
    if isinstance(kind, types.UnionType):
        (other,) = [each for each in get_args(kind) if each is not type(None)]
        return other, True
    return kind, False


def _stored(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    return [_stored(each) for each in value] if isinstance(value, tuple) else value
