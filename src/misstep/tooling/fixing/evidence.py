"""What an earlier run knows about a tool that could be better described."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from misstep.core.consistency import ConsistencyReport, PromptSet
from misstep.core.finding import RUNTIME_ERRORS, Finding, ToolReport
from misstep.core.fixing import Matter
from misstep.core.reach_attempt import ReachAttempt
from misstep.core.ruling import REFUSALS
from misstep.core.trial import Trial, Use
from misstep.core.words import cut
from misstep.tooling.asking.consistency.buckets import calls_of

ID = 8  # hexadecimal digits
SHOWN = 1_000  # characters of a text in an example


class Asked(msgspec.Struct, frozen=True):
    """A request of an earlier run. Those of one `group` mean the same; a `bad` one did not end well.

    `told` is what happened, in words for a model; nothing where the request was not `tried`.
    """

    group: str
    request: str
    tools: tuple[str, ...]
    matter: Matter
    bad: bool
    told: str
    expected: str = ""
    tried: bool = True

    @property
    def id(self) -> str:
        return sha256(self.request.encode("utf-8", "replace")).hexdigest()[:ID]


class Evidence(msgspec.Struct, frozen=True):
    """Requests for a tool, and defects that were never put to an agent, in words."""

    asked: tuple[Asked, ...] = ()
    defects: tuple[str, ...] = ()


def evidence_of_fuzzing(reports: Sequence[ToolReport], name: str, tool: str) -> Evidence:
    """What fuzzing has found in a tool, under its name in reports, alone or beside others."""
    passages = list(_passages(reports, name, tool))
    asked = [each for passage, finding in passages for each in _asked(passage, finding, tool)]
    put = {passage.finding for passage, _ in passages if passage.requests}
    findings = [each for report in reports for each in report.findings if each.tool in (name, tool)]
    defects = [_defect(each) for each in findings if each.id not in put and not each.request]
    return Evidence(_each_once(_grouped(asked)), tuple(dict.fromkeys(defects)))


def evidence_of_sets(report: ConsistencyReport) -> Evidence:
    """What the requests for a tool came to that mean the same; sets that could not be judged tell nothing."""
    tool = report.name.partition(" of ")[0]
    judged = [one for one in report.sets if one.verdict in ("passed", "failed")]
    return Evidence(_each_once([each for one in judged for each in _asked_in(one, tool)]))


def is_bad(trial: Trial, tool: str) -> Use | None:
    """The call of a tool that went wrong: at run time, or refused and left at that."""
    uses = calls_of(trial, tool)
    broken = [use for use in uses if use.judged.ruling in RUNTIME_ERRORS]
    stuck = [use for use in uses[-1:] if use.judged.ruling in REFUSALS]
    return next(iter((*broken, *stuck)), None)


def _passages(
    reports: Sequence[ToolReport], name: str, tool: str
) -> Iterator[tuple[ReachAttempt, Finding | None]]:
    for report in reports:
        findings = {each.id: each for each in report.findings}
        for passage in report.journey.passages if report.journey else ():
            finding = findings.get(passage.finding)
            if report.name == name or (finding is not None and finding.tool in (name, tool)):
                yield passage, finding


def _asked(passage: ReachAttempt, finding: Finding | None, tool: str) -> Iterator[Asked]:
    calls = finding.calls if finding else ()
    tools = tuple(dict.fromkeys((*[call.tool for call in calls], tool)))
    trials = {trial.request: trial for trial in passage.trials}
    for request in passage.requests:
        trial = trials.get(request)
        bad = passage.fate == "reached" and trial is not None and is_bad(trial, tool) is not None
        told = _told(request, trial, tool) if trial else ""
        # Requests for one defect stay together: who has seen one of them knows what the others are about.
        group = passage.finding or request
        yield Asked(group, request, tools, "call", bad, told, tried=trial is not None)


def _grouped(asked: Sequence[Asked]) -> list[Asked]:
    """The requests for each defect together, if there are several: else each stands for itself."""
    if len({each.group for each in asked if each.bad}) > 1:
        return list(asked)
    return [msgspec.structs.replace(each, group=each.request) for each in asked]


def _asked_in(one: PromptSet, tool: str) -> Iterator[Asked]:
    """The requests of a set; where nobody said what to expect, what was found in order is to be expected."""
    answers = [trial.answer for trial in one.trials if trial.is_usable]
    usual = answers[0] if answers and one.verdict == "passed" and len(one.requests) > 1 else ""
    expected = one.expectation.statement if one.expectation else usual
    trials = {trial.request: trial for trial in one.trials}
    for number, request in enumerate(one.requests, 1):
        score = next((each for each in one.scores if each.request == number), None)
        bad = one.verdict == "failed"
        told = _told(request, trials.get(request), tool)
        if bad and score is not None:
            told += f"\nA judge found the answer {score.says}: {cut(score.reason, SHOWN)}"
        yield Asked(one.id, request, (tool,), "answer", bad, told, cut(expected, SHOWN * 4))


def _told(request: str, trial: Trial | None, tool: str) -> str:
    lines = [f"Request: {cut(request, SHOWN)}"]
    for use in calls_of(trial, tool) if trial else ():
        lines += [f"Call: {use.tool}({cut(use.arguments, SHOWN)})", f"Result: {cut(use.result, SHOWN)}"]
    if trial is not None:
        lines.append(f"Answer: {cut(trial.answer, SHOWN)}")
    return "\n".join(lines)


def _defect(finding: Finding) -> str:
    calls = "; ".join(f"{call.tool}({cut(call.arguments, SHOWN)})" for call in finding.calls)
    return f"Call: {calls}\nResult: {cut(f'{finding.error}: {finding.message}', SHOWN)}"


def _each_once(asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """Each request once, a bad one before others."""
    found = dict[str, Asked]()
    for each in sorted(asked, key=lambda each: not each.bad):
        found.setdefault(each.request, each)
    return tuple(found.values())
