"""A model that is asked for requests outright, with nothing found before."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import Event, FindingMade
from misstep.errors import BudgetExceeded
from misstep.features.label.run import open_labelling
from misstep.features.tool_fuzz.run import fuzz_tools, resume_fuzzing, view_fuzzing
from misstep.features.tool_fuzz.view import history
from tests.features.tool_fuzz.reproduce.with_agent import reproduce, said_to, settings_in
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, always, fenced_in, plays, stage_of
from tests.scripted import Call, ScriptedServer, calling


def numbered(count: int) -> Any:
    """A model that gives new requests, and some old ones, each time."""

    def answer(prompt: str) -> object:
        used = fenced_in(prompt)[1]
        first = 0 if used == "(none)" else len(json.loads(used)) - 1
        return {"requests": [f"request {number}" for number in range(first, first + count)]}

    return answer


@pytest.mark.parametrize("means", ["greybox", "whitebox"])
def test_a_model_is_asked_outright(place: Path, means: Any) -> None:
    def plan(request: str, tools: list[str]) -> list[Call]:
        return [calling("split_bill", total=1, people=int(request.split()[-1]) % 7)]

    stage: Any = f"crashes-{means}"
    events = list[Event]()
    with ScriptedServer(plays({stage: numbered(10)}, plan)) as server:
        settings = settings_in(place, server.base_url, tool_method=means, count=12)
        report = fuzz_tools(settings, [f"{place}/bills.py:bills"], events.append)
        prompts = said_to(server)
    split, _ = report.tools
    journey = split.journey
    assert journey is not None
    assert (split.calls, journey.method, len(journey.passages), journey.calls) == (0, means, 12, 12)
    assert len({trial.request for trial in journey.trials}) == 12
    (finding,) = split.findings
    assert (finding.error, finding.request, finding.seen) == ("ZeroDivisionError", "request 0", 2)
    assert journey.calls_per_error == 12.0
    assert journey.richness is not None
    assert ("total // people" in prompts[0]) == (means == "whitebox")
    assert [event.finding.id for event in events if isinstance(event, FindingMade)] == [finding.id]
    with open_labelling(settings, "last", "ann") as labelling:
        assert Counter(item.discovered for item in labelling.items if item.tool == "split_bill") == {
            True: 2,
            False: 2,
        }


def test_a_model_that_repeats_itself_or_gives_nothing(place: Path) -> None:
    def plan(request: str, tools: list[str]) -> list[Call]:
        return [calling("split_bill", total=1, people=1)]

    once = plays({"crashes-greybox": always({"requests": ["a", "b"]})}, plan)
    told = reproduce(place, once, tool_method="greybox", count=5)
    assert [passage.fate for passage in told.journey.passages] == ["unmet", "unmet", "inconclusive"]
    assert "no more requests were generated: " in told.journey.passages[-1].why
    none = reproduce(place, plays({"crashes-greybox": always(REFUSAL)}), tool_method="greybox")
    assert [passage.fate for passage in none.journey.passages] == ["inconclusive"]
    assert none.tool.findings == ()


def test_requests_that_were_thought_of_are_kept(place: Path) -> None:
    def plan(request: str, tools: list[str]) -> list[Call]:
        return [calling("split_bill", total=1, people=1)]

    script = plays({"crashes-greybox": numbered(10)}, plan)
    with ScriptedServer(script) as server:
        settings = settings_in(place, server.base_url, tool_method="greybox", count=4, budget_calls=2)
        with pytest.raises(BudgetExceeded):
            fuzz_tools(settings, [f"{place}/bills.py:split_bill"])
        (begun,) = view_fuzzing(settings, "last").tools
        assert begun.journey is not None
        assert (len(begun.journey.passages), len(begun.journey.ideas)) == (2, 4)
        (tool,) = resume_fuzzing(settings.overlay({"resume": "last", "budget_calls": 10**6})).tools
        asked = Counter(map(stage_of, said_to(server)))
    assert tool.journey is not None
    assert [trial.request for trial in tool.journey.trials] == [f"request {number}" for number in range(4)]
    assert asked["crashes-greybox"] == 1


FLAKY = """
def split_bill(total: int, people: int) -> str:
    "Split a bill between people."
    with open({count!r}, "a+") as file:
        file.write("x")
        file.seek(0)
        often = len(file.read())
    return [][0] if often in (1, 4) else "fine"
"""


def test_replays_are_counted_as_they_were(place: Path) -> None:
    """It crashes for the agent, and from a fresh start only the third time."""
    (place / "bills.py").write_text(FLAKY.format(count=str(place / "count")))
    script = plays(
        {"crashes-greybox": always({"requests": ["Split."]})},
        lambda *_: [calling("split_bill", total=1, people=1)],
    )
    told = reproduce(place, script, tool_method="greybox", count=1, sandbox="none")
    (finding,) = told.tool.findings
    assert (finding.replayed, finding.reproduced) == (3, 1)
    assert history(finding).endswith(", but only 1 of 3 times from a fresh start")
