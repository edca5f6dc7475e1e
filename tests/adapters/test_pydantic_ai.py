"""What Pydantic AI alone has: answers that are calls, toolsets, replies that are refused, limits of its own."""

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from misstep.adapters.frameworks.pydantic_ai import retool
from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_pydantic_ai import NEEDS, made_with, on_chat
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Fault, Script, ScriptedServer

agent = FRAMEWORKS["pydantic_ai"].agent

pydantic_ai: Any = pytest.importorskip("pydantic_ai")


@dataclass
class Done:
    """An answer with nothing in it that has to be given."""

    remark: str = "none"


def tried(build: Any, script: Script | None = None, trial: Trial | None = None) -> Trial:
    """The trial after an agent of what `build` gives for a client and tools has had its go."""
    with ScriptedServer(script) as server:
        trial = play(Subject("agent", made_with(build), NEEDS), server, trial or Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    return trial


def think() -> str:
    return "hm"


def test_an_answer_that_is_a_call_is_not_recorded_as_one() -> None:
    plan = Script(plan=lambda _, tools: [*TOOLS, "final_result"])
    trial = tried(lambda client, tools: on_chat(client, tools, output_type=Done), plan)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "Done(remark='none')")


def test_tools_that_the_agent_has_besides_ours_are_its_own_business() -> None:
    assert tried(lambda client, tools: on_chat(client, [think, *tools])).called == TOOLS


def test_calls_that_are_refused_until_patience_ends_are_no_error_of_ours() -> None:
    trial = tried(on_chat, Script(plan=lambda _, tools: ["nowhere"] * 9))
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    assert trial.called == ["nowhere"] * 2
    assert (trial.verdict.error, trial.verdict.step) == ("act", 1)


def test_a_server_that_talks_nonsense_is_not_the_models_fault() -> None:
    trial = tried(on_chat, Script(faults=[None, Fault("not json")]))
    assert (trial.answer.ended, trial.called) == ("error", TOOLS[:1])


def test_a_reply_that_the_library_can_not_read_is_not_the_models_fault() -> None:
    from pydantic_ai.models.function import FunctionModel

    def reply(messages: Any, info: Any) -> Any:
        raise pydantic_ai.UnexpectedModelBehavior("no choices")

    trial = run_alone(lambda tools: pydantic_ai.Agent(FunctionModel(reply), tools=tools), Trial())
    assert (trial.answer.ended, trial.broken.splitlines()[0]) == (
        "error",
        "UnexpectedModelBehavior: no choices",
    )


def replies(*contents: Any) -> Any:
    """A model of the library's own that says these things, one after the other."""
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    waiting = [*contents, "All done."]

    def reply(messages: Any, info: Any) -> Any:
        said = waiting.pop(0)
        return ModelResponse([TextPart(said) if isinstance(said, str) else ToolCallPart(*said)])

    return FunctionModel(reply)


def run_alone(build: Any, trial: Trial) -> Trial:
    return asyncio.run(trial.run(agent(build, "agent")))


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [("[1]", [1]), ("null", None), ('"x"', "x"), ('{"self": 1}', {"self": 1}), ('{"name": ', '{"name": ')],
)
def test_arguments_of_any_form_are_kept_as_they_are(arguments: str, kept: Any) -> None:
    model = replies((TOOLS[0], arguments))
    trial = run_alone(lambda tools: pydantic_ai.Agent(model, tools=tools), Trial())
    [call] = trial.recorder.calls
    assert (trial.broken, trial.verdict.error) == ("", "act")
    assert call.arguments == kept


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
def test_no_arguments_can_be_written_in_many_ways(arguments: Any) -> None:
    model = replies((TOOLS[0], arguments))
    trial = run_alone(lambda tools: pydantic_ai.Agent(model, tools=tools), Trial())
    [call] = trial.recorder.calls
    assert (trial.broken, call.arguments) == ("", {})
    assert "successfully" in call.result


def test_a_limit_that_the_agent_has_itself_counts_as_one() -> None:
    def build(client: Any, tools: list[Any]) -> Any:
        agent = on_chat(client, tools)

        @agent.instructions
        def give_up(context: Any) -> str:
            if context.run_step > 2:
                raise pydantic_ai.UsageLimitExceeded("enough")
            return ""

        return agent

    trial = tried(build)
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "iterations", TOOLS[:2])


def test_what_is_no_agent_is_an_error() -> None:
    trial = tried(lambda client, tools: "nonsense")
    assert trial.broken.startswith("UsageError: a str is not a Pydantic AI agent")


def test_messages_are_kept_if_asked_for() -> None:
    trial = Trial()
    trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
    tried(on_chat, trial=trial)
    kept = trial.recorder.messages
    assert [message["kind"] for message in kept] == ["request", "response"] * (len(TOOLS) + 1)
    assert kept[0]["parts"][-1]["content"] == CASE.query
    assert kept[2]["parts"][0]["content"] == trial.recorder.calls[0].result


def test_an_object_keeps_its_tools_for_others() -> None:
    """While a case runs with its own tools, the user's agent offers what it always did."""
    from pydantic_ai.capabilities import NativeTool
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.native_tools import WebSearchTool
    from pydantic_ai.toolsets import FunctionToolset

    offered = []

    def look(messages: Any, info: Any) -> Any:
        given = info.model_request_parameters
        offered.append(
            ([tool.name for tool in given.function_tools], [each.kind for each in given.native_tools])
        )
        return ModelResponse([TextPart("All done.")])

    native = pydantic_ai.Agent(
        FunctionModel(look),
        tools=[think],
        toolsets=[FunctionToolset([guess])],
        capabilities=[NativeTool(WebSearchTool())],
    )

    async def main() -> None:
        tested = agent(retool(native), "agent")
        await asyncio.gather(Trial().run(tested), native.run("Hello."))

    asyncio.run(main())
    assert sorted(offered) == sorted([(["think", "guess"], ["web_search"]), (TOOLS, [])])


def guess() -> str:
    return "seven"


def test_other_objects_are_refused() -> None:
    with pytest.raises(UsageError, match=r"of a list can't be replaced\n.*def make_agent\(tools\)"):
        retool([])


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtra, match="pydantic-ai"):
        agent(lambda tools: None, "agent")
