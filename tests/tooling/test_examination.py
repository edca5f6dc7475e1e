"""An examination tells what it had the time to confirm from what it had not, and drops what was mere load."""

from typing import Any

from misstep.core.finding import Finding, ToolReport
from misstep.core.tool import Invocation, Reaction
from misstep.tooling.examination import Examination
from tests.tooling.triage.bench import Bench, schema

CALLS = 60
PARAMETERS = schema(["n"], n={"type": "integer"})


def share(state: Any, n: int) -> int:
    return 10 // n


def greet(state: Any, n: int) -> str:
    return f"hello {n}"


def never() -> bool:
    return False


class Busy(Bench):
    """Hangs at one call, whatever it is, as on a machine that has other things to do."""

    def _call(self, invocation: Invocation) -> Reaction:
        reaction = super()._call(invocation)
        return Reaction("hung") if self.calls == 7 else reaction


def examined(bench: Bench) -> Examination:
    examination = Examination(bench, bench.tools, "tools.py", 0, ToolReport(bench.tools[0].name, 0))
    while examination.calls < CALLS and examination.go_on(CALLS - examination.calls, never):
        pass
    return examination


def findings(examination: Examination) -> tuple[Finding, ...]:
    return examination.report("calls").findings


def test_what_there_was_no_time_for_is_told_unconfirmed() -> None:
    examination = examined(Bench((share, PARAMETERS)))
    assert examination.settle((), never, seconds=0.0)
    assert [(each.error, each.replayed) for each in findings(examination)] == [("ZeroDivisionError", 0)]
    assert examination.settle((), never)
    assert [(each.replayed, each.reproduced) for each in findings(examination)] == [(3, 3)]


def test_who_stops_it_finds_it_unsettled() -> None:
    examination = examined(Bench((share, PARAMETERS)))
    assert not examination.settle((), lambda: True)
    assert [each.replayed for each in findings(examination)] == [0]


def test_a_hang_that_does_not_come_again_is_no_finding() -> None:
    examination = examined(Busy((greet, PARAMETERS)))
    assert [each.kind for each in findings(examination)] == ["hang"]
    assert examination.settle((), never)
    assert findings(examination) == ()
