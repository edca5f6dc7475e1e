"""The servers' findings of the field study, judged again with what the official MCP client got for their calls.

Those of LangChain's and Composio's tools are not among them, because the study has no frames of their
exceptions; `labelled_findings` has such, with whole reactions.
"""

import ast
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from msgspec import structs

from misstep.core.results.finding import Finding, FindingKind
from misstep.core.tool import Described, FileChange, Invocation, Promises, Raised, Reaction, Tool
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.judging.endings import MUCH
from misstep.fuzzing.judging.wording import normalise
from misstep.fuzzing.triage.defect_index import finding_of, located

STUDY = Path(__file__).parents[2] / "field-study"
LABELS = ("true", "debatable", "false")
KINDS = get_args(FindingKind)
# What misstep saw in time, memory, files outside and calls at once, of which replies say nothing.
UNSEEN = frozenset(("CPU", "memory", "path outside", "concurrency", "unlisted tool"))
PROMPT = {"type": "object", "additionalProperties": {"type": "string"}}  # arguments of prompts are texts
_CUT = re.compile(r"… \([\d,]+ characters\)\Z")
_CHANGE = re.compile(r"(created|changed|removed) (\S+)")
_AFTER_CANCELLING = re.compile(
    r"after a call of \S+ was cancelled, \S+ (?:fails: (?P<said>.*)|finds the server ended)", re.DOTALL
)
# A server that ended printed a stack trace, whose lines the message has in one.
_TRACE_LINE = re.compile(r" (?=at [\w.$<>]+ \()")
_PROMISES = {"readOnlyHint": "read_only", "destructiveHint": "destructive", "idempotentHint": "idempotent"}


class StudiedFinding(msgspec.Struct, frozen=True):
    """A finding of today, and what the readers said about the cause that the study listed for its calls.

    `group` names the cause to the first reader. `is_same` if misstep still says the same about the calls:
    else the labels are about something else.
    """

    finding: Finding
    group: str
    label: str
    is_same: bool


class StudiedRun(msgspec.Struct, frozen=True):
    """The run of one package: how many findings were labelled, the causes of them that are true to both
    readers, and the findings that are reported today.
    """

    package: str
    labelled: int
    true: frozenset[str]
    findings: tuple[StudiedFinding, ...]


def studied_runs() -> list[StudiedRun]:
    labels, files = _labels(), sorted((STUDY / "results").glob("*.json"))
    runs = [_run(file, labels) for file in files]
    return [run for run in runs if run.labelled and _is_server(_specs()[run.package])]


def _is_server(spec: str) -> bool:
    return "mcp:" in spec or "mcp.json:" in spec


def _labels() -> dict[tuple[str, str], tuple[str, str]]:
    """The group and the label of each listed cause; as on the page, both readings have to agree on it."""
    rows = [json.loads(line) for line in (STUDY / "labels.jsonl").read_text("utf-8").splitlines()]
    seconds = dict[tuple[str, str], str]()  # the best label that the second reader gave to any of a group
    for row in rows:
        group = row["package"], row["group"]
        seconds[group] = min(row["second"], seconds.get(group, "false"), key=LABELS.index)
    return {
        (row["package"], row["cause"]): (
            row["group"],
            row["label"] if row["label"] == seconds[row["package"], row["group"]] else "debatable",
        )
        for row in rows
    }


def _run(file: Path, labels: Mapping[tuple[str, str], tuple[str, str]]) -> StudiedRun:
    result, evidence = json.loads(file.read_bytes()), STUDY / "evidence" / file.name
    known = json.loads(evidence.read_bytes()) if evidence.exists() else {"tools": [], "causes": []}
    replies = {cause["id"]: cause["replies"] for cause in known["causes"]}
    tools = {each["name"]: _described(each) for each in known["tools"]}
    prompts = [each["tool"] for each in result["causes"] if each["tool"].startswith("prompt:")]
    tools |= {name: _described({"name": name, "inputSchema": PROMPT}) for name in prompts}
    found = []
    for number, cause in enumerate(result["causes"]):
        group, label = labels[file.stem, cause["id"]]
        finding = _judged_again(cause, replies.get(cause["id"], ()), tools, number)
        if finding:
            finding = structs.replace(finding, id=cause["id"], spec=_specs()[result["package"]])
            if {call.tool for call in finding.calls} <= {*tools}:
                finding = located(finding, finding.spec, tools)
            is_same = (finding.kind, finding.error) == (cause["kind"], cause["error"])
            found.append(StudiedFinding(finding, group, label, is_same))
    own = [labels[file.stem, cause["id"]] for cause in result["causes"]]
    true = frozenset(group for group, label in own if label == "true")
    return StudiedRun(result["package"], len(own), true, tuple(found))


def _described(tool: Mapping[str, Any]) -> Described:
    hints = tool.get("annotations") or {}
    promises = Promises(**{own: hints[name] for name, own in _PROMISES.items() if name in hints})
    plain = Tool(tool["name"], tool.get("description", ""), tool["inputSchema"])
    return Described(plain, "mcp", output=tool.get("outputSchema"), promises=promises)


@cache
def _specs() -> dict[str, str]:
    listed = tomllib.loads((STUDY / "packages.toml").read_text("utf-8"))["package"]
    return {each["name"]: each["spec"] for each in listed}


def _judged_again(
    cause: Mapping[str, Any], replies: Sequence[str], tools: Mapping[str, Described], number: int
) -> Finding | None:
    """The finding of today; None if misstep reports nothing any more."""
    calls = [
        Invocation(each["tool"], json.dumps(each["arguments"]), each.get("sent", "in turn"))
        for each in cause["calls"]
    ]
    reactions = _reactions(cause, replies)
    if len(reactions) != len(calls) or not {call.tool for call in calls} <= {*tools}:
        return _as_listed(cause, calls, number)
    judged = judge_sequences_of(list(tools.values()))(calls, reactions)
    if judged.ruling in KINDS:
        return finding_of(judged, cast("FindingKind", judged.ruling), calls, number)
    is_cut = any(each.size > MUCH for each in reactions)
    return _as_listed(cause, calls, number) if is_cut else None


def _as_listed(cause: Mapping[str, Any], calls: Sequence[Invocation], number: int) -> Finding:
    """The finding as the study has it, if its calls can't be judged again."""
    said = cause["error"], cause["where"], cause["message"], cause["why"]
    place = f"at {cause['where']}" if cause["where"] else normalise(cause["message"])
    signature = f"{cause['error']}: {place}"
    made = tuple(calls)
    return Finding(cause["id"], cause["tool"], cause["kind"], *said, signature, made, made, number)


def _reactions(cause: Mapping[str, Any], replies: Sequence[str]) -> list[Reaction]:
    """The reactions to all calls of a cause; none if they are not known."""
    if cause["error"] in UNSEEN:
        return []
    if told := _AFTER_CANCELLING.fullmatch(cause["message"]):
        said = told["said"]
        last = Reaction("died") if said is None else Reaction("returned", said, flagged=True)
        return [*(Reaction("returned") for _ in cause["calls"][1:]), last]
    reactions = [_reaction(reply) for reply in replies]
    if end := _ended(cause):
        return [*reactions[: len(cause["calls"]) - 1], end]
    if cause["kind"] == "contract" and reactions:
        found = _CHANGE.findall(cause["message"])
        changes = tuple(FileChange(path, cast("Any", what)) for what, path in found)
        reactions[-1] = structs.replace(reactions[-1], changes=changes)
    return reactions


def _ended(cause: Mapping[str, Any]) -> Reaction | None:
    """How the last call ended, if no reply says so: the message has all that was known of it."""
    message = cause["message"]
    if cause["error"] == "ArgumentsRefused":
        return Reaction("raised", raised=Raised("ArgumentsRefused", message, validation=True))
    if message.startswith("ServerGone: "):
        return Reaction("died", detail=_TRACE_LINE.sub("\n", message))
    return Reaction("garbled", detail=message) if message.startswith("Garbled: ") else None


def _reaction(reply: str) -> Reaction:
    sort, _, said = reply.partition(": ")
    if sort == "MCPError":
        return Reaction("raised", raised=Raised("ServerError", said))
    is_flagged = sort == "error"
    text, _, held = (said if is_flagged else reply).partition("\nstructured: ")
    structured = None if not held or _CUT.search(held) else json.dumps(ast.literal_eval(held))
    size = MUCH + 1 if _CUT.search(reply) else len(text)
    return Reaction("returned", text, size, structured, is_flagged)
