"""What tests of tools have found, as entries of a report."""

from collections import Counter
from collections.abc import Mapping

from misstep.api.statements.spots import Home
from misstep.core.consistency import ConsistencyReport, PromptSet
from misstep.core.crosstalk import GroupReport
from misstep.core.finding import Cause, Finding, ToolReport, ranked
from misstep.core.fixing import FixReport
from misstep.core.remark import LintedTool, Remark
from misstep.core.run_report import Issue, ReportItem, SourceLocation
from misstep.core.trial import Trial
from misstep.core.verdict import Judgement
from misstep.report.findings import history, not_tested, written_call
from misstep.report.lint import CLASSES
from misstep.report.terminal import counted
from misstep.report.text import plain

TEXT = 2_000  # characters
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
