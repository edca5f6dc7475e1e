"""Tools that are not there any more, or others than they were, end no run."""

from pathlib import Path

import pytest

from misstep.core.results.finding import ToolReport
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.features.tool_fuzz.worker import FuzzWorker, News
from misstep.runs.budget import RunBudget
from misstep.runs.setup.workbenches import Target, Workbenches
from tests.features.tool_fuzz.faulty_tools import TOOLS

SETTINGS = Settings(timeout=10.0, calls_per_tool=5)
BEFORE = ToolReport("lookup", 3, notes=("odd", "could not be restarted: for now"), ended="stopped", place=4)


def told(spec: str, before: ToolReport | None = None, tool: str = "lookup") -> ToolReport:
    news = list[News]()
    with Workbenches(SETTINGS) as benches:
        worker = FuzzWorker(benches, SETTINGS, RunBudget(Budget(), Spent()))
        worker.examine(Target(4, "lookup", spec, (tool,)), before, news.append)
        assert list(worker.lost) == [spec]
        worker.examine(Target(5, "other", spec, ("other",)), None, news.append)
    first, second = news
    assert isinstance(first, ToolReport)
    assert isinstance(second, ToolReport)
    assert (second.name, second.calls, second.notes[-1]) == ("other", 0, first.notes[-1])
    return first


@pytest.mark.parametrize("before", [None, BEFORE])
def test_a_file_that_is_gone_leaves_its_tools_undone(tmp_path: Path, before: ToolReport | None) -> None:
    report = told(f"{tmp_path}/mine.py:lookup", before)
    assert (report.name, report.place, report.ended) == ("lookup", 4, "stopped")
    assert report.calls == (before.calls if before else 0)
    *others, why = report.notes
    assert others == (["odd"] if before else [])
    assert why.startswith("could not be restarted: ")
    assert "for now" not in why


def test_tools_that_are_others_now_are_left_undone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    report = told(f"{tmp_path}/mine.py:lookup", tool="look")
    assert report.notes == ("could not be restarted: its tools differ between starts",)


def test_calls_that_belong_together_are_granted_together() -> None:
    run_budget = RunBudget(Budget(calls=5), Spent())
    assert run_budget.reserve_calls(3, least=3) == 3
    assert run_budget.reserve_calls(3, least=3) == 0
    assert (run_budget.spent.calls, run_budget.lacking) == (3, "calls")
