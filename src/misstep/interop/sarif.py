"""Flaws as SARIF 2.1.0, which code scanning shows beside the lines that they are about."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from misstep.core.run_report import Issue, RunReport, SourceLocation
from misstep.core.verdict import Judgement
from misstep.core.words import cut
from misstep.interop.rules import Rule, rules_of
from misstep.report.text import plain_lines

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"
# What GitHub takes.
MOST_RESULTS = 25_000
MOST_BYTES = 10_000_000
TAIL = 1 << 18  # bytes kept for what comes after the results
MOST_NOTES = 100
TEXT = 4_000  # characters


def sarif(statement: RunReport, root: Path) -> Iterator[str]:
    """The document in pieces; files below the root of the repository are named by their way from there.

    Flaws beyond what GitHub takes are left out, and counted in a notification.
    """
    rules = rules_of(statement.families)
    numbers = {name: number for number, name in enumerate(rules)}
    head = json.dumps({"driver": _driver(rules)})
    start = f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{"tool": {head},\n"results": ['
    yield start
    written, kept, left = len(start), 0, 0
    for flaw in _flaws(statement):
        result = json.dumps(_result(flaw, numbers, statement.run, root))
        if kept >= MOST_RESULTS or written + len(result) + TAIL > MOST_BYTES:
            left += 1
            continue
        yield f"{',' if kept else ''}\n{result}"
        kept, written = kept + 1, written + len(result) + 2
    yield f"\n],\n{_closing(statement, left)}}}]}}\n"


def find_root(start: Path) -> Path:
    """The folder of the repository that a folder is in; the folder itself where there is none."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def _flaws(statement: RunReport) -> Iterator[Issue]:
    return (flaw for entry in statement.entries("failed") for flaw in entry.flaws)


def _driver(rules: dict[str, Rule]) -> dict[str, Any]:
    return {
        "name": "misstep",
        "semanticVersion": version("misstep"),
        "rules": [
            {
                "id": name,
                "name": rule.name,
                "shortDescription": {"text": rule.about},
                "fullDescription": {"text": rule.about},
                "help": {"text": rule.help},
                "defaultConfiguration": {"level": rule.level},
            }
            for name, rule in rules.items()
        ],
    }


def _result(flaw: Issue, numbers: dict[str, int], run: str, root: Path) -> dict[str, Any]:
    return {
        "ruleId": flaw.rule,
        **({"ruleIndex": numbers[flaw.rule]} if flaw.rule in numbers else {}),
        **({"level": "error"} if flaw.rule not in numbers else {}),
        "message": {"text": _escaped(_told(flaw))},
        "locations": [_location(flaw, root)],
        "partialFingerprints": {"misstep/v1": _fingerprint(flaw)},
        "properties": {"run": run, "id": flaw.id, "calls": list(flaw.calls), "replay": flaw.replay},
    }


def _told(flaw: Issue) -> str:
    parts = [f"{flaw.subject}: {flaw.title}.", flaw.text]
    parts += [f"Misstep: {flaw.misstep}"] if flaw.misstep else []
    parts += [f"Call: {call}" for call in flaw.calls[-1:]]
    parts += [f"Again: {flaw.replay}"] if flaw.replay else []
    return plain_lines("\n".join(filter(None, parts)), TEXT)


def _escaped(text: str) -> str:
    """No text is a link or has a place for arguments, which brackets and braces would make of it."""
    return re.sub(r"([\\\[\]])", r"\\\1", text).replace("{", "{{").replace("}", "}}")


def _fingerprint(flaw: Issue) -> str:
    return sha256(f"{flaw.rule}\0{flaw.identity}".encode("utf-8", "replace")).hexdigest()[:32]


def _location(flaw: Issue, root: Path) -> dict[str, Any]:
    logical = {"name": flaw.subject or "agent", "kind": "function" if flaw.spot else "object"}
    place = {"physicalLocation": _physical(flaw.spot, root)} if flaw.spot else {}
    return {**place, "logicalLocations": [logical]}


def _physical(spot: SourceLocation, root: Path) -> dict[str, Any]:
    path = Path(os.path.realpath(spot.file))
    try:
        inside = path.relative_to(os.path.realpath(root)).as_posix()
        artifact = {"uri": quote(inside), "uriBaseId": ROOT}
    except ValueError:
        artifact = {"uri": path.as_uri()}
    return {"artifactLocation": artifact, "region": {"startLine": spot.line}}


def _closing(statement: RunReport, left: int) -> str:
    notes = [*_notifications(statement, left)]
    invocation = {
        "executionSuccessful": not statement.unfinished,
        "startTimeUtc": datetime.fromtimestamp(statement.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "toolExecutionNotifications": notes,
    }
    rest = {
        "invocations": [invocation],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "automationDetails": {"id": f"misstep/{statement.command.replace(' ', '-')}/"},
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps(rest)[1:-1]


def _notifications(statement: RunReport, left: int) -> Iterator[dict[str, Any]]:
    """What could not be judged, and what there was no room for: none of it is a finding."""
    if statement.unfinished:
        yield _note(statement.unfinished, "error")
    if left:
        yield _note(
            f"{left:,} more results were left out: there is room for {MOST_RESULTS:,}, and 10 MB", "warning"
        )
    unclear: tuple[Judgement, ...] = ("errored", "inconclusive")
    for verdict in unclear:
        for entry in islice(statement.entries(verdict), MOST_NOTES):
            yield _note(f"{entry.name} {verdict}: {cut(entry.reason, 500)}", "warning")
        if statement.counts[verdict] > MOST_NOTES:
            yield _note(f"{statement.counts[verdict]:,} {verdict} in all", "warning")


def _note(text: str, level: str) -> dict[str, Any]:
    return {"message": {"text": _escaped(plain_lines(text, TEXT))}, "level": level}
