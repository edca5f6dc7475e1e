"""Interviews that are broken off, by budgets, by time, by a model that is out."""

from collections import Counter
from pathlib import Path

import pytest

from misstep.core.model import ModelError
from misstep.errors import BudgetExceeded
from misstep.features.tool_fuzz.run import fuzz_tools, resume_fuzzing, view_fuzzing
from misstep.store.runs import Store
from tests.features.tool_fuzz.reproduce.with_agent import reproduce, said_to, settings_in
from tests.fuzzing.agent_tests.bills import GOOD, REQUEST, SPLITS, agent
from tests.fuzzing.agent_tests.scripted_roles import plays, stage_of
from tests.scripted import Fault, ScriptedServer, calling
from tests.scripted.script import FaultKind
from tests.scripted.server import listen


def test_a_model_that_is_out_is_an_error_and_the_run_goes_on(place: Path) -> None:
    outage = [None, None, None, *[Fault("500")] * 2]
    with listen() as listener:
        with ScriptedServer(plays(GOOD, SPLITS, faults=outage), listener) as server:
            settings = settings_in(place, server.base_url)
            with pytest.raises(ModelError) as error:
                fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
        assert "--resume" in str(error.value)
        (begun,) = view_fuzzing(settings, "last").tools
        assert begun.journey is not None
        assert "agent" in begun.journey.usage, "what it took is kept"
        with ScriptedServer(plays(GOOD, SPLITS), listener):
            report = resume_fuzzing(settings.overlay({"resume": "last"}))
    assert report.findings[0].request == REQUEST
    assert report.tools[0].calls == 30


@pytest.mark.parametrize(
    ("fault", "after"), [("401", 1), ("500", 4)], ids=["no key for a rehearsal", "no server for a request"]
)
def test_an_agent_whose_model_is_out(place: Path, fault: FaultKind, after: int) -> None:
    """It says nothing about the tool: findings are stored, and the run goes on once the model is back."""
    with listen() as listener:
        script = plays(GOOD, SPLITS, faults=[*[None] * after, *[Fault(fault)] * 2])
        with ScriptedServer(script, listener) as server:
            settings = settings_in(place, server.base_url)
            with pytest.raises(ModelError, match="the agent's model is unavailable: openai/x") as error:
                fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
        assert "--resume" in str(error.value)
        (begun,) = view_fuzzing(settings, "last").tools
        assert begun.journey is not None
        assert (begun.journey.passages, len(begun.findings)) == ((), 1)
        with ScriptedServer(plays(GOOD, SPLITS), listener):
            report = resume_fuzzing(settings.overlay({"resume": "last"}))
    assert report.findings[0].request == REQUEST
    assert report.tools[0].calls == 30


def test_a_budget_in_calls_is_never_overdrawn(place: Path) -> None:
    whole = reproduce(place, plays(GOOD, SPLITS)).tool
    alone = whole.calls + whole.triage_calls
    with ScriptedServer(plays(GOOD, SPLITS)) as server:
        settings = settings_in(place, server.base_url, budget_calls=alone)
        with pytest.raises(BudgetExceeded, match="calls"):
            fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
        with Store(settings.store) as store:
            run = store.find_run("last")
            assert store.spent(run.id).calls == alone
        more = settings.overlay({"resume": "last", "budget_calls": alone + 3})
        report = resume_fuzzing(more)
    assert report.findings[0].request == REQUEST
    assert report.tools[0].calls == whole.calls


COUNTS = agent({"zero": [calling("count_down", start=0)], "much": [calling("count_down", start=901)]})


def one_each(prompt: str) -> object:
    return {"requests": ["zero" if "ZeroDivisionError" in prompt else "much"]}


def test_a_generator_that_is_late(place: Path) -> None:
    """What it was asked for stays open, and the run goes on."""
    script = plays({"request": one_each}, COUNTS, faults=[None, None, None, Fault("hang")])
    told = reproduce(place, script, "count_down", calls_per_tool=120, time_per_request=2.0)
    first, second = told.journey.passages
    assert (first.fate, second.fate) == ("inconclusive", "reached")
    assert first.why.startswith("no requests were generated: openai/x gave no answer in 2 seconds")
    assert told.tool.ended == "calls"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["tokens", "usd"])
def test_a_run_goes_on_without_asking_again_what_is_done(place: Path, kind: str) -> None:
    (place / "prices.toml").write_text('[openai]\n"x" = [1000.0, 1000.0]\n')
    script = plays({"request": one_each}, COUNTS)
    given = {"calls_per_tool": 120, "prices": str(place / "prices.toml")}
    whole = reproduce(place, script, "count_down", **given)
    assert [passage.fate for passage in whole.journey.passages] == ["reached"] * 2
    spent = sum(usage.input + usage.output for usage in whole.journey.usage.values())
    limit = {f"budget_{kind}": (spent - 20) if kind == "tokens" else (spent - 20) / 1000}
    with ScriptedServer(script) as server:
        settings = settings_in(place, server.base_url, **given, **limit)
        with pytest.raises(BudgetExceeded):
            fuzz_tools(settings, [f"{place}/bills.py:count_down"])
    first = said_to(server)
    with ScriptedServer(script) as server:
        with Store(settings.store) as store:
            run = store.find_run("last")
            store.change_run(run.id, run.settings.overlay({"model_base_url": server.base_url}))
        more = {"resume": "last", "trust_store": True, f"budget_{kind}": 10**6}
        report = resume_fuzzing(settings.overlay(more))
    assert [finding.request for finding in report.findings] == [
        finding.request for finding in whole.tool.findings
    ]
    again = said_to(server)
    assert Counter(map(stage_of, again))["request"] <= 1
    assert len(again) < len(first)


@pytest.mark.full
def test_a_budget_in_time_ends_what_is_under_way(place: Path) -> None:
    with listen() as listener:
        with ScriptedServer(
            plays(GOOD, SPLITS, faults=[None, None, None, Fault("hang")]), listener
        ) as server:
            settings = settings_in(place, server.base_url, budget_time=4.0)
            with pytest.raises(BudgetExceeded, match="seconds"):
                fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
        with ScriptedServer(plays(GOOD, SPLITS), listener):
            report = resume_fuzzing(settings.overlay({"resume": "last", "budget_time": 600.0}))
    assert report.findings[0].request == REQUEST
    assert report.tools[0].ended == "calls"


def test_time_for_a_tool_is_a_hard_limit(place: Path) -> None:
    script = plays(GOOD, SPLITS, faults=[None, None, None, Fault("hang")])
    told = reproduce(place, script, time_per_tool=2.0, calls_per_tool=20)
    assert (told.tool.ended, told.journey.left, told.journey.passages) == ("time", 1, ())
    assert "time ran out: 1 not tried with the agent" in told.tool.notes


SLOW = '''
import time

def weigh(name: str) -> str:
    """Weigh something."""
    time.sleep(0.4)
    return {}["scales"]
'''


def test_what_it_takes_to_confirm_a_defect_counts_for_the_tool(place: Path) -> None:
    """There is no time left for the agent: all that was taken beside fuzzing are these calls."""
    (place / "bills.py").write_text(SLOW)
    told = reproduce(place, plays({}), "weigh", time_per_tool=0.5, calls_per_tool=1)
    assert (told.tool.calls, told.tool.ended, told.journey.left) == (1, "time", 1)
    assert told.tool.triage_calls > 1
    assert told.journey.seconds >= 0.4 * told.tool.triage_calls


def test_marks_are_notes(place: Path) -> None:
    told = reproduce(place, plays(GOOD, SPLITS), tokens_per_tool=1)
    assert any("tokens were used, above the limit of 1" in note for note in told.tool.notes)
    assert told.tool.findings[0].request == REQUEST
