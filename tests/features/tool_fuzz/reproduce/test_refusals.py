"""Refusals put to an agent: which surprise, which are none."""

import json
from pathlib import Path
from typing import Any

from misstep.core.results.fuzzing import ReachAttempt
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.replay import regression_tests
from misstep.features.tool_fuzz.run import view_fuzzing
from misstep.fuzzing.agent_tests.prompts import Stage
from tests.features.tool_fuzz.reproduce.with_agent import Told, reproduce
from tests.fuzzing.agent_tests.bills import GOOD, REQUEST, agent
from tests.fuzzing.agent_tests.scripted_roles import always, fenced_in, plays
from tests.scripted import Call, calling


def surprised(yes: bool) -> Any:
    return always({"reason": "nothing is said about two weeks", "surprising": yes})


def foreseen(yes: bool) -> Any:
    return always({"reason": "one could have known", "foreseen": yes})


def booked(
    place: Path, judge: Any, after: tuple[Call, ...] = (), second: Any = None, **given: Any
) -> tuple[Told, ReachAttempt]:
    plan = agent({"A room for 3 weeks": [calling("book_room", nights=21), *after]})
    answers: dict[Stage, Any] = {
        "request": always({"requests": ["A room for 3 weeks"]}),
        "refusal": judge,
        "foretold": second or foreseen(False),
    }
    told = reproduce(place, plays(answers, plan), "book_room", **given)
    (passage,) = told.journey.passages
    return told, passage


def test_a_refusal_that_surprises(place: Path) -> None:
    told, passage = booked(place, surprised(True))
    assert (passage.matter, passage.fate) == ("refusal", "reached")
    (finding,) = told.tool.findings
    assert (finding.kind, finding.id, finding.request) == ("refusal", passage.finding, "A room for 3 weeks")
    assert finding.why.endswith("the tool refuses it: nothing is said about two weeks")
    assert json.loads(finding.calls[-1].arguments) == {"nights": 21}
    stored = Settings(store=str(place / "store.db"))
    tests = regression_tests(view_fuzzing(stored, "last"), Settings(), str(place))
    assert "assert judged.ruling in ('fine',), told" in tests


def test_refusals_that_are_no_findings(place: Path) -> None:
    told, passage = booked(place, surprised(False))
    assert (passage.fate, passage.why, told.tool.findings) == (
        "expected",
        "nothing is said about two weeks",
        (),
    )
    told, passage = booked(place, surprised(True), after=(calling("book_room", nights=14),))
    assert (passage.fate, told.stages["refusal"], told.tool.findings) == ("unmet", 0, ())
    told, passage = booked(place, always("maybe"))
    assert (passage.fate, told.stages["refusal"], told.tool.findings) == ("inconclusive", 3, ())
    assert passage.why.startswith("the refusal was not judged: ")
    told, passage = booked(place, surprised(True), second=foreseen(True))
    assert (passage.fate, told.stages["foretold"], told.tool.findings) == ("inconclusive", 1, ())
    assert passage.why == "the judge's answers about the refusal contradict each other"


def test_two_tools_at_once(place: Path) -> None:
    refusals: dict[Stage, Any] = {**GOOD, "refusal": surprised(True), "foretold": foreseen(False)}
    plan = agent(
        {
            REQUEST: [calling("split_bill", total=120, people=0)],
            "A room for 3 weeks": [calling("book_room", nights=21)],
        }
    )
    answers = {**refusals, "request": asked_by_tool}
    told = reproduce(place, plays(answers, plan), "bills", jobs=2, calls_per_tool=60)
    by_name = {tool.name: tool for tool in told.tools}
    assert by_name["split_bill"].findings[0].request == REQUEST
    assert [each.kind for each in by_name["book_room"].findings] == ["refusal"]
    assert by_name["(together)"].journey is not None


def asked_by_tool(prompt: str) -> object:
    is_room = "Name: book_room" in fenced_in(prompt)[0]
    return {"requests": ["A room for 3 weeks" if is_room else REQUEST]}
