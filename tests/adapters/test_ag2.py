"""What AG2 alone has: a context with keys in every call, spending beside the turns, many ways to count tokens."""

import sys
from typing import Any

import pytest

from misstep.adapters.frameworks.ag2 import _usage, retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_ag2 import NEEDS, connected, native
from tests.conformance.subjects import Owning, Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Fault, Script, ScriptedServer

agent = FRAMEWORKS["ag2"].agent

ag2: Any = pytest.importorskip("ag2")
events: Any = pytest.importorskip("ag2.events")
middleware: Any = pytest.importorskip("ag2.middleware")


def tried(server: ScriptedServer, build: Any, trial: Trial, **options: Any) -> Trial:
    """The trial after an agent that `build` makes of a configuration and tools has had its go."""

    def made(server: ScriptedServer) -> Agent:
        config, http = connected(server, **options)
        return Owning(agent(lambda tools: build(config, tools), "ag2"), http.aclose)

    return play(Subject("ag2", made, NEEDS), server, trial)


class Unwatched:
    """A wrapper of the user's that passes nothing on but the request."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def ask(self, request: str, **_: Any) -> Any:
        return await self._agent.ask(request)


def test_the_context_of_a_call_is_never_recorded() -> None:
    with ScriptedServer(Script(behaviour="extra arguments")) as server:
        trial = tried(server, lambda config, tools: Unwatched(native(config, tools)), Trial())
    assert trial.broken == ""
    assert [call.arguments for call in trial.recorder.calls] == [
        {},
        {"surprise": 1},
        *[{}] * (len(TOOLS) - 1),
    ]


def test_an_agent_that_streams_is_watched() -> None:
    with ScriptedServer(Script(behaviour="parallel")) as server:
        trial = tried(server, native, Trial(), streaming=True)
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")
    assert {call.turn for call in trial.recorder.calls} == {1}


class Compacting(middleware.BaseMiddleware):  # type: ignore[misc]
    """Spends tokens beside the turns, as the framework itself does to shorten a history."""

    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        used = events.Usage(prompt_tokens=30, completion_tokens=4)
        await context.send(events.UsageEvent(used, kind="compaction"))
        return await call_next(event, context)


def test_other_spending_counts_too() -> None:
    def build(config: Any, tools: list[Any]) -> Any:
        return native(config, tools, middleware=[ag2.Middleware(Compacting)])

    with ScriptedServer() as server:
        trial = tried(server, build, Trial())
        assert trial.recorder.usage == Usage(*server.tokens) + Usage(30, 4)
    assert trial.called == TOOLS


def test_nonsense_of_the_server_is_no_nonsense_of_the_model() -> None:
    with ScriptedServer(Script(faults=[None, Fault("not json")])) as server:
        trial = tried(server, native, Trial())
    assert (trial.answer.ended, trial.called) == ("error", TOOLS[:1])


COUNTED = {"prompt_tokens": 10.0, "completion_tokens": 4.0, "cache_read_input_tokens": 6.0}


@pytest.mark.parametrize(
    ("counts", "provider", "expected"),
    [
        pytest.param(
            {**COUNTED, "total_tokens": 14.0}, "openai", Usage(10, 4, 6), id="thoughts among the rest"
        ),
        pytest.param(
            {**COUNTED, "total_tokens": 17.0}, "google", Usage(10, 7, 6), id="thoughts beside the rest"
        ),
        pytest.param(
            {**COUNTED, "total_tokens": 14.0}, "anthropic", Usage(16, 4, 6), id="cached beside the rest"
        ),
        pytest.param({}, None, Usage(), id="nothing told"),
    ],
)
def test_tokens_are_counted_as_the_provider_means_them(counts: Any, provider: str, expected: Usage) -> None:
    assert _usage(events.Usage(**counts), provider) == expected


def test_messages_are_noted() -> None:
    with ScriptedServer() as server:
        trial = Trial()
        trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
        tried(server, native, trial)
    *asking, answering = trial.recorder.messages
    assert asking == [{"content": None, "calls": [[tool, {}]]} for tool in TOOLS]
    assert answering == {"content": "All done.", "calls": []}


def test_copies_with_other_tools_leave_the_agent_as_it_was() -> None:
    def own_tool() -> str:
        """Its own."""
        return ""

    own = native(None, [own_tool])
    before = list(own.tools)
    build = retool(own)
    first, second = build([1]), build([2])
    assert (first.tools, second.tools, own.tools) == ([1], [2], before)
    assert (first.name, first.system_prompt) == (own.name, own.system_prompt)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        # Sub-tasks take the tools of the agent they were made for, which would be the user's own.
        pytest.param(native(None, [], tasks=ag2.TaskConfig()), "an agent with sub-tasks", id="sub-tasks"),
        pytest.param(ag2.Plugin(), "a Plugin", id="no agent"),
    ],
)
def test_what_can_t_be_copied_needs_a_factory(value: Any, what: str) -> None:
    with pytest.raises(UsageError, match=rf"(?s){what} can't.*def make_agent\(tools\)"):
        retool(value)


def test_without_the_framework_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ag2", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[ag2\]"):
        agent(lambda tools: None, "agent")
