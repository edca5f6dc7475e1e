"""Writes issues as SARIF 2.1.0, which code scanning shows next to the lines they are about."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from misstep.core.outcome import Judgement
from misstep.core.results.report import Issue, RunReport
from misstep.core.text import cut
from misstep.rendering.text import plain_lines

Level = Literal["error", "warning", "note"]


class IssueRule(msgspec.Struct, frozen=True):
    """A kind of issue, for readers who don't know misstep: a name, what it is, what to do about it."""

    name: str
    about: str
    help: str
    level: Level = "error"


_REPLAY = "Run the case again with the command in the finding; `misstep plan shrink` makes it smaller, and "
_PLAN = _REPLAY + "`misstep plan dissect` finds out why the agent fails."
_TOOL = "Call the tool as the finding does, or run the command in it, and fix the tool or its documentation."
_WORDS = "Change the documentation or the tool so that they agree."

RULES: dict[str, IssueRule] = {
    "plan/timeout": IssueRule("OutOfTime", "The agent ran out of time or turns.", _PLAN),
    "plan/act": IssueRule("BadCall", "The agent made an invalid or repeated call.", _PLAN),
    "plan/lost": IssueRule("LostAction", "The agent left out something it was asked to do.", _PLAN),
    "plan/parameter": IssueRule("BadValue", "The agent passed a wrong value or time.", _PLAN),
    "plan/order": IssueRule("BadOrder", "The agent broke a constraint that the request states.", _PLAN),
    "plan/failed": IssueRule("Failed", "The agent did not do what it was asked.", _PLAN),
    "cause/probability": IssueRule("ByChance", "The agent fails at random, whatever the request.", _PLAN),
    "cause/terminal": IssueRule("Misreading", "The agent misreads a word or phrase.", _PLAN),
    "cause/topic": IssueRule("Topic", "The agent fails on a topic.", _PLAN),
    "cause/name": IssueRule("ActivityName", "The agent fails on the name of an activity or tool.", _PLAN),
    "cause/structure": IssueRule("SentenceForm", "The agent fails on a sentence structure.", _PLAN),
    "cause/position": IssueRule(
        "Position", "The agent fails depending on the position of a sentence or tool.", _PLAN
    ),
    "cause/constraint": IssueRule("ConstraintShape", "The agent fails on a pattern of constraints.", _PLAN),
    "cause/size": IssueRule(
        "Size", "The agent fails above a number of actions, sentences or characters.", _PLAN
    ),
    "cause/undetermined": IssueRule("UnknownCause", "The cause is unknown.", _PLAN, "warning"),
    "tool/crash": IssueRule("Crash", "Unhandled exception, or the tool's process died.", _TOOL),
    "tool/hang": IssueRule("Hang", "The tool did not answer in time.", _TOOL),
    "tool/blow-up": IssueRule(
        "BlowUp", "The tool used far more time or memory than its input explains.", _TOOL
    ),
    "tool/schema": IssueRule(
        "BrokenPromise", "A result or refusal contradicts the schema.", _TOOL, "warning"
    ),
    "tool/protocol": IssueRule("Protocol", "The tool's server broke its protocol.", _TOOL),
    "tool/acceptance": IssueRule(
        "Acceptance", "Arguments that the schema forbids were accepted.", _TOOL, "warning"
    ),
    "tool/contract": IssueRule(
        "BrokenContract", "The tool does not do what its annotations or description promise.", _TOOL
    ),
    "tool/suspicious-refusal": IssueRule(
        "SuspiciousRefusal",
        "Valid arguments were refused with an internal error message, or with none.",
        _TOOL,
        "warning",
    ),
    "tool/refusal": IssueRule(
        "Refusal", "Arguments that the documentation allows were refused.", _TOOL, "warning"
    ),
    "tool/consistency": IssueRule("Inconsistent", "Paraphrases get different answers.", _WORDS),
    "tool/crosstalk": IssueRule("Crosstalk", "The tool is called for unrelated requests.", _WORDS, "warning"),
    "tool/fix": IssueRule("NoBetterWords", "No better description of the tool was found.", _WORDS, "note"),
    "lint/acceptance": IssueRule(
        "NeedlessDemand", "The schema is stricter than the tool.", _WORDS, "warning"
    ),
    "lint/choices": IssueRule(
        "Choices", "The allowed values in schema, description and code differ.", _WORDS, "warning"
    ),
    "lint/constraint": IssueRule(
        "HiddenConstraint", "The tool has an undocumented requirement.", _WORDS, "warning"
    ),
    "lint/default": IssueRule("Default", "The documented default is wrong.", _WORDS, "warning"),
    "lint/description": IssueRule(
        "NoDescription", "The description is missing or too short.", _WORDS, "warning"
    ),
    "lint/example": IssueRule("Example", "An example is not valid.", _WORDS, "warning"),
    "lint/length": IssueRule("Length", "The description is too long.", _WORDS, "note"),
    "lint/name": IssueRule("Name", "A name that model providers refuse.", _WORDS, "warning"),
    "lint/parameter": IssueRule("Parameter", "A parameter is not documented.", _WORDS, "warning"),
    "lint/phantom": IssueRule("Phantom", "A parameter is described that does not exist.", _WORDS, "warning"),
    "lint/promise": IssueRule("Promise", "The tool contradicts its annotations.", _WORDS, "warning"),
    "lint/twins": IssueRule("Twins", "Two tools can't be told apart.", _WORDS, "warning"),
    "bench/task": IssueRule("Task", "A benchmark task failed.", "Run it again with `misstep replay`."),
}


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"
# GitHub's limits.
MOST_RESULTS = 25_000
MOST_BYTES = 10_000_000
TAIL = 1 << 18  # bytes reserved for what follows the results
MOST_NOTES = 100
TEXT = 4_000  # characters


def sarif(statement: RunReport, root: Path) -> Iterator[str]:
    """The document in pieces; files below the repository's root have relative paths.

    Issues beyond GitHub's limits are left out, and counted in a notification.
    """
    rules = {name: rule for name, rule in RULES.items() if name.partition("/")[0] in statement.families}
    numbers = {name: number for number, name in enumerate(rules)}
    head = json.dumps({"driver": _driver(rules)})
    start = f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{"tool": {head},\n"results": ['
    yield start
    written, kept, left = len(start), 0, 0
    for flaw in (flaw for entry in statement.entries("failed") for flaw in entry.flaws):
        result = json.dumps(_result(flaw, numbers, statement.run, root))
        if kept >= MOST_RESULTS or written + len(result) + TAIL > MOST_BYTES:
            left += 1
            continue
        yield f"{',' if kept else ''}\n{result}"
        kept, written = kept + 1, written + len(result) + 2
    yield f"\n],\n{_closing(statement, left)}}}]}}\n"


def find_root(start: Path) -> Path:
    """The root of the repository that contains a folder; the folder itself if there is none."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def _driver(rules: dict[str, IssueRule]) -> dict[str, Any]:
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
    identity = f"{flaw.rule}\0{flaw.identity}"
    return {
        "ruleId": flaw.rule,
        **({"ruleIndex": numbers[flaw.rule]} if flaw.rule in numbers else {}),
        **({"level": "error"} if flaw.rule not in numbers else {}),
        "message": {"text": _escaped(_told(flaw))},
        "locations": [_location(flaw, root)],
        "partialFingerprints": {"misstep/v1": sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]},
        "properties": {"run": run, "id": flaw.id, "calls": list(flaw.calls), "replay": flaw.replay},
    }


def _told(flaw: Issue) -> str:
    parts = [f"{flaw.subject}: {flaw.title}.", flaw.text]
    parts += [f"Misstep: {flaw.misstep}"] if flaw.misstep else []
    parts += [f"Call: {call}" for call in flaw.calls[-1:]]
    parts += [f"Again: {flaw.replay}"] if flaw.replay else []
    return plain_lines("\n".join(filter(None, parts)), TEXT)


def _escaped(text: str) -> str:
    """Escape brackets and braces, which would make links or placeholders."""
    return re.sub(r"([\\\[\]])", r"\\\1", text).replace("{", "{{").replace("}", "}}")


def _location(flaw: Issue, root: Path) -> dict[str, Any]:
    spot = flaw.spot
    logical = {"name": flaw.subject or "agent", "kind": "function" if spot else "object"}
    if spot is None:
        return {"logicalLocations": [logical]}
    path = Path(os.path.realpath(spot.file))
    try:
        inside = path.relative_to(os.path.realpath(root)).as_posix()
        artifact = {"uri": quote(inside), "uriBaseId": ROOT}
    except ValueError:
        artifact = {"uri": path.as_uri()}
    physical = {"artifactLocation": artifact, "region": {"startLine": spot.line}}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


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
    """What could not be judged, and what exceeded the limits: neither is a finding."""
    if statement.unfinished:
        yield _note(statement.unfinished, "error")
    if left:
        yield _note(
            f"{left:,} more results were omitted: the limit is {MOST_RESULTS:,} results and 10 MB", "warning"
        )
    unclear: tuple[Judgement, ...] = ("errored", "inconclusive")
    for verdict in unclear:
        for entry in islice(statement.entries(verdict), MOST_NOTES):
            yield _note(f"{entry.name} {verdict}: {cut(entry.reason, 500)}", "warning")
        if statement.counts[verdict] > MOST_NOTES:
            yield _note(f"{statement.counts[verdict]:,} {verdict} in all", "warning")


def _note(text: str, level: str) -> dict[str, Any]:
    return {"message": {"text": _escaped(plain_lines(text, TEXT))}, "level": level}
