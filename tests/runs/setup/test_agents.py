"""Agents on models, from settings to stored outcomes, against a real server."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.features.plan_test.run import resume_run
from misstep.runs.lookup import list_runs
from misstep.runs.setup.agents import PARADIGMS
from tests.scripted import Fault, Script, ScriptedServer

KEY = "sk-do-not-store-me"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def settings(server: ScriptedServer, **changes: Any) -> misstep.Settings:
    usual = {
        "agent": "tools",
        "model": "openai/gpt-4o",
        "model_base_url": server.base_url,
        "count": 6,
        "retries": 0,
    }
    return misstep.Settings(**{**usual, **changes})


def stored() -> bytes:
    with sqlite3.connect(".misstep/store.db") as store:
        rows = store.execute("SELECT document FROM records UNION ALL SELECT settings FROM runs").fetchall()
    return b"".join(row[0] for row in rows)


@pytest.mark.parametrize("agent", PARADIGMS)
def test_every_paradigm_runs_from_its_name(agent: str) -> None:
    with ScriptedServer() as server:
        summary = misstep.run_agent(settings(server, agent=agent, messages=True))
        tokens = server.tokens
    assert (summary.agent, summary.model, summary.errored) == (agent, "openai/gpt-4o", 0)
    assert summary.passed + summary.failed == 6
    assert summary.calls >= 18
    assert (summary.tokens.input, summary.tokens.output) == tokens
    assert summary.usd == pytest.approx((tokens[0] * 2.5 + tokens[1] * 10) / 1e6, abs=1e-6)
    assert b"successfully" in stored()
    assert KEY.encode() not in stored()


def test_keys_that_a_server_repeats_are_not_stored() -> None:
    class Leaky(ScriptedServer):
        def _answer(self, request: Any) -> Any:
            message = f"Incorrect API key: {request.headers['authorization']}"
            return type(super()._answer(request))({"error": {"message": message}}, 401)

    with Leaky() as server:
        summary = misstep.run_agent(settings(server))
    assert summary.errored == 6
    assert b"Incorrect API key: Bearer [secret]" in stored()
    assert KEY.encode() not in stored()


@pytest.mark.parametrize("name", ["api_key", "KEY", "openai_token", "password"])
def test_parameters_that_look_secret_are_refused(name: str) -> None:
    with ScriptedServer() as server, pytest.raises(misstep.UsageError, match="would be stored"):
        misstep.run_agent(settings(server, agent_args={name: "x"}))


def test_react_by_completion() -> None:
    with ScriptedServer() as server:
        misstep.run_agent(settings(server, agent="react", agent_args={"mode": "completion"}))
        assert {request.path for request in server.model_requests} == {"/v1/completions"}


def test_what_all_react_conversations_begin_with_is_how_to_and_examples() -> None:
    with ScriptedServer() as server:
        misstep.run_agent(settings(server, agent="react"))
        prompts = {request.body["messages"][0]["content"] for request in server.model_requests}
    assert len(prompts) == 6
    (beginning,) = {prompt.rpartition("Now it is your turn.")[0] for prompt in prompts}
    assert beginning.count("Final Answer:") == 3  # the form, two examples


def test_one_call_at_a_time() -> None:
    with ScriptedServer(Script(behaviour="parallel")) as server:
        misstep.run_agent(settings(server, agent_args={"parallel": "false"}))
        assert all(request.body["parallel_tool_calls"] is False for request in server.model_requests)


def test_a_prompt_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Mine.\n{{tools}}\nQuestion: {{request}}\n")
    with ScriptedServer() as server:
        misstep.run_agent(settings(server, agent="react", prompt="prompt.txt"))
        assert all(
            request.body["messages"][0]["content"].startswith("Mine.") for request in server.model_requests
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [("{{tools}}", "it does not contain {{request}}"), ("{{tols}} {{request}}", "unknown place {{tols}}")],
)
def test_prompts_that_won_t_do(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "prompt.txt").write_text(text)
    with ScriptedServer() as server, pytest.raises(misstep.UsageError, match=words):
        misstep.run_agent(settings(server, agent="react", prompt="prompt.txt"))


def test_the_budget_ends_a_run_which_goes_on_with_a_larger_one() -> None:
    with ScriptedServer() as server:
        chosen = settings(server, count=40, jobs=1, budget_usd=0.02)
        with pytest.raises(misstep.BudgetExceeded, match=r"of 0\.02 USD used") as caught:
            misstep.run_agent(chosen)
        run = list_runs(chosen)[0][0].run
        assert 0 < run.done < 40
        assert run.summary is None
        assert any(run.id in hint for hint in caught.value.hints)
        with pytest.raises(misstep.BudgetExceeded):
            resume_run(chosen.overlay({"resume": run.id}))
        summary = resume_run(chosen.overlay({"resume": run.id, "budget_usd": 50.0}))
    assert summary.cases == 40
    assert summary.usd is not None
    assert summary.usd > 0.02


def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        unpriced = settings(server, model="openai/mine", budget_usd=1.0)
        with pytest.raises(misstep.UsageError, match="the price of openai/mine is unknown"):
            misstep.run_agent(unpriced)
        assert not server.requests
        assert misstep.run_agent(unpriced.overlay({"budget_usd": None})).usd is None
        (tmp_path / "prices.toml").write_text("[openai]\nmine = [1000, 0]\n")
        priced = misstep.run_agent(unpriced.overlay({"prices": "prices.toml", "budget_usd": 1e6}))
    assert priced.usd == pytest.approx(priced.tokens.input / 1000)


def test_a_budget_for_an_agent_whose_model_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def agent(request, tools): return ''\n")
    with pytest.raises(misstep.UsageError, match="needs the price of the agent's model"):
        misstep.run_agent(misstep.Settings(agent="a.py:agent", budget_usd=1.0))


def test_a_rate_limit_is_not_the_agents_time() -> None:
    faults = [Fault("429", retry_after=0.4), Fault("429", retry_after=0.4)]
    with ScriptedServer(Script(faults=faults)) as server:
        summary = misstep.run_agent(settings(server, count=1, timeout=0.6, retries=5))
    assert summary.errors["timeout"] == summary.errored == 0


def test_the_cache_saves_a_second_run_its_tokens() -> None:
    with ScriptedServer() as server:
        first = misstep.run_agent(settings(server, cache=True))
        asked = len(server.model_requests)
        second = misstep.run_agent(settings(server, cache=True))
        assert len(server.model_requests) == asked
    assert (first.passed, first.calls) == (second.passed, second.calls)
    assert first.tokens.input > 0
    assert (second.tokens.input, second.usd) == (0, 0.0)


def test_no_model_named() -> None:
    with pytest.raises(misstep.UsageError, match="no model given"):
        misstep.run_agent(misstep.Settings(agent="tools"))


def test_raw_messages_are_kept_on_request() -> None:
    with ScriptedServer() as server:
        misstep.run_agent(settings(server, count=1))
        assert b'"messages":[' not in stored()
        misstep.run_agent(settings(server, count=1, messages=True))
    assert b'"messages":[{"role":"system"' in stored()


def test_the_printed_way_on_keeps_the_budget() -> None:
    with ScriptedServer() as server:
        with pytest.raises(misstep.BudgetExceeded):
            misstep.run_agent(settings(server, count=40, jobs=1, budget_usd=0.02))
        run = list_runs(misstep.Settings())[0][0].run
        with pytest.raises(misstep.BudgetExceeded):
            resume_run(misstep.Settings(resume=run.id))


@pytest.mark.parametrize("url", ["http://me:hunter2pass@127.0.0.1/v1", "nonsense"])
def test_urls_are_looked_at_whatever_the_agent(tmp_path: Path, url: str) -> None:
    (tmp_path / "b.py").write_text("def agent(request, tools): return ''\n")
    with pytest.raises(misstep.UsageError):
        misstep.run_agent(misstep.Settings(agent="b.py:agent", model_base_url=url))
    assert not Path(".misstep").exists()


def test_settings_with_a_secret_in_them_are_refused() -> None:
    with pytest.raises(misstep.UsageError, match="value of a secret environment variable"):
        misstep.run_agent(misstep.Settings(agent=f"mcp:client --key {KEY} {{config}}"))


def test_settings_that_would_be_ignored_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text("def agent(request, tools): return ''\n")
    with pytest.raises(misstep.UsageError, match="omit --prompt"):
        misstep.run_agent(misstep.Settings(agent="c.py:agent", prompt="p.txt"))
    with pytest.raises(misstep.UsageError, match="omit --python"):
        misstep.run_agent(misstep.Settings(agent="sim:random", python="python3"))


LATE = """
import os
def agent(request, tools):
    os.environ["LATE_API_KEY"] = "sk-late-late-late"
    return "my key is " + os.environ["LATE_API_KEY"]
def blocking(request, tools):
    with __import__("concurrent.futures").futures.ThreadPoolExecutor() as pool:
        return pool.submit(__import__("time").sleep, 3).result()
async def asleep(request, tools):
    __import__("time").sleep(3)
async def stubborn(request, tools):
    import asyncio, time
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            pass
"""


def test_keys_that_an_agent_brings_along_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LATE_API_KEY", raising=False)
    (tmp_path / "late.py").write_text(LATE)
    misstep.run_agent(misstep.Settings(agent="late.py:agent", count=3))
    monkeypatch.delenv("LATE_API_KEY")
    assert b"sk-late-late-late" not in stored()
    assert stored().count(b"my key is [secret]") == 3


@pytest.mark.parametrize("name", ["blocking", "asleep", "stubborn"])
def test_agents_that_can_t_be_stopped_are_left_behind(tmp_path: Path, name: str) -> None:
    (tmp_path / "late.py").write_text(LATE)
    summary = misstep.run_agent(misstep.Settings(agent=f"late.py:{name}", count=2, timeout=0.2))
    assert summary.errors["timeout"] == 2


def test_a_budget_needs_tokens_that_show(tmp_path: Path) -> None:
    (tmp_path / "d.py").write_text("def agent(request, tools): return tools[0]()\n")
    chosen = misstep.Settings(agent="d.py:agent", model="openai/gpt-4o", count=3, jobs=1, budget_usd=1.0)
    with pytest.raises(misstep.UsageError, match="does not report its tokens"):
        misstep.run_agent(chosen)
    assert misstep.run_agent(chosen.overlay({"budget_usd": None})).usd is None


@pytest.mark.parametrize("agent", PARADIGMS)
def test_the_temperature_is_told_whatever_the_interface(agent: str) -> None:
    with ScriptedServer() as server:
        misstep.run_agent(settings(server, agent=agent, count=1, temperature=0.25))
        told = [request.body["temperature"] for request in server.requests if "temperature" in request.body]
    assert set(told) == {0.25}
