"""Requests for one group of tools, put to an agent that has the others: through the real client and sandbox."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from misstep.core.model import ModelError, Unusable
from misstep.core.results.crosstalk import CrosstalkReport, GroupReport
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.crosstalk.run import (
    CrosstalkTests,
    find_crosstalk,
    read_groups,
    resume_crosstalk,
    view_crosstalk,
)
from misstep.fuzzing.agent_tests.prompts import Prompts
from misstep.runs.budget import RunBudget
from misstep.runs.setup.workbenches import Workbenches
from tests.features.crosstalk.grouped_tools import GOOD, GROUPS, NOISY, REQUESTS, eager, write_tools
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, always, in_turn, plays, settings_for, stage_of
from tests.scripted import Fault, Script, ScriptedServer, calling


@contextmanager
def served(folder: Path, script: Script, **more: Any) -> Iterator[tuple[ScriptedServer, Settings]]:
    with ScriptedServer(script) as server:
        given = {"store": str(folder / "store.db"), "count": 2, "timeout": 20.0, "jobs": 1}
        given = {"sandbox": "none", **given, **more}
        yield server, settings_for(server.base_url, **given)


def find(folder: Path, script: Script, **more: Any) -> tuple[CrosstalkReport, ScriptedServer]:
    with served(folder, script, **more) as (server, settings):
        return find_crosstalk(settings, write_tools(folder)), server


def stages(server: ScriptedServer) -> Counter[str | None]:
    return Counter(stage_of(each.body["messages"][0]["content"]) for each in server.model_requests)


def bare(report: CrosstalkReport) -> list[Any]:
    """What has to be the same each time."""
    return [
        (group.name, group.tools, group.offered, [(trial.request, trial.uses) for trial in group.trials])
        for group in report.groups
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrosstalkReport, ScriptedServer]:
    """A run in the sandbox that nobody has stopped."""
    return find(tmp_path_factory.mktemp("whole"), plays(GOOD, eager), sandbox="auto")


def test_each_group_is_tried_with_the_tools_of_the_others(
    whole: tuple[CrosstalkReport, ScriptedServer],
) -> None:
    report, server = whole
    assert [(group.name, group.verdict, len(group.judged)) for group in report.groups] == [
        ("files", "passed", 2),
        ("clock", "failed", 2),
        ("web", "passed", 2),
    ]
    (noisy,) = report.groups[1].activating
    # Each call went to the process that has the tool, as it is when it has been loaded.
    assert [(use.tool, use.result) for use in noisy.uses] == [
        ("search_web", "1 asked: Rome"),
        ("read_file", "what is in Rome.txt"),
    ]
    assert report.matrix["clock"] == {"files": 1, "clock": 0, "web": 1}
    had = {
        each.body["messages"][-1]["content"]: {tool["function"]["name"] for tool in each.body["tools"]}
        for each in server.model_requests
        if each.body.get("tools")
    }
    for tool, requests in REQUESTS.items():
        assert [had[request] for request in requests] == [{*REQUESTS} - {tool}] * 2
    assert stages(server)["groups"] == 1
    assert {*report.usage} == {"agent", "generator"}


def test_tools_that_share_a_group_are_not_offered(tmp_path: Path) -> None:
    groups = tmp_path / "groups.toml"
    groups.write_text(
        '[groups]\ndesk = ["read_file", "tell_time"]\nclock = ["tell_time"]\nweb = ["search_web"]\n'
    )
    report, server = find(tmp_path, plays(GOOD, eager), groups=str(groups))
    assert [group.offered for group in report.groups] == [
        ("search_web",),
        ("search_web",),
        ("read_file", "tell_time"),
    ]
    assert stages(server)["groups"] == 0


def test_groups_that_will_not_do_are_proposed_again(tmp_path: Path) -> None:
    first = {"groups": [{"name": "all", "tools": ["read_file", "tell_tim"]}]}
    report, server = find(tmp_path, plays({**GOOD, "groups": in_turn("none", first, GROUPS)}, eager))
    assert len(report.groups) == 3
    told = server.model_requests[2].body["messages"][-1]["content"]
    assert "there is no tool 'tell_tim' (Did you mean 'tell_time'?)" in told
    assert "at least two groups are needed, not 1" in told
    assert "'search_web' is not in a group" in told


def test_a_model_that_will_not_sort_tools(tmp_path: Path) -> None:
    with served(tmp_path, plays({"groups": always(REFUSAL)})) as (_, settings):
        with pytest.raises(Unusable, match="gave no valid answer") as caught:
            find_crosstalk(settings, write_tools(tmp_path))
        assert view_crosstalk(settings, "last").groups == ()
    assert "--resume" in caught.value.hints[-1]


def test_a_model_that_will_not_write_requests(tmp_path: Path) -> None:
    def some(prompt: str) -> object:
        return REFUSAL if "tell_time" in prompt else GOOD["crosstalk"](prompt)

    report, _ = find(tmp_path, plays({**GOOD, "crosstalk": some}, eager))
    assert [group.verdict for group in report.groups] == ["passed", "inconclusive", "passed"]
    assert report.groups[1].why.startswith("no requests were generated: ")


def test_a_model_that_is_late_with_requests(tmp_path: Path) -> None:
    groups = tmp_path / "groups.toml"
    groups.write_text('[groups]\nfiles = ["read_file"]\nclock = ["tell_time"]\n')
    late = plays(GOOD, eager, faults=[Fault("hang")])
    report, _ = find(tmp_path, late, groups=str(groups), time_per_request=2.0)
    assert [group.verdict for group in report.groups] == ["inconclusive", "failed"]
    assert "gave no answer in 2 seconds" in report.groups[0].why


def test_an_agent_that_breaks_is_no_finding(tmp_path: Path) -> None:
    """It has made a call, and then has no turn left for an answer."""
    report, _ = find(tmp_path, plays(GOOD, eager), max_steps=1)
    clock = report.groups[1]
    assert [(trial.request, bool(trial.uses), trial.is_usable) for trial in clock.trials] == [
        (NOISY, True, False),
        ("is it noon in Oslo?", False, True),
    ]
    assert (clock.verdict, report.activating, report.judged) == ("passed", 0, 5)
    assert not any(tool.requests for tool in report.tools)


def test_an_agent_whose_model_is_out(tmp_path: Path) -> None:
    out = plays(GOOD, eager, faults=[None, None, Fault("401")])
    with served(tmp_path, out) as (_, settings):
        with pytest.raises(ModelError, match="the agent's model is unavailable: ") as caught:
            find_crosstalk(settings, write_tools(tmp_path))
        assert "--resume" in caught.value.hints[-1]
        assert len(resume_crosstalk(settings.overlay({"resume": "last"})).groups) == 3


def test_a_run_that_was_stopped_goes_on(
    tmp_path: Path, whole: tuple[CrosstalkReport, ScriptedServer]
) -> None:
    with served(tmp_path, plays(GOOD, eager), budget_calls=1) as (server, settings):
        with pytest.raises(BudgetExceeded):
            find_crosstalk(settings, write_tools(tmp_path))
        begun = view_crosstalk(settings, "last")
        assert [group.ended for group in begun.groups] == ["done", "stopped", "stopped"]
        more = settings.overlay({"resume": begun.run, "budget_calls": 100})
        (tmp_path / "web.py").write_text(
            "def look_up(query: str) -> str:\n    return query\n\ntools = [look_up]\n"
        )
        with pytest.raises(UsageError, match="the tool 'search_web' no longer exists"):
            resume_crosstalk(more)
        write_tools(tmp_path)
        assert bare(resume_crosstalk(more)) == bare(whole[0])
        assert stages(server)["groups"] == 1
        asked = len(server.model_requests)
        assert bare(resume_crosstalk(more)) == bare(whole[0])  # it has finished
        assert len(server.model_requests) == asked


def test_nothing_left_to_ask_for_groups_with(tmp_path: Path) -> None:
    with served(tmp_path, plays(GOOD, eager), budget_tokens=1) as (_, settings):
        with pytest.raises(BudgetExceeded, match="the budget is exhausted"):
            find_crosstalk(settings, write_tools(tmp_path))
        more = settings.overlay({"resume": "last", "budget_tokens": 10**9})
        assert len(resume_crosstalk(more).groups) == 3


def test_several_at_a_time_come_to_the_same(
    tmp_path: Path, whole: tuple[CrosstalkReport, ScriptedServer]
) -> None:
    together, _ = find(tmp_path, plays(GOOD, eager), jobs=3)
    assert bare(together) == bare(whole[0])


def test_a_cached_model_makes_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where replies are kept
    asked = list[str]()

    def fickle(prompt: str) -> object:
        asked.append(prompt)
        return {"requests": [f"{NOISY} {len(asked)}", f"message {len(asked)}"]}

    with served(tmp_path, plays({**GOOD, "crosstalk": fickle}, eager), cache=True) as (server, settings):
        specs = write_tools(tmp_path)
        first = find_crosstalk(settings, specs)
        count = len(server.model_requests)
        assert bare(find_crosstalk(settings, specs)) == bare(first)
        assert len(server.model_requests) == count
    assert len(asked) == len(first.groups)


def test_a_tool_that_there_is_twice(tmp_path: Path) -> None:
    spec, _ = write_tools(tmp_path)
    (tmp_path / "again.py").write_text((tmp_path / "desk.py").read_text())
    with served(tmp_path, plays({})) as (_, settings):
        with pytest.raises(UsageError, match="more than one tool 'read_file'"):
            find_crosstalk(settings, [spec, f"{tmp_path / 'again.py'}:tools"])
        with pytest.raises(UsageError, match="only one tool"):
            find_crosstalk(settings, [f"{tmp_path / 'desk.py'}:read_file"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "can't be read as groups of tools"),
        ("groups = 3", "can't be read as groups of tools"),
        ("[groups", "can't be read as groups of tools"),
        ("[groups]\na = ['x']\n[more]\n", "can't be read as groups of tools"),
        ("[groups]\na = ['x']\nb = []\n", "the group 'b' is empty"),
        ("[groups]\na = ['x', 'y']\n", "at least two groups are needed, not 1"),
        ("[groups]\na = ['x']\nb = ['yy']\n", "there is no tool 'yy'"),
        ("[groups]\na = ['x']\nb = ['x', 'y']\n", "no tools are left to test the group 'a' with"),
        ("[groups]\n'' = ['x']\nb = ['y']\n", "'' is not a valid group name"),
    ],
)
def test_files_that_will_not_do(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "groups.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_groups(str(path), dict.fromkeys("xy"))  # type: ignore[arg-type]
    assert told in caught.value.message
    assert caught.value.where == str(path)


def test_calls_of_tools_that_are_not_there_are_no_activation(tmp_path: Path) -> None:
    def wishful(request: str, tools: list[str]) -> list[Any]:
        return [calling("tell_time", zone="Rome")] if NOISY in request else []

    report, _ = find(tmp_path, plays(GOOD, wishful))
    assert report.activating == 0


def test_tools_that_are_gone_leave_their_group_undone(tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:9", sandbox="none")
    gone, told = f"{tmp_path / 'gone.py'}:tools", list[GroupReport]()
    with Workbenches(settings) as benches:
        run_budget = RunBudget(Budget(), Spent())
        crossing = CrosstalkTests(benches, settings, Prompts(), run_budget, {}, {"x": gone}, lambda _: None)
        crossing.cross(GroupReport("y", ("y",), ("x",), ended="stopped"), told.append)
    assert crossing.lost[gone].startswith("could not be restarted: ")
    assert told == []
