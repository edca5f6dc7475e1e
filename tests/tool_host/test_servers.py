"""MCP servers in the sandbox: their own folders can be written to, and their exceptions are logged cheaply."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.adapters.mcp.replies import wants_progress
from misstep.core.results.fuzzing import CodeReach
from misstep.core.settings import Settings
from misstep.core.tool import FileChange, Invocation
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.workbench import run_calls
from misstep.runs.setup.workbenches import Workbenches
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap
from tests.tool_host.trying import react

pytestmark = pytest.mark.skipif(bool(find_bubblewrap().problem), reason="there is no bubblewrap")

SERVER = """
import sys
from pathlib import Path
from mcp.server.mcpserver import MCPServer

app = MCPServer("notes")
HERE = Path(__file__).parent


@app.tool()
def keep(text: str) -> str:
    '''Keep a note beside the program.'''
    with open(HERE / "notes.txt", "a") as file:
        file.write(text)
    return (HERE / "notes.txt").read_text()


@app.tool()
def look(name: str) -> str:
    '''Show what is there.'''
    return repr(sorted(each.name for each in (HERE / name).iterdir()))


@app.tool()
def read(name: str) -> str:
    '''Read a file.'''
    try:
        return (HERE / name).read_text()
    except OSError as error:
        return type(error).__name__


@app.tool()
def traceback_kind() -> str:
    '''Which kind of tracebacks the log has.'''
    import logging
    return repr([getattr(each, "rich_tracebacks", None) for each in logging.getLogger().handlers])


app.run()
"""


@pytest.fixture
def server(tmp_path: Path) -> str:
    folder = tmp_path / "server"
    (folder / "data" / "empty").mkdir(parents=True)
    (folder / "server.py").write_text(SERVER)
    (folder / "data" / "a.txt").write_text("a")
    (folder / ".env").write_text("KEY=secret")
    (folder / ".private").mkdir()
    (folder / ".private" / "id_rsa").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "outside").symlink_to(tmp_path / "secret.txt")
    (folder / "inside").symlink_to("data")
    return f"mcp:{sys.executable} {folder}/server.py"


def test_a_server_writes_beside_itself_and_changes_nothing(server: str, tmp_path: Path) -> None:
    with ToolHost(server, CallConditions()) as bench:
        assert react(bench, "keep", text="one ").text == "one "
        assert react(bench, "keep", text="two ").text == "one two "
        bench.reset()
        assert react(bench, "keep", text="three ").text == "three "
        there = "['data', 'inside', 'notes.txt', 'outside', 'server.py']"
        assert react(bench, "look", name=".").text == there
        assert react(bench, "look", name="inside").text == "['a.txt', 'empty']"
    assert not (tmp_path / "server" / "notes.txt").exists()


def test_a_copy_holds_no_secrets(server: str) -> None:
    with ToolHost(server, CallConditions()) as bench:
        for name in ("outside", ".env", ".private/id_rsa"):
            assert react(bench, "read", name=name).text.endswith("FileNotFoundError")


def test_exceptions_are_logged_as_python_does(server: str) -> None:
    with ToolHost(server, CallConditions()) as bench:
        assert react(bench, "traceback_kind").text == "[False]"


READER = """
from pathlib import Path
from mcp.server.mcpserver import MCPServer

app = MCPServer("files")


@app.tool()
def first_line(path: str) -> str:
    '''The first line of a file.'''
    return Path(path).read_text().splitlines()[0]


app.run()
"""


def test_a_server_that_works_on_files_has_some(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(READER)
    spec = f"mcp:{sys.executable} {tmp_path}/server.py"
    with Workbenches(Settings()) as benches, benches.lend(spec) as bench:
        assert react(bench, "first_line", path="notes.md").text == "# Notes"
        assert f"{bench.sandbox.folder}/notes.md" in bench.files
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.txt").write_text("mine")
    given = Settings(workspace=str(tmp_path / "mine"))
    with Workbenches(given) as benches, benches.lend(spec) as bench:
        assert bench.files == ("own.txt", f"{bench.sandbox.folder}/own.txt")


BRANCHES = """
import fcntl
import os
import stat
from mcp.server.mcpserver import MCPServer

app = MCPServer("branches")


def pipes():
    "Those like ours: one can write to them, and does not wait."
    wanted = os.O_WRONLY | os.O_NONBLOCK
    found = []
    for each in range(3, 40):
        try:
            flags = fcntl.fcntl(each, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_NONBLOCK)
            found += [each] if flags == wanted and stat.S_ISFIFO(os.fstat(each).st_mode) else []
        except OSError:
            pass
    assert found
    return found


@app.tool()
async def choose(number: int) -> str:
    '''Choose by a number.'''
    if number > 10:
        return "many"
    if number < 0:
        return "none"
    return "some"


@app.tool()
def disturb(data: str) -> str:
    '''Do something to the pipes; close them without data.'''
    for each in pipes():
        try:
            os.write(each, data.encode() * 5000) if data else os.close(each)
        except BlockingIOError:
            pass
    return "done"


app.run()
"""


@pytest.fixture
def branches(tmp_path: Path) -> str:
    (tmp_path / "server.py").write_text(BRANCHES)
    return f"mcp:{sys.executable} {tmp_path}/server.py"


def test_the_lines_of_a_server_are_told_and_joined_after_a_restart(branches: str) -> None:
    with ToolHost(branches, CallConditions()) as bench:
        assert bench.reach("choose") is None
        assert react(bench, "choose", number=1).edges
        assert not react(bench, "choose", number=2).edges
        before = bench.reach("choose")
        bench.reset()
        assert react(bench, "choose", number=11).edges
        after = bench.reach("choose")
    assert before == CodeReach(3, 5, ("server.py:28", "server.py:30"))
    assert after == CodeReach(4, 5, ("server.py:30",))


@pytest.mark.full(after=1)
@pytest.mark.parametrize("data", ["1 2 3 4\n", "{", ""])
def test_a_server_may_do_anything_to_the_pipe(branches: str, data: str) -> None:
    with ToolHost(branches, CallConditions()) as bench:
        assert react(bench, "disturb", data=data).text == "done"
        assert react(bench, "choose", number=1).text == "some"
        bench.reset()
        assert react(bench, "choose", number=1).edges


DIARY = """
from pathlib import Path
from mcp.server.mcpserver import MCPServer

app = MCPServer("diary")


@app.tool()
def add(line: str) -> str:
    '''Add a line to the diary.'''
    for name in (".cache/diary/index.txt", ".diary/entries.txt"):
        file = Path.home() / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(line)
    return "added"


app.run()
"""


def test_changes_of_a_server_at_home_are_seen(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(DIARY)
    calls = [Invocation("add", json.dumps({"line": line})) for line in ("one", "two")]
    with ToolHost(f"mcp:{sys.executable} {tmp_path}/server.py", CallConditions()) as bench:
        seen = [reaction.changes for reaction in run_calls(bench, calls, watch=True)]
    entries = "~/.diary/entries.txt"
    assert seen == [(FileChange(entries, "created"),), (FileChange(entries, "changed", lost=True),)]


SESSIONS = """
import json
import secrets
import sys

ANY = {"type": "object"}
TOOLS = [{"name": name, "inputSchema": ANY} for name in ("open_session", "use_session")]

for line in sys.stdin:
    request = json.loads(line)
    answer, given = {"jsonrpc": "2.0", "id": request.get("id")}, request.get("params", {})
    if request["method"] == "initialize":
        about = {"name": "sessions", "version": "1"}
        version = given["protocolVersion"]
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif request["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif given.get("name") == "open_session":
        opened = {"session": "sess_" + secrets.token_hex(2), "number": 1 + secrets.randbelow(10**6)}
        answer["result"] = {"content": [{"type": "text", "text": json.dumps(opened)}]}
    elif given.get("name") == "use_session":
        told = [given["arguments"]["session"], "progressToken" in given.get("_meta", {})]
        answer["result"] = {"content": [{"type": "text", "text": json.dumps(told)}]}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    if "id" in request:
        print(json.dumps(answer), flush=True)
"""


def test_a_replay_asks_for_progress_where_the_first_run_did(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SESSIONS)
    runs = list[list[bool]]()
    stored = [
        {"session": "${result.session}", "rows": ["${result.number@open_session#1:number}"], "n": number}
        for number in range(30)
    ]
    with ToolHost(f"mcp:{sys.executable} {tmp_path}/server.py", CallConditions()) as bench:
        for _ in range(2):
            bench.reset()
            react(bench, "open_session")
            replies = [json.loads(react(bench, "use_session", **given).text) for given in stored]
            assert all(session.startswith("sess_") for session, _ in replies)
            runs.append([asked for _, asked in replies])
    assert runs[0] == runs[1] == [wants_progress("use_session", given) for given in stored]
    assert {*runs[0]} == {True, False}


ERROR_REPLIES = """
import json
import sys

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}, "said": {"type": "string"}}}

for line in sys.stdin:
    request = json.loads(line)
    given = request.get("params", {}).get("arguments")
    answer = {"jsonrpc": "2.0", "id": request.get("id")}
    if request["method"] == "initialize":
        about = {"name": "errors", "version": "1"}
        version = request["params"]["protocolVersion"]
        answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif request["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "list_notes", "inputSchema": SCHEMA}]}
    elif given is not None:
        answer["error"] = {"code": given["number"], "message": bytes.fromhex(given["said"]).decode()}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    if "id" in request:
        print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("code", "message", "ruling"),
    [
        (-32600, "Path not found: a", "refused"),
        (-32603, "There is no note of this name", "refused"),
        (-32602, "Path not specified", "refused"),
        (-32602, "MCP error -32602: Absolute paths are not allowed", "refused"),
        (-32602, "the limit must be a number", "schema"),
        (
            -32602,
            "1 validation error for call[list_notes]\nlimit\n  Input should be a valid integer",
            "schema",
        ),
        (-32603, "Cannot read properties of undefined (reading 'length')", "crash"),
        (-32603, "Internal error", "crash"),
    ],
)
def test_errors_of_the_protocol_are_judged_by_their_words(
    code: int, message: str, ruling: str, error_server: ToolHost
) -> None:
    calls = (Invocation("list_notes", json.dumps({"number": code, "said": message.encode().hex()})),)
    judge = judge_calls_of(error_server.tools)
    assert judge(calls[0], run_calls(error_server, calls)[0]).ruling == ruling


@pytest.fixture(scope="module")
def error_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolHost]:
    server = tmp_path_factory.mktemp("errors") / "server.py"
    server.write_text(ERROR_REPLIES)
    with ToolHost(f"mcp:{sys.executable} {server}", CallConditions()) as bench:
        yield bench
