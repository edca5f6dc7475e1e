"""Run all benchmarks (`make bench`), print the results and write them to RESULTS.md."""

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.capability import capability_rows
from benchmarks.clients import client_rows
from benchmarks.contracts import contract_rows
from benchmarks.dissection import dissection_rows
from benchmarks.distance import distance_rows
from benchmarks.families import family_rows
from benchmarks.fuzzing import found_table, fuzzing_rows
from benchmarks.inspection import inspection_rows
from benchmarks.judging import judging_rows
from benchmarks.measure import Effort, Row, as_markdown, as_text
from benchmarks.memory import memory_rows
from benchmarks.pages import page_rows
from benchmarks.running import import_rows, loop_rows
from benchmarks.servers import server_rows
from benchmarks.startup import startup_rows
from benchmarks.storing import storing_rows
from benchmarks.synthesis import chance_rows, synthesis_rows
from benchmarks.tasks import task_rows

RESULTS = Path(__file__).parent / "RESULTS.md"
QUICK = Effort(repeats=3, scale=0.1)
MEASURED = (
    synthesis_rows,
    judging_rows,
    family_rows,
    capability_rows,
    dissection_rows,
    fuzzing_rows,
    contract_rows,
    server_rows,
    task_rows,
    import_rows,
    startup_rows,
    loop_rows,
    inspection_rows,
    distance_rows,
    client_rows,
    memory_rows,
    storing_rows,
    page_rows,
    chance_rows,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="smoke test with little work; does not write RESULTS.md"
    )
    quick = parser.parse_args().quick
    effort = QUICK if quick else Effort()
    rows = list(_measure(effort))
    print(as_text(rows))
    if not quick:
        RESULTS.write_text(_page(rows, effort), encoding="utf-8")
    missed = [row for row in rows if row.met is False or (row.unmeasured and not quick)]
    return 1 if missed else 0


def _measure(effort: Effort) -> Iterator[Row]:
    for rows in MEASURED:
        yield from rows(effort)


def _page(rows: list[Row], effort: Effort) -> str:
    where = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs"
    return f"""# Results

Written by `make bench` on {time.strftime("%Y-%m-%d")}: {where}.

{as_markdown(rows)}

Unless a row says otherwise, rates and times are CPU time on one core, the best of {effort.repeats} batches.
Rows without a mark are for information.

{found_table(effort)}
"""


if __name__ == "__main__":
    sys.exit(main())
