"""What the OpenAI Agents SDK alone has: handoffs, guardrails, tools of many kinds, typed answers."""

import sys
from typing import Any

import pytest

from misstep.adapters.frameworks.openai_agents import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_openai_agents import NEEDS, made_with, on_chat
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Script, ScriptedServer

agent = FRAMEWORKS["openai_agents"].agent

agents: Any = pytest.importorskip("agents")


def tried(build: Any, script: Script | None = None, trial: Trial | None = None) -> Trial:
    """The trial after an agent of what `build` gives for a client and tools has had its go."""
    with ScriptedServer(script) as server:
        trial = play(Subject("agent", made_with(build), NEEDS), server, trial or Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    return trial


def test_a_handoff_is_no_call_and_the_next_agent_is_watched_too() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return on_chat(client, [], handoffs=[on_chat(client, tools)])

    trial = tried(build, Script(plan=lambda _, tools: ["transfer_to_me", *TOOLS]))
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")
    assert [call.turn for call in trial.recorder.calls] == [2, 3, 4, 5]


def test_a_handoff_of_another_name_is_no_call_either() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return on_chat(
            client, [], handoffs=[agents.handoff(on_chat(client, tools), tool_name_override="give_up")]
        )

    trial = tried(build, Script(plan=lambda _, tools: ["give_up", *TOOLS]))
    assert (trial.broken, trial.called) == ("", TOOLS)


def test_tools_that_the_agent_has_besides_ours_are_its_own_business() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return on_chat(client, [agents.function_tool(think), *tools])

    assert tried(build).called == TOOLS


def think() -> str:
    return "hm"


def test_a_guardrail_ends_the_case_without_an_error() -> None:
    @agents.output_guardrail
    def never(context: Any, agent: Any, output: Any) -> Any:
        return agents.GuardrailFunctionOutput(None, tripwire_triggered=True)

    trial = tried(lambda client, tools: on_chat(client, tools, output_guardrails=[never]))
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "answered", TOOLS)


def test_an_answer_that_is_not_of_its_type_is_no_error_of_ours() -> None:
    trial = tried(lambda client, tools: on_chat(client, tools, output_type=list[int]))
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "answered", TOOLS)


def test_a_tool_of_the_user_that_raises_is_an_error() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return on_chat(client, [agents.function_tool(fail, failure_error_function=None), *tools])

    trial = tried(build)
    assert trial.answer.ended == "error"
    assert "out of paper" in trial.broken


def fail() -> str:
    raise RuntimeError("out of paper")


def test_what_is_no_agent_is_an_error() -> None:
    trial = tried(lambda client, tools: "nonsense")
    assert trial.broken.startswith("UsageError: a str is not an Agent of the OpenAI Agents SDK")


def test_messages_are_kept_once_if_asked_for() -> None:
    trial = Trial()
    trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
    tried(lambda client, tools: on_chat(client, tools, instructions="Be brief."), trial=trial)
    kept = trial.recorder.messages
    assert kept[:2] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": CASE.query},
    ]
    kinds = [message.get("type") for message in kept[2:]]
    assert kinds == ["function_call", "function_call_output"] * len(TOOLS) + ["message"]


def test_an_object_is_not_changed_by_other_tools() -> None:
    own = agents.function_tool(think)
    server = agents.mcp.MCPServerStdio({"command": "never started"})
    native = agents.Agent(name="me", tools=[own], mcp_servers=[server])
    made = retool(native)([])
    assert (made.tools, made.mcp_servers) == ([], [])
    assert (native.tools, native.mcp_servers) == ([own], [server])


def test_an_object_with_handoffs_is_refused() -> None:
    native = agents.Agent(name="me", handoffs=[agents.Agent(name="you")])
    with pytest.raises(UsageError, match=r"'me' hands off to other agents.*\n.*def make_agent\(tools\)"):
        retool(native)


def test_other_objects_are_refused() -> None:
    with pytest.raises(UsageError, match=r"of a list can't be replaced\n.*def make_agent\(tools\)"):
        retool([])


def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents", None)
    with pytest.raises(MissingExtra, match="openai-agents"):
        agent(lambda tools: None, "agent")
