"""What Google's ADK alone has: apps with plugins, agents beside agents, thoughts that are counted in two ways."""

import sys
from typing import Any

import pytest

from misstep.adapters.frameworks.adk import _usage, retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_adk import NEEDS, connected, native
from tests.conformance.subjects import Owning, Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Script, ScriptedServer

agent = FRAMEWORKS["adk"].agent

agents: Any = pytest.importorskip("google.adk.agents")
apps: Any = pytest.importorskip("google.adk.apps")
plugins: Any = pytest.importorskip("google.adk.plugins")
types: Any = pytest.importorskip("google.genai").types


def tried(server: ScriptedServer, build: Any, trial: Trial) -> Trial:
    """The trial after an agent that `build` makes of a model and tools has had its go."""

    def made(server: ScriptedServer) -> Agent:
        model, sdk = connected(server)
        return Owning(agent(lambda tools: build(model, tools), "adk"), sdk.close)

    return play(Subject("adk", made, NEEDS), server, trial)


class Counting(plugins.BasePlugin):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__("counting")
        self.requests = 0

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.requests += 1


def test_an_app_keeps_its_plugins() -> None:
    counting = Counting()

    def build(model: Any, tools: list[Any]) -> Any:
        own = apps.App(name="mine", root_agent=native(model, []), plugins=[counting])
        return retool(own)(tools)

    with ScriptedServer(Script(behaviour="unknown")) as server:
        trial = tried(server, build, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.verdict.error, trial.verdict.step) == ("", "act", 2)
    assert counting.requests == len(TOOLS) + 2


def test_agents_side_by_side_have_turns_of_their_own() -> None:
    def build(model: Any, tools: list[Any]) -> Any:
        halves = tools[:2], tools[2:]
        two = [native(model, half).clone({"name": f"half{at}"}) for at, half in enumerate(halves)]
        return agents.ParallelAgent(name="both", sub_agents=two)

    with ScriptedServer() as server:
        with pytest.warns(DeprecationWarning, match="ParallelAgent"):
            trial = tried(server, build, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, sorted(trial.called)) == ("", sorted(TOOLS))
    assert len({call.turn for call in trial.recorder.calls}) == len(TOOLS)


def test_messages_are_noted() -> None:
    with ScriptedServer() as server:
        trial = Trial()
        trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
        tried(server, native, trial)
    parts = [message["content"]["parts"][0] for message in trial.recorder.messages]
    assert [part.get("text") or part["function_call"]["name"] for part in parts] == [*TOOLS, "All done."]


@pytest.mark.parametrize(
    ("thoughts", "total"),
    [
        pytest.param(3, 17, id="beside"),
        pytest.param(3, 14, id="among"),
        pytest.param(None, None, id="no total"),
    ],
)
def test_thoughts_are_counted_once(thoughts: int | None, total: int | None) -> None:
    counts = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=10,
        candidates_token_count=4,
        thoughts_token_count=thoughts,
        total_token_count=total,
        cached_content_token_count=2,
    )
    assert _usage(counts) == Usage(10, 7 if total == 17 else 4, 2)


def test_copies_with_other_tools_leave_the_agent_as_it_was() -> None:
    def own_tool() -> str:
        """Its own."""
        return ""

    with ScriptedServer() as server:
        model, _ = connected(server)
        own = native(model, [own_tool])
        build = retool(own)
        first, second = build([1]), build([2])
    assert (first.tools, second.tools, own.tools) == ([1], [2], [own_tool])
    assert (first.name, first.instruction) == (own.name, own.instruction)


def test_an_agent_with_others_below_needs_a_factory() -> None:
    with ScriptedServer() as server:
        model, _ = connected(server)
        whole = native(model, [], sub_agents=[agents.LlmAgent(name="below", model=model)])
    with pytest.raises(UsageError, match=r"(?s)an? LlmAgent with sub-agents can't.*def make_agent\(tools\)"):
        retool(whole)


def test_without_the_framework_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.adk.agents", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[adk\]"):
        agent(lambda tools: None, "agent")
