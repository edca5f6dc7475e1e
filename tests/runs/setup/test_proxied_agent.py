"""The recording proxy from settings to stored outcomes."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.core.event import Event, Notice
from misstep.runs.setup.agents import find_agent
from tests.scripted import Script, ScriptedServer

AGENT = """
import json, openai
def agent(request, tools):
    by_name = {tool.name: tool for tool in tools}
    described = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in tools]
    messages = [{"role": "user", "content": request}]
    with openai.OpenAI(max_retries=0) as client:
        while True:
            reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=described)
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message)
            for call in message.tool_calls:
                tool = by_name.get(call.function.name, lambda **_: "no such tool")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": tool()})

def elsewhere(request, tools):
    return "done"
"""
CLAUDE = """
import anthropic
def agent(request, tools):
    with anthropic.Anthropic(max_retries=0) as client:
        asked = [{"role": "user", "content": request}]
        return client.messages.create(model="claude-sonnet-5", max_tokens=10, messages=asked).content[0].text
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    Path("watched_agent.py").write_text(AGENT)
    Path("watched_claude.py").write_text(CLAUDE)


def settings(server: ScriptedServer, **changes: Any) -> misstep.Settings:
    usual = {"agent": "watched_agent.py:agent", "model": "openai/gpt-4o", "model_base_url": server.base_url}
    return misstep.Settings(**{**usual, "count": 4, "record_proxy": True, **changes})


def test_what_a_plain_function_hides_is_seen() -> None:
    with ScriptedServer(Script(behaviour="unknown")) as server:
        summary = misstep.run_agent(settings(server))
        tokens = server.tokens
    assert summary.errors["act"] == 4
    assert (summary.tokens.input, summary.tokens.output) == tokens
    assert "OPENAI_BASE_URL" not in os.environ
    assert "recording-proxy" not in [thread.name for thread in threading.enumerate()]


def test_keys_go_to_their_own_provider_only() -> None:
    with ScriptedServer() as openai_server, ScriptedServer() as anthropic_server:
        os.environ["ANTHROPIC_BASE_URL"] = anthropic_server.base_url.removesuffix("/v1")
        summary = misstep.run_agent(settings(openai_server, agent="watched_claude.py:agent"))
        assert not openai_server.requests
        assert len(anthropic_server.model_requests) == 4
    assert summary.errored == 0


def test_anthropic_s_clients_are_watched_too() -> None:
    with ScriptedServer() as server:
        chosen = settings(server, agent="watched_claude.py:agent", model="anthropic/claude-sonnet-5")
        summary = misstep.run_agent(chosen)
        tokens = server.tokens
    assert (summary.tokens.input, summary.tokens.output) == tokens != (0, 0)


def test_an_agent_that_goes_another_way_is_pointed_out() -> None:
    notices = list[str]()

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            notices.append(event.text)

    with ScriptedServer() as server:
        misstep.run_agent(settings(server, agent="watched_agent.py:elsewhere"), listen)
    assert notices == [
        "4 cases did not reach their model through the recording proxy: does the agent use OPENAI_BASE_URL?"
    ]


@pytest.mark.parametrize("agent", ["sim:perfect", "tools"])
def test_some_agents_hide_nothing(agent: str) -> None:
    with pytest.raises(misstep.UsageError, match="hides nothing"):
        find_agent(misstep.Settings(agent=agent, model="vllm/x", record_proxy=True))


def test_a_file_that_does_not_load_leaves_nothing_behind() -> None:
    with ScriptedServer() as server, pytest.raises(misstep.UsageError, match="no such file"):
        misstep.run_agent(settings(server, agent="nowhere.py:agent"))
    assert "OPENAI_BASE_URL" not in os.environ
    assert "recording-proxy" not in [thread.name for thread in threading.enumerate()]
