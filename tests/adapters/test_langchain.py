"""What LangChain alone has: runnables of all sorts, calls in words, limits of its own, typed answers."""

import asyncio
import sys
from typing import Any

import pytest
from pydantic import BaseModel

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_langchain import (
    NEW,
    Clients,
    by_hand,
    created,
    executor,
    in_text,
    made_with,
    streaming,
)
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Call, Script, ScriptedServer, decisions

framework = FRAMEWORKS["langchain"]

pytest.importorskip("langchain")
pytest.importorskip("langchain_classic")
pytest.importorskip("langchain_openai")


class Done(BaseModel):
    """An answer with nothing in it that has to be given."""

    remark: str = "none"


def tried(build: Any, script: Script | None = None, trial: Trial | None = None) -> Trial:
    """The trial after an agent of what `build` gives for connections and tools has had its go."""
    with ScriptedServer(script) as server:
        trial = play(Subject("agent", made_with(build), NEW), server, trial or Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    return trial


def run_alone(build: Any, trial: Trial) -> Trial:
    return asyncio.run(trial.run(framework.agent(build, "agent")))


def test_a_graphs_own_limit_counts_as_one() -> None:
    def build(clients: Clients, tools: list[Any]) -> Any:
        return by_hand(clients, tools).with_config(recursion_limit=3)

    trial = tried(build, Script(behaviour="loop"))
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "iterations", TOOLS[:1] * 2)


@pytest.mark.full
def test_a_graph_without_a_limit_of_its_own_goes_on_to_ours() -> None:
    trial = tried(by_hand, Script(behaviour="loop"), Trial(max_steps=60))
    assert (trial.broken, trial.answer.ended, len(trial.called)) == ("", "iterations", 60)


def test_graphs_that_share_a_memory_don_t_remember_each_others_cases() -> None:
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    memory = InMemorySaver()

    def build(clients: Clients, tools: list[Any]) -> Any:
        return create_agent(clients.chat_model(), tools, checkpointer=memory)

    with ScriptedServer() as server:
        subject = Subject("agent", made_with(build), NEW)
        trials = [play(subject, server, Trial()) for _ in range(2)]
        longest = max(len(request.body["messages"]) for request in server.model_requests)
    assert [trial.called for trial in trials] == [TOOLS, TOOLS]
    assert longest == 1 + 2 * len(TOOLS)


@pytest.mark.parametrize("behaviour", ["end", "error"])
def test_limits_set_by_middleware(behaviour: Any) -> None:
    from langchain.agents import create_agent
    from langchain.agents.middleware import ModelCallLimitMiddleware

    def build(clients: Clients, tools: list[Any]) -> Any:
        limit = ModelCallLimitMiddleware(run_limit=2, exit_behavior=behaviour)
        return create_agent(clients.chat_model(), tools, middleware=[limit])

    trial = tried(build)
    ended = {"end": "answered", "error": "iterations"}
    assert (trial.broken, trial.answer.ended, trial.called) == ("", ended[behaviour], TOOLS[:2])


@pytest.mark.parametrize("build", [executor, in_text])
def test_an_executors_own_limit_counts_as_one(build: Any) -> None:
    trial = tried(lambda clients, tools: build(clients, tools, max_iterations=2))
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "iterations", TOOLS[:2])
    assert "Agent stopped" in trial.answer.text


def test_a_model_that_only_says_it_was_stopped_has_answered() -> None:
    said = Script(render_answer=lambda: "Final Answer: Agent stopped due to max iterations.")
    assert tried(in_text, said).answer.ended == "answered"


def test_words_that_make_no_sense_end_an_executor_without_an_error() -> None:
    trial = tried(in_text, Script(render_answer=lambda: "Whatever."))
    assert (trial.broken, trial.answer.ended, trial.called) == ("", "answered", TOOLS)
    assert trial.recorder.misread_turns == 1


def test_words_that_make_no_sense_are_counted_by_an_executor_that_goes_on() -> None:
    def build(clients: Clients, tools: list[Any]) -> Any:
        return in_text(clients, tools, handle_parsing_errors=True, max_iterations=len(TOOLS) + 2)

    trial = tried(build, Script(render_answer=lambda: "Whatever."))
    assert (trial.broken, trial.called, trial.recorder.misread_turns) == ("", TOOLS, 2)


@pytest.mark.parametrize("build", [created, streaming, executor, in_text])
def test_malformed_arguments_are_kept_as_they_were_written(build: Any) -> None:
    trial = tried(build, Script(behaviour="malformed"))
    assert trial.recorder.calls[1].arguments.strip() == '{"broken":'


def test_arguments_that_fit_in_no_message_are_no_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(decisions.SPOILT, "malformed", lambda call: Call(call.name, "[1]"))
    with ScriptedServer(Script(behaviour="malformed")) as server:
        trial = play(Subject("agent", made_with(created), NEW), server, Trial())
    assert (trial.broken, trial.answer.ended, trial.recorder.misread_turns) == ("", "answered", 1)


def test_an_answer_that_is_a_call_is_not_recorded_as_one() -> None:
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ToolStrategy

    def build(clients: Clients, tools: list[Any]) -> Any:
        return create_agent(clients.chat_model(), tools, response_format=ToolStrategy(Done))

    trial = tried(build, Script(plan=lambda _, tools: [*TOOLS, "Done"]))
    assert (trial.broken, trial.called) == ("", TOOLS)


@pytest.mark.parametrize("build", [created, executor, in_text])
def test_tools_that_the_agent_has_besides_ours_are_its_own_business(build: Any) -> None:
    from langchain_core.tools import tool

    trial = tried(lambda clients, tools: build(clients, [tool(think), *tools]))
    assert (trial.broken, trial.called) == ("", TOOLS)


def think() -> str:
    """Think."""
    return "hm"


def loop(model: Any, tools: list[Any], request: str) -> str:
    """An agent by hand, which calls its tools one by one."""
    known = {tool.name: tool for tool in tools}
    messages: list[Any] = [("human", request)]
    while (reply := model.invoke(messages)).tool_calls:
        messages += [reply, *(known[call["name"]].invoke(call) for call in reply.tool_calls)]
    return str(reply.text)


def test_a_function_made_a_runnable() -> None:
    from langchain_core.runnables import RunnableLambda

    def build(clients: Clients, tools: list[Any]) -> Any:
        model = clients.chat_model().bind_tools(tools)
        return RunnableLambda(lambda request: loop(model, tools, request))

    trial = tried(build)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")
    assert [call.turn for call in trial.recorder.calls] == [1, 2, 3, 4]


def test_models_side_by_side_have_turns_of_their_own() -> None:
    from langchain_core.runnables import RunnableParallel

    def build(clients: Clients, tools: list[Any]) -> Any:
        model = clients.chat_model().bind_tools(tools)
        return RunnableParallel(one=model, two=model)

    calls = tried(build).recorder.calls
    assert [(call.tool, call.ran) for call in calls] == [(TOOLS[0], -1)] * 2
    assert {call.turn for call in calls} == {1, 2}


def replies(*messages: Any, **options: Any) -> Any:
    """A model of LangChain's own that says these things, one after the other."""
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

    return FakeMessagesListChatModel(responses=list(messages), **options)


def test_good_and_bad_calls_keep_the_order_of_the_content() -> None:
    from langchain_core.messages import AIMessage

    said = AIMessage(
        [{"type": "tool_use", "id": "1"}, "Well.", {"type": "function_call", "id": "x", "call_id": "2"}],
        tool_calls=[{"name": TOOLS[1], "args": {}, "id": "2"}],
        invalid_tool_calls=[{"name": TOOLS[0], "args": "{", "id": "1", "error": None}],
    )
    trial = run_alone(lambda tools: replies(said), Trial())
    assert [(call.tool, call.arguments) for call in trial.recorder.calls] == [(TOOLS[0], "{"), (TOOLS[1], {})]


def test_functions_of_old_are_calls() -> None:
    from langchain_core.messages import AIMessage

    said = AIMessage("", additional_kwargs={"function_call": {"name": TOOLS[0], "arguments": "{}"}})
    trial = run_alone(lambda tools: replies(said), Trial())
    assert [(call.tool, call.arguments) for call in trial.recorder.calls] == [(TOOLS[0], {})]


def test_a_reply_out_of_a_cache_costs_nothing() -> None:
    from langchain_core.caches import InMemoryCache
    from langchain_core.messages import AIMessage

    counts: Any = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    counted, uncounted = AIMessage("Hm.", usage_metadata=counts), AIMessage("Hm.")
    for said, first in ((counted, Usage(7, 2)), (uncounted, Usage())):
        model = replies(said, cache=InMemoryCache())
        trials = [run_alone(lambda tools, model=model: model, Trial()) for _ in range(2)]
        assert [(trial.broken, trial.answer.text) for trial in trials] == [("", "Hm.")] * 2
        assert [trial.recorder.usage for trial in trials] == [first, Usage()]


def test_tokens_that_the_server_had_seen_before_are_told() -> None:
    from langchain_core.messages import AIMessage

    counts: Any = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    said = AIMessage("Hm.", usage_metadata={**counts, "input_token_details": {"cache_read": 5}})
    assert run_alone(lambda tools: replies(said), Trial()).recorder.usage == Usage(7, 2, 5)


def test_messages_are_kept_once_if_asked_for() -> None:
    trial = Trial()
    trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
    tried(created, trial=trial)
    kept = trial.recorder.messages
    assert [message["type"] for message in kept] == ["human", *["ai", "tool"] * len(TOOLS), "ai"]
    assert kept[0]["content"] == CASE.query


def test_the_end_of_a_case_is_no_news_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tried(created, Script(behaviour="loop"), Trial(max_steps=2))
    assert caplog.records == []


@pytest.mark.parametrize("make", [created, executor, by_hand])
def test_no_object_gets_other_tools(make: Any) -> None:
    with ScriptedServer() as server:
        clients = Clients(server)
        native = make(clients, [])
        asyncio.run(clients.close())
    with pytest.raises(UsageError, match=r"can't be replaced\n.*def make_agent\(tools\)"):
        framework.adapter.retool(native)


def test_a_graph_needs_messages() -> None:
    from langgraph.graph import StateGraph

    def build(tools: list[Any]) -> Any:
        graph: Any = StateGraph(Done)
        graph.add_node("only", lambda state: state)
        graph.set_entry_point("only")
        return graph.compile()

    assert "has no 'messages'" in run_alone(build, Trial()).broken


def test_what_is_no_runnable_is_an_error() -> None:
    assert run_alone(lambda tools: "nonsense", Trial()).broken.startswith(
        "UsageError: a str is not a LangChain runnable"
    )


def test_without_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core.callbacks", None)
    with pytest.raises(MissingExtra, match="langchain"):
        framework.agent(lambda tools: None, "agent")
