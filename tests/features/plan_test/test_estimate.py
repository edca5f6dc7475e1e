"""What a run will come to: told beforehand, near enough, and for nothing."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from misstep.core.settings import Settings, Span
from misstep.errors import UsageError
from misstep.features.capability.run import measure_capability
from misstep.features.plan_test.run import estimate, run_agent
from misstep.rendering.terminal import estimate_line, estimate_table

MINE = """
def agent(request, tools):
    for tool in tools:
        tool()
    return "Done."
"""


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def settings(**more: Any) -> Settings:
    return Settings(**{"agent": "tools", "model": "openai/gpt-4o", "count": 50, **more})


def test_it_needs_no_key_and_leaves_nothing_behind(tmp_path: Path) -> None:
    told = estimate(settings())
    assert (told.cases, told.basis, told.affordable) == (50, "a rule of thumb", 50)
    assert list(tmp_path.iterdir()) == []


def test_more_and_larger_problems_take_more_of_everything() -> None:
    one, more, larger = (
        estimate(settings(**change)) for change in ({}, {"count": 100}, {"actions": Span(8, 8)})
    )
    for other in (more, larger):
        assert other.calls > one.calls
        assert other.tokens.input > 1.5 * one.tokens.input
        assert other.tokens.output > one.tokens.output
        assert other.seconds > one.seconds
        assert other.usd is not None
        assert one.usd is not None
        assert other.usd > one.usd
    assert more.tokens.input == pytest.approx(2 * one.tokens.input, rel=0.1)


def test_the_price_is_that_of_the_tokens() -> None:
    told = estimate(settings())
    assert told.usd == pytest.approx((told.tokens.input * 2.5 + told.tokens.output * 10) / 1e6, abs=1e-6)
    assert estimate(settings(model="vllm/x", model_base_url="http://127.0.0.1:9/v1")).usd == 0
    unpriced = settings(model="openai/mine")
    assert estimate(unpriced).usd is None


def test_simulated_agents_use_no_model() -> None:
    told = estimate(settings(agent="sim:greedy", model=""))
    assert (told.tokens.input, told.usd, told.calls > 100) == (0, 0.0, True)


def test_an_earlier_run_of_the_same_kind_knows_better() -> None:
    chosen = Settings(agent="sim:idle", count=20)
    assert estimate(chosen).calls > 50
    summary = run_agent(chosen)
    told = estimate(chosen.overlay({"count": 40}))
    assert (told.cases, told.calls, told.basis) == (40, 0, f"run {summary.run}")
    assert estimate(chosen.overlay({"actions": Span(6, 6)})).basis == "a rule of thumb"
    assert estimate(chosen.overlay({"agent": "sim:greedy"})).basis == "a rule of thumb"


@pytest.mark.parametrize(
    ("budget", "share"), [({"budget_calls": 100}, 0.5), ({"budget_tokens": 20_000}, 0.15), ({}, 1.0)]
)
def test_it_says_how_far_the_budget_goes(budget: dict[str, int], share: float) -> None:
    told = estimate(settings(**budget))
    assert told.affordable == pytest.approx(50 * share, abs=5)


def test_a_budget_in_time_goes_as_far_as_its_share_of_the_time() -> None:
    whole = estimate(settings())
    assert estimate(settings(budget_time=whole.seconds / 2)).affordable in (24, 25)


@pytest.mark.parametrize(
    "change", [{"agent": "toolz"}, {"model": ""}, {"agent": "nowhere.py:agent"}, {"count": 10**10}]
)
def test_what_would_not_run_is_not_estimated(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        estimate(settings(**change))


def test_nothing_is_claimed_about_an_agent_that_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    told = estimate(settings(agent="mine.py:agent", model=""))
    assert not told.known
    assert estimate_line(told) == ""
    shown = io.StringIO()
    Console(file=shown, width=100).print(estimate_table(told, settings(agent="mine.py:agent", model="")))
    assert "unknown" in shown.getvalue()
    assert "about" not in shown.getvalue().split("tokens")[1]
    summary = run_agent(Settings(agent="mine.py:agent", count=3))
    after = estimate(settings(agent="mine.py:agent", model=""))
    assert (after.known, after.basis) == (True, f"run {summary.run}")


def test_a_run_of_another_kind_is_nothing_to_go_by() -> None:
    chosen = Settings(agent="sim:idle", actions=Span(3, 3))
    measure_capability(chosen.overlay({"most_cases": 2}))
    told = estimate(chosen.overlay({"count": 5}))
    assert (told.basis, told.calls) == ("a rule of thumb", 15)
