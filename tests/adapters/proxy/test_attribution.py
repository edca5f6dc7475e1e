"""The recording proxy finds out whose request it is."""

import json
from contextlib import ExitStack
from typing import Any

import pytest

from misstep.adapters.proxy.cases import REMEMBERED, Attribution, OpenCase, traces_of
from tests.adapters.proxy.cases import REQUEST, STREAM, asked, chat, fetch, new_recorder, post_chat, proxy_to
from tests.scripted import ScriptedServer


@pytest.mark.parametrize(
    "said",
    [
        f"Question:\n  {REQUEST}\nThought:",
        "Please \n clean\tup.",
        [{"type": "text", "text": REQUEST}],
        json.dumps({"task": REQUEST, "why": "none"}),
    ],
)
def test_a_case_is_known_by_its_words(said: Any) -> None:
    recorder, other = new_recorder(), new_recorder()
    with (
        ScriptedServer() as server,
        proxy_to(server) as proxy,
        proxy.open("Please clean", other),  # fits as well, but says less
        proxy.open(REQUEST, recorder),
    ):
        assert post_chat(proxy.base_url, said).status == 200
    assert (len(recorder.calls), len(other.calls)) == (1, 0)


def test_words_with_quotes_are_known_within_json() -> None:
    request, recorder = 'Say "clean"\nand clean.', new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(request, recorder):
        post_chat(proxy.base_url, json.dumps({"task": request}))
    assert len(recorder.calls) == 1


def test_requests_of_nobody_pass_and_are_counted() -> None:
    recorder = new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, recorder):
        assert post_chat(proxy.base_url, "What a day.").status == 200
        assert post_chat(proxy.base_url, "What a day.", **STREAM).status == 200
        fetch(proxy.base_url, "GET", "/models")
    assert (proxy.unattributed, proxy.unseen, recorder.calls) == (2, 1, ())


def test_two_cases_with_the_same_words_are_told_apart_by_ids_or_not_at_all() -> None:
    first, second = new_recorder(), new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy, proxy.open(REQUEST, first):
        body = chat(REQUEST)
        message = post_chat(proxy.base_url, REQUEST).json["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "fine"}
        body["messages"] += [message, result]
        with proxy.open(REQUEST, second):
            assert post_chat(proxy.base_url, REQUEST).status == 200
            assert fetch(proxy.base_url, "POST", "/chat/completions", body).status == 200
    assert (asked(first), asked(second)) == ([[("sweep", {})], [("mop", {})]], [])
    assert proxy.unattributed == 1


def test_a_case_that_is_over_asks_no_more() -> None:
    recorder, next_one = new_recorder(), new_recorder()
    with ScriptedServer() as server, proxy_to(server) as proxy:
        with proxy.open(REQUEST, recorder):
            call_id = post_chat(proxy.base_url, REQUEST).json["choices"][0]["message"]["tool_calls"][0]["id"]
        with proxy.open(REQUEST, next_one):
            late = fetch(proxy.base_url, "POST", "/chat/completions", {"x": REQUEST, "call_id": call_id})
        assert len(server.requests) == 1
    assert (late.status, "over" in late.json["error"]["message"]) == (400, True)
    assert next_one.calls == ()


def test_every_case_has_an_address_of_its_own() -> None:
    recorders = [new_recorder() for _ in range(3)]
    with ScriptedServer() as server, proxy_to(server) as proxy:
        with ExitStack() as stack:
            links = [stack.enter_context(proxy.open(REQUEST, each, by_words=False)) for each in recorders]
            assert post_chat(proxy.url_for(links[1].key), "other words").status == 200
            assert post_chat(proxy.base_url, REQUEST).status == 200
        assert fetch(proxy.url_for(links[1].key), "GET", "/models").status == 404
    assert [len(each.calls) for each in recorders] == [0, 1, 0]
    assert proxy.unattributed == 1


def test_ids_are_forgotten_in_the_end() -> None:
    attribution, link = Attribution(), OpenCase(REQUEST, new_recorder())
    attribution.open(link, by_words=True)
    attribution.learn(link, "", [{"id": f"call_{number}"} for number in range(REMEMBERED + 1)])
    found = [attribution.find(traces_of("", {"call_id": f"call_{number}"})) for number in (0, REMEMBERED)]
    assert sorted(found, key=bool) == [None, link]
