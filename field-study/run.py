"""Fuzz the packages of the study and store what was found.

python field-study/run.py [--only NAME]... [--calls N] [--seed S] [--minutes M]
"""

import argparse
import json
import subprocess
import sys
from typing import Any

from packages import HERE, STORES, Package, cut, packages, write_lines

SPARE = 300  # seconds that installing and starting a server can take


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="Package; repeatable (default: all).")
    parser.add_argument("--calls", type=int, default=40, help="Calls per tool.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10, help="Time per package.")
    given = parser.parse_args()
    STORES.mkdir(exist_ok=True)
    for package in packages(tuple(given.only)):
        print(f"{package.name}: {_study(package, given.calls, given.seed, given.minutes * 60)}", flush=True)


def _study(package: Package, calls: int, seed: int, seconds: float) -> str:
    """Fuzz one package; says in words how that ended."""
    package.store.unlink(missing_ok=True)
    options = (f"--calls-per-tool={calls}", f"--seed={seed}", f"--budget-time={seconds:.0f}s", "--jobs=1")
    shown = ("--json", "--display=none", "--fail-on=none", f"--store={package.store}")
    shown = (*shown, "--emit=pytest", f"--out={STORES / f'test_{package.key}.py'}")
    if package.python:
        shown = (*shown, f"--python={package.python}")
    command = [sys.executable, "-m", "misstep", "tool", "fuzz", package.spec, *options, *shown]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=seconds + SPARE, check=False, cwd=HERE.parent
        )
        report = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return "no result in time"
    except json.JSONDecodeError:
        return f"no result: {' '.join(done.stderr.decode(errors='replace').split())[-400:]}"
    kept = {"package": package.name, "version": package.version, "seed": seed, "calls_per_tool": calls}
    write_lines(package.file, {**kept, **_brief(report)})
    return f"{report['calls']} calls, {report['accepted']} accepted, {len(report['causes'])} causes"


def _brief(report: dict[str, Any]) -> dict[str, Any]:
    """What readers need of a report, with all calls of the first finding of each cause."""
    findings = {each["id"]: each for tool in report["tools"] for each in tool["findings"]}
    causes = [
        {
            **_picked(findings[cause["places"][0]["finding"]], "id tool kind error where message why calls"),
            "tools": [each["tool"] for each in cause["places"]],
        }
        for cause in report["causes"]
    ]
    counts = [
        {
            **_picked(each, "name calls accepted refused environment tested ended"),
            "refusals": [_refusal(refusal) for refusal in each["refusals"]],
        }
        for each in report["tools"]
    ]
    return {**_picked(report, "calls accepted seconds"), "tools": counts, "causes": causes}


def _refusal(refusal: dict[str, Any]) -> dict[str, Any]:
    """Why a tool refused calls, so that readers see what keeps it closed."""
    return {**_picked(refusal, "message seen"), "arguments": cut(json.dumps(refusal["arguments"]))}


def _picked(values: dict[str, Any], names: str) -> dict[str, Any]:
    picked = {name: values[name] for name in names.split()}
    return {name: cut(value) if isinstance(value, str) else value for name, value in picked.items()}


if __name__ == "__main__":
    main()
