"""Runs of the fuzzer: what they find, keep, spend, and how they go on."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import (
    Event,
    FindingMade,
    ItemStarted,
    Notice,
    RunFinished,
    RunStarted,
    Spending,
    ToolFinished,
)
from misstep.core.results.fuzzing import FuzzReport, ToolReport
from misstep.core.settings import Settings
from misstep.errors import BudgetExceeded, StoreError, UsageError
from misstep.features.tool_fuzz.replay import regression_tests, replay_calls, replay_finding
from misstep.features.tool_fuzz.run import find_finding, fuzz_tools, resume_fuzzing, view_fuzzing
from misstep.runs.lookup import list_runs, view_run
from misstep.store.runs import Store
from tests.features.stdio_server import SPEAKING
from tests.features.tool_fuzz.faulty_tools import TOOLS


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(TOOLS)
    return tmp_path


def settings_in(place: Path, **given: Any) -> Settings:
    usual = {"timeout": 10.0, "jobs": 1, "calls_per_tool": 60, "store": str(place / "store.db")}
    return Settings(**{**usual, **given})


def fuzzed(place: Path, name: str, **given: Any) -> FuzzReport:
    return fuzz_tools(settings_in(place, **given), [f"{place}/mine.py:{name}"])


def test_a_server_that_cannot_be_used_leaves_the_others_to_be_tested(place: Path) -> None:
    (place / "shop.py").write_text(SHOP + SPEAKING)
    about = {
        "shop": {"command": sys.executable, "args": [f"{place}/shop.py"]},
        "gone": {"command": "no-such"},
    }
    (place / "mcp.json").write_text(json.dumps({"mcpServers": about}))
    events = list[Event]()
    specs = [f"{place}/mcp.json", f"{place}/mine.py:share"]
    report = fuzz_tools(settings_in(place, calls_per_tool=10), specs, events.append)
    gone = report.tools[-1]
    why = "can't start MCP server 'gone': command not found"
    assert (gone.name, gone.calls, gone.notes) == ("mcp.json:gone", 0, (why,))
    assert report.untested[-1] == gone
    assert Notice(f"mcp.json:gone is not tested: {why}") in events
    assert {each.origin for each in events if isinstance(each, FindingMade)} >= {"mine.py:share"}
    assert [each.calls > 0 for each in report.tools[:-1]] == [True] * (len(report.tools) - 1)
    with pytest.raises(UsageError, match="nothing_there"):  # a mistake of the user's, not of a server
        fuzz_tools(settings_in(place), [f"{place}/mcp.json", f"{place}/mine.py:nothing_there"])


def found(report: ToolReport) -> list[tuple[str, str]]:
    return [(finding.kind, finding.error) for finding in report.findings]


def test_crashes_are_found_made_small_and_kept(place: Path) -> None:
    events = list[Event]()
    report = fuzz_tools(settings_in(place), [f"{place}/mine.py:tools"], events.append)
    lookup, share, greet, together = report.tools
    assert found(lookup) == [("crash", "IndexError")]
    assert lookup.findings[0].where == "mine.py:7 in lookup"
    assert json.loads(lookup.findings[0].calls[0].arguments) == {"query": ""}
    assert ("crash", "ZeroDivisionError") in found(share)
    assert [
        json.loads(each.calls[-1].arguments) for each in share.findings if each.error == "ZeroDivisionError"
    ] == [{"amount": 0, "people": 0}]
    assert found(greet) == []
    assert (together.name, found(together)) == ("(together)", [])
    assert all(tool.calls == 60 for tool in report.tools)
    assert lookup.reach is not None
    assert (lookup.reach.lines, lookup.reach.total) == (1, 1)
    assert "bubblewrap" in lookup.sandbox or "no sandbox" in lookup.sandbox
    assert view_fuzzing(settings_in(place), "last") == report
    started = [event.name for event in events if isinstance(event, ItemStarted)]
    assert sorted(started) == sorted(tool.name for tool in report.tools)
    told = [type(event) for event in events if not isinstance(event, FindingMade | Spending | ItemStarted)]
    assert told == [RunStarted, *[ToolFinished] * 4, RunFinished]
    told = {event.finding.id for event in events if isinstance(event, FindingMade)}
    assert told == {finding.id for finding in report.findings}
    targets = {(event.target, event.finding.id) for event in events if isinstance(event, FindingMade)}
    assert targets == {(tool.name, finding.id) for tool in report.tools for finding in tool.findings}


def test_the_same_seed_finds_the_same(place: Path) -> None:
    first, second = (fuzzed(place, "tools", only=("share",), seed=4, calls_per_tool=400) for _ in range(2))
    assert first.findings == second.findings
    assert first.tools[0].corpus == second.tools[0].corpus


def test_a_run_is_listed_and_shown_as_any_other(place: Path) -> None:
    report = fuzzed(place, "tools", only=("lookup", "greet"))
    (listed,), _ = list_runs(settings_in(place))
    assert listed.run.purpose.tools == (f"{place}/mine.py:tools",)
    summary = view_run(settings_in(place), report.run, 5).summary
    assert (summary.cases, summary.passed, summary.failed) == (3, 2, 1)


def test_a_clear_refusal_is_no_finding(place: Path) -> None:
    (report,) = fuzzed(place, "refuse").tools
    assert found(report) == []
    assert report.refused == report.calls


def test_what_has_no_network_is_told_apart(place: Path) -> None:
    (report,) = fuzzed(place, "fetch", calls_per_tool=10).tools
    assert found(report) == []
    assert report.environment == report.calls
    assert report.notes


def test_defects_that_take_several_calls_are_found_as_sequences(place: Path) -> None:
    report = fuzzed(place, "get_tools", only=("add_item", "average"), calls_per_tool=300)
    (finding,) = [each for each in report.findings if each.error == "ZeroDivisionError"]
    assert [call.tool for call in finding.calls] == ["add_item", "average"]
    assert finding.reproduced == finding.replayed > 0


def test_a_finding_is_replayed_until_it_is_mended(place: Path) -> None:
    report = fuzzed(place, "lookup")
    (finding,) = report.findings
    run, same = find_finding(settings_in(place), "last", finding.id[:5])
    assert (run.id, same) == (report.run, finding)
    before, after = replay_finding(settings_in(place), report.run, finding.id)
    assert (after.ruling, after.signature) == (before.kind, before.signature)
    text = (place / "mine.py").read_text().replace('split("query: ")[1]', 'removeprefix("query: ")')
    (place / "mine.py").write_text(text)
    assert replay_finding(settings_in(place), report.run, finding.id)[1].ruling == "fine"


def test_findings_become_tests_that_fail_until_they_are_mended(place: Path) -> None:
    report = fuzzed(place, "tools", only=("lookup",))
    source = regression_tests(report, settings_in(place), str(place))
    names: dict[str, Any] = {"__file__": str(place / "test_emitted.py")}
    exec(compile(source, "emitted", "exec"), names)
    (test,) = [value for name, value in names.items() if name.startswith("test_")]
    with pytest.raises(AssertionError, match="list index out of range"):
        test()
    text = (place / "mine.py").read_text().replace('split("query: ")[1]', 'removeprefix("query: ")')
    (place / "mine.py").write_text(text)
    test()


def test_a_budget_of_calls_stops_a_run_which_then_goes_on(place: Path) -> None:
    with pytest.raises(BudgetExceeded, match="100 of 100 calls") as stopped:
        fuzzed(place, "tools", budget_calls=100)
    assert "--budget-calls MORE" in str(stopped.value)
    tools = view_fuzzing(settings_in(place), "last").tools
    assert sum(tool.calls + tool.triage_calls for tool in tools) == 100
    assert tools[0].triage_calls
    report = resume_fuzzing(settings_in(place, resume="last", budget_calls=1000))
    assert [tool.calls for tool in report.tools] == [60, 60, 60, 60]
    assert ("crash", "ZeroDivisionError") in found(report.tools[1])
    assert found(report.tools[3]) == []  # what was found before the stop is no news of them together
    assert all(finding.replayed for finding in report.findings)
    assert resume_fuzzing(settings_in(place, resume="last")) == report  # it has finished


def test_a_budget_of_time_stops_a_run(place: Path) -> None:
    with pytest.raises(BudgetExceeded, match="seconds"):
        fuzzed(place, "slowly", budget_time=0.5, calls_per_tool=100_000)
    (report,) = view_fuzzing(settings_in(place), "last").tools
    assert report.ended == "stopped"
    assert report.calls


def test_nobody_is_at_work_after_somebody_who_listens_has_failed(place: Path) -> None:
    def listen(event: Event) -> None:
        if isinstance(event, FindingMade):
            raise RuntimeError("no more room on the disk")

    with pytest.raises(RuntimeError, match="no more room"):
        fuzz_tools(settings_in(place, jobs=2, calls_per_tool=10**6), [f"{place}/mine.py:tools"], listen)
    assert [thread.name for thread in threading.enumerate() if thread.name == "examiner"] == []


def test_tools_of_one_name_in_two_files_have_findings_of_their_own(place: Path) -> None:
    (place / "other").mkdir()
    (place / "other" / "mine.py").write_text(TOOLS)
    specs = [f"{place}/mine.py:lookup", f"{place}/other/mine.py:lookup"]
    report = fuzz_tools(settings_in(place), specs)
    one, other = report.tools
    assert found(one) == found(other) == [("crash", "IndexError")]
    (place / "other" / "mine.py").write_text(TOOLS.replace('split("query: ")[1]', "strip()"))
    findings = [*one.findings, *other.findings]
    rulings = [replay_finding(settings_in(place), report.run, each.id)[1].ruling for each in findings]
    assert rulings == ["crash", "fine"]
    assert len(report.causes) == 2


def test_no_call_is_made_beyond_the_budget_though_findings_wait_to_be_confirmed(place: Path) -> None:
    with pytest.raises(BudgetExceeded, match="62 of 62 calls"):
        fuzzed(place, "lookup", budget_calls=62)
    (report,) = view_fuzzing(settings_in(place), "last").tools
    assert (report.calls, report.triage_calls, report.ended) == (60, 2, "stopped")
    assert [finding.replayed for finding in report.unconfirmed] == [0]
    assert report.findings == ()
    (report,) = resume_fuzzing(settings_in(place, resume="last", budget_calls=1000)).tools
    assert (report.calls, report.ended) == (60, "calls")
    assert [finding.reproduced for finding in report.findings] == [3]
    assert report.unconfirmed == ()


SHOP = """
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WHOLE = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
calls = 0


def answer(method, parameters):
    global calls
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": WHOLE} for name in ("weigh", "count")]}
    calls += 1
    if calls == 8 and not os.path.exists(f"{HERE}/mended"):
        open(f"{HERE}/gone", "w").close()
        os._exit(3)
    return {"content": [{"type": "text", "text": "fine"}]}
"""


@pytest.mark.full
def test_a_server_that_is_gone_for_good_ends_nothing_but_its_own_part(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misstep.tool_host.host.PAUSE", 0.01)
    monkeypatch.setattr("misstep.features.tool_fuzz.worker.PAUSE", 0.01)
    (place / "shop.py").write_text(SHOP + SPEAKING)
    server = f"mcp:{sys.executable} {place}/shop.py"
    given = settings_in(place, calls_per_tool=20, sandbox="none")
    with pytest.raises(UsageError, match=r"could not be restarted: .*; findings are stored") as lost:
        fuzz_tools(given, [server, f"{place}/mine.py:lookup"])
    assert lost.value.where == server
    assert "misstep tool fuzz --resume" in str(lost.value)
    weigh, count, together, lookup = view_fuzzing(given, "last").tools
    assert [tool.ended for tool in (weigh, count, together, lookup)] == [*["stopped"] * 3, "calls"]
    assert all(tool.notes[-1].startswith("could not be restarted: ") for tool in (weigh, count, together))
    assert [(each.error, each.replayed) for each in weigh.unconfirmed] == [("process died", 0)]
    assert weigh.findings == ()
    assert (count.calls, together.calls, len(lookup.findings)) == (0, 0, 1)

    (place / "mended").touch()
    (place / "gone").unlink()
    report = resume_fuzzing(settings_in(place, resume="last"))
    assert [tool.calls for tool in report.tools] == [20] * 4
    assert not any("could not be restarted" in note for tool in report.tools for note in tool.notes)
    assert report.tools[0].findings == ()


def test_the_time_for_a_tool_ends_its_part(place: Path) -> None:
    (report,) = fuzzed(place, "slowly", time_per_tool=0.5, calls_per_tool=100_000).tools
    assert report.ended == "time"
    assert report.calls


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_it_found(place: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "misstep", "tool", "fuzz", "mine.py:tools", "--display", "plain"]
    with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        while "IndexError" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(how)
        rest = process.stderr.read()
        assert process.wait() == 130
    assert "resume with: misstep tool fuzz --resume" in rest
    report = view_fuzzing(settings_in(place, store=str(place / ".misstep" / "store.db")), "last")
    kept = [*report.findings, *report.unconfirmed]  # there may have been no time to replay it
    assert ("crash", "IndexError") in [(finding.kind, finding.error) for finding in kept]


@pytest.mark.full
def test_a_killed_run_goes_on(place: Path) -> None:
    given = ["--calls-per-tool", "150", "--only", "slowly", "--only", "share", "--jobs", "1"]
    (place / "mine.py").write_text(TOOLS.replace("tools = [", "tools = [slowly, "))
    command = [sys.executable, "-m", "misstep", "tool", "fuzz", "mine.py:tools", *given]
    with subprocess.Popen(command, cwd=place, stderr=subprocess.DEVNULL) as process:
        location = str(place / ".misstep" / "store.db")
        while not (os.path.exists(location) and _reports(location)):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    report = resume_fuzzing(settings_in(place, store=location, resume="last"))
    assert [tool.calls for tool in report.tools] == [150, 150, 150]
    assert ("crash", "ZeroDivisionError") in found(report.tools[1])


def _reports(location: str) -> int:
    with suppress(StoreError), Store(location) as store:  # it may be in the making
        return sum(len(store.tool_reports(run.id)) for run in store.list_runs())
    return 0


def test_calls_can_be_made_without_a_run(place: Path) -> None:
    spec = f"{place}/mine.py:tools"
    assert replay_calls(spec, [("share", {"amount": 1, "people": 0})]).ruling == "crash"
    assert replay_calls(spec, [("share", {"amount": 1, "people": 2})]).ruling == "fine"
    with pytest.raises(UsageError, match="there is no tool 'shar' now"):
        replay_calls(spec, [("shar", {})])
    with pytest.raises(UsageError, match="no calls"):
        replay_calls(spec, [])


def test_a_workspace_is_copied_and_left_alone(place: Path) -> None:
    (place / "work").mkdir()
    (place / "work" / "notes.txt").write_text("old")
    (place / "mine.py").write_text(
        'def note(text: str) -> str:\n    """Take a note."""\n'
        '    before = open("notes.txt").read()\n    open("notes.txt", "w").write("new")\n    return before\n'
    )
    report = fuzzed(place, "note", workspace=str(place / "work"), calls_per_tool=20)
    assert found(report.tools[0]) == []
    assert (place / "work" / "notes.txt").read_text() == "old"


def test_what_is_asked_for_must_be_there(place: Path) -> None:
    with pytest.raises(UsageError, match="there is no tool 'greed'") as error:
        fuzzed(place, "tools", only=("greed",))
    assert "Did you mean 'greet'?" in str(error.value)
    with pytest.raises(UsageError, match="is not a folder"):
        fuzzed(place, "tools", workspace=str(place / "nowhere"))
    with pytest.raises(UsageError, match=r"missing\.py"):
        fuzz_tools(settings_in(place), [f"{place}/missing.py:tools"])
    fuzzed(place, "greet")
    with pytest.raises(UsageError, match="is not a finding"):
        find_finding(settings_in(place), "last", "abc")


def test_a_tool_that_nobody_can_describe_is_left_out_with_a_word(place: Path) -> None:
    (place / "mine.py").write_text(
        TOOLS
        + "\n\nclass Odd:\n    pass\n\n\ndef odd(thing: Odd) -> str:\n    return 'x'\n\n\nodd_tools = [greet, odd]\n"
    )
    (report,) = fuzzed(place, "odd_tools", calls_per_tool=10).tools
    assert report.name == "greet"
    assert any("odd" in note for note in report.notes)


def test_more_examiners_than_tools_get_in_nobodys_way(place: Path) -> None:
    (place / "mine.py").write_text(
        "def make(number):\n    def tool(x: int) -> int:\n        return 10 // x\n"
        '    tool.__name__ = f"tool{number}"\n    return tool\n\n\ntools = [make(number) for number in range(6)]\n'
    )
    report = fuzzed(place, "tools", jobs=8, calls_per_tool=10)
    assert [tool.name for tool in report.tools] == [*(f"tool{number}" for number in range(6)), "(together)"]
    assert [len(tool.findings) for tool in report.tools] == [1] * 6 + [0]


@pytest.mark.full
def test_a_server_named_by_a_relative_path_is_found_from_any_folder(
    place: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    (place / "server.py").write_text(
        "from mcp.server.mcpserver import MCPServer\n\nserver = MCPServer('shop')\n\n\n"
        "@server.tool()\ndef third(values: list[int]) -> int:\n    return values[2]\n\n\nserver.run()\n"
    )
    report = fuzz_tools(settings_in(place, calls_per_tool=6), [f"mcp:{sys.executable} server.py"])
    (finding,) = report.findings
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert replay_finding(settings_in(place), report.run, finding.id)[1].ruling == "crash"
