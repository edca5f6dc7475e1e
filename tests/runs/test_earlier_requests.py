"""Requests that earlier runs have made, handed on."""

from pathlib import Path

import pytest

from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import AgentReach, ReachAttempt, ToolReport
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.core.tool import Invocation
from misstep.errors import UsageError
from misstep.runs.lookup import MadeRequest, draw_requests, find_maker, find_requests
from misstep.store.runs import Store
from tests.features.consistency.stored_run import keep_run, keep_sets


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store.db"), create=True)


def finding(name: str, *tools: str) -> Finding:
    calls = tuple(Invocation(tool, "{}") for tool in tools)
    return Finding(name, tools[-1], "crash", "E", "", "", "", "s", calls, calls, 1)


def keep_journey(store: Store) -> str:
    passages = (
        ReachAttempt("one", "reached", requests=("ask one",)),
        ReachAttempt("both", "unmet", requests=("ask both", "ask one")),
        ReachAttempt("", "unmet", requests=("ask outright",)),
    )
    findings = (finding("one", "moon"), finding("both", "moon", "sun"))
    report = ToolReport("moon of a.py:b", 3, findings, journey=AgentReach(passages=passages))
    run = store.add_run(Settings(), 2, 0.0, purpose=RunSpec("fuzz", tools=("a.py:b",)))
    with store.sit(run.id, 0.0) as writer:
        writer.keep_report(report, Spent())
        writer.keep_report(ToolReport("sun", 3), Spent())
    return run.id


def test_requests_of_sets(store: Store) -> None:
    run = store.find_run(keep_run(store.location))
    asked = find_requests(store, run)
    assert MadeRequest("How is sun 0?", frozenset({"sun"})) in asked
    drawn = draw_requests(asked, ["sun"], 4, 0)
    assert len({*drawn}) == 4
    assert all("sun" in request for request in drawn)
    assert drawn == draw_requests(asked, ["sun"], 4, 0) != draw_requests(asked, ["sun"], 4, 1)


def test_a_request_of_two_tools_needs_both(store: Store) -> None:
    one = PromptSet("s", "passed", requests=("ask", "ask the moon"))
    other = PromptSet("t", "passed", requests=("ask",))
    run = keep_sets(store, [ConsistencyReport("moon", (one,)), ConsistencyReport("sun", (other,), place=1)])
    asked = find_requests(store, store.find_run(run))
    assert asked == [
        MadeRequest("ask", frozenset({"moon", "sun"})),
        MadeRequest("ask the moon", frozenset({"moon"})),
    ]
    assert draw_requests(asked, ["sun"], 5, 0) == ()


def test_requests_that_lead_to_defects(store: Store) -> None:
    asked = find_requests(store, find_maker(store, keep_journey(store)))
    both = frozenset({"moon", "sun"})
    assert {each.request: each.tools for each in asked} == {
        "ask one": both,
        "ask both": both,
        "ask outright": frozenset({"moon"}),
    }
    assert draw_requests(asked, ["moon"], 5, 0) == ("ask outright",)
    assert {*draw_requests(asked, ["moon", "sun"], 5, 0)} == {"ask one", "ask both", "ask outright"}


def test_a_run_that_makes_no_requests(store: Store) -> None:
    run = store.add_run(Settings(), 1, 0.0)
    with pytest.raises(UsageError, match="is from plan test, which has no tool requests"):
        find_maker(store, run.id)
