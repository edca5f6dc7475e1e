"""What Agent Framework alone has: limits of its own, agents without layers, agents that are workflows."""

import sys
from typing import Any

import pytest

from misstep.adapters.frameworks.agent_framework import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_agent_framework import NEEDS, connected
from tests.conformance.subjects import Owning, Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Script, ScriptedServer

agent = FRAMEWORKS["agent_framework"].agent

af: Any = pytest.importorskip("agent_framework")
pytest.importorskip("agent_framework_openai")


def tried(server: ScriptedServer, make: Any, trial: Trial) -> Trial:
    """The trial after an agent of what `make` gives for a client and tools has had its go."""

    def made(server: ScriptedServer) -> Agent:
        client, sdk = connected(server)
        return Owning(agent(lambda tools: make(client, tools), "agent"), sdk.close)

    return play(Subject("agent", made, NEEDS), server, trial)


def test_the_frameworks_own_limit_counts_as_one() -> None:
    def make(client: Any, tools: list[Any]) -> Any:
        client.function_invocation_configuration["max_iterations"] = 2
        return af.Agent(client, tools=tools)

    with ScriptedServer(Script(behaviour="loop")) as server:
        trial = tried(server, make, Trial())
        assert len(server.model_requests) == 3
    assert (trial.answer.text, trial.answer.ended, trial.called) == ("All done.", "iterations", TOOLS[:1] * 2)


def test_an_agent_that_ends_within_its_own_limit_has_answered() -> None:
    def make(client: Any, tools: list[Any]) -> Any:
        client.function_invocation_configuration["max_iterations"] = len(TOOLS) + 1
        return af.Agent(client, tools=tools, default_options={"tool_choice": "auto"})

    with ScriptedServer() as server:
        trial = tried(server, make, Trial())
    assert (trial.answer.ended, trial.called) == ("answered", TOOLS)


def test_an_agent_without_layers_is_watched_too() -> None:
    with ScriptedServer(Script(behaviour="unknown")) as server:
        trial = tried(server, lambda client, tools: af.RawAgent(client, tools=tools), Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.verdict.error, trial.verdict.step) == ("", "act", 2)


def test_a_workflow_shows_its_calls_and_tokens() -> None:
    def make(client: Any, tools: list[Any]) -> Any:
        only = af.Agent(client, name="only", tools=tools)
        return af.WorkflowBuilder(start_executor=only).build().as_agent()

    with ScriptedServer() as server:
        trial = tried(server, make, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")


def test_middleware_of_the_agent_stays() -> None:
    seen = []

    async def look(context: Any, call_next: Any) -> None:
        seen.append(len(context.messages))
        await call_next()

    def make(client: Any, tools: list[Any]) -> Any:
        return af.Agent(client, tools=tools, middleware=[af.chat_middleware(look)])

    with ScriptedServer() as server:
        trial = tried(server, make, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert len(seen) == len(TOOLS) + 1
    assert {call.turn for call in trial.recorder.calls} == set(range(1, len(TOOLS) + 1))


def test_messages_are_noted() -> None:
    with ScriptedServer() as server:
        trial = Trial()
        trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
        tried(server, lambda client, tools: af.Agent(client, tools=tools), trial)
    said = [message["contents"][0] for message in trial.recorder.messages]
    assert [content.get("name", content.get("text")) for content in said] == [*TOOLS, "All done."]


def test_other_tools_leave_the_agent_as_it_was() -> None:
    def own_tool() -> str:
        """Its own."""
        return ""

    class Kind(af.Agent):  # type: ignore[misc]
        pass

    with ScriptedServer() as server:
        client, _ = connected(server)
        native = Kind(client, "Be brief.", name="mine", tools=[own_tool])
        before = dict(native.default_options)
        build = retool(native)
        first, second = build(["a"]), build(["b"])
    assert (first.default_options["tools"], second.default_options["tools"]) == (["a"], ["b"])
    assert (type(first), first.name, first.default_options["instructions"]) == (Kind, "mine", "Be brief.")
    assert native.default_options == before


def test_what_has_no_tools_to_exchange_needs_a_factory() -> None:
    with ScriptedServer() as server:
        client, _ = connected(server)
        workflow = af.WorkflowBuilder(start_executor=af.Agent(client, name="only")).build()
    with pytest.raises(UsageError, match=r"(?s)a Workflow can't.*def make_agent\(tools\)"):
        retool(workflow)


def test_without_the_framework_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agent_framework", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[agent-framework\]"):
        agent(lambda tools: None, "agent")
