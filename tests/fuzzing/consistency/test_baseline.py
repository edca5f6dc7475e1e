"""Requests that a model is asked for outright."""

import msgspec
import pytest

from misstep.core.results.consistency import PromptSet
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.fuzzing.agent_tests.requests import Outright
from misstep.fuzzing.consistency.inquiry import ask_for_wrong_answers
from misstep.tool_host.host import ToolHost
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, Answer, always, fenced_in, in_turn, plays
from tests.fuzzing.consistency.performing import Prompted, perform
from tests.fuzzing.consistency.roads import STIFF, as_said
from tests.scripted import Fault, Script


def baseline(
    bench: ToolHost, script: Script, means: Outright, tool: str = "road"
) -> tuple[list[PromptSet], Prompted]:
    async def work(described: Described, models: Models, trials: AgentTrials) -> list[PromptSet]:
        made = ask_for_wrong_answers(means, described, models, trials, 2)
        return [found async for found in made]

    return perform(bench, script, work, tool)


def correct(prompt: str) -> object:
    right = "465" in fenced_in(prompt)[1]
    return {"reason": "I know the way", "correct": right}


@pytest.mark.parametrize("means", ["greybox", "whitebox"])
def test_requests_asked_for_outright(roads: ToolHost, means: Outright) -> None:
    stage: Stage = "answers-greybox" if means == "greybox" else "answers-whitebox"
    answers: dict[Stage, Answer] = {stage: always({"requests": STIFF[:2]}), "correct": correct}
    found, prompts = baseline(roads, plays(answers, as_said), means)
    assert [each.verdict for each in found] == ["failed", "passed"]
    assert found[0].why == "I know the way"
    assert found[0].evidence is not None
    assert (found[0].evidence.wrong.outputs, found[0].evidence.right) == ("939 km", None)
    assert ("right = " in prompts[0]) == (means == "whitebox")


def test_requests_asked_for_outright_that_nobody_makes_or_judges(roads: ToolHost) -> None:
    (refused,), _ = baseline(roads, plays({"answers-greybox": always(REFUSAL)}), "greybox")
    assert refused.verdict == "inconclusive"
    assert refused.why.startswith("no requests were generated: ")
    asked: dict[Stage, Answer] = {"answers-greybox": always({"requests": STIFF[:2]})}
    unjudged, _ = baseline(roads, plays({**asked, "correct": in_turn("yes", "{}")}, as_said), "greybox")
    assert {each.verdict for each in unjudged} == {"inconclusive"}
    uncalled, _ = baseline(roads, plays(asked, answer_to=lambda _: "939 km"), "greybox")
    assert {each.why for each in uncalled} == {"the agent never called the tool"}
    broken, _ = baseline(roads, plays(asked, faults=[None, Fault("400"), Fault("400")]), "greybox")
    assert {each.verdict for each in broken} == {"inconclusive"}


def test_a_tool_without_source_has_no_whitebox(roads: ToolHost) -> None:
    async def work(described: Described, models: Models, trials: AgentTrials) -> list[PromptSet]:
        bare = msgspec.structs.replace(described, source=None)
        return [found async for found in ask_for_wrong_answers("whitebox", bare, models, trials, 2)]

    ((found,), prompts) = perform(roads, plays({}), work)
    assert (found.verdict, found.why, prompts) == (
        "inconclusive",
        "the tool's source code is not available",
        [],
    )
