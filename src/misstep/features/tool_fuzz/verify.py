"""Says whether another version of the tools has a finding, by making its calls there and in the original."""

import json
from collections.abc import Sequence
from typing import Literal

import msgspec

from misstep.core.results.finding import Finding
from misstep.core.results.trial import REFUSALS, Judged, Ruling
from misstep.core.settings import StoreSettings, ToolRunSettings
from misstep.core.text import quoted
from misstep.core.tool import Described, Invocation
from misstep.errors import UsageError
from misstep.features.tool_fuzz.other_version import other_spec
from misstep.features.tool_fuzz.run import find_finding
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.triage.replay import Replayer
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.trust import refuse_foreign, refuse_other_spec
from misstep.schemas.schema import fits
from misstep.tool_host.host import ToolHost

TRIES = 3
Outcome = Literal["still there", "gone", "different", "cannot tell"]


class TriedVersion(msgspec.Struct, frozen=True):
    """What the calls of a finding led to in one version, each time from a fresh start.

    `judged` are rulings on the calls together, `before` those on the calls before the last one. `servers` is
    what servers say they are. `problem` is why the calls could not be made.
    """

    spec: str
    judged: tuple[Judged, ...] = ()
    before: tuple[Ruling, ...] = ()
    servers: tuple[str, ...] = ()
    tools: tuple[Described, ...] = ()
    problem: str = ""

    def shown(self, finding: Finding) -> int:
        """In how many tries the calls have shown the finding."""
        return sum(_is_same(each, finding) for each in self.judged)


class Verified(msgspec.Struct, frozen=True):
    finding: Finding
    outcome: Outcome
    why: str
    original: TriedVersion
    other: TriedVersion


def verify_finding(settings: StoreSettings, run: str, name: str, against: str) -> Verified:
    """Try a finding of a run in another version, and in the original for comparison."""
    stored, finding = find_finding(settings, run, name)
    refuse_foreign(settings, stored)
    refuse_other_spec(settings, stored, finding.spec)
    with other_spec(finding.spec, against) as spec:
        original = _try(finding, finding.spec, stored.settings)
        other = _try(finding, spec, stored.settings)
    return Verified(finding, *compared(finding, original, other), original, other)


def _try(finding: Finding, spec: str, settings: ToolRunSettings) -> TriedVersion:
    called = dict.fromkeys(call.tool for call in finding.calls)
    try:
        with Workbenches(settings, beside=True) as benches, benches.lend(spec) as bench:
            known = {tool.name for tool in bench.tools}
            if missing := [name for name in called if name not in known]:
                return TriedVersion(spec, problem=f"there is no tool {quoted(missing[0])}")
            return _tried(finding.calls, spec, bench)
    except UsageError as error:
        return TriedVersion(spec, problem=": ".join((error.message, *map(str.strip, error.hints[-1:]))))


def _tried(calls: Sequence[Invocation], spec: str, bench: ToolHost) -> TriedVersion:
    tools = tuple(bench.tools)
    one, several = judge_calls_of(tools), judge_sequences_of(tools)
    replayer = Replayer(bench, several, TRIES * len(calls), watch=True)
    judged, before = list[Judged](), tuple[Ruling, ...]()
    for _ in range(TRIES):
        if (ruling := replayer.last_of(calls)) is None:
            break
        judged.append(masked(ruling))
        results = zip(calls[:-1], replayer.results, strict=False)
        before = tuple(one(call, reaction).ruling for call, reaction in results)
    return TriedVersion(spec, tuple(judged), before, bench.about, tools)


def _is_same(judged: Judged, finding: Finding) -> bool:
    """Whether the calls have shown the finding; lines may have moved, and files may have other names."""
    if finding.kind == "refusal":
        return judged.ruling in REFUSALS
    if judged.ruling != finding.kind and not {judged.ruling, finding.kind} <= {"hang", "blow-up"}:
        return False
    function = finding.where.partition(" in ")[2]
    is_there = bool(function) and judged.where.partition(" in ")[2] == function
    return judged.signature == finding.signature or (is_there and judged.error == finding.error)


def compared(finding: Finding, original: TriedVersion, other: TriedVersion) -> tuple[Outcome, str]:
    """The outcome, and a sentence that says why."""
    if original.problem or not original.judged:
        return "cannot tell", f"the original can't be tried: {original.problem or 'no answer'}"
    if not original.shown(finding):
        return "cannot tell", f"the original does not show it now: {_in_words(original.judged[-1])}"
    if other.problem or not other.judged:
        return "cannot tell", f"it can't be tried there: {other.problem or 'no answer'}"
    if shown := other.shown(finding):
        return "still there", f"shown in {shown} of {len(other.judged)} tries from a fresh start"
    worst = next((each for each in other.judged if each.ruling not in ("fine", "refused")), other.judged[-1])
    if worst.ruling == "environment":
        return "cannot tell", f"it lacks something here: {_in_words(worst)}"
    if worst.ruling not in ("fine", "refused"):
        return "different", f"the same calls end otherwise: {_in_words(worst)}"
    if problem := _too_few(finding, original, other) or _obstacle(finding, original, other):
        return "cannot tell", problem
    return "gone", f"in {len(other.judged)} tries from a fresh start: {_in_words(worst)}"


def _too_few(finding: Finding, original: TriedVersion, other: TriedVersion) -> str:
    """Why tries that show nothing may be chance: the original passes some, too, or not all have ended."""
    shown = original.shown(finding)
    if shown < TRIES:
        return f"the original shows it in only {shown} of {TRIES} tries"
    made = len(other.judged)
    return f"only {made} of {TRIES} tries ended there" if made < TRIES else ""


def _obstacle(finding: Finding, original: TriedVersion, other: TriedVersion) -> str:
    """Why calls that show nothing say nothing: they have not got to where the finding was."""
    for call, was, now in zip(finding.calls, original.before, other.before, strict=False):
        if was == "fine" and now != "fine":
            return f"a call before it, of {quoted(call.tool)}, is {now} there"
    if other.judged[-1].ruling != "refused":
        return ""
    old, new = ({tool.name: tool for tool in each.tools} for each in (original, other))
    for call in finding.calls:
        if problem := _schema_change(call, old[call.tool], new[call.tool]):
            return f"{quoted(call.tool)} takes other arguments there: {problem}"
    return ""


def _schema_change(call: Invocation, old: Described, new: Described) -> str:
    """What no longer fits, if parameters were renamed, added or got another type; narrower ones are a fix."""
    given = json.loads(call.arguments)
    schemas = [each.tool.parameters for each in (old, new)]
    if fits(schemas[1], given) is None or fits(schemas[0], given) is not None:
        return ""
    before, after = (schema.get("properties", {}) for schema in schemas)
    renamed = [name for name in given if name in before and name not in after]
    added = [name for name in schemas[1].get("required", ()) if name not in given]
    typed = [name for name in given if name in after and _type(before.get(name)) != _type(after[name])]
    return str(fits(schemas[1], given)) if renamed or added or typed else ""


def _type(schema: object) -> object:
    return schema.get("type") if isinstance(schema, dict) else None


def _in_words(judged: Judged) -> str:
    said = f"{judged.error} {judged.message or judged.why}".strip()
    return f"{judged.ruling}, {said}" if said else judged.ruling
