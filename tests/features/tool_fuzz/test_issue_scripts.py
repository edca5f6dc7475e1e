"""Scripts and messages in texts for a bug tracker make the calls of a finding as they were made."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from msgspec import structs

from misstep.adapters.mcp.entries import McpServer
from misstep.core.tool import Described, Invocation, Sending
from misstep.features.tool_fuzz.issues.files import NeededFiles
from misstep.features.tool_fuzz.issues.messages import messages_of, sending_in_words
from misstep.features.tool_fuzz.issues.script import script_for_code, script_for_server
from misstep.features.tool_fuzz.issues.text import lines_on_server
from tests.features.tool_fuzz.test_issues import FINDING, answers, described, run_script
from tests.features.tool_fuzz.test_server_contracts import DESK

PLANTED = Path(__file__).parents[2] / "quality" / "planted_tools"
LIMIT = 2.0
# The path of this interpreter would be shortened in a script: the maintainer has another one.
PYTHON = sys.executable


def call(tool: str, sent: Sending = "in turn", **given: object) -> Invocation:
    return Invocation(tool, json.dumps(given), sent)


def script_of(server: McpServer, *calls: Invocation, kind: str = "contract") -> str:
    finding = structs.replace(FINDING, kind=kind, calls=calls)
    script = script_for_server(finding, server, NeededFiles(), LIMIT, True)
    return script.replace(f'"{Path(PYTHON).name}"', repr(PYTHON))


def said(folder: Path, command: tuple[str, ...], *calls: Invocation) -> list[str]:
    """What the script prints for each call."""
    done = run_script(script_of(McpServer("desk", (PYTHON, *command)), *calls), folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    for name in ("request_server.py", "contract_tools.py"):
        shutil.copy(PLANTED / name, tmp_path)
    return tmp_path


@pytest.mark.full
def test_two_calls_are_made_together(planted: Path) -> None:
    one, other = call("get_length", word="a"), call("get_length", word="bcd")
    calls = (one, other, structs.replace(one, sent="together"), other)
    *apart, first, second = said(planted, ("request_server.py",), *calls)
    assert ("a: 1" in apart[0], "bcd: 3" in apart[1]) == (True, True)
    assert "a: 1" not in first + second
    *_, first, second = said(planted, ("request_server.py", "fixed"), *calls)
    assert ("a: 1" in first, "bcd: 3" in second) == (True, True)


@pytest.mark.full
def test_each_fresh_start_is_one_of_the_server(planted: Path) -> None:
    look, one, other = (
        call("list_guests", "afresh"),
        call("add_guest", guest="a"),
        call("add_guest", guest="b"),
    )
    again = structs.replace(look, sent="in turn")
    calls = (look, one, other, again, look, structs.replace(one, sent="together"), other, again)
    told = said(planted, ("request_server.py",), *calls)
    assert ['["a", "b"]' in told[3], "'[]'" in told[4]] == [True, True]
    assert '["a", "b"]' not in told[7]
    assert '["a", "b"]' in said(planted, ("request_server.py", "fixed"), *calls)[7]


@pytest.mark.full
@pytest.mark.parametrize(
    ("fault", "cancelled", "is_answered"),
    [
        ("stuck when cancelled", call("show_text", "cancelled", text="a"), False),
        ("stuck after time-outs", call("wait_for", "timed out", text="abc"), False),
        ("goes on", call("show_text", "cancelled", text="a"), True),
        ("goes on", call("wait_for", "timed out", text="abc"), True),
    ],
)
def test_a_call_is_cancelled_and_the_script_ends(
    fault: str, cancelled: Invocation, is_answered: bool, tmp_path: Path
) -> None:
    (tmp_path / "desk.py").write_text(DESK)
    look = call("get_text", text="b")
    told = said(tmp_path, ("desk.py", fault), look, look, cancelled, look)
    assert ["text='b'" in line for line in told] == [True, True, False, is_answered]


@pytest.mark.full
def test_a_server_that_dies_when_a_call_is_cancelled(planted: Path) -> None:
    look, cancelled = call("list_guests"), call("add_guest", "cancelled", guest="a")
    told = said(planted, ("request_server.py",), look, cancelled, look)
    assert (told[1], "Connection closed" in told[2]) == ("add_guest was cancelled", True)
    assert "is_error=False" in said(planted, ("request_server.py", "fixed"), look, cancelled, look)[2]


def test_messages_say_how_they_are_sent() -> None:
    calls = (call("a", "together"), call("b"), call("c", "cancelled"), call("d", "timed out"))
    sent = [json.loads(line) for line in messages_of(calls, False).splitlines()]
    assert [(each["method"].partition("/")[2], each.get("id")) for each in sent] == [
        ("call", 1),
        ("call", 2),
        ("call", 3),
        ("cancelled", None),
        ("call", 4),
        ("cancelled", None),
    ]
    assert [each["params"]["requestId"] for each in sent if "id" not in each] == [3, 4]
    assert sending_in_words(calls, LIMIT) == [
        "Send request 2 without waiting for the reply to 1.",
        "Cancel request 3 at once.",
        "Cancel request 4 after 1 s.",
    ]
    assert messages_of((call("a"), call("a", "afresh")), True) == ""


OFFERS = """
from mcp.server.mcpserver import MCPServer
from mcp.types import Completion

server = MCPServer("desk")


@server.resource("notes://all")
def notes() -> str:
    return "all notes"


@server.resource("notes://{title}")
def note(title: str) -> str:
    return f"the note {title}"


@server.prompt()
def greet(name: str) -> str:
    return f"greet {name}"


@server.completion()
async def complete(ref, argument, context):
    return Completion(values=[f"{ref.type} {argument.name} {argument.value}!"])


server.run()
"""


@pytest.mark.full
def test_resources_prompts_and_completions_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(OFFERS)
    calls = (
        call("resources/read", uri="notes://all"),
        call("resource:notes://{title}", title="a b"),
        call("prompt:greet", name="Ada"),
        call("completion:prompt:greet", argument="name", value="A"),
        call("completion:resource:notes://{title}", argument="title", value="B"),
    )
    expected = ["all notes", "the note a b", "greet Ada", "ref/prompt name A!", "ref/resource title B!"]
    for line, words in zip(said(tmp_path, ("desk.py",), *calls), expected, strict=True):
        assert words in line
    replies = answers(messages_of(calls, True), tmp_path)[1:]
    for reply, words in zip(replies, expected, strict=True):
        assert words in json.dumps(reply["result"])


def test_values_of_failed_calls_are_not_passed_on(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(DESK)
    texts = ("id: 7", "Error: there is no id: 8", "${result.id}")
    shown = said(tmp_path, ("desk.py", "none"), *(call("get_text", text=text) for text in texts))
    assert "text='7'" in shown[2]


@pytest.mark.parametrize(
    "server",
    [
        McpServer("far", url="http://me:plain1@127.0.0.1:9/mcp?key=plain2"),
        McpServer("far", url="http://127.0.0.1:9/mcp?key=plain2", headers={"X-Key": "plain3"}, kind="sse"),
        McpServer("near", ("serve", "--token", "plain4", "--password=plain5", "postgres://me:plain6@h/d")),
    ],
)
def test_keys_in_addresses_and_commands_are_not_written_down(server: McpServer) -> None:
    script = script_of(server, call("get_text", text="b"))
    lines = [*lines_on_server(server, is_trusted=False), script]
    compile(script, "repro.py", "exec")
    assert "plain" not in "\n".join(lines)
    assert "..." in script


@pytest.mark.parametrize("kind", ["hang", "blow-up"])
def test_a_single_offer_that_does_not_answer_has_a_limit(kind: str) -> None:
    script = script_of(McpServer("desk", ("desk",)), call("prompt:greet", name="Ada"), kind=kind)
    assert "client.get_prompt(" in script
    assert "asyncio.wait_for(" in script


@pytest.mark.full
def test_a_server_is_started_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "desk.py").write_text(DESK)
    server = McpServer("desk", (PYTHON, "desk.py", "none"), folder=str(tmp_path / "there"))
    script = script_of(server, call("get_text", text="b"))
    assert 'cwd="there"' in script
    assert "text='b'" in run_script(script, tmp_path).stdout


@contextmanager
def web_server() -> Iterator[tuple[str, list[str]]]:
    """An address, and the `X-Key` of each request for it."""
    seen = list[str]()

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("X-Key", ""))
            self.send_error(401)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
        server.shutdown()


@pytest.mark.full
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_headers_are_sent_with_placeholders(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with web_server() as (url, seen):
        server = McpServer("far", url=url, headers={"X-Key": "secret"}, kind=kind)
        script = script_of(server, call("get_text", text="b"))
        run_script(script, tmp_path)
    assert "secret" not in script
    assert set(seen) == {"..."}


def test_programs_are_not_run_for_a_run_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\necho v22.1.0\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    server = McpServer("desk", ("npx", "-y", "desk"))
    assert [*lines_on_server(server, False)] == ["`npx -y desk`"]
    assert not (tmp_path / "was-run").exists()
    assert [*lines_on_server(server, True)][-1].startswith("Node v22")


def read_by(spec: str) -> str:
    tool = structs.replace(described("Read."), kind="function")
    known: dict[str, Described] = {"read": tool}
    return script_for_code(structs.replace(FINDING, spec=spec), known)


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("there/mod.py:read", "from mod import read"),
        ("package.mod:tools.read", "from package.mod import tools"),
        ("mod:make()", "from mod import make"),
    ],
)
def test_code_is_imported(spec: str, line: str) -> None:
    assert line in read_by(spec).splitlines()


@pytest.mark.parametrize(
    "spec", ["x import y;print(1) #/mod:read", "x;print(1)/mod:read", "a.b.py:read", "mod:read..x", "mod:9"]
)
def test_a_spec_that_names_no_module_is_no_code(spec: str) -> None:
    assert f"from {spec.partition(':')[0]} import" not in read_by(spec)
    assert "replay_calls(" in read_by(spec)
