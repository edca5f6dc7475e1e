"""Better words for tools, for programs to read."""

from collections.abc import Mapping
from typing import Any

from misstep.core.fixing import ORIGINAL, Candidate, FixReport, FixRun, Part


def fix_as_json(run: FixRun, diffs: Mapping[str, str], override: str) -> dict[str, Any]:
    return {
        "run": run.run,
        "from": run.source,
        "specs": list(run.specs),
        "tools": [_tool(report, diffs.get(report.name, "")) for report in run.tools],
        "better": [report.tool for report in run.better],
        "override": override,
        "seconds": run.seconds,
        "usd": run.usd,
    }


def _tool(report: FixReport, diff: str) -> dict[str, Any]:
    duel, chosen = report.duel, report.chosen
    requests = {each.id: each.request for each in report.trying}
    return {
        "tool": report.tool,
        "ended": report.ended,
        "better": report.is_better,
        "original": {"description": report.original.description, "parameters": report.original.parameters},
        "candidates": [_candidate(report, each) for each in report.candidates],
        "chosen": chosen.number if chosen else None,
        "validation": _standing(report, ORIGINAL, "validation"),
        "before": _standing(report, ORIGINAL, "test") if chosen else None,
        "after": _standing(report, chosen.number, "test") if chosen else None,
        "p": duel.p if duel else None,
        "gained": [requests[each] for each in duel.gained] if duel else [],
        "regressions": [requests[each] for each in duel.lost] if duel else [],
        "diff": diff,
        "notes": list(report.notes),
        "seconds": report.seconds,
    }


def _candidate(report: FixReport, candidate: Candidate) -> dict[str, Any]:
    wording = candidate.wording
    return {
        "number": candidate.number,
        "strategy": candidate.strategy,
        "description": wording.description if wording else None,
        "parameters": wording.parameters if wording else {},
        "why": candidate.why,
        "tried": list(candidate.tried),
        "validation": _standing(report, candidate.number, "validation") if wording else None,
    }


def _standing(report: FixReport, number: int, part: Part) -> dict[str, Any]:
    found = report.standing(number, part)
    rate = found.rate
    return {
        "passed": rate.passed,
        "judged": rate.judged,
        "rate": rate.rate,
        "interval": list(rate.interval),
        "inconclusive": rate.inconclusive,
        "errored": rate.errored,
        "steps": found.steps,
        "tokens": found.tokens,
    }
