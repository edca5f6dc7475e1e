"""Tools of real MCP servers, called: results, errors, servers that die and servers that talk nonsense."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.bound import bind
from misstep.adapters.toolset.calling import (
    ArgumentsRefused,
    BoundTool,
    Garbled,
    ServerError,
    ServerGone,
    Toolset,
)
from misstep.core.tool import Promises
from misstep.errors import UsageError
from tests.adapters.toolset.test_mcp_servers import OLD_PYTHON, SERVERS, config, serving
from tests.adapters.toolset.toolset_cases import Binding, binding
from tests.processes import children

__all__ = ["binding"]

ODD = f"{sys.executable} {SERVERS / 'odd.py'}"
GARBLED = f"mcp:{sys.executable} {SERVERS / 'garbled.py'}"
ARGUMENTS = {
    "null": None,
    "deep": {"list": [1, [None, {"x": {}}]], "": ""},
    "large": 10**30,
    "small": -1e-300,
    "whole": 1.0,
    "text": 'ä\u2028\x00\x7f\U0001f600"\\',
    "true": True,
}


def tool(toolset: Toolset, name: str) -> BoundTool:
    return next(each for each in toolset.bounds if each.described.name == name)


@pytest.fixture(scope="module")
def odd() -> Iterator[Toolset]:
    toolset = bind(f"mcp:{ODD}")
    yield toolset
    toolset.close()


def test_calls(odd: Toolset) -> None:
    assert not odd.forkable
    assert tool(odd, "echo").call({"text": "so"}).text == "so"
    returned = tool(odd, "pair").call({"left": 1})
    assert (returned.structured, returned.flagged) == ('{"left": 1, "right": 2}', False)
    parts = tool(odd, "parts").call({})
    assert (parts.text, parts.structured) == ("one\n(image, 4 characters)", '{"wrong": "shape"}')
    failed = tool(odd, "fail").call({"text": "b"})
    assert failed.flagged
    assert "Error executing tool fail" in failed.text
    with pytest.raises(ArgumentsRefused, match="that is not for you"):
        tool(odd, "refuse").call({"code": -32602})
    with pytest.raises(ServerError, match="that is not for you") as caught:
        tool(odd, "refuse").call({"code": -32000})
    assert caught.value.code == -32000


def test_what_is_known_about_them(odd: Toolset) -> None:
    echo = tool(odd, "echo")
    assert echo.entry is None
    assert (echo.described.kind, echo.described.source) == ("mcp", None)
    assert echo.described.promises == Promises(read_only=True, destructive=False)
    assert echo.described.output is not None


def test_keys_that_a_server_tells_are_masked(monkeypatch: pytest.MonkeyPatch, binding: Binding) -> None:
    monkeypatch.setenv("ODD_API_KEY", "sk-something-secret")
    returned = tool(binding(f"mcp:{ODD}"), "echo").call({"text": "the key sk-something-secret is wrong"})
    assert returned.text == "the key [secret] is wrong"
    assert "something" not in (returned.structured or "")


def test_long_answers_are_cut(odd: Toolset) -> None:
    returned = tool(odd, "echo").call({"text": "x" * 300_000})
    assert (returned.text, returned.size) == ("x" * 4_000, 300_000)


def test_arguments_arrive_as_they_are(binding: Binding) -> None:
    spell = tool(binding(GARBLED), "nonsense")
    assert eval(spell.call({"how": "repeat", **ARGUMENTS}).text) == {"how": "repeat", **ARGUMENTS}
    with pytest.raises(ArgumentsRefused, match="can't be sent to a server"):
        spell.call({"how": "\ud800"})
    nested: Any = []
    for _ in range(2_000):
        nested = [nested]
    with pytest.raises(ArgumentsRefused, match="can't be sent to a server"):
        spell.call({"how": nested})
    assert spell.call({}).text == "fine"


@pytest.mark.full
@pytest.mark.parametrize("how", ["exit", "signal"])
def test_a_server_that_dies_and_is_started_again(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binding: Binding
) -> None:
    before = children()
    monkeypatch.setenv("ODD_API_KEY", "sk-something-secret")
    toolset = binding(f"mcp:{ODD}")
    remember, die = tool(toolset, "remember"), tool(toolset, "die")
    assert [remember.call({"text": "a"}).text for _ in range(2)] == ["a", "a, a"]
    with pytest.raises(ServerGone) as caught:
        die.call({"how": how})
    assert ("exit code 3" if how == "exit" else "signal 9") in str(caught.value)
    assert caught.value.last.splitlines()[-1] == "the end is near, [secret]"
    with pytest.raises(ServerGone):
        remember.call({"text": "b"})
    toolset.close()
    again = binding(f"mcp:{ODD}")
    assert tool(again, "remember").call({"text": "c"}).text == "c"
    again.close()
    assert children() == before


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("no content", "a result that breaks the protocol"),
        ("wrong number", "a reply to no request"),
        ("no message", 'JSON that is not a message: {"fine": true}'),
        ("chatter", "a line that is not JSON: calling the tool"),
    ],
)
def test_nonsense(how: str, words: str, binding: Binding) -> None:
    toolset = binding(GARBLED)
    nonsense = toolset.bounds[0]
    with pytest.raises(Garbled, match=words):
        nonsense.call({"how": how})
    assert nonsense.call({}).text == "fine"


def test_chatter_before_any_call_is_noted(binding: Binding) -> None:
    toolset = binding(f"{GARBLED} chatty")
    (note,) = toolset.notes
    assert "prints lines that are not MCP messages" in note
    assert note.endswith(": starting up")
    assert toolset.bounds[0].call({}).text == "fine"
    assert binding(GARBLED).notes == []


def test_a_program_that_never_stops_talking_is_no_server() -> None:
    with pytest.raises(UsageError, match="it prints lines that are not MCP messages: garbage"):
        bind("mcp:yes garbage")


def test_what_only_looks_like_nonsense(binding: Binding) -> None:
    nonsense = binding(GARBLED).bounds[0]
    assert nonsense.call({"how": "halves"}).text == "a?b"
    with pytest.raises(ServerGone, match="exit code 0"):
        nonsense.call({"how": "quiet end"})


@pytest.mark.full
@pytest.mark.parametrize("transport", ["http", "sse"])
def test_servers_on_the_web(transport: str, tmp_path: Path, binding: Binding) -> None:
    with serving(transport, "odd.py") as url:
        path = config(tmp_path, {"web": {"type": transport, "url": url}})
        toolset = binding(path)
        assert tool(toolset, "echo").call({"text": "so"}).text == "so"
        with pytest.raises(ArgumentsRefused):
            tool(toolset, "refuse").call({"code": -32602})
        assert tool(toolset, "remember").call({"text": "a"}).text == "a"
        with pytest.raises(ServerGone):
            tool(toolset, "die").call({"how": "exit"})
        with pytest.raises(ServerGone):
            tool(toolset, "echo").call({"text": "so"})
        toolset.close()
        with pytest.raises(UsageError):
            binding(path)


@pytest.mark.full
@pytest.mark.skipif(not OLD_PYTHON, reason="no environment with the SDK's first generation")
def test_a_server_of_the_first_generation(binding: Binding) -> None:
    (greet,) = binding(f"mcp:{OLD_PYTHON} {SERVERS / 'old.py'}").bounds
    returned = greet.call({"name": "Ada"})
    assert returned.flagged
    assert "a tool was called" in returned.text
    assert "validation error" in greet.call({}).text


def test_the_server_in_a_file_has_to_be_started() -> None:
    with pytest.raises(UsageError, match="only a tool definition") as caught:
        bind(f"{SERVERS / 'shop.py'}:server")
    assert caught.value.hints == ("for an MCP server, give the command that starts it: mcp:…",)
