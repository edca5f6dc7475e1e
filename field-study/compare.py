"""Run mcp-fuzzer beside misstep: the same servers in the same sandbox, and as many calls of each tool.

    python field-study/compare.py --fuzzer VENV/bin/mcp-fuzzer [--only NAME]...

`mcp-fuzzer/` gets the counts for each tool, and for each sort of finding how many there are and how many of
their inputs the tool's schema allows.
"""

import argparse
import asyncio
import json
import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from packages import HERE, Package, cut, packages, write_lines
from repeat import make_files, parameters_of, tools_of

from misstep.schemas.schema import fits

FUZZER = "0.7.0"  # the version of mcp-fuzzer that the page is about
COMPARED = HERE / "mcp-fuzzer"
OPTIONS = ("--phase", "both", "--seed", "0", "--no-safety", "--max-concurrency", "1")
PHASES = 2  # in which each tool gets the number of calls that it is given
PATIENCE = 600  # seconds for a server
# Those of the page.
SERVERS = (
    "mcp-server-sqlite", "mcp-server-duckdb", "mcp-server-git", "mcp-json", "mcp-starter",
    "@modelcontextprotocol/server-debug", "@itseasy21/mcp-knowledge-graph", "mcp-server-code-runner",
    "dice-roller-mcp", "mcp-server-calculator", "mcp-server-math", "mcp-server-time",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fuzzer", required=True, help=f"The program of mcp-fuzzer {FUZZER}.")
    parser.add_argument(
        "--only", action="append", default=[], help="Package; repeatable (default: the page's)."
    )
    given = parser.parse_args()
    for package in packages(tuple(given.only) or SERVERS):
        print(f"{package.name}: {_compare(package, given.fuzzer)}", flush=True)


def _compare(package: Package, fuzzer: str) -> str:
    """Run mcp-fuzzer on one server and store its counts; says in words how that ended."""
    if not (result := package.result()):
        return "not in the study"
    calls, server = result["calls_per_tool"], package.server()
    tools = asyncio.run(tools_of(server))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        started = parameters_of(server, Path(root))
        make_files(tools, Path(root) / "work")
        began, reports = time.monotonic(), Path(root) / "reports"
        endpoint = shlex.join([started.command, *started.args])
        where = ("--mode", "tools", "--protocol", "stdio", "--endpoint", endpoint, "--output-dir", reports)
        command = (fuzzer, *OPTIONS, "--runs", str(calls // PHASES), *where)
        # It remembers inputs in its home, which would make the next run another one.
        environment = {"PATH": os.environ["PATH"], "HOME": root}
        try:
            subprocess.run(command, capture_output=True, timeout=PATIENCE, cwd=root, env=environment)
            summary, found = (
                json.loads((reports / f"{name}.json").read_bytes()) for name in ("run_summary", "findings")
            )
        except (subprocess.TimeoutExpired, FileNotFoundError) as error:
            return f"no result: {cut(str(error))[-200:]}"
    counts = [{"tool": name, **each["outcomes"]} for name, each in summary["tools"]["by_name"].items()]
    failures = sum(each["failures"] for each in summary["tools"]["by_name"].values())
    about = {"package": package.name, "version": package.version, "calls_per_tool": calls}
    totals = {"seconds": round(time.monotonic() - began), "failures": failures, "findings": found["count"]}
    sorts = _sorts(found["findings"], {tool["name"]: tool["inputSchema"] for tool in tools})
    write_lines(COMPARED / package.file.name, {**about, **totals, "tools": counts, "sorts": sorts})
    return f"{failures} failures, {found['count']} findings"


def _sorts(found: list[dict[str, Any]], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings of each category and tool: how many, how many with allowed inputs, and the first one."""
    sorts = dict[tuple[str, str], dict[str, Any]]()
    for each in found:
        evidence, tool = each.get("evidence") or {}, each["target"]
        sort = {"category": each["category"], "tool": tool, "count": 0, "allowed": 0}
        sort |= {"input": cut(json.dumps(evidence.get("input"))), "detail": cut(each["detail"])}
        sort = sorts.setdefault((each["category"], tool), sort)
        sort["count"] += 1
        # A reflection of an input is reported without the input.
        sort["allowed"] += "input" in evidence and fits(schemas.get(tool, {}), evidence["input"]) is None
    return list(sorts.values())


if __name__ == "__main__":
    main()
