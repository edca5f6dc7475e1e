"""Runs that test the answers of tools, from settings to the store, with a real agent behind a real server."""

import os
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import Event, ItemStarted, RunFinished, RunStarted, SetJudged, Spending, ToolChecked
from misstep.core.model import ModelError
from misstep.core.results.consistency import CHECKS, Check, ConsistencyReport, ConsistencyRun
from misstep.core.settings import Settings
from misstep.errors import BudgetExceeded, StoreError, UsageError
from misstep.features.consistency.run import (
    check_consistency,
    find_set,
    replay_set,
    resume_consistency,
    view_consistency,
)
from misstep.features.label.run import open_labelling
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.runs.lookup import list_runs
from misstep.store.runs import Store
from tests.features.consistency.two_roads import (
    PER_SET,
    SECOND,
    settings_in,
    two_roads,
    verdicts,
    without_seconds,
)
from tests.features.stdio_server import SPEAKING
from tests.fuzzing.agent_tests.scripted_roles import (
    MARKERS,
    REFUSAL,
    Answer,
    Plan,
    always,
    fenced_in,
    stage_of,
)
from tests.fuzzing.consistency.roads import STIFF, as_said, typed, with_country
from tests.scripted import Call, Fault, Script, ScriptedServer, calling
from tests.scripted.server import listen


def run(
    folder: Path, script: Script, *specs: str, listener: Any = lambda _: None, **more: Any
) -> ConsistencyRun:
    with ScriptedServer(script) as server:
        settings = settings_in(folder, server.base_url, **more)
        return check_consistency(
            settings, [f"{folder}/{spec}" for spec in specs or ["roads.py:road"]], listener
        )


def prompts(server: ScriptedServer) -> list[str]:
    said = [request.body["messages"] for request in server.model_requests]
    return ["\n".join(each["content"] or "" for each in messages) for messages in said]


def test_a_fault_is_found_told_and_kept(tmp_path: Path) -> None:
    events = list[Event]()
    report = run(tmp_path, two_roads(), listener=events.append, count=2)
    (tool,) = report.tools
    assert (tool.name, tool.ended, tool.verdict, verdicts(report)) == (
        "road",
        "done",
        "failed",
        ["failed", "failed"],
    )
    assert tool.sets[0].requests == tuple(map(typed, STIFF))
    assert tool.sets[1].template == SECOND
    assert set(tool.usage) == {"agent", "generator", "judge"}
    assert (tool.calls, tool.notes) == (8, ())
    told = [type(event) for event in events if not isinstance(event, Spending)]  # which comes now and then
    assert told == [RunStarted, ItemStarted, SetJudged, SetJudged, ToolChecked, RunFinished]
    settings = settings_in(tmp_path, "")
    assert view_consistency(settings, "last") == report
    (listed,) = list_runs(settings)[0]
    assert listed.run.summary is not None
    assert (listed.run.summary.failed, listed.run.summary.calls) == (1, 8)
    assert listed.run.summary.tokens.output > 0
    stored, of, found = find_set(settings, report.run, tool.sets[0].id[:6])
    assert (stored.id, of.name, found) == (report.run, "road", tool.sets[0])
    with pytest.raises(UsageError, match="'zz' is not a set of run"):
        find_set(settings, "last", "zz")


def test_its_repaired_twin_is_silent(tmp_path: Path) -> None:
    strict = always({"reason": "I like nothing", "score": 1})
    report = run(tmp_path, two_roads(with_country, judge=strict), count=2)
    assert verdicts(report) == ["passed", "passed"]
    assert report.tools[0].verdict == "passed"


ABLATIONS = [some for size in (1, 2, 3) for some in combinations(CHECKS, size)]


@pytest.mark.full(after=2)
@pytest.mark.parametrize("checks", ABLATIONS, ids="-".join)
def test_each_check_can_be_left_out(tmp_path: Path, checks: tuple[Check, ...]) -> None:
    """A judge who likes nothing is overruled by any other check that finds nothing."""
    strict = always({"reason": "I like nothing", "score": 1})
    report = run(tmp_path, two_roads(with_country, judge=strict), checks=checks)
    assert verdicts(report) == ["failed" if checks == ("judge",) else "passed"]
    assert report.tools[0].checks == checks


@pytest.mark.parametrize("checks", [("inputs", "outputs"), ("judge",)])
def test_what_is_left_finds_the_fault(tmp_path: Path, checks: tuple[Check, ...]) -> None:
    (one,) = run(tmp_path, two_roads(), checks=checks).sets
    assert (one.verdict, bool(one.scores)) == ("failed", "judge" in checks)


def test_a_judge_alone_is_believed(tmp_path: Path) -> None:
    kind = always({"reason": "fine by me", "score": 9})
    assert verdicts(run(tmp_path, two_roads(judge=kind))) == ["passed"]


def test_spelling_does_not_count_if_so_wished(tmp_path: Path) -> None:
    """An agent that shouts is understood."""

    def shouting(request: str, tools: list[str]) -> list[Call]:
        loud = "Lyon, France" in request
        start, end = ("PARIS, France", "LYON, France") if loud else ("Paris, France", "Lyon, France")
        return [calling("road", start=start, end=end)]

    (exact,) = run(tmp_path, two_roads(shouting), checks=("inputs",)).sets
    (lax,) = run(tmp_path, two_roads(shouting), checks=("inputs",), normalise=True).sets
    assert (exact.verdict, exact.normalised) == ("failed", None)
    assert (lax.verdict, len(lax.buckets.inputs)) == ("passed", 2)


def moody(prompt: str) -> object:
    return {"reason": "the first counts", "score": 2 if fenced_in(prompt)[2][-2:] == "km" else 8}


@pytest.mark.full(after=2)
@pytest.mark.parametrize(
    ("stage", "answer", "why"),
    [
        ("templates", always(REFUSAL), "no templates were generated"),
        ("infills", always({"infills": 7}), "no infills were generated"),
        ("humanise", always("\x1b[31m<garbage>"), "no messages were generated"),
        ("majority", always(REFUSAL), "no expectation could be formed"),
        ("judge", always({"score": 11}), ": not scored: "),
        ("judge", moody, "the judge's answers contradict each other"),
    ],
)
def test_models_that_are_of_no_use(tmp_path: Path, stage: Stage, answer: Answer, why: str) -> None:
    report = run(tmp_path, two_roads(**{stage: answer}))
    assert verdicts(report) == ["inconclusive"]
    assert why in report.sets[0].why
    assert (report.tools[0].verdict, report.tools[0].ended) == ("inconclusive", "done")


@pytest.mark.full
def test_a_generator_that_is_late(tmp_path: Path) -> None:
    """The set that it kept waiting is open, and the others are made."""
    report = run(tmp_path, two_roads(faults=[None, Fault("hang")]), count=2, time_per_request=5.0)
    assert verdicts(report) == ["inconclusive", "failed"]
    late = "no infills were generated: openai/x gave no answer in 5 seconds; raise --time-per-request"
    assert report.sets[0].why == late


def nothing(request: str, tools: list[str]) -> list[Call]:
    return []


def test_an_agent_that_never_calls_the_tool(tmp_path: Path) -> None:
    (one,) = run(tmp_path, two_roads(nothing)).sets
    assert (one.verdict, one.why) == ("inconclusive", "the agent never called the tool")


def test_an_agent_that_breaks(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def agent(request, tools):\n    raise OSError('no way')\n")
    (one,) = run(tmp_path, two_roads(), agent=f"{tmp_path}/mine.py:agent").sets
    assert one.verdict == "inconclusive"
    assert "no way" in one.why


@pytest.mark.parametrize(
    ("spec", "source", "why"),
    [
        ("broken.py:tool", "import nowhere_at_all", "nowhere_at_all"),
        ("broken.py:gone", "tool = 1", "gone"),
        ("missing.py:tool", "", "missing.py"),
    ],
)
def test_tools_that_can_not_be_had(tmp_path: Path, spec: str, source: str, why: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(UsageError) as refused:
        run(tmp_path, two_roads(), spec)
    assert why in str(refused.value)
    with pytest.raises(StoreError):
        list_runs(settings_in(tmp_path, ""))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"model": "", "model_base_url": ""}, "no model given"),
        ({"agent": ""}, "no agent given"),
        ({"agent": "sim:perfect"}, "can't call real tools"),
        ({"model": "openai/gpt-4o", "model_base_url": ""}, "OPENAI_API_KEY"),
        ({"context": "nowhere.txt"}, "can't be read as text"),
        ({"prompts": "nowhere"}, "can't be read"),
        ({"workspace": "nowhere"}, "is not a folder"),
        ({"only": ("rode",)}, "there is no tool 'rode'"),
        ({"budget_usd": 1.0}, "needs a price"),
    ],
)
def test_what_is_missing_is_told_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError) as refused:
        run(tmp_path, two_roads(), **more)
    assert why in str(refused.value)
    assert not (tmp_path / "store.db").exists()


def resumed(folder: Path, server: ScriptedServer, **more: Any) -> ConsistencyRun:
    return resume_consistency(settings_in(folder, server.base_url, resume="last", **more))


@pytest.mark.full
def test_a_run_goes_on_after_its_budget(tmp_path: Path) -> None:
    whole = run(tmp_path, two_roads(), count=2)
    used = whole.tools[0].tokens
    with ScriptedServer(two_roads()) as server:
        settings = settings_in(tmp_path, server.base_url, count=2)
        for budget in ({"budget_tokens": used * 2 // 3}, {"budget_calls": 5}):
            with pytest.raises(BudgetExceeded, match="the budget is exhausted") as spent:
                check_consistency(settings.overlay(budget), [f"{tmp_path}/roads.py:road"])
            assert "misstep tool consistency --resume" in str(spent.value)
            (tool,) = view_consistency(settings, "last").tools
            assert (tool.ended, len(tool.sets), len(tool.ideas)) == ("stopped", 1, 2)
            report = resumed(tmp_path, server, budget_tokens=10**9, budget_calls=10**9)
            assert without_seconds(report.sets) == without_seconds(whole.sets)
            assert report.tools[0].ended == "done"
            asked = len(server.model_requests)
            assert resumed(tmp_path, server) == report  # it has finished
            assert len(server.model_requests) == asked


def test_no_more_calls_are_made_than_the_budget_has(tmp_path: Path) -> None:
    with pytest.raises(BudgetExceeded):
        run(tmp_path, two_roads(), budget_calls=3)
    with Store(str(tmp_path / "store.db")) as store:
        assert store.spent(store.find_run("last").id).calls == 3
    (tool,) = view_consistency(settings_in(tmp_path, ""), "last").tools
    assert (tool.sets, tool.calls) == ((), 3), "calls for a set that was not finished are calls"
    with ScriptedServer(two_roads()) as server:
        with Store(str(tmp_path / "store.db")) as store:
            begun = store.find_run("last")
            store.change_run(begun.id, begun.settings.overlay({"model_base_url": server.base_url}))
        (tool,) = resumed(tmp_path, server, budget_calls=10**9, trust_store=True).tools
    assert tool.calls == 3 + sum(each.calls for each in tool.sets)


def test_an_agent_whose_model_is_out(tmp_path: Path) -> None:
    with listen() as listener:
        with ScriptedServer(two_roads(faults=[*[None] * 4, Fault("401")]), listener) as server:
            settings = settings_in(tmp_path, server.base_url, count=1)
            with pytest.raises(ModelError, match="the agent's model is unavailable: openai/x") as error:
                check_consistency(settings, [f"{tmp_path}/roads.py:road"])
        assert "--resume" in str(error.value)
        with ScriptedServer(two_roads(), listener) as server:
            assert verdicts(resumed(tmp_path, server)) == ["failed"]


def kept(location: str) -> bool:
    """Whether anything is in the store: what was thought of is written while the next request is under way."""
    with Store(location) as store:
        return bool(store.tool_documents(store.find_run("last").id, dict))


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    whole = run(tmp_path, two_roads(), count=2)
    faults = [*[None] * (1 + PER_SET), Fault("hang")]
    with ScriptedServer(two_roads(faults=faults)) as server:
        location = settings_in(tmp_path, "").store
        options = {
            "--agent": "tools",
            "--model": "x",
            "--model-base-url": server.base_url,
            "--max-steps": "5",
            "--retries": "0",
            "--count": "2",
            "--variants": "4",
            "--sandbox": "none",
            "--store": location,
        }
        given = [text for pair in options.items() for text in pair]
        command = [sys.executable, "-m", "misstep", "tool", "consistency", "roads.py:road", *given]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
            while len(server.model_requests) <= 1 + PER_SET or not kept(location):
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(how)
        killed = how == signal.SIGKILL
        assert process.returncode == (-how if killed else 130)
        with Store(location) as store:
            stopped = store.find_run("last")
            assert store.died(stopped.id) is killed
        report = resumed(tmp_path, server)
        again = [stage_of(prompt) for prompt in prompts(server)][2 + PER_SET :]
    assert report.run == stopped.id
    assert without_seconds(report.sets) == without_seconds(whole.sets)
    assert "templates" not in again, "what was thought of is not thought of again"


def test_an_outage_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    faults = [*[None] * (1 + PER_SET), Fault("500"), Fault("500")]
    with ScriptedServer(two_roads(faults=faults)) as server:
        settings = settings_in(tmp_path, server.base_url, count=2)
        spec = f"{tmp_path}/roads.py:road"
        with pytest.raises(ModelError) as broken:
            check_consistency(settings, [spec])
        assert "resume with: misstep tool consistency --resume" in str(broken.value)
        assert verdicts(view_consistency(settings, "last")) == ["failed"]
        with pytest.raises(ModelError):
            resumed(tmp_path, server)
        assert verdicts(resumed(tmp_path, server)) == ["failed", "failed"]
        with Store(settings.store) as store:
            assert store.spent(store.find_run("last").id).tokens == sum(server.tokens)


SERVER = """
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = {"start": {"type": "string"}, "end": {"type": "string"}}
ROAD = {
    "name": "road",
    "description": "How far it is by road from one city to another.",
    "inputSchema": {"type": "object", "properties": TEXTS, "required": ["start", "end"]},
}


def road(start, end):
    if os.path.exists(f"{HERE}/fragile"):
        return os._exit(3) if start == "Paris" else "465 km"
    if start == "Paris" and os.path.exists(f"{HERE}/doomed"):
        open(f"{HERE}/gone", "w").close()
        os._exit(3)
    return "465 km" if "France" in start and "France" in end else "939 km"


def answer(method, parameters):
    if method == "tools/list":
        return {"tools": [ROAD]}
    if method != "tools/call":
        return {}
    return {"content": [{"type": "text", "text": road(**parameters["arguments"])}]}
"""


def on_server(folder: Path, server: ScriptedServer, mark: str = "") -> ConsistencyRun:
    (folder / "served.py").write_text(SERVER + SPEAKING)
    if mark:
        (folder / mark).touch()
    settings = settings_in(folder, server.base_url)
    return check_consistency(settings, [f"mcp:{sys.executable} {folder}/served.py"])


def test_tools_of_a_server(tmp_path: Path) -> None:
    with ScriptedServer(two_roads()) as server:
        (one,) = on_server(tmp_path, server).sets
    assert one.verdict == "failed"
    assert [bucket.requests for bucket in one.buckets.outputs] == [(1, 3, 4), (2,)]


def test_a_server_that_dies_in_the_middle_is_no_finding(tmp_path: Path) -> None:
    with ScriptedServer(two_roads()) as server:
        (one,) = on_server(tmp_path, server, "fragile").sets
    assert one.verdict == "inconclusive"
    assert "request 1: the tool did not answer: its process died" in one.why


@pytest.mark.full
def test_a_server_that_is_gone_for_good_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misstep.tool_host.host.PAUSE", 0.01)
    with ScriptedServer(two_roads()) as server:
        with pytest.raises(UsageError, match=r"could not be tested further: .*; findings are stored"):
            on_server(tmp_path, server, "doomed")
        (tool,) = view_consistency(settings_in(tmp_path, ""), "last").tools
        assert (tool.ended, tool.sets) == ("stopped", ())
        assert "could not be tested further" in tool.notes[-1]
        (tmp_path / "doomed").unlink()
        (tmp_path / "gone").unlink()
        (tool,) = resumed(tmp_path, server).tools
    assert ([one.verdict for one in tool.sets], tool.notes) == (["failed"], ())


def test_two_tools_side_by_side(tmp_path: Path) -> None:
    copy = "def rail(start: str, end: str) -> str:\n    '''How far by rail.'''\n    return '500 km'\n"
    (tmp_path / "rails.py").write_text(copy)

    def both(request: str, tools: list[str]) -> list[Call]:
        (road,) = as_said(request, tools)
        return [road, Call("rail", road.arguments)]

    report = run(
        tmp_path, two_roads(both), "roads.py:road", "rails.py:rail", jobs=2, requests_per_minute=10**6
    )
    assert [(tool.name, tool.verdict) for tool in report.tools] == [("road", "failed"), ("rail", "passed")]


def test_limits_on_requests_hold_for_all_workers_and_roles_together(tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text("def way(start: str, end: str) -> str:\n    return '500 km'\n")

    def either(request: str, tools: list[str]) -> list[Call]:
        return [Call(tools[0], each.arguments) for each in as_said(request, tools)]

    script = two_roads(either, faults=[Fault("slow", seconds=0.02)] * 15)  # long enough to meet
    with ScriptedServer(script) as server:
        settings = settings_in(tmp_path, server.base_url, jobs=2, requests=1)
        report = check_consistency(settings, [f"{tmp_path}/roads.py:road", f"{tmp_path}/more.py:way"])
        assert server.most_at_once == 1
    assert [(tool.name, tool.ended, tool.notes) for tool in report.tools] == [
        ("road", "done", ()),
        ("way", "done", ()),
    ]


def test_a_cached_model_makes_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = list[int]()

    def fickle(prompt: str) -> object:
        asked.append(len(asked))
        return {"reason": f"for the {len(asked)}th time", "score": 2}

    def told(server: ScriptedServer) -> list[ConsistencyReport]:
        from msgspec.structs import replace

        settings = settings_in(tmp_path, server.base_url, count=2, cache=True)
        report = check_consistency(settings, [f"{tmp_path}/roads.py:road"])
        return [replace(tool, sets=tuple(without_seconds(tool.sets)), seconds=0) for tool in report.tools]

    with ScriptedServer(two_roads(judge=fickle)) as server:
        (first,), count = told(server), len(server.model_requests)
        second, third = told(server), told(server)
        assert len(server.model_requests) == count
    assert first.sets == second[0].sets
    assert second == third


def test_a_tool_has_so_much_time_and_no_more(tmp_path: Path) -> None:
    report = run(tmp_path, two_roads(faults=[Fault("hang")]), time_per_tool=0.3)
    assert (report.tools[0].ended, report.tools[0].verdict, report.sets) == ("time", "inconclusive", [])


def test_marks_for_one_tool_stop_nobody(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[openai]\n"x" = [1000.0, 4000.0]\n')
    more = {"model": "openai/x", "prices": str(prices), "tokens_per_tool": 100, "usd_per_tool": 0.01}
    (tool,) = run(tmp_path, two_roads(), **more).tools
    assert tool.ended == "done"
    assert [note.split(", above the limit of ")[1] for note in tool.notes] == ["100", "0.01"]


def test_every_role_has_its_price(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[openai]\n"x" = [1.0, 4.0]\n')
    report = run(tmp_path, two_roads(), model="openai/x", prices=str(prices))
    (listed,) = list_runs(settings_in(tmp_path, ""))[0]
    usage = report.tools[0].usage.values()
    cost = sum(each.input + 4 * each.output for each in usage) / 10**6
    assert listed.run.summary is not None
    assert listed.run.summary.usd == pytest.approx(cost, abs=1e-6)


def test_what_one_role_costs_is_not_known(tmp_path: Path) -> None:
    """Then nobody knows what the run costs."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[openai]\n"x" = [1.0, 4.0]\n')
    run(tmp_path, two_roads(), model="openai/x", model_roles={"judge": "openai/y"}, prices=str(prices))
    (listed,) = list_runs(settings_in(tmp_path, ""))[0]
    assert listed.run.summary is not None
    assert (listed.run.summary.usd, listed.run.summary.tokens.output > 0) == (None, True)


@pytest.mark.parametrize("means", ["greybox", "whitebox"])
def test_a_model_is_asked_outright(tmp_path: Path, means: str) -> None:
    wanted = {"requests": ["from Paris to Lyon?", "from Paris, France to Lyon, France?"]}
    stages: dict[str, Answer] = {
        f"answers-{means}": always(wanted),
        "correct": lambda prompt: {"reason": "looked up", "correct": "465" in fenced_in(prompt)[1]},
    }
    faults = [*[None] * 6, Fault("500")]  # when the second answer is judged
    with ScriptedServer(two_roads(faults=faults, **stages)) as server:
        settings = settings_in(tmp_path, server.base_url, count=2, tool_method=means)
        with pytest.raises(ModelError):
            check_consistency(settings, [f"{tmp_path}/roads.py:road"])
        report = resumed(tmp_path, server)
        asked = [stage_of(prompt) for prompt in prompts(server)]
        assert asked.count(f"answers-{means}") == 1  # type: ignore[arg-type]
        assert verdicts(report) == ["failed", "passed"]
        assert report.tools[0].means == means
        before, after = replay_set(settings, "last", report.sets[0].id)
    assert (before.verdict, after.verdict, after.requests) == ("failed", "failed", before.requests)


def test_words_of_the_user_reach_the_models(tmp_path: Path) -> None:
    (tmp_path / "where.txt").write_text("Everybody lives in France.")
    (tmp_path / "words").mkdir()
    own = MARKERS["majority"] + " Mine: {{answers}}"
    (tmp_path / "words" / "majority.txt").write_text(own)
    with ScriptedServer(two_roads()) as server:
        more = {"context": str(tmp_path / "where.txt"), "prompts": str(tmp_path / "words")}
        settings = settings_in(tmp_path, server.base_url, **more)
        check_consistency(settings, [f"{tmp_path}/roads.py:road"])
        said = {stage_of(prompt): prompt for prompt in prompts(server)}
    assert "Everybody lives in France." in said["templates"]
    assert "Everybody lives in France." in said["infills"]
    assert "Mine: " in said["majority"]


def test_a_set_is_put_to_the_agent_once_more(tmp_path: Path) -> None:
    report = run(tmp_path, two_roads())
    plans: list[Plan] = [as_said, with_country]
    for plan, verdict in zip(plans, ("failed", "passed"), strict=True):
        with ScriptedServer(two_roads(plan)) as server:
            with Store(str(tmp_path / "store.db")) as store:  # where the model is has changed
                stored = store.find_run(report.run)
                store.change_run(stored.id, stored.settings.overlay({"model_base_url": server.base_url}))
            trusting = settings_in(tmp_path, "", trust_store=True)
            before, after = replay_set(trusting, "last", report.sets[0].id)
            assert "templates" not in map(stage_of, prompts(server))
        assert (before, after.verdict) == (report.sets[0], verdict)
        assert (after.id, after.requests) == (before.id, before.requests)


def test_a_set_without_requests_is_not_replayed(tmp_path: Path) -> None:
    report = run(tmp_path, two_roads(infills=always(REFUSAL)))
    with pytest.raises(UsageError, match="has no requests"):
        replay_set(settings_in(tmp_path, ""), "last", report.sets[0].id)


def test_people_label_what_a_run_has_found(tmp_path: Path) -> None:
    run(tmp_path, two_roads(), count=2)
    with open_labelling(settings_in(tmp_path, ""), "last", "Ann") as labelling:
        assert [len(item.trials) for item in labelling.items] == [4, 4]
        labelling.keep(0, True)
        labelling.keep(1, False)
        (opinion,) = labelling.report().opinions
    assert (opinion.score.false_discoveries.count, opinion.score.false_discoveries.total) == (1, 2)


def test_a_sandbox_holds_the_tool(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    source = f"def road(start: str, end: str) -> str:\n    '''How far.'''\n    open({str(outside)!r}, 'w')\n    return ''\n"
    (tmp_path / "wild.py").write_text(source)
    run(tmp_path, two_roads(), "wild.py:road", sandbox="auto", variants=2)
    assert not os.path.exists(outside)


COUNTING = """
import pathlib
calls = []

def road(start: str, end: str) -> str:
    '''How far it is by road from one city to another.'''
    calls.append(start)
    with pathlib.Path("seen.txt").open("a") as seen:
        seen.write("x")
    return f"call {len(calls)}, {pathlib.Path('seen.txt').stat().st_size} on the disk"
"""


def test_every_request_finds_the_tool_as_it_was_at_the_start(tmp_path: Path) -> None:
    """Else requests would differ by what those before them have left."""
    (tmp_path / "counting.py").write_text(COUNTING)
    (one,) = run(tmp_path, two_roads(), "counting.py:road").sets
    assert [bucket.value for bucket in one.buckets.outputs] == ["call 1, 1 on the disk"]
    assert (one.verdict, len(one.buckets.inputs)) == ("passed", 4)


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="variants"):
        check_consistency(Settings(agent="tools", model="x", variants=1), ["a.py:b"])


CHAIN = '''
from langchain_core.tools import tool


@tool
def road(start: str, end: str) -> str:
    """How far it is by road from one city to another."""
    return "465 km" if "France" in start and "France" in end else "939 km"


def make_agent(tools):
    from langchain.agents import create_agent

    return create_agent("openai:gpt-4o", tools)
'''


def test_a_tool_of_langchain_with_an_agent_of_langchain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai")
    (tmp_path / "chain.py").write_text(CHAIN)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ScriptedServer(two_roads()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        settings = settings_in(tmp_path, server.base_url, agent=f"{tmp_path}/chain.py:make_agent", variants=2)
        (one,) = check_consistency(settings, [f"{tmp_path}/chain.py:road"]).sets
    assert (one.verdict, [bucket.value for bucket in one.buckets.outputs]) == ("failed", ["939 km", "465 km"])
