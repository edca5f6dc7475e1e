"""Tools that are not there any more, or others than they were, end no run."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.core.results.fuzzing import ToolReport
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.core.tool import Described
from misstep.features.tool_fuzz.worker import NO_TIME, FuzzWorker, News
from misstep.fuzzing.contracts.samples import CallSamples
from misstep.fuzzing.contracts.steps import Calls
from misstep.fuzzing.search.sequences import wave_of
from misstep.runs.budget import RunBudget
from misstep.runs.setup.workbenches import LAST, Target, Workbenches, find_targets
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


def test_targets_for_which_no_time_is_left_are_told_untested(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    settings, news = Settings(timeout=10.0), list[News]()
    with Workbenches(settings) as benches:
        worker = FuzzWorker(benches, settings, RunBudget(Budget(), Spent()), seconds=0.0)
        news += worker.work([(Target(0, "lookup", f"{tmp_path}/mine.py:lookup", ("lookup",)), None)])
    assert [(each.calls, each.ended, each.notes) for each in news if isinstance(each, ToolReport)] == [
        (0, "time", (NO_TIME,))
    ]


def test_calls_that_belong_together_are_granted_together() -> None:
    run_budget = RunBudget(Budget(calls=5), Spent())
    assert run_budget.reserve_calls(3, least=3) == 3
    assert run_budget.reserve_calls(3, least=3) == 0
    assert (run_budget.spent.calls, run_budget.lacking) == (3, "calls")


PLANTED = Path(__file__).parents[2] / "quality" / "planted_tools"


def session_server(folder: Path) -> str:
    """The planted server, with ids that are the same in each run."""
    text = (PLANTED / "session_server.py").read_text()
    text = text.replace("str(uuid.uuid4())", 'f"s-{len(SESSIONS):032x}"').replace("random.randrange", "max")
    (folder / "server.py").write_text(f"import sys\nsys.path.append({str(PLANTED)!r})\n{text}")
    return f"mcp:{sys.executable} {folder / 'server.py'}"


def reports(spec: str, jobs: int, is_reversed: bool = False) -> dict[str, ToolReport]:
    settings = Settings(timeout=10.0, calls_per_tool=20, seed=3, jobs=jobs, sandbox="none")
    with Workbenches(settings) as benches:
        targets = [each for each in find_targets(benches.all_tools([spec], {}), ()) if each.wave < LAST]
        worker = FuzzWorker(benches, settings, RunBudget(Budget(), Spent()))
        found = worker.work([(target, None) for target in sorted(targets, reverse=is_reversed, key=place_of)])
        return {each.name: each for each in found if isinstance(each, ToolReport) and each.ended != "stopped"}


def place_of(target: Target) -> int:
    return target.place


@pytest.mark.full
def test_tools_get_the_same_calls_whatever_is_tested_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, known = CallSamples.preparations_for, dict[int, set[frozenset[str]]]()

    def noted(self: CallSamples, described: Described, tools: Sequence[Described]) -> list[Calls]:
        known.setdefault(wave_of(described), set()).add(frozenset(self.accepted))
        return usual(self, described, tools)

    monkeypatch.setattr(CallSamples, "preparations_for", noted)
    spec = session_server(tmp_path)
    alone = reports(spec, jobs=1)
    assert [len(each) for each in known.values()] == [1] * len(known)  # the same for a whole wave
    assert {name for name, report in alone.items() if report.accepted} == {*alone}
    for others in (reports(spec, jobs=1, is_reversed=True), reports(spec, jobs=2)):
        for name, report in alone.items():
            assert (report.calls, report.refused) == (others[name].calls, others[name].refused)
            assert report.corpus == others[name].corpus, name
