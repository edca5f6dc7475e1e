"""Writes issues as SARIF 2.1.0, which code scanning shows next to the lines they are about."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
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
_TOOL = "Call the tool as the finding does, or run the command in it, and fix the tool or its documentation."
_plan = partial(IssueRule, help=f"{_REPLAY}`misstep plan dissect` finds out why the agent fails.")
_tool, _doubt = partial(IssueRule, help=_TOOL), partial(IssueRule, help=_TOOL, level="warning")
_words = partial(IssueRule, help="Change the documentation or the tool so that they agree.", level="warning")

RULES: dict[str, IssueRule] = {
    "plan/timeout": _plan("OutOfTime", "The agent ran out of time or turns."),
    "plan/act": _plan("BadCall", "The agent made an invalid or repeated call."),
    "plan/lost": _plan("LostAction", "The agent left out something it was asked to do."),
    "plan/parameter": _plan("BadValue", "The agent passed a wrong value or time."),
    "plan/order": _plan("BadOrder", "The agent broke a constraint that the request states."),
    "plan/failed": _plan("Failed", "The agent did not do what it was asked."),
    "cause/probability": _plan("ByChance", "The agent fails at random, whatever the request."),
    "cause/terminal": _plan("Misreading", "The agent misreads a word or phrase."),
    "cause/topic": _plan("Topic", "The agent fails on a topic."),
    "cause/name": _plan("ActivityName", "The agent fails on the name of an activity or tool."),
    "cause/structure": _plan("SentenceForm", "The agent fails on a sentence structure."),
    "cause/position": _plan("Position", "The agent fails depending on the position of a sentence or tool."),
    "cause/constraint": _plan("ConstraintShape", "The agent fails on a pattern of constraints."),
    "cause/size": _plan("Size", "The agent fails above a number of actions, sentences or characters."),
    "cause/undetermined": _plan("UnknownCause", "The cause is unknown.", level="warning"),
    "tool/crash": _tool("Crash", "Unhandled exception, or the tool's process died."),
    "tool/hang": _tool("Hang", "The tool did not answer in time."),
    "tool/blow-up": _tool("BlowUp", "The tool used far more time or memory than its input explains."),
    "tool/schema": _doubt("BrokenPromise", "A result or refusal contradicts the schema."),
    "tool/protocol": _tool("Protocol", "The tool's server broke its protocol."),
    "tool/acceptance": _doubt("Acceptance", "Arguments that the schema forbids were accepted."),
    "tool/security": _tool("Security", "The tool can be made to do what it should not."),
    "tool/contract": _tool(
        "BrokenContract", "The tool does not do what its annotations or description promise."
    ),
    "tool/suspicious-refusal": _doubt(
        "SuspiciousRefusal", "Valid arguments were refused with an internal error message, or with none."
    ),
    "tool/refusal": _doubt("Refusal", "Arguments that the documentation allows were refused."),
    "tool/consistency": _words("Inconsistent", "Paraphrases get different answers.", level="error"),
    "tool/crosstalk": _words("Crosstalk", "The tool is called for unrelated requests."),
    "tool/fix": _words("NoBetterWords", "No better description of the tool was found.", level="note"),
    "lint/acceptance": _words("NeedlessDemand", "The schema is stricter than the tool."),
    "lint/choices": _words("Choices", "The allowed values in schema, description and code differ."),
    "lint/constraint": _words("HiddenConstraint", "The tool has an undocumented requirement."),
    "lint/default": _words("Default", "The documented default is wrong."),
    "lint/description": _words("NoDescription", "The description is missing or too short."),
    "lint/example": _words("Example", "An example is not valid."),
    "lint/length": _words("Length", "The description is too long.", level="note"),
    "lint/name": _words("Name", "A name that model providers refuse."),
    "lint/parameter": _words("Parameter", "A parameter is not documented."),
    "lint/phantom": _words("Phantom", "A parameter is described that does not exist."),
    "lint/promise": _words("Promise", "The tool contradicts its annotations."),
    "lint/twins": _words("Twins", "Two tools can't be told apart."),
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
    """The document in pieces; issues beyond GitHub's limits are left out, and counted in a notification."""
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
        **({"level": "note"} if flaw.aside == "minor" else {}),
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
        limit = f"the limit is {MOST_RESULTS:,} results and 10 MB"
        yield _note(f"{left:,} more results were omitted: {limit}", "warning")
    if statement.unit == "tool":
        waiting = (told for entry in statement.entries(None) for told in entry.unconfirmed)
        yield from (_note(told.words, "note") for told in islice(waiting, MOST_NOTES))
    unclear: tuple[Judgement, ...] = ("errored", "inconclusive")
    for verdict in unclear:
        for entry in islice(statement.entries(verdict), MOST_NOTES):
            yield _note(f"{entry.name} {verdict}: {cut(entry.reason, 500)}", "warning")
        if statement.counts[verdict] > MOST_NOTES:
            yield _note(f"{statement.counts[verdict]:,} {verdict} in all", "warning")


def _note(text: str, level: str) -> dict[str, Any]:
    return {"message": {"text": _escaped(plain_lines(text, TEXT))}, "level": level}
