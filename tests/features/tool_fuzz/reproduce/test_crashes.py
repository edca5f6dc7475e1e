"""Crashes put to an agent: what a natural request leads to, what none does."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep.features.tool_fuzz.run import fuzz_tools
from tests.features.tool_fuzz.reproduce.with_agent import reproduce, settings_in
from tests.fuzzing.agent_tests.bills import GOOD, REQUEST, SPLITS, agent, plays_react
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, always, fenced_in, plays, stage_of
from tests.scripted import Fault, Script, ScriptedServer, calling


@pytest.mark.parametrize(("paradigm", "play"), [("tools", plays), ("react", plays_react)])
def test_a_crash_that_a_natural_request_leads_to(
    place: Path, paradigm: str, play: Callable[..., Script]
) -> None:
    told = reproduce(place, play(GOOD, SPLITS), agent=paradigm)
    (finding,) = told.tool.findings
    assert (finding.kind, finding.error, finding.request) == ("crash", "ZeroDivisionError", REQUEST)
    assert json.loads(finding.calls[-1].arguments)["people"] == 0
    (passage,) = told.journey.passages
    assert (passage.fate, passage.finding, passage.documented) == ("reached", finding.id, True)
    assert [use.judged.error for use in passage.trials[0].uses] == ["ZeroDivisionError"]
    assert passage.rehearsal is not None
    assert [use.result for use in passage.rehearsal.uses] == ["Done."], "no tool is called to see that"
    assert (told.journey.calls, told.journey.unique_errors, told.journey.calls_per_error) == (1, 1, 1.0)
    assert set(told.journey.usage) == {"agent", "generator"}
    assert told.tool.ended == "calls"


def test_what_the_documentation_does_not_allow(place: Path) -> None:
    answers = {**GOOD, "natural": always({"arguments": [{"total": 1, "people": 5}]})}
    told = reproduce(
        place, plays(answers, agent({}, lambda _: False), answer_to=lambda _: "nobody is no people")
    )
    (passage,) = told.journey.passages
    assert (passage.fate, passage.documented) == ("undocumented", False)
    assert passage.why == "the agent declined to make the call: nobody is no people"
    assert told.tool.findings[0].request == ""
    assert told.stages["request"] == 0


def test_an_agent_that_says_nothing_about_the_documentation(place: Path) -> None:
    told = reproduce(place, plays(GOOD, agent({}, lambda _: False), answer_to=lambda _: REFUSAL))
    (passage,) = told.journey.passages
    assert (passage.fate, passage.documented) == ("inconclusive", None)
    said = "the agent did not make the call, and named no rule against it: "
    assert passage.why == f"{said}{REFUSAL}"


def test_an_agent_that_makes_another_call(place: Path) -> None:
    other = calling("split_bill", total=120, people=4)
    (passage,) = reproduce(
        place, plays(GOOD, lambda *_: [other], answer_to=lambda _: "people")
    ).journey.passages
    assert (passage.fate, passage.documented) == ("inconclusive", None)
    assert passage.why.startswith("the agent, instructed to make the call, made another: split_bill(")


def test_natural_arguments_are_what_the_agent_is_told_to_use(place: Path) -> None:
    plan = agent({REQUEST: [calling("split_bill", total=120, people=0)]}, lambda given: given["total"] == 120)
    told = reproduce(place, plays(GOOD, plan))
    (passage,) = told.journey.passages
    assert passage.fate == "reached"
    assert '"total": 120' in passage.rehearsal.request  # type: ignore[union-attr]
    (asked,) = [prompt for prompt in told.prompts if stage_of(prompt) == "request"]
    assert '"total": 120' in fenced_in(asked)[1]


def test_a_model_that_has_no_natural_arguments(place: Path) -> None:
    plan = agent({}, lambda _: False)
    script = plays({**GOOD, "natural": always(REFUSAL)}, plan, answer_to=lambda _: "people can't be 0")
    told = reproduce(place, script)
    assert [passage.fate for passage in told.journey.passages] == ["undocumented"]
    assert told.stages["natural"] == 3


def test_requests_that_lead_nowhere(place: Path) -> None:
    asked = always({"requests": [REQUEST, "And for two?"]})
    plan = agent({REQUEST: [calling("split_bill", total=120, people=1)], "And for two?": []})
    told = reproduce(place, plays({**GOOD, "request": asked}, plan))
    (passage,) = told.journey.passages
    assert (passage.fate, len(passage.trials), told.tool.findings[0].request) == ("unmet", 2, "")
    assert told.journey.richness is None


def test_a_generator_that_gives_nothing_of_use(place: Path) -> None:
    told = reproduce(place, plays({**GOOD, "request": always(REFUSAL)}, SPLITS))
    (passage,) = told.journey.passages
    assert (passage.fate, passage.documented) == ("inconclusive", True)
    assert passage.why.startswith("no requests were generated: ")
    assert told.stages["request"] == 3
    assert told.tool.findings[0].request == ""


@pytest.mark.parametrize(
    ("fault", "why"),
    [("400", "maximum context length"), ("hang", "it did not finish within 0.5 s (--time-per-request)")],
)
def test_an_agent_that_breaks_or_takes_too_long(place: Path, fault: Any, why: str) -> None:
    script = plays(GOOD, SPLITS, faults=[None, Fault(fault)])
    told = reproduce(place, script, time_per_request=0.5 if fault == "hang" else 20.0)
    (passage,) = told.journey.passages
    assert passage.fate == "inconclusive"
    assert passage.why.startswith("the agent did not answer: ")
    assert why in passage.why


def test_the_agent_breaks_on_its_request(place: Path) -> None:
    script = plays(GOOD, SPLITS, faults=[None, None, None, None, Fault("400")])
    (passage,) = reproduce(place, script).journey.passages
    assert (passage.fate, passage.documented) == ("inconclusive", True)


def test_without_the_sanity_check(place: Path) -> None:
    told = reproduce(
        place, plays(GOOD, agent({REQUEST: [calling("split_bill", total=1, people=0)]})), skip_sanity=True
    )
    (passage,) = told.journey.passages
    assert (passage.fate, passage.rehearsal, passage.documented) == ("reached", None, None)


SERVER = """
import json, os, sys

PARAMETERS = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
GONE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gone")
if os.path.exists(GONE):
    sys.exit("out of order")
for line in sys.stdin:
    asked, result = json.loads(line), {}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        served = {"name": "shop", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": served}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "weigh", "inputSchema": PARAMETERS}]}
    elif asked["method"] == "tools/call":
        open(GONE, "w").close()
        os._exit(3)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_server_that_dies_is_no_finding(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.tool_host.host.PAUSE", 0.01)
    (place / "server.py").write_text(SERVER)
    script = plays(
        {"crashes-greybox": always({"requests": ["Weigh it."]})}, lambda *_: [calling("weigh", number=1)]
    )
    with ScriptedServer(script) as server:
        given = {"tool_method": "greybox", "count": 1, "sandbox": "none"}
        settings = settings_in(place, server.base_url, **given)
        (tool,) = fuzz_tools(settings, [f"mcp:{sys.executable} {place}/server.py"]).tools
    assert tool.findings == ()
    assert tool.journey is not None
    (passage,) = tool.journey.passages
    assert passage.fate == "inconclusive"
    assert "not after a fresh start" in passage.why
