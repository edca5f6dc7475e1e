"""Calls a tool for evidence: what it refuses, and what it crashes on."""

from collections.abc import Callable

from msgspec import structs

from misstep.core.finding import Finding, ToolReport
from misstep.core.ruling import Judged
from misstep.core.tool import Described
from misstep.tooling.examination import Examination
from misstep.tooling.judging.court import judge_calls_of
from misstep.tooling.triage.replay import Replayer, is_same
from misstep.tooling.workbench import Workbench

PROVING = ("crash", "schema", "acceptance")  # kinds of findings that documentation may have to do with


def look_at(bench: Workbench, tool: Described, seed: int, most: int, over: Callable[[], bool]) -> ToolReport:
    """What up to so many calls came to; of the findings, those that one call shows once more.

    They are not made smaller than the smallest calls that happened to show them.
    """
    examination = Examination(bench, [tool], tool.where, seed, ToolReport(tool.name, 0))
    while not over() and examination.calls < most and examination.go_on(most - examination.calls, over):
        pass
    report = examination.report("calls")
    replayer = Replayer(bench, judge_calls_of([tool]), len(report.unconfirmed), over)
    sure = [each for each in report.unconfirmed if each.kind in PROVING and _shows(replayer, each, bench)]
    shown = [structs.replace(each, calls=each.calls[-1:], replayed=1, reproduced=1) for each in sure]
    return structs.replace(report, findings=tuple(shown), unconfirmed=())


def _shows(replayer: Replayer, finding: Finding, bench: Workbench) -> bool:
    judged = replayer.last_of(finding.calls[-1:], fresh=bench.starts_quickly)
    return judged is not None and is_same(judged, Judged(finding.ruling, signature=finding.signature))
