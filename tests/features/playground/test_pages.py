"""The playground's server: it plays what it is told, and takes nothing else."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from misstep.core.constraint import FAMILIES
from misstep.features.playground.pages import (
    LONGEST,
    MOST_CALLS,
    ProblemChoice,
    make_problem,
    playground_app,
    right_calls,
)
from misstep.web.server import OriginGuard
from tests.rendering.html.test_assets import NEVER

BASE = "http://127.0.0.1:8000"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(OriginGuard(playground_app()), base_url=BASE)  # what goes wrong inside is raised


def wish(**changes: Any) -> dict[str, Any]:
    return {"actions": 4, "family": ["order"], "distractors": 0, "seed": 1, **changes}


def test_a_problem_is_played_and_judged(client: TestClient) -> None:
    problem = client.post("/problem", json=wish()).json()
    case = make_problem(ProblemChoice())
    assert problem["id"] == case.id
    assert problem["wish"] == wish()
    names = [tool["name"] for tool in problem["tools"]]
    calls = [{"tool": name} for name in names]
    told = client.post("/play", json={"wish": wish(), "calls": calls}).json()
    assert len(told["results"]) == 4
    assert all(result.endswith("has been carried out successfully.") for result in told["results"])
    detail = client.post("/verdict", json={"wish": wish(), "calls": calls}).json()
    assert [call["tool"] for call in detail["calls"]] == names
    right = [{"tool": call.tool, "arguments": call.arguments} for call in right_calls(case)]
    assert client.post("/verdict", json={"wish": wish(), "calls": right}).json()["verdict"] == "passed"


def test_a_right_plan_and_planners(client: TestClient) -> None:
    asked = {"wish": wish(actions=7, family=list(FAMILIES))}
    for by, verdict in (("right", "passed"), ("sim:perfect", "passed"), ("you", "failed")):
        assert client.post("/verdict", json={**asked, "by": by}).json()["verdict"] == verdict
    for by in ("sim:greedy", "sim:random"):
        assert client.post("/verdict", json={**asked, "by": by}).json()["calls"]


def test_what_can_t_be_made_is_made_to_fit(client: TestClient) -> None:
    problem = client.post("/problem", json=wish(actions=12, family=["time", "order", "time"])).json()
    assert problem["sizes"] == [3, 10]
    assert problem["wish"] == wish(actions=10, family=["order", "time"])


def deep(levels: int) -> bytes:
    return b'{"wish": {}, "calls": [{"tool": "x", "arguments": ' + b"[" * levels + b"]" * levels + b"}]}"


REFUSED = {
    "nothing": b"",
    "no JSON": b"{'actions': 4}",
    "no object": b"[]",
    "not UTF-8": b'{"seed": "\xff"}',
    "half a letter": b'{"wish": {}, "calls": [{"tool": "\\ud800"}]}',
    "many levels": deep(40_000),
    "few levels": deep(3),
    "too few actions": b'{"wish": {"actions": 2}}',
    "too many actions": b'{"wish": {"actions": 13}}',
    "very many actions": b'{"wish": {"actions": 1' + b"0" * 400 + b"}}",
    "half an action": b'{"wish": {"actions": 4.5}}',
    "actions as text": b'{"wish": {"actions": "4"}}',
    "no family": b'{"wish": {"family": []}}',
    "an unknown family": b'{"wish": {"family": ["<b>"]}}',
    "many families": b'{"wish": {"family": [' + b",".join([b'"order"'] * 500) + b"]}}",
    "a negative seed": b'{"wish": {"seed": -1}}',
    "a huge seed": b'{"wish": {"seed": 9007199254740992}}',
    "an unknown setting": b'{"wish": {"tools": "file.py:name"}}',
    "something else": b'{"wish": {}, "agent": "file.py:name"}',
    "calls as a number": b'{"wish": {}, "calls": 7}',
    "a call without a tool": b'{"wish": {}, "calls": [{}]}',
    "a tool of no name": b'{"wish": {}, "calls": [{"tool": null}]}',
    "a very long name": b'{"wish": {}, "calls": [{"tool": "' + b"x" * 101 + b'"}]}',
    "a very long value": b'{"wish": {}, "calls": [{"tool": "x", "arguments": {"y": "' + b"x" * 201 + b'"}}]}',
    "a huge number": b'{"wish": {}, "calls": [{"tool": "x", "arguments": {"y": 1e999}}]}',
    "values in values": b'{"wish": {}, "calls": [{"tool": "x", "arguments": {"y": {"z": 1}}}]}',
    "many values": b'{"wish": {}, "calls": [{"tool": "x", "arguments": {'
    + b",".join(b'"%d": 1' % number for number in range(11))
    + b"}}]}",
    "too many calls": b'{"wish": {}, "calls": [' + b",".join([b'{"tool":"x"}'] * (MOST_CALLS + 1)) + b"]}",
    "10,000 calls": b'{"wish": {}, "calls": [' + b",".join([b"{}"] * 10_000) + b"]}",
}


@pytest.mark.parametrize("path", ["/play", "/verdict"])
@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_sense_is_refused_in_a_sentence(client: TestClient, path: str, body: bytes) -> None:
    answer = client.post(path, content=body)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("invalid input: ")
    assert len(answer.json()["message"]) < 600


def test_more_than_can_be_meant_is_not_read(client: TestClient) -> None:
    answer = client.post("/play", content=b" " * (LONGEST + 1))
    assert answer.status_code == 413
    assert answer.json() == {"message": "the form is too large"}


def test_an_unknown_player_is_refused(client: TestClient) -> None:
    for by in ("react", "sim:idle", "file.py:name", HOSTILE):
        answer = client.post("/verdict", json={"wish": wish(), "by": by})
        assert answer.status_code == 400
        assert "is not available here: expected one of sim:greedy" in answer.json()["message"]


CALLS: dict[str, dict[str, Any]] = {
    "an unknown tool": {"tool": HOSTILE},
    "no name": {"tool": ""},
    "letters of all kinds": {"tool": "zoë\u202e\u0000🦓", "arguments": {"\u2028": "\ufeff"}},
    "a value that nobody wants": {"tool": "bamboo_delivery", "arguments": {"x": 2**60}},
    "an enormous number": {"tool": "bamboo_delivery", "arguments": {"x": 10**1500}},
    "no value": {"tool": "bamboo_delivery", "arguments": {"x": None}},
    "half": {"tool": "bamboo_delivery", "arguments": {"x": 0.5}},
    "yes": {"tool": "bamboo_delivery", "arguments": {"x": True}},
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_call_that_does_not_fit_is_the_players_mistake(client: TestClient, call: dict[str, Any]) -> None:
    asked = {"wish": wish(), "calls": [call] * MOST_CALLS}
    told = client.post("/play", json=asked).json()
    assert len(told["results"]) == MOST_CALLS
    assert all(result.startswith("Error") for result in told["results"])
    assert not {"\u202e", "\u0000", "\u2028"} & {*"".join(told["results"])}
    detail = client.post("/verdict", json=asked).json()
    assert (detail["verdict"], detail["error"], detail["step"]) == ("failed", "act", 1)


def test_the_page_loads_nothing_but_our_own_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for attribute in (" style=", " onclick=", "javascript:"):
        assert attribute not in page.text
    for name in ("playground.js", "tools.js", "case.js", "playground.css"):
        assert client.get(f"/files/{name}").status_code == 200
    assert client.head("/").status_code == 200


@pytest.mark.parametrize("name", ["playground.js", "tools.js"])
def test_text_never_becomes_markup(client: TestClient, name: str) -> None:
    source = client.get(f"/files/{name}").text
    assert not [word for word in NEVER if word in source]
    assert source.startswith("// ")  # why it is there


def test_only_our_own_page_may_ask(client: TestClient) -> None:
    other = client.post("/problem", json=wish(), headers={"origin": "http://example.org"})
    assert other.status_code == 403
    assert client.get("/problem").status_code == 405
