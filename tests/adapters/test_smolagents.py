"""What smolagents alone has: agents that write code, calls in plain text, names that Python must like, chatter."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from misstep.adapters.loading.registry import FRAMEWORKS
from misstep.core.agent import Agent, Tool
from misstep.core.outcome import Usage
from misstep.engine.recorder import Recorder
from misstep.errors import MissingExtra, UsageError
from misstep.planning.world.mock import MockWorld
from tests.conformance.subject_smolagents import NEEDS, conversing, owning
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, TOOLS, Trial, play
from tests.scripted import Script, ScriptedServer, calling

framework = FRAMEWORKS["smolagents"]

smol: Any = pytest.importorskip("smolagents")

DOES_ALL = "\n".join([*(f"{tool}()" for tool in TOOLS), "final_answer('All done.')"])


def stock(server: ScriptedServer) -> Any:
    return smol.OpenAIModel(
        "gpt-4o", api_base=server.base_url, api_key="sk-test", client_kwargs={"max_retries": 0}
    )


def tried(
    server: ScriptedServer, build: Any, trial: Trial, model_of: Callable[[ScriptedServer], Any] = stock
) -> Trial:
    """The trial after an agent that `build` makes of tools and a model has had its go."""

    def made(server: ScriptedServer) -> Agent:
        model = model_of(server)
        return owning(framework.agent(lambda tools: build(tools, model), "smolagents"), model)

    return play(Subject("smolagents", made, NEEDS), server, trial)


def saying(text: str) -> Script:
    return Script(behaviour="idle", answer=text)


@pytest.mark.parametrize("retooled", [False, True])
def test_code_calls_the_tools(retooled: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def build(tools: list[Any], model: Any) -> Any:
        if retooled:
            return framework.adapter.retool(smol.CodeAgent([smol.VisitWebpageTool()], model))(tools)
        return smol.CodeAgent(tools, model)

    with ScriptedServer(saying(f"<code>\n{DOES_ALL}\n</code>")) as server:
        trial = tried(server, build, Trial())
        assert trial.recorder.usage == Usage(*server.tokens)
    assert (trial.broken, trial.called, trial.answer.text) == ("", TOOLS, "All done.")
    assert {(call.turn, call.ran) for call in trial.recorder.calls} == {(1, 0)}
    assert capsys.readouterr() == ("", "")


def test_words_that_are_no_code_are_counted() -> None:
    with ScriptedServer(saying("Let me think about it.")) as server:
        trial = tried(server, smol.CodeAgent, Trial(max_steps=2))
    assert (trial.broken, trial.answer.ended, trial.recorder.misread_turns) == ("", "iterations", 2)


def test_calls_written_as_text_are_asked_for_and_carried_out() -> None:
    text = json.dumps({"name": TOOLS[0], "arguments": {}})
    with ScriptedServer(saying(text)) as server:
        trial = tried(server, smol.ToolCallingAgent, Trial(max_steps=3))
    assert [(call.tool, call.turn, call.ran) for call in trial.recorder.calls] == [
        (TOOLS[0], turn, 0) for turn in (1, 2, 3)
    ]


def test_the_call_that_answers_is_no_act() -> None:
    text = json.dumps({"name": "final_answer", "arguments": {"answer": "Bye."}})
    with ScriptedServer(saying(text)) as server:
        trial = tried(server, smol.ToolCallingAgent, Trial())
    assert (trial.called, trial.answer.text, trial.answer.ended) == ([], "Bye.", "answered")


def test_an_agent_that_streams_is_watched_and_silent(capsys: pytest.CaptureFixture[str]) -> None:
    def build(tools: list[Any], model: Any) -> Any:
        return smol.ToolCallingAgent(tools, model, stream_outputs=True)

    with ScriptedServer(Script(behaviour="loop")) as server:
        trial = tried(server, build, Trial(max_steps=2))
        assert trial.recorder.usage == Usage(*server.tokens) != Usage()
    assert [(call.tool, call.turn, call.ran) for call in trial.recorder.calls] == [
        (TOOLS[0], 1, 0),
        (TOOLS[0], 2, 0),
    ]
    assert capsys.readouterr() == ("", "")


def test_agents_that_are_managed_are_watched() -> None:
    order = "<code>\nfinal_answer(worker('Do it all.'))\n</code>"
    with ScriptedServer(saying(order)) as above, ScriptedServer() as below:
        model = conversing(below)

        def build(tools: list[Any], managers: Any) -> Any:
            worker = smol.ToolCallingAgent(tools, model, name="worker", description="Works.")
            return smol.CodeAgent([], managers, managed_agents=[worker])

        trial = tried(above, build, Trial())
        model.client.close()
        assert trial.recorder.usage == Usage(*above.tokens) + Usage(*below.tokens)
    assert (trial.broken, trial.called) == ("", TOOLS)
    assert [call.turn for call in trial.recorder.calls] == list(range(2, len(TOOLS) + 2))


def test_an_agent_that_is_managed_may_serve_many_cases() -> None:
    order = f"<code>\nworker('Wait.')\n{DOES_ALL}\n</code>"
    with ScriptedServer(saying(order)) as above, ScriptedServer(Script(behaviour="idle")) as below:
        model = conversing(below)
        worker = smol.ToolCallingAgent([], model, name="worker", description="Waits.")

        def build(tools: list[Any], managers: Any) -> Any:
            return smol.CodeAgent(tools, managers, managed_agents=[worker])

        trials = [tried(above, build, Trial()) for _ in range(2)]
        model.client.close()
    assert [(trial.broken, trial.called) for trial in trials] == [("", TOOLS)] * 2


class Odd(MockWorld):
    """A world with tools of any name."""

    names = ("mop-floor", "mop_floor", "class", "final_answer", "2nd", "über")

    @property
    def tools(self) -> Any:
        return [Tool(name, name, {"type": "object", "properties": {}}) for name in self.names]

    def answer(self, name: str, arguments: Any) -> str:
        return f"{name} is done"


def test_tools_of_any_name_are_known_by_it() -> None:
    with ScriptedServer() as server:
        trial = tried(server, smol.ToolCallingAgent, Trial(world=Odd(CASE)), conversing)
    assert [(call.tool, call.result) for call in trial.recorder.calls] == [
        (name, f"{name} is done") for name in Odd.names
    ]


CITY = {"type": "string", "description": "Where to."}
DAYS = {"anyOf": [{"$ref": "#/elsewhere"}, {"type": "null"}]}
TRIP = {"type": "object", "properties": {"city": CITY, "days": DAYS}, "required": ["city"]}


class Booking:
    """A world with one tool, which takes whatever its schema says."""

    def __init__(self, parameters: dict[str, Any] = TRIP) -> None:
        self.tools = (Tool("book", "Book.", parameters),)

    def answer(self, name: str, arguments: Any) -> str:
        return "booked"

    def renewed(self) -> "Booking":
        return self


def test_arguments_may_be_given_in_any_way_python_knows() -> None:
    code = "<code>\nbook('Rome')\nbook('Oslo', 2)\nbook(city='Bern', days=3)\nfinal_answer('')\n</code>"
    with ScriptedServer(saying(code)) as server:
        trial = tried(server, smol.CodeAgent, Trial(world=Booking()))
    assert [call.arguments for call in trial.recorder.calls] == [
        {"city": "Rome"},
        {"city": "Oslo", "days": 2},
        {"city": "Bern", "days": 3},
    ]


def test_values_that_no_parameter_is_left_for_are_recorded_too() -> None:
    code = "<code>\nbook('Rome', 1, 'x')\nbook('Oslo', city='Bern')\nfinal_answer('')\n</code>"
    with ScriptedServer(saying(code)) as server:
        trial = tried(server, smol.CodeAgent, Trial(world=Booking()))
    assert [call.arguments for call in trial.recorder.calls] == [
        {"city": "Rome", "days": 1, "3": "x"},
        {"1": "Oslo", "city": "Bern"},
    ]


def shown_to(model_of: Callable[[ScriptedServer], Any]) -> Any:
    """The parameters of the tool as a model gets them, and the words about it before the request."""
    with ScriptedServer(Script(behaviour="loop")) as server:
        tried(server, smol.ToolCallingAgent, Trial(world=Booking(), max_steps=1), model_of)
        body = server.requests[0].body
    return body["tools"][0]["function"]["parameters"], json.dumps(body["messages"][0])


def test_the_schema_is_shown_as_it_is() -> None:
    parameters, words = shown_to(stock)
    assert parameters == TRIP
    assert json.dumps(f"Takes inputs: {json.dumps(TRIP)}")[1:-1] in words


def test_a_model_that_takes_no_more_than_it_knows_gets_what_the_framework_makes_of_it() -> None:
    class Own(smol.OpenAIModel):  # type: ignore[misc]
        def generate(self, messages: Any, stop_sequences: Any = None, tools_to_call_from: Any = None) -> Any:
            return super().generate(messages, stop_sequences, tools_to_call_from=tools_to_call_from)

    def own(server: ScriptedServer) -> Any:
        return Own("gpt-4o", api_base=server.base_url, api_key="sk-test", client_kwargs={"max_retries": 0})

    parameters, _ = shown_to(own)
    assert parameters["required"] == ["city"]
    assert set(parameters["properties"]) == {"city", "days"}


def code_prompt(schema: dict[str, Any]) -> str:
    """What an agent that writes code is told about a tool."""
    with ScriptedServer(saying("<code>\nfinal_answer('')\n</code>")) as server:
        tried(server, smol.CodeAgent, Trial(world=Booking(schema)))
        return str(server.requests[0].body["messages"][0]["content"])


def taking(*required: str, **properties: Any) -> dict[str, Any]:
    return {"properties": properties, "required": list(required), "additionalProperties": False}


def test_code_is_told_no_schema_where_types_tell_all() -> None:
    told = code_prompt(taking("city", "days", city=CITY, days={"type": "integer"}))
    assert "def book(city: string, days: integer) -> string:" in told
    assert "schema of the arguments" not in told


@pytest.mark.parametrize(
    "schema",
    [
        taking(city=CITY),  # may be left out
        taking("city", city={**CITY, "enum": ["Rome"]}),
        taking("cities", cities={"type": "array", "items": CITY}),
        {"type": "object", "additionalProperties": CITY},
    ],
)
def test_code_is_told_the_schema_where_types_don_t(schema: dict[str, Any]) -> None:
    assert json.dumps(f"JSON schema of the arguments: {json.dumps(schema)}")[1:-1] in json.dumps(
        code_prompt(schema)
    )


def test_whatever_fits_an_open_schema_passes() -> None:
    world = Booking({"type": "object", "properties": {"days": {"type": ["number", "null"]}}})
    calls = [calling("book", days=2), calling("book", days=None, city="Rome"), calling("book", city=["Bern"])]
    with ScriptedServer(Script(plan=lambda *_: calls)) as server:
        trial = tried(server, smol.ToolCallingAgent, Trial(world=world), conversing)
    assert [(call.arguments, call.result) for call in trial.recorder.calls] == [
        (json.loads(call.arguments), "booked") for call in calls
    ]


def test_messages_are_noted() -> None:
    with ScriptedServer(saying(f"<code>\n{DOES_ALL}\n</code>")) as server:
        trial = Trial()
        trial.recorder = Recorder(MockWorld(CASE), trial.deadline, 20, keep_messages=True)
        tried(server, smol.CodeAgent, trial)
    (message,) = trial.recorder.messages
    assert message["role"] == "assistant"
    assert DOES_ALL in message["content"]


def test_copies_with_other_tools_leave_the_agent_as_it_was() -> None:
    seen = list[Any]()
    with ScriptedServer(saying(f"<code>\n{DOES_ALL}\n</code>")) as server:
        model = stock(server)
        native = smol.CodeAgent(
            [smol.VisitWebpageTool()], model, step_callbacks=[lambda step: seen.append(step)]
        )
        before = dict(vars(native))
        agent = owning(
            framework.agent(framework.adapter.retool(native), "smolagents"),
            model,
        )
        play(Subject("smolagents", lambda server: agent, NEEDS), server, Trial(), Trial())
    assert vars(native) == before
    assert (native.memory.steps, native.monitor.step_durations) == ([], [])
    assert len(seen) == 2


def test_an_agent_that_manages_others_needs_a_factory() -> None:
    worker = smol.ToolCallingAgent([], smol.Model(), name="worker", description="Works.")
    manager = smol.CodeAgent([], smol.Model(), managed_agents=[worker])
    with pytest.raises(
        UsageError, match=r"(?s)a CodeAgent that manages others can't.*def make_agent\(tools\)"
    ):
        framework.adapter.retool(manager)


def test_what_is_no_agent_needs_a_factory() -> None:
    with pytest.raises(UsageError, match="the tools of a Model can't be replaced"):
        framework.adapter.retool(smol.Model())


def test_code_that_runs_elsewhere_can_t_reach_the_tools() -> None:
    native = smol.CodeAgent([], smol.Model())
    native.executor_type = "docker"
    with pytest.raises(UsageError, match=r"(?s)runs in docker.*executor_type='local'"):
        framework.adapter.retool(native)


def test_without_the_framework_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "smolagents", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[smolagents\]"):
        framework.agent(lambda tools: None, "agent")
