"""An examination tells what it had the time to confirm from what it had not, and drops what was mere load."""

from typing import Any

import pytest

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import ToolReport
from misstep.core.tool import Invocation, Reaction
from misstep.fuzzing.examination import Deadlines, Examination, ExaminationOptions
from misstep.fuzzing.judging.endings import UNREACHABLE
from tests.fuzzing.triage.bench import Bench, invoke, schema

CALLS = 60
PARAMETERS = schema(["n"], n={"type": "integer"})


def share(state: Any, n: int) -> int:
    return 10 // n


def greet(state: Any, n: int) -> str:
    return f"hello {n}"


def picky(state: Any, n: int) -> int:
    return 1 // (n - 271828)


def never() -> bool:
    return False


class Busy(Bench):
    """Hangs at one call, whatever it is, as on a machine that has other things to do."""

    def _call(self, invocation: Invocation) -> Reaction:
        reaction = super()._call(invocation)
        return Reaction("hung") if self.calls == 7 else reaction


def examined(bench: Bench) -> Examination:
    examination = Examination(
        bench, bench.tools, ToolReport(bench.tools[0].name, 0), ExaminationOptions("tools.py")
    )
    while examination.calls < CALLS and examination.go_on(CALLS - examination.calls, never):
        pass
    return examination


def findings(examination: Examination) -> tuple[Finding, ...]:
    return examination.report("calls").findings


def unconfirmed(examination: Examination) -> tuple[Finding, ...]:
    return examination.report("calls").unconfirmed


def test_what_there_was_no_time_for_is_told_unconfirmed() -> None:
    examination = examined(Bench((share, PARAMETERS)))
    assert examination.settle((), never, Deadlines(0.0, 0.0))
    assert [(each.error, each.replayed) for each in unconfirmed(examination)] == [("ZeroDivisionError", 0)]
    assert findings(examination) == ()
    assert examination.settle((), never)
    assert unconfirmed(examination) == ()
    assert [(each.replayed, each.reproduced) for each in findings(examination)] == [(3, 3)]


def test_who_stops_it_finds_it_unsettled() -> None:
    examination = examined(Bench((share, PARAMETERS)))
    assert not examination.settle((), lambda: True)
    assert [each.replayed for each in unconfirmed(examination)] == [0]
    assert findings(examination) == ()


def test_a_hang_that_does_not_come_again_is_no_finding() -> None:
    examination = examined(Busy((greet, PARAMETERS)))
    assert [each.kind for each in unconfirmed(examination)] == ["hang"]
    assert examination.settle((), never)
    assert (findings(examination), unconfirmed(examination)) == ((), ())


class Leaving(Bench):
    """Cannot be reached any more after so many calls."""

    leaves_after = CALLS + 2

    def _call(self, invocation: Invocation) -> Reaction:
        reaction = super()._call(invocation)
        return (
            reaction if self.calls <= self.leaves_after else Reaction("died", detail=f"{UNREACHABLE}: gone")
        )


class CaseBudget:
    """Grants so many calls in all."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        granted = min(wanted, self.left)
        if granted < least:
            return 0
        self.left -= granted
        return granted

    def give_back(self, calls: int) -> None:
        self.left += calls


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_call_is_made_that_was_not_granted(most: int) -> None:
    bench = Bench((share, PARAMETERS))
    examination, case_budget = examined(bench), CaseBudget(most)
    assert not examination.settle((), never, grants=case_budget)
    assert (bench.calls, case_budget.left) == (CALLS + most, 0)
    assert examination.report("stopped").triage_calls == most
    assert [each.replayed for each in unconfirmed(examination)] == [0]
    assert examination.settle((), never, grants=CaseBudget(1000))
    assert [each.reproduced for each in findings(examination)] == [3]
    assert examination.report("calls").triage_calls == bench.calls - CALLS


def test_what_nobody_is_there_to_show_again_is_not_dropped() -> None:
    examination = examined(Leaving((share, PARAMETERS)))
    assert not examination.unreachable
    assert not examination.settle((), never)
    assert examination.unreachable == "gone"
    assert [(each.error, each.replayed) for each in unconfirmed(examination)] == [("ZeroDivisionError", 0)]


def test_the_search_ends_with_the_first_call_that_nobody_answers() -> None:
    bench = Leaving((share, PARAMETERS))
    bench.leaves_after = 10
    examination = Examination(bench, bench.tools, ToolReport("share", 0), ExaminationOptions("tools.py"))
    while not examination.unreachable:
        assert examination.go_on(CALLS, never)
    assert examination.calls == 11
    assert examination.go_on(CALLS, never) == 1
    bench.leaves_after = 1000
    assert examination.go_on(CALLS, never) > 1
    assert not examination.unreachable


def test_a_title_makes_ids_differ_and_survives_a_stop() -> None:
    def ids(titles: dict[str, str], before: ToolReport) -> list[str]:
        bench = Bench((share, PARAMETERS))
        examination = Examination(bench, bench.tools, before, ExaminationOptions("tools.py", titles=titles))
        while examination.calls < CALLS and examination.go_on(CALLS - examination.calls, never):
            pass
        assert examination.settle((), never)
        return [each.id for each in findings(examination)]

    blank = ToolReport("share", 0)
    plain, one, other = (ids(titles, blank) for titles in ({}, {"share": "one"}, {"share": "other"}))
    assert len({*plain, *one, *other}) == 3
    old = examined(Bench((share, PARAMETERS)))
    assert old.settle((), never)
    assert ids({"share": "one"}, old.report("stopped")) == plain  # what was told once keeps its name


def test_what_was_kept_elsewhere_comes_first() -> None:
    bench = Bench((picky, PARAMETERS))
    kept = ['[{"tool": "picky", "arguments": {"n": 271828}}]', '[{"tool": "other", "arguments": {}}]']
    examination = Examination(
        bench, bench.tools, ToolReport("picky", 0), ExaminationOptions("tools.py", kept=kept)
    )
    assert examination.go_on(1, never) == 1
    assert [each.found_after for each in unconfirmed(examination)] == [1]


def several(state: Any, n: int) -> int:
    if n > 100:
        return 1 // (n - n)
    return int([5][n]) if n < 0 else int({0: 1, 1: 1, 2: 1}[n])


def test_all_are_confirmed_before_any_is_made_small() -> None:
    bench = Bench((several, PARAMETERS))
    examination = examined(bench)
    count = len(unconfirmed(examination))
    assert count > 1
    assert not examination.settle((), never, grants=CaseBudget(3 * count))
    assert [(each.reproduced, each.minimised) for each in findings(examination)] == [(3, False)] * count
    again = Examination(bench, bench.tools, examination.report("stopped"), ExaminationOptions("tools.py"))
    assert again.settle((), never)
    assert [each.minimised for each in findings(again)] == [True] * count
    assert len({each.calls for each in findings(again)}) == count
    assert invoke("several", n=101) in [each.calls[-1] for each in findings(again)]
    assert invoke("several", n=101) not in [each.calls[-1] for each in findings(examination)]
