"""Sets of requests made by a model, however it behaves."""

import json
from collections import Counter
from typing import Any

import pytest

from misstep.core.results.consistency import PromptSet
from misstep.core.tool import Described
from misstep.fuzzing.agent_tests.parties import AgentTrials, Models
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.fuzzing.consistency.making import SetDraft, make_sets
from misstep.tool_host.host import ToolHost
from tests.fuzzing.agent_tests.scripted_roles import REFUSAL, Answer, always, fenced_in, plays, stage_of
from tests.fuzzing.consistency.performing import FOUR, Prompted, examine, perform, whole
from tests.fuzzing.consistency.roads import GOOD, INFILLS, STIFF, TEMPLATE, as_said, humanise, typed


def make(
    bench: ToolHost, answers: dict[Stage, Answer], count: int = 1, **more: Any
) -> tuple[list[SetDraft], Prompted]:
    async def work(described: Described, models: Models, _: AgentTrials) -> list[SetDraft]:
        return [draft async for draft in make_sets(described, models, FOUR, count, **more)]

    return perform(bench, plays(answers), work)


@pytest.mark.parametrize(
    ("stage", "bad", "complaint"),
    [
        ("templates", {"templates": ["How far is it?"]}, "has no placeholder"),
        ("infills", {"infills": {"start": ["a", "b"]}}, "There are no infills for [end]."),
        ("humanise", {"requests": ["only one"]}, "there must be 4"),
    ],
)
def test_what_is_malformed_is_made_again(roads: ToolHost, stage: Stage, bad: object, complaint: str) -> None:
    def again(prompt: str) -> object:
        return GOOD[stage](prompt) if complaint in prompt else bad

    (draft,), prompts = make(roads, {**GOOD, stage: again})
    assert (draft.why, draft.requests) == ("", tuple(map(typed, STIFF)))
    assert Counter(map(stage_of, prompts))[stage] == 2


@pytest.mark.parametrize(
    ("stage", "why"),
    [
        ("templates", "no templates were generated: "),
        ("infills", "no infills were generated: "),
        ("humanise", "no messages were generated: "),
    ],
)
def test_a_model_that_will_not_make_sets(roads: ToolHost, stage: Stage, why: str) -> None:
    (draft,), prompts = make(roads, {**GOOD, stage: always(REFUSAL)})
    assert draft.why.startswith(why)
    assert "There is no JSON object" in draft.why
    assert draft.why.endswith(f"; last answer: {REFUSAL}")
    assert Counter(map(stage_of, prompts))[stage] == 3
    found, asked = examine(roads, plays({}), draft=draft)
    assert (found.verdict, found.why, found.template, asked) == (
        "inconclusive",
        draft.why,
        draft.template,
        {},
    )


def test_a_bad_template_does_not_stop_the_others(roads: ToolHost) -> None:
    templates = ["Where is [place]?", TEMPLATE]

    def infills(prompt: str) -> object:
        return REFUSAL if "Where is" in fenced_in(prompt)[0] else {"infills": INFILLS}

    answers = {**GOOD, "templates": always({"templates": templates}), "infills": infills}
    drafts, _ = make(roads, answers, count=2)
    assert [(draft.template, bool(draft.why)) for draft in drafts] == [
        (templates[0], True),
        (TEMPLATE, False),
    ]


def test_nothing_is_used_twice(roads: ToolHost) -> None:
    """A model that gives one template at a time is asked again, and told what there was."""
    others = {"start": ["Rome", "Roma"], "end": ["Milan", "Milano"]}

    def templates(prompt: str) -> object:
        return {
            "templates": ["Route from [start] to [end]?" if TEMPLATE in fenced_in(prompt)[2] else TEMPLATE]
        }

    def infills(prompt: str) -> object:
        return {"infills": others if "was used before" in prompt else INFILLS}

    drafts, prompts = make(roads, {**GOOD, "templates": templates, "infills": infills}, count=2)
    assert [draft.infills["start"] for draft in drafts] == [("Paris", "Paris, France"), ("Rome", "Roma")]
    asked = Counter(map(stage_of, prompts))
    assert (asked["templates"], asked["infills"]) == (2, 3)
    before = [PromptSet("x", "passed", template=drafts[0].template, infills=drafts[0].infills)]
    (more,), _ = make(roads, {**GOOD, "templates": templates, "infills": infills}, before=before)
    assert (more.template, more.infills["end"]) == ("Route from [start] to [end]?", ("Milan", "Milano"))


def test_a_model_that_runs_out_of_templates(roads: ToolHost) -> None:
    drafts, _ = make(roads, GOOD, count=3)
    assert [bool(draft.why) for draft in drafts] == [False, True]
    assert "was used before" in drafts[1].why


def test_requests_reach_the_model_as_they_are(roads: ToolHost) -> None:
    (draft,), prompts = make(roads, GOOD)
    (asked,) = [prompt for prompt in prompts if stage_of(prompt) == "humanise"]
    assert json.loads(fenced_in(asked)[0]) == list(STIFF)
    assert humanise(asked) == {"requests": list(draft.requests)}


def test_messages_that_mean_something_else_are_left_out(roads: ToolHost) -> None:
    odd: dict[Stage, Answer] = {
        **GOOD,
        "same": always({"reason": "the third is about Rome", "different": [3]}),
    }
    ((draft,), _) = make(roads, odd)
    assert (draft.requests, draft.why) == (tuple(map(typed, (*STIFF[:2], STIFF[3]))), "")


def test_a_set_that_does_not_mean_the_same_is_put_to_nobody(roads: ToolHost) -> None:
    odd: dict[Stage, Answer] = {**GOOD, "same": always({"reason": "all differ", "different": [1, 2, 4]})}
    ((found,), prompts) = perform(roads, plays(odd, as_said), whole)
    assert (found.verdict, found.why) == ("inconclusive", "the messages do not mean the same: all differ")
    assert (found.requests, found.trials) == (tuple(map(typed, STIFF)), ())
    assert not {None, "emulate", "judge"} & set(map(stage_of, prompts)), (
        "neither the agent nor a judge is asked"
    )
