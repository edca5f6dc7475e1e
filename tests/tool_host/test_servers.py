"""MCP servers in the sandbox: their own folders can be written to, and their exceptions are logged cheaply."""

import sys
from pathlib import Path

import pytest

from misstep.core.settings import Settings
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
