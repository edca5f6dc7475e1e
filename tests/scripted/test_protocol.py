"""The details of OpenAI's protocol that clients lean on, seen through the real SDK."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scripted import Fault, Script, ScriptedServer
from tests.scripted.clients import TOOLS, async_client, sync_client
from tests.scripted.conversations import CHAT_MODEL, TEXT_MODEL, chat_tools, prompt_for, response_tools
from tests.scripted.parts import words

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore:(deprecated|The Assistants API):DeprecationWarning")

ASKED = {"role": "user", "content": "clean"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[Any]:
    with sync_client(server) as client:
        yield client


def ask(client: Any, *messages: Any, **options: Any) -> Any:
    return client.chat.completions.create(model=CHAT_MODEL, messages=[ASKED, *messages], **options)


def test_models(client: Any) -> None:
    assert CHAT_MODEL in [model.id for model in client.models.list()]


def test_usage_counts_words(server: ScriptedServer, client: Any) -> None:
    usage = ask(client, tools=chat_tools(TOOLS)).usage
    body = server.requests[0].body
    assert usage.prompt_tokens == words(body["messages"]) + words(body["tools"])
    assert (usage.completion_tokens, usage.total_tokens) == (2, usage.prompt_tokens + 2)
    response = client.responses.create(model=CHAT_MODEL, input=[ASKED])
    assert (response.usage.input_tokens, response.usage.output_tokens) == (2, 2)
    completion = client.completions.create(model=TEXT_MODEL, prompt="Question: a b c")
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (4, 10)


def test_streamed_usage_comes_last_and_just_on_request(client: Any) -> None:
    plain = list(ask(client, stream=True))
    counted = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert [chunk.usage for chunk in plain] == [None] * len(plain)
    assert [chunk.usage for chunk in counted[:-1]] == [None] * len(plain)
    assert (counted[-1].choices, counted[-1].usage.total_tokens) == ([], 4)


def test_finish_reasons(client: Any) -> None:
    assert ask(client).choices[0].finish_reason == "stop"
    assert ask(client, tools=chat_tools(TOOLS)).choices[0].finish_reason == "tool_calls"
    assert (
        list(ask(client, tools=chat_tools(TOOLS), stream=True))[-1].choices[0].finish_reason == "tool_calls"
    )


def test_ids_are_unlike_each_other(client: Any) -> None:
    completions = [ask(client, tools=chat_tools(TOOLS)) for _ in range(3)]
    ids = [each.id for each in completions] + [
        each.choices[0].message.tool_calls[0].id for each in completions
    ]
    assert len(set(ids)) == 6
    assert {each.partition("-")[0].partition("_")[0] for each in ids} == {"chatcmpl", "call"}


def test_a_new_request_in_the_same_conversation_begins_anew(client: Any) -> None:
    message = ask(client, tools=chat_tools(TOOLS)).choices[0].message
    result = {
        "role": "tool",
        "tool_call_id": message.tool_calls[0].id,
        "content": [{"type": "text", "text": "fine"}],
    }
    before = [message.to_dict(), result]
    assert (
        ask(client, *before, tools=chat_tools(TOOLS)).choices[0].message.tool_calls[0].function.name == "mop"
    )
    again = ask(client, *before, ASKED, tools=chat_tools(TOOLS))
    assert again.choices[0].message.tool_calls[0].function.name == "sweep"


def test_clients_may_forbid_tools_and_parallel_calls() -> None:
    with ScriptedServer(Script(behaviour="parallel")) as server, sync_client(server) as client:
        assert (
            ask(client, tools=chat_tools(TOOLS), tool_choice="none").choices[0].message.content == "All done."
        )
        single = ask(client, tools=chat_tools(TOOLS), parallel_tool_calls=False)
        assert len(single.choices[0].message.tool_calls) == 1
        settings = {"model": CHAT_MODEL, "input": "clean", "tools": response_tools(TOOLS)}
        assert client.responses.create(**settings, tool_choice="none").output_text == "All done."
        assert len(client.responses.create(**settings, parallel_tool_calls=False).output) == 1


def call(call_id: str) -> dict[str, Any]:
    function = {"id": call_id, "type": "function", "function": {"name": "mop", "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [function]}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "fine"}


@pytest.mark.parametrize(
    "messages",
    [
        [call("a")],
        [call("a"), ASKED],
        [result("a")],
        [call("a"), result("b")],
        [call("a"), result("a"), result("a")],
    ],
)
def test_calls_and_results_must_match(client: Any, messages: list[Any]) -> None:
    with pytest.raises(openai.BadRequestError, match="tool_call"):
        ask(client, *messages)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"type": "function_call", "call_id": "a", "name": "mop", "arguments": "{}"}, "No tool output found"),
        ({"type": "function_call_output", "call_id": "a", "output": "fine"}, "No tool call found"),
    ],
)
def test_calls_and_outputs_must_match(client: Any, item: Any, message: str) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        client.responses.create(model=CHAT_MODEL, input=[ASKED, item])


def test_responses_that_were_not_stored_cannot_be_built_on(client: Any) -> None:
    response = client.responses.create(model=CHAT_MODEL, input="clean", store=False)
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model=CHAT_MODEL, input="more", previous_response_id=response.id)
    assert caught.value.code == "previous_response_not_found"


def test_one_response_can_be_built_on_twice(client: Any) -> None:
    settings = {"model": CHAT_MODEL, "tools": response_tools(TOOLS)}
    first = client.responses.create(input="clean", **settings)
    output = [{"type": "function_call_output", "call_id": first.output[0].call_id, "output": "fine"}]
    for _ in range(2):
        second = client.responses.create(input=output, previous_response_id=first.id, **settings)
        assert (second.output[0].name, second.previous_response_id) == ("mop", first.id)


def test_the_events_of_a_streamed_response(client: Any) -> None:
    plain = {"model": CHAT_MODEL, "input": "clean", "stream": True}
    text = list(client.responses.create(**plain))
    assert [event.type.removeprefix("response.") for event in text] == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta", "output_text.delta", "output_text.done"),
        *("content_part.done", "output_item.done", "completed"),
    ]
    assert [event.sequence_number for event in text] == list(range(10))
    called = list(client.responses.create(**plain, tools=response_tools(TOOLS)))
    kind = "function_call_arguments"
    assert [event.type.removeprefix("response.") for event in called] == [
        *("created", "in_progress", "output_item.added"),
        *(f"{kind}.delta", f"{kind}.delta", f"{kind}.done", "output_item.done", "completed"),
    ]


def test_stop_sequences() -> None:
    script = Script(
        render_step=lambda tool: f"Do {tool}.\nObservation: I made this up.", answer="one two three"
    )
    with ScriptedServer(script) as server, sync_client(server) as client:
        prompt = {"model": TEXT_MODEL, "prompt": prompt_for("clean", TOOLS)}
        whole = client.completions.create(**prompt)
        assert whole.choices[0].text.endswith("I made this up.")
        cut = client.completions.create(**prompt, stop=["made", "\nObservation:"])
        assert (cut.choices[0].text, cut.choices[0].finish_reason) == ("Do sweep.", "stop")
        assert client.completions.create(**prompt, stop="nowhere").choices[0].text == whole.choices[0].text
        assert ask(client, stop=" three").choices[0].message.content == "one two"


def test_the_syntax_of_text_completion_is_the_script_s_affair() -> None:
    script = Script(
        render_step=lambda tool: f"CALL {tool}({{}})",
        render_answer=lambda: "STOP",
        count_steps=lambda prompt: prompt.count("->"),
        find_request=lambda prompt: prompt.splitlines()[0],
        find_tools=lambda prompt: prompt.splitlines()[1].split(),
        plan=lambda request, tools: sorted(tools, reverse=request == "backwards"),
        behaviour="extra arguments",
    )
    with ScriptedServer(script) as server, sync_client(server) as client:
        heard = [
            client.completions.create(model=TEXT_MODEL, prompt="backwards\nb a c\n" + "->\n" * made)
            .choices[0]
            .text
            for made in range(5)
        ]
    assert heard == ["CALL c({})", 'CALL b({"surprise": 1})', "CALL b({})", "CALL a({})", "STOP"]


def test_several_prompts_and_streamed_text(server: ScriptedServer) -> None:
    settings = {"model": TEXT_MODEL, "prompt": [prompt_for("clean", TOOLS[:1]), prompt_for("rest", [])]}
    # The SDK's types want a reason to finish in every chunk, while OpenAI sends null in all but the last.
    with sync_client(server, _strict_response_validation=False) as client:
        whole = [choice.text for choice in client.completions.create(**settings).choices]
        chunks = list(
            client.completions.create(**settings, stream=True, stream_options={"include_usage": True})
        )
    assert chunks.pop().usage.completion_tokens == words(whole)
    choices = [chunk.choices[0] for chunk in chunks]
    assert ["".join(each.text for each in choices if each.index == index) for index in (0, 1)] == whole
    assert [each.finish_reason for each in choices if each.index == 1][-2:] == [None, "stop"]


def new_run(client: Any) -> tuple[Any, Any]:
    assistant = client.beta.assistants.create(model=CHAT_MODEL, name="maid", instructions="Be quick.")
    thread = client.beta.threads.create(messages=[ASKED])
    settings = {"assistant_id": assistant.id, "tools": chat_tools(TOOLS[:1]), "additional_messages": [ASKED]}
    return thread, client.beta.threads.runs.create(thread.id, **settings)


def look(client: Any, run: Any) -> Any:
    return client.beta.threads.runs.retrieve(run.id, thread_id=run.thread_id)


def test_statuses_of_a_run(client: Any) -> None:
    thread, run = new_run(client)
    assert (run.status, run.instructions, run.usage) == ("queued", "Be quick.", None)
    assert look(client, run).status == "in_progress"
    waiting = look(client, run)
    assert waiting.status == look(client, run).status == "requires_action"
    [wanted] = waiting.required_action.submit_tool_outputs.tool_calls
    outputs = [{"tool_call_id": wanted.id, "output": "fine"}]
    runs = client.beta.threads.runs
    assert runs.submit_tool_outputs(run.id, thread_id=thread.id, tool_outputs=outputs).status == "queued"
    assert [look(client, run).status for _ in range(3)] == ["in_progress", "completed", "completed"]
    assert look(client, run).usage.completion_tokens == 4


def test_messages_of_a_thread_come_in_pages(client: Any) -> None:
    thread = client.beta.threads.create()
    for number in range(25):
        client.beta.threads.messages.create(
            thread.id, role="user", content=[{"type": "text", "text": str(number)}]
        )
    messages = client.beta.threads.messages

    def texts(page: Any) -> list[int]:
        return [int(message.content[0].text.value) for message in page]

    assert texts(messages.list(thread.id).data) == list(range(24, 4, -1))
    assert texts(messages.list(thread.id)) == list(range(24, -1, -1))
    assert texts(messages.list(thread.id, order="asc", limit=7)) == list(range(25))


def test_a_run_can_be_cancelled(client: Any) -> None:
    thread, run = new_run(client)
    assert client.beta.threads.runs.cancel(run.id, thread_id=thread.id).status == "cancelling"
    assert look(client, run).status == "cancelled"
    with pytest.raises(openai.BadRequestError, match="Cannot cancel"):
        client.beta.threads.runs.cancel(run.id, thread_id=thread.id)


def test_an_active_run_locks_its_thread(client: Any) -> None:
    thread, run = new_run(client)
    with pytest.raises(openai.BadRequestError, match="while a run"):
        client.beta.threads.messages.create(thread.id, role="user", content="more")
    with pytest.raises(openai.BadRequestError, match="already has an active run"):
        client.beta.threads.runs.create(thread.id, assistant_id=run.assistant_id)
    with pytest.raises(openai.BadRequestError, match="do not accept tool outputs"):
        client.beta.threads.runs.submit_tool_outputs(run.id, thread_id=thread.id, tool_outputs=[])
    client.beta.threads.runs.poll(run.id, thread.id)
    with pytest.raises(openai.BadRequestError, match="Expected tool outputs"):
        client.beta.threads.runs.submit_tool_outputs(run.id, thread_id=thread.id, tool_outputs=[])


def test_what_was_deleted_is_gone(server: ScriptedServer, client: Any) -> None:
    thread, run = new_run(client)
    assert server.undeleted == [run.assistant_id, thread.id]
    assert client.beta.threads.delete(thread.id).deleted
    assert client.beta.assistants.delete(run.assistant_id).deleted
    assert server.undeleted == []
    with pytest.raises(openai.NotFoundError, match="No thread found"):
        client.beta.threads.delete(thread.id)
    with pytest.raises(openai.NotFoundError, match="No thread found"):
        look(client, run)
    with pytest.raises(openai.NotFoundError, match="No assistant found"):
        client.beta.assistants.delete(run.assistant_id)


@pytest.mark.parametrize(
    ("path", "body", "error", "param"),
    [
        ("/chat/completions", {"messages": [ASKED]}, openai.BadRequestError, "model"),
        ("/chat/completions", {"model": "m"}, openai.BadRequestError, "messages"),
        ("/chat/completions", {"model": "m", "messages": []}, openai.BadRequestError, "messages"),
        ("/chat/completions", {"model": "m", "messages": ["hi"]}, openai.BadRequestError, "messages"),
        (
            "/chat/completions",
            {"model": "m", "messages": [{"content": "hi"}]},
            openai.BadRequestError,
            "role",
        ),
        ("/responses", {"model": "m"}, openai.BadRequestError, "input"),
        ("/completions", {"model": "m"}, openai.BadRequestError, "prompt"),
        ("/completions", {"model": "m", "prompt": [1, 2]}, openai.BadRequestError, "prompt"),
        ("/assistants", {"model": "m"}, openai.BadRequestError, None),  # for want of the beta header
        ("/embeddings", {"model": "m"}, openai.NotFoundError, None),
        ("/chat/completions", ["no object"], openai.BadRequestError, None),
    ],
)
def test_wrong_requests(client: Any, path: str, body: Any, error: Any, param: str | None) -> None:
    with pytest.raises(error) as caught:
        client.post(path, body=body, cast_to=object)
    assert (caught.value.type, caught.value.param) == ("invalid_request_error", param)


def nested(name: str | None) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


@pytest.mark.parametrize("name", [None, "two words", "dotted.name", ""])
def test_names_of_tools_must_suit_openai(client: Any, name: str | None) -> None:
    with pytest.raises(openai.BadRequestError, match=r"tools\[1\].function.name"):
        ask(client, tools=[nested("fine"), nested(name)])


def test_responses_want_flat_tools(client: Any) -> None:
    with pytest.raises(openai.BadRequestError, match=r"tools\[0\].name"):
        client.responses.create(model=CHAT_MODEL, input="clean", tools=[nested("fine")])


def test_runs_are_not_streamed(client: Any) -> None:
    thread, run = new_run(client)
    with pytest.raises(openai.BadRequestError, match="does not stream"):
        client.beta.threads.runs.create(thread.id, assistant_id=run.assistant_id, stream=True)


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        (
            b"GET /v1/models HTTP/1.1\r\nAuthorization: Bearer k\r\nConnection: close\r\n\r\n",
            b"HTTP/1.1 200 OK",
        ),
        (b"GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n", b"HTTP/1.1 401 Unauthorized"),
        (b"rubbish\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"POST /v1/responses HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", b""),
        (b"", b""),
    ],
)
def test_raw_requests(server: ScriptedServer, sent: bytes, heard: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.sendall(sent)
        link.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: link.recv(65536), b""))
    assert received.split(b"\r\n")[0] == heard
    assert server.wait_until_idle()


def test_a_client_may_leave_in_the_middle_of_a_stream() -> None:
    async def main(server: ScriptedServer) -> None:
        async with async_client(server) as client:
            stream = await client.chat.completions.create(model=CHAT_MODEL, messages=[ASKED], stream=True)
            await anext(stream)
            await stream.close()

    with ScriptedServer(Script(answer="word " * 20_000)) as server:
        asyncio.run(main(server))
        assert server.wait_until_idle()
        assert server.connections_made == 1


def test_faults_spare_requests_that_do_not_ask_the_model() -> None:
    with ScriptedServer(Script(faults=[Fault("500")])) as server, sync_client(server) as client:
        client.models.list()
        client.beta.threads.create()
        assert server.faults_left == 1
