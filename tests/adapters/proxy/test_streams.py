"""The recording proxy shows no call in a stream before it is recorded."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.adapters.proxy.protocols import endpoint_of
from misstep.adapters.proxy.turn import events_in
from tests.adapters.proxy.cases import REQUEST, STREAM, TOOLS, WITH_USAGE, chat, fetch, new_recorder, proxy_to
from tests.adapters.proxy.upstream import Canned, CannedServer, message_events, run, run_events
from tests.scripted import Script
from tests.scripted.chat import answer_chat
from tests.scripted.conversations import response_tools
from tests.scripted.parts import Ids
from tests.scripted.responses import Responses


class Streamed(NamedTuple):
    """A stream with calls: where from, the request, the events, what no client may see unrecorded, the calls."""

    path: str
    body: Any
    events: tuple[str, ...]
    telling: tuple[str, ...]
    calls: tuple[str, ...] = ("mop", "dust")


def chat_stream(*calls: str) -> Streamed:
    body = chat(REQUEST, **WITH_USAGE)
    events = answer_chat(Script(behaviour="parallel", plan=lambda *_: list(calls)), Ids(), body).events
    telling = '"index": 1', '"finish_reason": "tool_calls"', "[DONE]"
    return Streamed("/chat/completions", body, events, telling, calls)


def response_stream() -> Streamed:
    script = Script(behaviour="parallel", plan=lambda *_: ["mop", "dust"])
    body = {"model": "m", "input": REQUEST, "tools": response_tools(TOOLS), **STREAM}
    telling = "arguments.done", "output_item.done", "response.completed"
    return Streamed("/responses", body, Responses(script, Ids()).answer(body).events, telling)


def message_stream() -> Streamed:
    body = {"messages": [{"role": "user", "content": REQUEST}], **STREAM}
    telling = '"content_block_stop", "index": 1', "message_delta", "message_stop"
    return Streamed("/messages", body, message_events(("mop", "{}"), ("dust", "{}")), telling)


def run_stream() -> Streamed:
    events = run_events(run("queued"), run("requires_action", ("mop", "{}"), ("dust", "{}")))
    return Streamed("/threads/t/runs", {"text": REQUEST, **STREAM}, events, ("requires_action", "[DONE]"))


STREAMS = {
    "chat": chat_stream("mop", "dust"),
    "chat with one call": chat_stream("mop"),
    "responses": response_stream(),
    "messages": message_stream(),
    "runs": run_stream(),
}
each_stream = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())


@each_stream
def test_a_stream_that_breaks_shows_no_call_that_is_not_recorded(stream: Streamed) -> None:
    whole, seen = "".join(stream.events).encode(), list[int]()
    replies = [Canned(events=stream.events, events_sent=count) for count in range(1, len(stream.events))]
    with CannedServer(*replies, Canned(events=stream.events)) as server, proxy_to(server) as proxy:
        for _ in stream.events:
            recorder = new_recorder()
            with proxy.open(REQUEST, recorder):
                got = fetch(proxy.base_url, "POST", stream.path, stream.body)
            assert whole.startswith(got.body)
            assert recorder.calls or not [each for each in stream.telling if each.encode() in got.body]
            seen.append(len(recorder.calls))
    assert got.body == whole
    assert [call.tool for call in recorder.calls] == list(stream.calls)
    assert set(seen) == {0, len(stream.calls)}


@given(cuts=st.lists(st.integers(0, 4000), max_size=30), ends=st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=60, deadline=None)
def test_events_are_read_the_same_in_whatever_chunks_they_come(cuts: list[int], ends: str) -> None:
    for stream in STREAMS.values():
        whole = "".join(stream.events).replace("\n", ends).encode()
        edges = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
        chunks = [whole[begin:end] for begin, end in pairwise(edges)]
        reader, passed = reading(stream.path, chunks)
        assert passed == whole
        assert tuple(call.name for call in reader.turn().calls) == stream.calls


def reading(path: str, chunks: list[bytes]) -> tuple[Any, bytes]:
    async def incoming() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def main() -> tuple[Any, bytes]:
        endpoint = endpoint_of("POST", path)
        assert endpoint is not None
        reader, passed = endpoint.stream(), b""
        async for event in events_in(incoming()):
            reader.feed(event)
            passed += event.raw
        return reader, passed

    return asyncio.run(main())


def deltas(*parts: Any) -> list[bytes]:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]} for part in parts]
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]


@pytest.mark.parametrize("numbers", [(0, 0, 1, 1), (None, None, None, None), (0, 0, 0, 0)])
def test_servers_number_calls_as_they_like(numbers: tuple[int | None, ...]) -> None:
    parts: list[Any] = [
        {"id": "a", "function": {"name": "mop", "arguments": '{"x"'}},
        {"function": {"arguments": ": 1}"}},
        {"id": "b", "function": {"name": "dust", "arguments": ""}},
        {"function": {"name": None, "arguments": "{}"}},
    ]
    numbered = [{"index": at, **part} for at, part in zip(numbers, parts, strict=True)]
    reader, _ = reading("/chat/completions", deltas(*numbered))
    assert [(call.name, call.arguments) for call in reader.turn().calls] == [
        ("mop", '{"x": 1}'),
        ("dust", "{}"),
    ]


def test_line_ends_of_other_worlds_end_no_line() -> None:
    said = json.dumps({"choices": [{"delta": {"content": "one\u2028two\x85three"}}]}, ensure_ascii=False)
    reader, _ = reading("/chat/completions", [f"data: {said}\n\n".encode()])
    assert reader.turn().reply["choices"][0]["message"]["content"] == "one\u2028two\x85three"


@pytest.mark.parametrize(
    ("protocol", "error"),
    [
        ("chat", b'data: {"error": {"message": "no"}}\n\n'),
        ("responses", b'data: {"type": "error"}\n\n'),
        ("messages", b'event: error\ndata: {"type": "error"}\n\n'),
    ],
)
def test_a_stream_that_ends_in_an_error_is_no_turn(protocol: str, error: bytes) -> None:
    stream = STREAMS[protocol]
    chunks = [event.encode() for event in stream.events[:-1]]
    assert reading(stream.path, chunks)[0].turn() is not None
    assert reading(stream.path, [*chunks, error])[0].turn() is None
