"""What is shown of defects that were put to an agent."""

from misstep.core.results.fuzzing import AgentReach, ReachAttempt, ToolReport
from misstep.core.results.trial import Trial
from misstep.features.tool_fuzz.reach_view import (
    journey_as_json,
    journeys_view,
    stage_cells,
    survival_in_words,
)
from tests.rendering.screens import shown

REHEARSED = Trial("please")
UNCLEAR = ReachAttempt("a", "inconclusive", "nothing", rehearsal=REHEARSED)
NO_REQUESTS = ReachAttempt("b", "inconclusive", "none", documented=True, rehearsal=REHEARSED)
REACHED = ReachAttempt("c", "reached", documented=True, rehearsal=REHEARSED, requests=("hi",))
FORBIDDEN = ReachAttempt("d", "undocumented", documented=False, rehearsal=REHEARSED)


def test_what_nobody_knows_is_no_share() -> None:
    journey = AgentReach(passages=(UNCLEAR, UNCLEAR))
    assert stage_cells(journey) == ["2", "–", "–", "–", "2"]
    told = survival_in_words([ToolReport("t", 1, journey=journey)])
    assert told == (
        "of 2 tried with the agent: – documented (not known), – asked for (not known), – reached (not known)"
    )
    nothing = {"count": None, "of": 0, "share": None, "low": None, "high": None}
    assert journey_as_json(journey)["stages"] == {
        "documented": nothing,
        "asked_for": nothing,
        "reached": nothing,
    }


def test_shares_are_of_those_that_are_known() -> None:
    journey = AgentReach(passages=(UNCLEAR, NO_REQUESTS, REACHED, FORBIDDEN))
    assert stage_cells(journey) == ["4", "2", "1", "1", "2"]
    told = survival_in_words([ToolReport("t", 1, journey=journey)])
    assert told.startswith("of 4 tried with the agent: 2 of 3 documented (66.7 %, ")
    assert "1 of 2 asked for (50.0 %, " in told
    assert "1 of 2 reached (50.0 %, " in told


def test_where_all_is_known_the_number_is_told_once() -> None:
    told = survival_in_words([ToolReport("t", 1, journey=AgentReach(passages=(REACHED, FORBIDDEN)))])
    assert told.startswith("of 2 tried with the agent: 1 documented (50.0 %, ")
    assert stage_cells(AgentReach()) == ["0", "0", "0", "0", "0"]


def test_what_stood_in_the_way_names_its_tool_and_hangs_together() -> None:
    passages = (
        ReachAttempt("", "unmet", requests=("please do " * 12,)),
        ReachAttempt("abc", "unmet", "word " * 20),
    )
    tools = [ToolReport("split_bill", 0, journey=AgentReach(passages=passages))]
    lines = shown(journeys_view(tools), 80).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  ·"))
    assert lines[first].startswith("  ·  split_bill: please do")
    assert lines[first + 1].startswith("     please do")
    assert [line[:17] for line in lines[first:] if "·" in line] == ["  ·  split_bill: "] * 2
    assert all(line.startswith(("  ·  ", "     ")) for line in lines[first:])
