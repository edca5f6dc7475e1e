"""What tests of tools have found, as entries of a report.

Where in source something is, so that a report can point at it.

Outcomes of planning runs as entries of a report.

Tasks of a benchmark as entries of a report.
"""

import ast
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from misstep.core.outcome import Judgement, Outcome
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.diagnosis import Diagnosis
from misstep.core.results.finding import Cause, Finding, ToolReport, ranked
from misstep.core.results.fixing import FixReport
from misstep.core.results.remark import LintedTool, Remark
from misstep.core.results.report import Issue, ReportItem, SourceLocation
from misstep.core.results.trial import Trial
from misstep.core.settings import Settings
from misstep.features.lint.view import CLASSES
from misstep.features.tool_fuzz.view import history, not_tested, written_call
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain
from misstep.rendering.words import written
from misstep.store.runs import Run, Store
from misstep.store.trust import is_trusted

LARGEST = 2 << 20  # bytes of a file that is read


class Home(msgspec.Struct, frozen=True):
    """Where entries come from: the run, and what has to be added to a command so that it finds the store."""

    run: Run
    place: str

    def replay(self, part: str) -> str:
        """The command that replays a part of the run."""
        return replay(self.run.id, part, self.place)

    @property
    def show(self) -> str:
        """The command that shows the run."""
        return f"misstep show {self.run.id}{self.place}"

    def spot_of_finding(self, finding: Finding) -> SourceLocation | None:
        """The innermost place of the tool's own code on the way to the error; else where the tool is
        defined."""
        may_read = is_trusted(self.run)
        seen = os.path.isfile if may_read else _is_below
        own = [frame for frame in finding.frames if frame.own and seen(frame.file)]
        line = _line_in(finding.where)
        told = [frame for frame in own if frame.line == line]
        if own:
            place = (told or own)[-1]
            return SourceLocation(os.path.abspath(place.file), max(1, place.line))
        return self.spot_of_name([finding.spec], finding.tool)

    def spot_of_name(self, specs: list[str], name: str) -> SourceLocation | None:
        """Where something is defined that one of the specs brings, `file.py:name` or `package.module:name`.

        Not known for a run from elsewhere, whose files are not read.
        """
        found = [(path, own) for path, own in map(_file_of, specs) if path] if is_trusted(self.run) else []
        for path, _ in found:
            if line := _definitions(path).get(name):
                return SourceLocation(path, line)
        if len(found) != 1:
            return None
        path, own = found[0]
        return SourceLocation(path, _definitions(path).get(own, 1))


def replay(run: str, part: str, place: str) -> str:
    """The command that replays a part of a run."""
    return f"misstep replay {shlex.quote(plain(f'{run}/{part}'))}{place}"


def _is_below(path: str) -> bool:
    """Whether a path leads to somewhere below the current folder; nothing is looked up."""
    return os.path.abspath(path).startswith(os.path.join(os.getcwd(), ""))


def _line_in(where: str) -> int:
    """Of `file.py:12 in f`."""
    number = where.partition(" in ")[0].rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


def _file_of(spec: str) -> tuple[str, str]:
    """The file that a spec names, as an absolute path, and what it wants of it."""
    place, _, name = spec.rpartition(":")
    for path in (place, f"{place.replace('.', os.sep)}.py"):
        if path.endswith(".py") and os.path.isfile(path):
            return os.path.abspath(path), name
    return "", ""


@lru_cache(maxsize=64)
def _definitions(path: str) -> dict[str, int]:
    """The first line of whatever a file defines, by name."""
    try:
        if os.path.getsize(path) > LARGEST:
            return {}
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found = dict[str, int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.lineno)
    return found


REQUEST = 4_000  # characters
TEXT = 2_000


def cases(settings: Settings, home: Home, verdict: Judgement | None) -> Iterator[ReportItem]:
    """The cases of a run, a few in memory at a time."""
    spot = spot_of_agent(home)
    with Store(settings.store) as store:
        for outcome in store.outcomes(home.run.id, verdict):
            yield entry_of(outcome, home, spot)


def spot_of_agent(home: Home) -> SourceLocation | None:
    """Where the agent of a run is defined."""
    return home.spot_of_name([home.run.settings.agent], "")


def entry_of(outcome: Outcome, home: Home, spot: SourceLocation | None) -> ReportItem:
    case, verdict = outcome.case, outcome.verdict
    failed = verdict.verdict == "failed"
    return ReportItem(
        id=case.id,
        name=f"{plain(case.id, 100)} ({counted(len(case.actions), 'action')})",
        group=plain(case.topic, 100),
        verdict=verdict.verdict,
        seconds=outcome.seconds,
        reason="" if failed or verdict.verdict == "passed" else plain(verdict.explanation, TEXT),
        flaws=(_issue_of_outcome(outcome, home, spot),) if failed else (),
    )


def _issue_of_outcome(outcome: Outcome, home: Home, spot: SourceLocation | None) -> Issue:
    case, verdict = outcome.case, outcome.verdict
    kind = verdict.error or "failed"
    step = f" at step {verdict.step}" if verdict.step else ""
    return Issue(
        id=case.id,
        rule=f"plan/{kind}",
        title=f"{kind}{step}",
        text=plain(verdict.explanation, TEXT),
        identity="\0".join((case.id, kind)),
        subject=plain(home.run.settings.agent, 200),
        misstep=_misstep(outcome),
        details=_details(outcome),
        replay=home.replay(case.id),
        spot=spot,
    )


def _misstep(outcome: Outcome) -> str:
    step, calls = outcome.verdict.step, outcome.transcript.calls
    if not step or step > len(calls):
        return ""
    call = calls[step - 1]
    return f"step {step}, {written(call.tool, call.arguments)}"


def _details(outcome: Outcome) -> dict[str, str]:
    tools = {action.id: plain(action.tool, 100) for action in outcome.case.actions}
    nearest = " → ".join(tools[action] for action in outcome.verdict.nearest)
    told = {"nearest correct plan": nearest, "request": outcome.case.query[:REQUEST]}
    return {name: text for name, text in told.items() if text}


def diagnosed(diagnosis: Diagnosis, of: str, home: Home) -> ReportItem:
    """A failure of another run, with its cause."""
    sure = f", {diagnosis.sure} sure" if diagnosis.sure else ""
    guilty = f": {plain(diagnosis.guilty, 200)}" if diagnosis.guilty else ""
    flaw = Issue(
        id=diagnosis.case,
        rule=f"cause/{diagnosis.cause}",
        title=f"{diagnosis.cause}{guilty}{sure}",
        text=plain(diagnosis.evidence, TEXT),
        identity="\0".join((diagnosis.case, diagnosis.cause)),
        subject=plain(home.run.settings.agent, 200),
        replay=replay(of, diagnosis.case, home.place),
        spot=spot_of_agent(home),
    )
    return ReportItem(diagnosis.case, plain(diagnosis.case, 100), diagnosis.cause, "failed", flaws=(flaw,))


MOST_CALLS = 20


def task_entry(task: TaskReport, home: Home) -> ReportItem:
    failed = task.verdict == "failed"
    why = "\n".join(plain(line, TEXT) for line in task.why)
    return ReportItem(
        id=task.name,
        name=f"{plain(task.name, 100)} ({plain(task.kind, 100)})",
        group=plain(task.domain or task.kind, 100),
        verdict=task.verdict,
        seconds=task.seconds,
        reason="" if failed or task.verdict == "passed" else (why or plain("; ".join(task.notes), TEXT)),
        flaws=(_issue_of_task(task, home, why),) if failed else (),
    )


def _issue_of_task(task: TaskReport, home: Home, why: str) -> Issue:
    uses = task.trial.uses if task.trial else ()
    return Issue(
        id=task.name,
        rule="bench/task",
        title=f"{plain(task.kind, 100)} was not done",
        text=why,
        identity=task.name,
        subject=plain(home.run.settings.agent, 200),
        calls=tuple(written_call(use.call) for use in uses[:MOST_CALLS]),
        details={"request": task.request[:TEXT]},
        replay=home.replay(task.name),
        spot=spot_of_agent(home),
    )


NAME = 200


def fuzzed(report: ToolReport, verdict: Judgement, home: Home, causes: Mapping[str, Cause]) -> ReportItem:
    """A tool with its defects, the weightiest first; `causes` are those of the whole run by their ids."""
    seen = Counter[str]()
    flaws = list[Issue]()
    for finding in ranked(report.findings):
        flaws.append(_defect(finding, seen[finding.identity], home, causes[finding.cause]))
        seen[finding.identity] += 1
    untested = [] if report.is_tested else [not_tested(report)]
    reason = "; ".join((*untested, *report.notes)) or "what was put to the agent could not be judged"
    return _entry(report.name, verdict, report.seconds, flaws, reason)


def _defect(finding: Finding, number: int, home: Home, cause: Cause) -> Issue:
    told = {
        "asked for with": plain(finding.request, TEXT),
        "seen": history(finding),
        "cause": f"{cause.id}, at {counted(len(cause.findings), 'place')}",
    }
    return Issue(
        id=finding.id,
        rule=f"tool/{finding.kind}",
        title=f"{finding.kind} {plain(finding.error, NAME)} {plain(finding.where, NAME)}".strip(),
        text="\n".join(filter(None, (plain(finding.message, TEXT), plain(finding.why, TEXT)))),
        identity=f"{finding.identity}\0{number}",
        subject=plain(finding.tool, NAME),
        calls=tuple(written_call(call) for call in finding.calls),
        details={name: text for name, text in told.items() if text},
        replay=home.replay(finding.id),
        spot=home.spot_of_finding(finding),
    )


def linted(tool: LintedTool) -> ReportItem:
    spot = SourceLocation(tool.file, tool.line) if tool.file else None
    flaws = [_remark(remark, tool.name, spot) for remark in tool.remarks]
    return _entry(tool.name, "failed" if flaws else "passed", 0.0, flaws)


def _remark(remark: Remark, tool: str, spot: SourceLocation | None) -> Issue:
    told = {"evidence": plain(remark.evidence, TEXT), "what to do": plain(remark.advice, TEXT)}
    identity = "\0".join((tool, remark.rule, remark.where, remark.message))
    return Issue(
        id=remark.where,
        rule=f"lint/{remark.rule}",
        title=f"{CLASSES[remark.fault]} {plain(remark.where, NAME)}",
        text=plain(remark.message, TEXT),
        identity=identity,
        subject=plain(tool, NAME),
        details={name: text for name, text in told.items() if text},
        spot=spot,
    )


def questioned(report: ConsistencyReport, specs: list[str], home: Home) -> ReportItem:
    spot = home.spot_of_name(specs, report.name)
    flaws = [_faulty(each, report.name, spot, home) for each in report.faulty]
    reason = "; ".join(report.notes) or "no set of requests could be judged"
    return _entry(report.name, report.verdict, report.seconds, flaws, reason)


def _faulty(one: PromptSet, tool: str, spot: SourceLocation | None, home: Home) -> Issue:
    sides = (("wrong", one.evidence.wrong), ("right", one.evidence.right)) if one.evidence else ()
    told = {
        f"{which} way of asking": plain(f"{side.request} → {side.inputs} → {side.answer}", TEXT)
        for which, side in sides
        if side is not None
    }
    return Issue(
        id=one.id,
        rule="tool/consistency",
        title=f"set {one.id}: requests that mean the same are served differently",
        text=plain(one.why, TEXT),
        identity=one.id,
        subject=plain(tool, NAME),
        details=told,
        replay=home.replay(one.id),
        spot=spot,
    )


def crossed(report: GroupReport, specs: list[str], home: Home) -> ReportItem:
    flaws = [_activation(trial, report, specs, home) for trial in report.activating]
    reason = report.why or "; ".join(report.notes) or "no request could be judged"
    return _entry(report.name, report.verdict, report.seconds, flaws, reason)


def _activation(trial: Trial, report: GroupReport, specs: list[str], home: Home) -> Issue:
    tools = list(dict.fromkeys(plain(use.tool, NAME) for use in trial.uses))
    return Issue(
        id=report.name,
        rule="tool/crosstalk",
        title=f"{', '.join(tools)} called for what {plain(report.name, NAME)} is for",
        text=plain(trial.request, TEXT),
        identity="\0".join((report.name, trial.request, *tools)),
        subject=tools[0],
        calls=tuple(written_call(use.call) for use in trial.uses[:5]),
        replay=home.show,
        spot=home.spot_of_name(specs, trial.uses[0].tool),
    )


def fix_item(report: FixReport, home: Home) -> ReportItem:
    flaw = Issue(
        id=report.name,
        rule="tool/fix",
        title="no better description was found",
        text=f"{counted(len(report.usable), 'description')} tried in place of the tool's own",
        identity=report.name,
        subject=plain(report.tool, NAME),
        replay=home.show,
        spot=SourceLocation(report.file, max(1, report.line)) if report.file else None,
    )
    flaws = [flaw] if report.verdict == "failed" else []
    reason = "; ".join(report.notes) or "nothing could be judged with the tool's own description"
    return _entry(report.name, report.verdict, report.seconds, flaws, reason)


def _entry(name: str, verdict: Judgement, seconds: float, flaws: list[Issue], reason: str = "") -> ReportItem:
    unclear = verdict in ("inconclusive", "errored")
    return ReportItem(
        id=name,
        name=plain(name, NAME),
        group="tools",
        verdict=verdict,
        seconds=seconds,
        reason=plain(reason, TEXT) if unclear else "",
        flaws=tuple(flaws),
    )
