"""What AutoGen alone has: agents that stop after one turn with tools, teams, streams, memories of messages."""

import asyncio
import sys
from typing import Any

import pytest

from misstep.adapters.frameworks.autogen import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_autogen import NEEDS, assistant, connected, made_with, team
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Fault, Script, ScriptedServer

agent = FRAMEWORKS["autogen"].agent

agents: Any = pytest.importorskip("autogen_agentchat.agents")
teams: Any = pytest.importorskip("autogen_agentchat.teams")
conditions: Any = pytest.importorskip("autogen_agentchat.conditions")
pytest.importorskip("autogen_ext.models.openai")


def tried(server: ScriptedServer, build: Any, trial: Trial) -> Trial:
    """The trial after an agent that `build` makes of a client and tools has had its go."""
    return play(Subject("autogen", made_with(build), NEEDS), server, trial)


def test_an_agent_with_one_turn_for_tools_has_answered_with_their_results() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return agents.AssistantAgent("me", client, tools=tools)

    with ScriptedServer(Script(behaviour="parallel")) as server:
        trial = tried(server, build, Trial())
    assert (trial.answer.ended, trial.called) == ("answered", TOOLS)
    assert trial.answer.text == "\n".join(call.result for call in trial.recorder.calls)


def test_an_agent_that_runs_out_of_its_own_turns_has_not_answered() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return assistant(client, tools, max_tool_iterations=2)

    with ScriptedServer(Script(behaviour="loop")) as server:
        trial = tried(server, build, Trial())
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "iterations", TOOLS[:1] * 2)


def test_a_team_that_runs_out_of_turns_has_not_answered() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return teams.RoundRobinGroupChat([assistant(client, tools, max_tool_iterations=1)], max_turns=2)

    with ScriptedServer(Script(behaviour="loop")) as server:
        trial = tried(server, build, Trial())
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "iterations", TOOLS[:1] * 2)


def test_every_member_of_a_team_is_watched() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        first = agents.AssistantAgent("first", client)
        second = teams.RoundRobinGroupChat(
            [assistant(client, tools)], termination_condition=conditions.TextMessageTermination("me")
        )
        return teams.RoundRobinGroupChat([first, second], max_turns=2)

    with ScriptedServer() as server:
        trial = tried(server, build, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert trial.called == TOOLS
    assert [call.turn for call in trial.recorder.calls] == list(range(2, len(TOOLS) + 2))


def test_a_member_may_serve_many_cases() -> None:
    async def main(server: ScriptedServer) -> list[Trial]:
        client = connected(server)
        member = agents.AssistantAgent("first", client)

        def build(tools: list[Any]) -> Any:
            return teams.RoundRobinGroupChat([member, assistant(client, tools)], max_turns=2)

        tested = agent(build, "autogen")
        trials = [await Trial().run(tested) for _ in range(2)]
        await client.close()
        return trials

    with ScriptedServer() as server:
        trials = asyncio.run(main(server))
    assert [(trial.broken, trial.called) for trial in trials] == [("", TOOLS)] * 2


def test_what_broke_in_a_team_is_told_without_its_traceback() -> None:
    with ScriptedServer(Script(faults=[Fault("401")])) as server:
        trial = tried(server, team, Trial())
    assert trial.answer.ended == "error"
    assert trial.broken.endswith("Incorrect API key provided.")


def test_an_agent_that_streams_is_watched() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        return assistant(client, tools, model_client_stream=True)

    with ScriptedServer(Script(behaviour="malformed")) as server:
        trial = tried(server, build, Trial())
    assert (trial.broken, trial.answer.text, trial.verdict.error) == ("", "All done.", "act")
    assert trial.recorder.calls[1].arguments == '{"broken": '


class Other(agents.BaseChatAgent):  # type: ignore[misc]
    """An agent of the user's own making, with another one inside."""

    def __init__(self, inner: Any) -> None:
        super().__init__("other", "has its own way")
        self._inner = inner

    @property
    def produced_message_types(self) -> Any:
        return self._inner.produced_message_types

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
        return await self._inner.on_messages(messages, cancellation_token)

    async def on_reset(self, cancellation_token: Any) -> None:
        await self._inner.on_reset(cancellation_token)


def test_an_agent_of_another_kind_shows_its_calls_and_tokens() -> None:
    with ScriptedServer() as server:
        trial = tried(server, lambda client, tools: Other(assistant(client, tools)), Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")


def test_messages_are_noted() -> None:
    with ScriptedServer() as server:
        trial = Trial()
        trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
        tried(server, assistant, trial)
    said = [message["content"] for message in trial.recorder.messages]
    assert [content if isinstance(content, str) else content[0]["name"] for content in said] == [
        *TOOLS,
        "All done.",
    ]


def test_copies_with_other_tools_leave_the_agent_as_it_was() -> None:
    def own_tool() -> str:
        """Its own."""
        return ""

    with ScriptedServer() as server:
        native = assistant(connected(server), [own_tool])
        before = {**vars(native)}
        build = retool(native)
        first, second = build([]), build([])
    assert vars(native) == before
    assert first.model_context is not second.model_context is not native.model_context
    assert first.name == native.name


def test_a_team_needs_a_factory() -> None:
    with ScriptedServer() as server:
        whole = team(connected(server), [])
    with pytest.raises(UsageError, match=r"(?s)a RoundRobinGroupChat can't.*def make_agent\(tools\)"):
        retool(whole)


def test_without_the_framework_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "autogen_agentchat", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[autogen\]"):
        agent(lambda tools: None, "agent")
