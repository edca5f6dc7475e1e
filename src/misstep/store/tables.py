"""The tables of the store, the same in every database, and checks of the values read from their columns.

SQLite stores any value in any column, so each value is checked before it is used.
"""

import math
from decimal import Decimal
from typing import Any

from misstep.core.outcome import ERROR_KINDS

LARGEST = 10**18  # for counts and sums
LATEST = 2.5e11  # seconds; calendars don't go further


class OddValue(ValueError):
    """A value that misstep never writes to this column; the message says what it is."""


def odd(value: object, expected: str) -> OddValue:
    text = repr(value[:40] if isinstance(value, str | bytes) else value)[:60]
    return OddValue(f"expected {expected}, found {text}")


def check_text(value: object) -> Any:
    if isinstance(value, str):
        return value
    raise odd(value, "text")


def check_bytes(value: object) -> Any:
    if isinstance(value, bytes):
        return value
    raise odd(value, "a document")


def check_whole(value: object) -> Any:
    if isinstance(value, int | Decimal) and -LARGEST <= value <= LARGEST:
        return int(value)
    raise odd(value, "a whole number")


def check_real(value: object) -> Any:
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= LATEST:
        return float(value)
    raise odd(value, f"a number from 0 to {LATEST:g}")


def check_flag(value: object) -> Any:
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise odd(value, "true or false")


# By the name of a column, or of a count or sum in a query; a name means the same in all tables.
_BY_CHECK = {
    check_text: "id case_id verdict error tool item labeller name tags",
    check_bytes: "settings summary digest purpose result fingerprint document spent",
    check_whole: "number run total calls input output cached outcome cases compared tokens",
    check_real: "started ended chance text_order ignores_family seconds at",
    check_flag: "erroneous",
}
CHECKS = {name: check for check, names in _BY_CHECK.items() for name in names.split()}
CHECKS |= dict.fromkeys(ERROR_KINDS, check_whole)

STORE_VERSION = 7

# Names in braces are types that databases call differently. `records` holds the full outcomes, in a table of
# its own so that sums and lists never read them. Rows are numbered in order of arrival; SQLite numbers those
# of an INTEGER PRIMARY KEY. The version is in Alembic's format, in case the tables ever have to be migrated.
_TABLES = """
CREATE TABLE runs (
  number {number} NOT NULL PRIMARY KEY{never_reused},
  id VARCHAR NOT NULL UNIQUE,
  started FLOAT NOT NULL,
  total INTEGER NOT NULL,
  settings {bytes} NOT NULL,
  summary {bytes},
  digest {bytes},
  purpose {bytes},
  result {bytes},
  name VARCHAR DEFAULT '' NOT NULL,
  tags VARCHAR DEFAULT '' NOT NULL
);
CREATE TABLE outcomes (
  number {outcome_number} NOT NULL,
  run INTEGER NOT NULL,
  case_id VARCHAR NOT NULL,
  verdict VARCHAR NOT NULL,
  error VARCHAR,
  chance FLOAT,
  calls INTEGER NOT NULL,
  input BIGINT NOT NULL,
  output BIGINT NOT NULL,
  cached BIGINT NOT NULL,
  seconds FLOAT NOT NULL,
  fingerprint {bytes} NOT NULL,
  text_order FLOAT,
  ignores_family FLOAT,
  CONSTRAINT outcome_numbers PRIMARY KEY (number),
  CONSTRAINT outcome_of_run FOREIGN KEY (run) REFERENCES runs (number),
  CONSTRAINT one_outcome_per_case UNIQUE (run, case_id)
);
CREATE INDEX outcomes_by_arrival ON outcomes (run, number);
CREATE INDEX outcomes_by_verdict ON outcomes (run, verdict, number);
CREATE TABLE records (
  outcome {outcome_reference} NOT NULL PRIMARY KEY REFERENCES outcomes (number),
  document {bytes} NOT NULL
);
CREATE TABLE tool_reports (
  number {number} NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  tool VARCHAR NOT NULL,
  document {bytes} NOT NULL,
  CONSTRAINT one_report_per_tool UNIQUE (run, tool)
);
CREATE TABLE labels (
  number {number} NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  item VARCHAR NOT NULL,
  labeller VARCHAR NOT NULL,
  erroneous BOOLEAN NOT NULL,
  at FLOAT NOT NULL,
  CONSTRAINT one_label_per_item_and_labeller UNIQUE (run, item, labeller)
);
CREATE TABLE sittings (
  number {number} NOT NULL PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  started FLOAT NOT NULL,
  ended FLOAT,
  spent {bytes} NOT NULL
);
CREATE INDEX ix_sittings_run ON sittings (run);
CREATE TABLE alembic_version (
  version_num VARCHAR(32) NOT NULL,
  CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version (version_num) VALUES ('{version:04}')"""


def creation(types: dict[str, str]) -> list[str]:
    return _TABLES.format(**types, version=STORE_VERSION).split(";\n")
