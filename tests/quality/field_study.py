"""The servers' findings of the field study, judged again with what the official MCP client got for their calls.

Those of LangChain's and Composio's tools are not among them, because the study has no frames of their
exceptions; `labelled_findings` has such, with whole reactions.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
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

STUDIED = Path(__file__).with_name("field_study.jsonl")
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
    """What the study had found in servers by 19 November 2026; later runs have other calls and labels."""
    with STUDIED.open(encoding="utf-8") as lines:
        return [_run(json.loads(line)) for line in lines]


def _labels(causes: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The group and the label of each listed cause; as on the page, both readings have to agree on it."""
    seconds = dict[str, str]()  # the best label that the second reader gave to any of a group
    for cause in causes:
        group = cause["group"]
        seconds[group] = min(cause["second"], seconds.get(group, "false"), key=LABELS.index)
    for cause in causes:
        is_agreed = cause["label"] == seconds[cause["group"]]
        yield cause["group"], cause["label"] if is_agreed else "debatable"


def _run(studied: Mapping[str, Any]) -> StudiedRun:
    causes, spec = studied["causes"], studied["spec"]
    tools = {each["name"]: _described(each) for each in studied["tools"]}
    prompts = [each["tool"] for each in causes if each["tool"].startswith("prompt:")]
    tools |= {name: _described({"name": name, "inputSchema": PROMPT}) for name in prompts}
    found, labels = [], list(_labels(causes))
    for number, (cause, (group, label)) in enumerate(zip(causes, labels, strict=True)):
        finding = _judged_again(cause, cause["replies"], tools, number)
        if finding:
            finding = structs.replace(finding, id=cause["id"], spec=spec)
            if {call.tool for call in finding.calls} <= {*tools}:
                finding = located(finding, spec, tools)
            is_same = (finding.kind, finding.error) == (cause["kind"], cause["error"])
            found.append(StudiedFinding(finding, group, label, is_same))
    true = frozenset(group for group, label in labels if label == "true")
    return StudiedRun(studied["package"], len(labels), true, tuple(found))


def _described(tool: Mapping[str, Any]) -> Described:
    hints = tool.get("annotations") or {}
    promises = Promises(**{own: hints[name] for name, own in _PROMISES.items() if name in hints})
    plain = Tool(tool["name"], tool.get("description", ""), tool["inputSchema"])
    return Described(plain, "mcp", output=tool.get("outputSchema"), promises=promises)


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
