"""The model on OpenAI's interface, against a real server through the real SDK."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.model import Assistant, Chat, ModelError, Prompt, Reply, System, ToolCall, ToolResult, User
from misstep.core.outcome import Usage
from misstep.models import throttle
from misstep.models.client import Options
from misstep.models.openai import OpenAIModel
from misstep.models.providers import Endpoint, ModelName
from tests.models.meters import Counter
from tests.scripted import Fault, Script, ScriptedServer
from tests.scripted.script import FaultKind

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS = (Tool("sweep", "Sweeps.", NOTHING), Tool("mop", "Mops.", NOTHING))
ASKED = Chat((System("Be brief."), User("clean up")), TOOLS)
KEY = "sk-secret-of-mine"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "FIRST_PAUSE", 0.01)


def talk(
    server: ScriptedServer, say: Callable[[OpenAIModel, Counter], Coroutine[Any, Any, Any]], **options: Any
) -> tuple[Any, Counter]:
    """What comes of a conversation with a model, and what it cost."""
    counter = Counter()

    async def main() -> Any:
        endpoint = Endpoint(server.base_url, KEY)
        model = OpenAIModel(ModelName("openai", "gpt-4o"), endpoint, Options(**options))
        try:
            return await say(model, counter)
        finally:
            await model.close()

    return asyncio.run(main()), counter


async def ask(model: OpenAIModel, counter: Counter) -> Reply:
    return await model.chat(ASKED, counter)


def test_chat() -> None:
    with ScriptedServer() as server:
        reply, counter = talk(server, ask)
        (request,) = server.model_requests
        tokens = server.tokens
    assert [(call.name, call.arguments) for call in reply.calls] == [("sweep", "{}")]
    assert counter.spent == [reply.usage] == [Usage(*tokens)]
    assert request.body["model"] == "gpt-4o"
    assert request.body["temperature"] == 0
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert request.body["tools"][1]["function"] == {
        "name": "mop",
        "description": "Mops.",
        "parameters": NOTHING,
    }


def test_calls_and_results_go_back_as_they_came() -> None:
    async def say(model: OpenAIModel, counter: Counter) -> Reply:
        said = Assistant("", (ToolCall("c1", "sweep", '{"broken": '),))
        whole = Chat((*ASKED.messages, said, ToolResult("c1", "Error")), TOOLS, parallel=False)
        return await model.chat(whole, counter)

    with ScriptedServer(Script(behaviour="parallel")) as server:
        reply, _ = talk(server, say)
        body = server.requests[0].body
    assert [call.name for call in reply.calls] == ["mop"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "sweep", "arguments": '{"broken": '}
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "Error"}
    assert body["parallel_tool_calls"] is False


def test_completion() -> None:
    async def say(model: OpenAIModel, counter: Counter) -> Reply:
        return await model.complete(Prompt("- sweep: Sweeps.\nQuestion: clean", ("\nAction Input",)), counter)

    with ScriptedServer() as server:
        reply, counter = talk(server, say)
        body = server.requests[0].body
    assert reply.text == "Thought: sweep is next.\nAction: sweep"
    assert counter.total.output == 6
    assert body["max_tokens"] > 100  # the interface itself would stop after sixteen


@pytest.mark.parametrize("kind", ["500", "503", "drop", "not json", "drop half way", "429"])
def test_what_may_pass_is_tried_again_and_counted_once(kind: FaultKind) -> None:
    with ScriptedServer(Script(faults=[Fault(kind), Fault(kind)])) as server:
        reply, counter = talk(server, ask)
        assert len(server.model_requests) == 3
    assert [call.name for call in reply.calls] == ["sweep"]
    assert counter.spent == [reply.usage]
    assert counter.waited > 0


@pytest.mark.parametrize(
    ("kind", "words"), [("400", "maximum context"), ("401", "API key"), ("404", "not exist")]
)
def test_what_won_t_pass_is_not_tried_again(kind: FaultKind, words: str) -> None:
    with ScriptedServer(Script(faults=[Fault(kind)])) as server:
        with pytest.raises(ModelError, match=f"openai/gpt-4o answered {kind}.*{words}"):
            talk(server, ask)
        assert len(server.model_requests) == 1


def test_patience_ends() -> None:
    with ScriptedServer(Script(faults=[Fault("500")] * 9)) as server:
        with pytest.raises(ModelError, match=r"answered 500: .* \(after 3 tries\)"):
            talk(server, ask, retries=2)
        assert len(server.model_requests) == 3


def test_the_server_says_how_long_to_wait() -> None:
    with ScriptedServer(Script(faults=[Fault("429", retry_after=0.2)])) as server:
        _, counter = talk(server, ask)
    assert counter.waits[0] == 0.2


def test_a_server_that_wants_an_hour_is_as_good_as_down() -> None:
    with (
        ScriptedServer(Script(faults=[Fault("429", retry_after=3600)])) as server,
        pytest.raises(ModelError, match="not before 3,600 seconds"),
    ):
        talk(server, ask)


def test_nobody_there() -> None:
    with ScriptedServer() as server:
        pass
    with pytest.raises(ModelError, match="can't be reached"):
        talk(server, ask, retries=1)


class Leaky(ScriptedServer):
    """Repeats the key in its answer."""

    def _answer(self, request: Any) -> Any:
        message = f"Incorrect API key provided: {request.headers['authorization'].removeprefix('Bearer ')}."
        return type(super()._answer(request))({"error": {"message": message}}, 401)


def test_keys_are_not_told() -> None:
    with Leaky() as server, pytest.raises(ModelError, match=r"provided: \[secret\]\.") as caught:
        talk(server, ask)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_parameters_that_a_model_refuses_are_left_out() -> None:
    class Picky(ScriptedServer):
        """Reasoning models take no temperature."""

        def _answer(self, request: Any) -> Any:
            if "temperature" in request.body:
                message = "Unsupported value: 'temperature' does not support 0 with this model."
                error = {"message": message, "param": "temperature", "type": "invalid_request_error"}
                return type(super()._answer(request))({"error": error}, 400)
            return super()._answer(request)

    async def say(model: OpenAIModel, counter: Counter) -> None:
        for _ in range(3):
            await model.chat(ASKED, counter)

    with Picky() as server:
        talk(server, say)
        assert ["temperature" in request.body for request in server.model_requests] == [
            True,
            False,
            False,
            False,
        ]


FORM = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 9}},
    "required": ["answer"],
    "additionalProperties": False,
}
LOOSE = {"type": "object", "properties": {"answer": {"type": "object"}}}


@pytest.mark.parametrize(("form", "strict"), [(FORM, True), (LOOSE, False)])
def test_the_form_of_an_answer_is_asked_of_the_server(form: dict[str, Any], strict: bool) -> None:
    """Strictly unless there are objects in it with names of the model's choice."""

    async def say(model: OpenAIModel, counter: Counter) -> Reply:
        return await model.chat(Chat(ASKED.messages, form=form), counter)

    with ScriptedServer() as server:
        talk(server, say)
        asked = server.requests[0].body["response_format"]
    assert asked == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": strict, "schema": form},
    }


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This response_format type is unavailable now", "type": "invalid_request_error"},
        {"message": "'response_format.type' must be 'text' or 'json_object'"},
        {"message": "Invalid value: 'json_schema'.", "param": "response_format.type"},
    ],
)
def test_a_server_that_knows_no_forms_is_asked_without(error: dict[str, str]) -> None:
    class Old(ScriptedServer):
        def _answer(self, request: Any) -> Any:
            answer = super()._answer(request)
            return type(answer)({"error": error}, 400) if "response_format" in request.body else answer

    async def say(model: OpenAIModel, counter: Counter) -> list[Reply]:
        return [await model.chat(Chat(ASKED.messages, form=FORM), counter) for _ in range(2)]

    with Old() as server:
        replies, _ = talk(server, say)
        assert ["response_format" in request.body for request in server.model_requests] == [
            True,
            False,
            False,
        ]
    assert all(reply.text for reply in replies)


def test_replies_are_cached_by_the_whole_request(tmp_path: Path) -> None:
    async def say(model: OpenAIModel, counter: Counter) -> list[Reply]:
        other = Chat((System("Be brief."), User("clean up!")), TOOLS)
        return [await model.chat(chat, counter) for chat in (ASKED, ASKED, other)]

    with ScriptedServer() as server:
        replies, counter = talk(server, say, cache=str(tmp_path / "cache"))
        assert len(server.model_requests) == 2
        assert replies[0].calls == replies[1].calls
        assert (replies[1].usage, len(counter.spent)) == (Usage(), 2)
        talk(server, say, cache=str(tmp_path / "cache"))
        assert len(server.model_requests) == 2
        talk(server, say, cache=str(tmp_path / "cache"), temperature=0.5)
        assert len(server.model_requests) == 4


def test_a_spoilt_cache_is_no_cache(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        talk(server, ask, cache=str(tmp_path))
        for file in tmp_path.rglob("*.json"):
            file.write_bytes(b'{"half": ')
        talk(server, ask, cache=str(tmp_path))
        assert len(server.model_requests) == 2


def test_requests_in_flight_are_bounded() -> None:
    async def say(model: OpenAIModel, counter: Counter) -> None:
        await asyncio.gather(*(model.chat(ASKED, counter) for _ in range(12)))

    with ScriptedServer(Script(faults=[Fault("slow", seconds=0.01)] * 12)) as server:
        talk(server, say, in_flight=3)
        assert server.connections_made <= 3
        assert len(server.model_requests) == 12


class Odd(ScriptedServer):
    """Answers with whatever it is told to."""

    def __init__(self, *bodies: Any) -> None:
        super().__init__()
        self._bodies = list(bodies)

    def _answer(self, request: Any) -> Any:
        reply = super()._answer(request)
        return type(reply)(self._bodies.pop(0)) if self._bodies else reply


def choice(**message: Any) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", **message}}]}


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": "x"}]
)
def test_a_reply_without_words_is_an_error_and_is_not_cached(tmp_path: Path, body: Any) -> None:
    with Odd(body) as server:
        with pytest.raises(ModelError, match="sent an empty answer"):
            talk(server, ask, cache=str(tmp_path))
        reply, _ = talk(server, ask, cache=str(tmp_path))
    assert [call.name for call in reply.calls] == ["sweep"]


def test_odd_replies_are_read_as_well_as_can_be() -> None:
    half = json.loads('"oops \\ud83d"')
    calls = [{"id": None, "function": {"name": half, "arguments": {"a": 1}}}, {"function": None}]
    usage = {"prompt_tokens": "7", "completion_tokens": -3, "prompt_tokens_details": {"cached_tokens": [1]}}
    body = {**choice(content=[{"type": "text", "text": half}], tool_calls=calls), "usage": usage}
    with Odd(body) as server:
        reply, counter = talk(server, ask, retries=0)
    assert reply.text == "oops ?"
    assert [(call.name, call.arguments) for call in reply.calls] == [("oops ?", '{"a": 1}'), ("", "{}")]
    assert counter.total == Usage(7, 0, 0)


def test_a_filter_is_no_refusal_of_a_parameter() -> None:
    class Filtering(ScriptedServer):
        def _answer(self, request: Any) -> Any:
            message = "The request was stopped by our content filter."
            return type(super()._answer(request))({"error": {"message": message}}, 400)

    with Filtering() as server:
        with pytest.raises(ModelError, match="content filter"):
            talk(server, ask)
        assert len(server.requests) == 1


def test_an_error_in_disguise_is_told() -> None:
    with (
        Odd({"error": {"message": "quota used up"}}) as server,
        pytest.raises(ModelError, match="quota used up"),
    ):
        talk(server, ask)


@pytest.mark.parametrize("usage", [[1], "many", None, {"prompt_tokens_details": [1]}])
def test_an_odd_count_of_tokens_costs_nobody_a_reply(usage: Any) -> None:
    with Odd({**choice(content="fine", tool_calls=[None]), "usage": usage}) as server:
        reply, counter = talk(server, ask)
    assert (reply.text, counter.total) == ("fine", Usage())
