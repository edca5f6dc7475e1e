"""Measures how long one run of `misstep tool fuzz` over ten MCP servers takes, by default and on two cores.

usage: python -m benchmarks.many_servers [--only PACKAGE]…

The servers have pinned versions, those of `field-study/packages.toml`. They are installed before the clock
starts, which needs the network and npx and uvx; not part of `make bench`, because the run takes minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tomllib import loads
from typing import Any

from benchmarks.measure import Mark, Row, as_text
from misstep.adapters.toolset.spec import servers_to_start

LISTED = Path(__file__).parent.parent / "field-study/packages.toml"
PACKAGES = (
    "@bitbonsai/mcpvault",
    "@kazuph/mcp-taskmanager",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "ai-journal-mcp",
    "mcp-csv-database",
    "mcp-todo",
    "mcpzoo-regex",
    "subnet-calculator-mcp",
    "todo-txt-mcp",
)
CORES = 2
MARK = Mark("≤", 900)
PATIENCE = 3600.0  # seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_servers", description=__doc__)
    parser.add_argument("--only", action="append", choices=PACKAGES, default=[])
    names = tuple(parser.parse_args().only) or PACKAGES
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    specs = _installed(names)
    with tempfile.TemporaryDirectory() as folder:
        seconds, report = _fuzzed(specs, folder)
    rows = list(_rows(seconds, report, names))
    print(as_text(rows))
    return 1 if any(row.met is False or row.unmeasured for row in rows) else 0


def _installed(names: Sequence[str]) -> list[str]:
    """The SPECs of packages, which are installed unless they are there."""
    specs = {each["name"]: each["spec"] for each in loads(LISTED.read_text(encoding="utf-8"))["package"]}
    for name in names:
        servers_to_start(specs[name])
    return [specs[name] for name in names]


def _fuzzed(specs: Sequence[str], folder: str) -> tuple[float, Mapping[str, Any]]:
    """Seconds by the clock, and the report."""
    shown = ("--json", "--display", "none", "--fail-on", "none", "--store", str(Path(folder, "runs.db")))
    command = [sys.executable, "-m", "misstep", "tool", "fuzz", *specs, *shown]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    seconds = time.perf_counter() - began
    if not done.stdout:
        raise SystemExit(done.stderr)
    return seconds, json.loads(done.stdout)


def _rows(seconds: float, report: Mapping[str, Any], names: Sequence[str]) -> Iterator[Row]:
    """The time, which means nothing if a server or a tool was not called; then what was done in it."""
    uncalled = sum(not tool["calls"] for tool in report["tools"])
    how = f"{len(names)} servers, default settings, {CORES} cores, without installing"
    yield Row(f"fuzzing {len(names)} servers in one run", None if uncalled else seconds, "s", how, MARK)
    yield Row("… tools and servers without a call", uncalled, "", "the same run")
    yield Row("… tools without an accepted call", len(report["untested"]), "", "the same run")
    yield Row(
        "… tools", len(report["tools"]), "", "the same run, those of a server together count as one more"
    )
    yield Row("… calls", report["calls"], "", "the same run, without confirming and minimising")
    yield Row("… causes found", len(report["causes"]), "", "the same run")


if __name__ == "__main__":
    sys.exit(main())
