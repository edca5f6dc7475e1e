"""The recording proxy records what a model asks for, and what that costs; agents behind it need not know."""

import asyncio
import json
import threading
from typing import Any

import pytest

from misstep.adapters.loading.recognition import PlainAgent
from misstep.adapters.processes import current_addresses
from misstep.adapters.proxy.agent import ProxiedAgent, RecordingProxy
from misstep.adapters.proxy.cases import OpenCase
from misstep.adapters.proxy.turn import ModelCall, ModelTurn
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.outcome import Usage
from misstep.core.secrets import Redactor
from misstep.engine.recorder import Deadline, Recorder
from tests.adapters.proxy.cases import (
    KEY,
    REQUEST,
    STREAM,
    TOOLS,
    Shed,
    asked,
    chat,
    fetch,
    new_recorder,
    post_chat,
    proxy_to,
)
from tests.adapters.proxy.upstream import Canned, CannedServer, message, message_events, run
from tests.scripted import Fault, Script, ScriptedServer
from tests.scripted.clients import endpoints, play
from tests.scripted.conversations import CONVERSATIONS, Conversation

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore:(deprecated|The Assistants API):DeprecationWarning")


def read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.mark.full(after=14)
@pytest.mark.parametrize("behaviour", ["steps", "parallel", "malformed", "unknown", "extra arguments"])
@endpoints
def test_what_the_model_asks_for_is_recorded(talk: Conversation, behaviour: Any) -> None:
    recorder = new_recorder()
    with (
        ScriptedServer(Script(behaviour=behaviour)) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
    ):
        played = play("async", proxy, talk, REQUEST)  # type: ignore[arg-type]
        told = server.tokens
    calls = [[(name, read(given)) for name, given in turn] for turn in played.turns]
    assert played.answer == "All done."
    assert asked(recorder) == ([] if talk is CONVERSATIONS["completions"] else calls)
    assert recorder.begin_turn() == len(played.turns) + 2  # one turn for the answer, one just now
    assert recorder.usage == Usage(*told) != Usage()
    assert (proxy.unattributed, proxy.unseen) == (0, 0)


def test_a_recorded_call_is_the_one_carried_out_whichever_thread_it_comes_from() -> None:
    recorder = new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        post_chat(proxy.base_url, REQUEST)
        thread = threading.Thread(target=recorder.call, args=("sweep", {}))
        thread.start()
        thread.join()
    [call] = recorder.calls
    assert (call.tool, call.result, call.turn, call.ran) == ("sweep", "sweep done", 1, 0)


@pytest.mark.parametrize("fault", ["400", "401", "429", "500", "not json", "drop", "drop half way"])
@pytest.mark.parametrize("options", [{}, STREAM])
def test_replies_that_fail_count_nothing(fault: Any, options: Any) -> None:
    recorder = new_recorder()
    with (
        ScriptedServer(Script(faults=[Fault(fault)])) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
    ):
        post_chat(proxy.base_url, REQUEST, **options)
    assert (recorder.calls, recorder.usage, recorder.messages) == ((), Usage(), [])
    assert recorder.begin_turn() == 1


def test_a_client_that_tries_again_is_recorded_once() -> None:
    recorder = new_recorder()
    faults = [Fault("drop"), Fault("500"), None, Fault("drop half way"), Fault("429", retry_after=0)]
    with (
        ScriptedServer(Script(faults=faults)) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
    ):
        played = play("sync", proxy, CONVERSATIONS["chat"], REQUEST, max_retries=3)  # type: ignore[arg-type]
    assert asked(recorder) == [[(name, {})] for name in TOOLS]
    assert played.answer == "All done."


def test_messages_are_kept_without_keys() -> None:
    own = "sk-of-the-client-2"
    call = {"id": "c1", "type": "function", "function": {"name": "sweep", "arguments": f'{{"at": "{KEY}"}}'}}
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "content": own, "tool_calls": [call]}}]}
    recorder = new_recorder()
    with CannedServer(Canned(said)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        body = chat(f"{REQUEST} {own} {KEY}")
        keys = {"authorization": f"Bearer {own}", "x_api_key": KEY}
        got = fetch(proxy.base_url, "POST", "/chat/completions", body, **keys)
    assert got.json == said
    [kept] = recorder.messages
    assert kept["request"]["messages"][0]["content"] == f"{REQUEST} [secret] [secret]"
    assert kept["reply"]["choices"][0]["message"]["content"] == "[secret]"
    assert recorder.calls[0].arguments == {"at": "[secret]"}
    assert KEY not in repr((recorder.messages, recorder.calls))


def test_tools_that_a_framework_brings_along_are_its_own_business() -> None:
    names = ["final_answer", "mcp__shed__sweep", "mop", "made_up_dust"]
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": ""}} for name in names]
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": calls}}]}
    offered = [{"type": "function", "function": {"name": name}} for name in names[:3]]
    recorder = new_recorder()
    with CannedServer(Canned(said)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        post_chat(proxy.base_url, REQUEST, tools=offered)
    assert asked(recorder) == [[("sweep", {}), ("mop", {}), ("made_up_dust", {})]]


def test_a_tool_that_goes_by_its_own_name_goes_by_no_other() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "transfer_to_dust", "arguments": "{}"}}
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}}]}
    offered = [*chat(REQUEST)["tools"], {"type": "function", "function": {"name": "transfer_to_dust"}}]
    recorder = new_recorder()
    with CannedServer(Canned(said)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        post_chat(proxy.base_url, REQUEST, tools=offered)
    assert (recorder.calls, recorder.begin_turn()) == ((), 2)


def test_half_a_character_is_no_obstacle() -> None:
    raw = rb'{"choices": [{"message": {"tool_calls": [{"function": {"name": "mop", "arguments": {"a": "\ud800"}}}]}}]}'
    recorder = new_recorder()
    with CannedServer(Canned(raw)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, REQUEST).body == raw
    assert ([call.tool for call in recorder.calls], len(recorder.messages)) == (["mop"], 1)


def test_anthropics_clients_are_recorded() -> None:
    anthropic = pytest.importorskip("anthropic")
    use = {"type": "tool_use", "id": "toolu_1", "name": "mop", "input": {"room": "hall"}}
    events = message_events(("sweep", ""), ("mop", '{"room": "hall"}'), ("dust", '{"broken": '))
    recorder = new_recorder()
    with (
        CannedServer(Canned(message(use)), Canned(events=events)) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
        anthropic.Anthropic(base_url=proxy.base_url.removesuffix("/v1"), api_key=KEY) as client,
    ):
        request = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": REQUEST}]}
        assert client.messages.create(**request).content[0].input == {"room": "hall"}
        with client.messages.create(**request, stream=True) as stream:
            assert [event.type for event in stream][-1] == "message_stop"
    assert asked(recorder) == [
        [("mop", {"room": "hall"})],
        [("sweep", {}), ("mop", {"room": "hall"}), ("dust", '{"broken": ')],
    ]
    assert recorder.usage == Usage(214, 18, 200)


def test_a_run_is_recorded_once_however_often_it_is_looked_at() -> None:
    wanting = run("requires_action", ("sweep", "{}"), ("mop", "{"))
    over = run("completed", usage={"prompt_tokens": 7, "completion_tokens": 3})
    failed = run("failed", usage={"prompt_tokens": 1, "completion_tokens": 1}, id="run_2")
    replies = [Canned(body) for body in (run("queued"), wanting, wanting, over, over, failed)]
    recorder = new_recorder()
    with CannedServer(*replies) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        body = {"assistant_id": "asst_1", "thread": {"messages": [{"role": "user", "content": REQUEST}]}}
        fetch(proxy.base_url, "POST", "/threads/runs", body)
        for _ in replies[1:]:
            fetch(proxy.base_url, "GET", "/threads/thread_1/runs/run_1")
    assert asked(recorder) == [[("sweep", {}), ("mop", "{")]]
    assert (recorder.begin_turn(), recorder.usage) == (3, Usage(8, 4))


def test_a_response_in_the_background_is_recorded_once() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "mop", "arguments": "{}"}
    usage = {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    waiting: Any = {"id": "resp_1", "status": "queued", "output": [], "usage": None}
    done = {"id": "resp_1", "status": "completed", "output": [call], "usage": usage}
    recorder = new_recorder()
    with (
        CannedServer(Canned(waiting), Canned(done), Canned(done)) as server,
        proxy_to(server) as proxy,
        proxy.open(REQUEST, recorder),
    ):
        fetch(proxy.base_url, "POST", "/responses", {"input": REQUEST, "background": True})
        for _ in range(2):
            assert fetch(proxy.base_url, "GET", "/responses/resp_1").json == done
    assert asked(recorder) == [[("mop", {})]]
    assert (recorder.begin_turn(), recorder.usage) == (2, Usage(5, 2, 4))


@pytest.mark.parametrize("body", [[], 3, "x", {}, {"choices": 1}, {"choices": [1]}, {"choices": [{}]}])
def test_rubbish_is_passed_on_and_not_recorded(body: Any) -> None:
    recorder = new_recorder()
    with CannedServer(Canned(body)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, REQUEST).json == body
    assert recorder.begin_turn() == 1


@pytest.mark.parametrize("calls", [1, {}, [1, None, {}], [{"function": 3}], [{"function": {"name": None}}]])
def test_calls_without_sense_are_recorded_as_far_as_they_go(calls: Any) -> None:
    said = {"choices": [{"message": {"tool_calls": calls}}], "usage": {"prompt_tokens": "many"}}
    recorder = new_recorder()
    with CannedServer(Canned(said)) as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, REQUEST).json == said
    expected: Any = [("", {})] if isinstance(calls, list) else []
    assert [(call.tool, call.arguments) for call in recorder.calls] == expected
    assert (recorder.begin_turn(), recorder.usage) == (2, Usage())


def test_a_reply_that_nobody_waited_for_costs_its_tokens_only() -> None:
    recorder = new_recorder()
    link = OpenCase(REQUEST, recorder)
    turn = ModelTurn({}, (ModelCall("mop", "{}"),), Usage(3, 2))
    link.record(turn, {}, Redactor(), heard=False)
    assert (recorder.usage, recorder.calls, recorder.messages, link.turns) == (Usage(3, 2), (), [], 0)


@pytest.mark.parametrize("options", [{}, STREAM])
def test_no_request_gets_past_the_limit_on_turns(options: Any) -> None:
    recorder = new_recorder(max_steps=1)
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, REQUEST, **options).status == 200
        refused = post_chat(proxy.base_url, REQUEST, **options)
        assert len(server.requests) == 1
    assert refused.status == 400
    assert "limit on turns" in refused.json["error"]["message"]
    assert recorder.exhausted


@pytest.mark.parametrize("talk", ["chat", "chat streamed", "responses streamed"])
def test_a_reply_past_the_limit_does_not_reach_the_client(talk: str) -> None:
    recorder = new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        recorder.close()
        with pytest.raises(openai.APIError, match="limit on turns"):
            play("sync", proxy, CONVERSATIONS[talk], REQUEST)  # type: ignore[arg-type]
    assert recorder.usage != Usage()


async def clean(base_url: str, request: str, toolbox: Toolbox) -> Answer:
    """An agent that does what it is told."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="sk-test", max_retries=0) as client:
        body = chat(request)
        while calls := (reply := await client.chat.completions.create(**body)).choices[0].message.tool_calls:
            body["messages"].append(reply.choices[0].message.to_dict())
            for call in calls:
                result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                body["messages"].append({"role": "tool", "tool_call_id": call.id, "content": result})
        return Answer(reply.choices[0].message.content or "")


class Cleaner:
    """Takes the address of each case if `by_address`, after having met another one; tells how many it met."""

    name = "cleaner"

    def __init__(self, proxy: RecordingProxy, by_address: bool) -> None:
        self._proxy = proxy
        self._meeting = asyncio.Barrier(2) if by_address else None
        self.running = self.most = 0
        self.closed = False

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.running += 1
        self.most = max(self.most, self.running)
        if self._meeting:
            await self._meeting.wait()
        address = current_addresses.get()["OPENAI_BASE_URL"] if self._meeting else self._proxy.base_url
        answer = await clean(address or "", assignment.request, toolbox)
        self.running -= 1
        return answer

    async def close(self) -> None:
        self.closed = True


class Patient(Recorder):
    """Knows how long it was told to wait."""

    waited = 0.0

    def wait(self, seconds: float) -> None:
        self.waited += seconds


@pytest.mark.parametrize("by_address", [False, True])
def test_two_cases_with_the_same_words_at_once(by_address: bool) -> None:
    async def main(server: ScriptedServer) -> tuple[Cleaner, RecordingProxy, list[Patient]]:
        proxy = RecordingProxy(server.base_url)
        cleaner = Cleaner(proxy, by_address)
        agent = ProxiedAgent(cleaner, proxy, by_address)
        recorders = [Patient(Shed(), Deadline(60), 20) for _ in range(2)]
        answers = await asyncio.gather(*(agent.run(Assignment(REQUEST, 0), each) for each in recorders))
        await agent.close()
        assert [answer.text for answer in answers] == ["All done."] * 2
        return cleaner, proxy, recorders

    with ScriptedServer() as server:
        cleaner, proxy, recorders = asyncio.run(main(server))
        assert server.wait_until_idle()
    for recorder in recorders:
        assert [(call.tool, call.turn, call.ran) for call in recorder.calls] == [
            (name, turn, 0) for turn, name in enumerate(TOOLS, 1)
        ]
    assert (cleaner.most, cleaner.closed, proxy.unattributed) == (2 if by_address else 1, True, 0)
    assert sorted(each.waited > 0 for each in recorders) == [False, not by_address]  # whichever came second


def test_threads_know_the_address_of_their_case() -> None:
    async def main(server: ScriptedServer, recorder: Recorder) -> Answer:
        proxy = RecordingProxy(server.base_url)
        inner = PlainAgent(
            lambda *_: post_chat(current_addresses.get()["OPENAI_BASE_URL"], "x").status, "thread"
        )
        agent = ProxiedAgent(inner, proxy, by_address=True)
        answer = await agent.run(Assignment(REQUEST, 0), recorder)
        await agent.close()
        return answer

    recorder = new_recorder()
    with ScriptedServer() as server:
        assert asyncio.run(main(server, recorder)) == Answer("200")
    assert (len(recorder.calls), current_addresses.get()) == (1, {})


class Talkative:
    """Tells of everything that it believes to have seen, after a request with some tools or none."""

    name = "talkative"

    def __init__(self, proxy: RecordingProxy, tools: bool) -> None:
        self._proxy = proxy
        self._tools = tools

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        body = chat(assignment.request) if self._tools else {**chat(assignment.request), "tools": None}
        await asyncio.to_thread(fetch, self._proxy.base_url, "POST", "/chat/completions", body)
        assert [toolbox.begin_turn(), toolbox.begin_turn()] == [1, 2]
        toolbox.ask("dust", {}, 2)
        toolbox.misread()
        toolbox.spend(Usage(1000, 1000))
        toolbox.note("nothing new")
        assert (toolbox.tools, toolbox.max_steps) == (Shed.tools, 20)
        return Answer(toolbox.call("dust", {}, 2))


class Elsewhere:
    """Asks its model by some other way."""

    name = "elsewhere"

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        for _ in range(3):
            toolbox.ask("no_such_tool", {}, toolbox.begin_turn())
            toolbox.spend(Usage(10, 1))
        return Answer("done")


def test_an_agent_that_goes_another_way_is_believed() -> None:
    async def main(server: ScriptedServer) -> int:
        proxy = RecordingProxy(server.base_url)
        agent = ProxiedAgent(Elsewhere(), proxy)
        await agent.run(Assignment(REQUEST, 0), recorder)
        await agent.close()
        return proxy.unseen

    recorder = new_recorder()
    with ScriptedServer() as server:
        assert asyncio.run(main(server)) == 1
    assert [call.tool for call in recorder.calls] == ["no_such_tool"] * 3
    assert recorder.usage == Usage(30, 3)


@pytest.mark.parametrize("tools", [True, False])
def test_the_proxy_knows_better_unless_calls_are_in_the_words(tools: bool) -> None:
    async def main(server: ScriptedServer) -> Answer:
        proxy = RecordingProxy(server.base_url)
        agent = ProxiedAgent(Talkative(proxy, tools), proxy)
        answer = await agent.run(Assignment(REQUEST, 0), recorder)
        await agent.close()
        return answer

    recorder = new_recorder()
    with ScriptedServer() as server:
        assert asyncio.run(main(server)) == Answer("dust done")
        told = server.tokens
    assert [(call.tool, call.turn) for call in recorder.calls] == [("sweep", 1)] * tools + [("dust", 1)]
    assert (recorder.usage, recorder.misread_turns) == (Usage(*told), 0 if tools else 1)
    assert (len(recorder.messages), recorder.begin_turn()) == (1, 2)
