"""Findings as texts for a bug tracker: what they say, and that their scripts show what they say."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.replies import wants_progress
from misstep.core.agent import Tool
from misstep.core.results.finding import Finding
from misstep.core.tool import Described, Invocation
from misstep.features.tool_fuzz.issues.files import WORK, NeededFiles, code_for, files_needed
from misstep.features.tool_fuzz.issues.messages import messages_of
from misstep.features.tool_fuzz.issues.script import FIND_RETURNED, code_of, script_for_server
from misstep.features.tool_fuzz.issues.text import title_of
from misstep.rendering.markdown import block
from tests.conftest import Command
from tests.features.tool_fuzz.faulty_tools import TOOLS
from tests.features.tool_fuzz.two_versions import SERVER

SHORT = ("--calls-per-tool", "20", "--display", "none", "--fail-on", "none")
TO_STDOUT = ("--format", "issue", "--report-dir", "-")


def blocks_of(text: str, language: str) -> list[tuple[str, str]]:
    return re.findall(rf"^(`{{3,}}){language}\n(.*?)\n\1$", text, re.MULTILINE | re.DOTALL)


def script_in(text: str) -> str:
    ((_, script),) = blocks_of(text, "python")
    return script


def run_script(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "repro.py").write_text(script)
    command = [sys.executable, "repro.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_each_cause_is_written_worst_first_and_its_script_shows_it(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    misstep("tool", "fuzz", "mine.py:tools", *SHORT)
    causes = json.loads(misstep("show", "last", "--json").out)["causes"]
    printed = misstep("report", "last", "--format", "issue", "--report-dir", "out")
    paths = printed.out.split()
    assert printed.code == 0
    assert [path.rpartition("-")[2] for path in paths] == [
        f"{cause['places'][0]['finding']}.md" for cause in causes
    ]
    assert len(causes) > 1
    for path, cause in zip(paths, causes, strict=True):
        text = (tmp_path / path).read_text()
        assert text.startswith(f"# Unhandled `{cause['error']}` in `{cause['places'][0]['tool']}(")
        assert "- Python 3." in text
        assert str(tmp_path) not in text
        shown = run_script(script_in(text), tmp_path)
        assert shown.returncode == 1
        assert shown.stderr.splitlines()[-1].startswith(cause["error"])


def test_one_finding_can_be_named(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    misstep("tool", "fuzz", "mine.py:lookup", *SHORT)
    (finding,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    text = misstep("report", f"last/{finding['id'][:6]}", *TO_STDOUT).out
    for heading in ("Steps to reproduce", "Expected", "Actual", "Why it matters", "Where", "Versions"):
        assert f"\n## {heading}\n" in text
    assert "`mine.py:7 in lookup`" in text
    assert f"reproduced in {finding['reproduced']} of {finding['replayed']} fresh starts." in text


def test_wrong_input_is_told(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    misstep("tool", "fuzz", "mine.py:lookup", *SHORT)
    assert "'zzz' is not a finding of run" in misstep("report", "last/zzz", "--format", "issue").err
    assert "can't be combined with --format issue" in misstep("report", "last", "--open", *TO_STDOUT).err
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "1", "--display", "none")
    printed = misstep("report", "last", *TO_STDOUT)
    assert (printed.code, printed.out) == (2, "")
    assert "has no findings to report" in printed.err


@pytest.mark.full
def test_a_script_and_messages_for_a_server_show_the_finding(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "desk.py").write_text(SERVER)
    spec = f"mcp:{sys.executable} desk.py"
    assert "remind" in misstep("tool", "fuzz", spec, "--only", "remind", *SHORT).out
    text = misstep("report", "last", *TO_STDOUT).out
    assert "- The server says: `desk 1.4.2, MCP 20" in text
    assert str(tmp_path) not in text
    (said,) = (quote for _, quote in blocks_of(text, "text"))
    shown = run_script(
        script_in(text).replace(f'"{Path(sys.executable).name}"', repr(sys.executable)), tmp_path
    )
    assert shown.returncode == 0, shown.stderr
    assert "is_error=True" in shown.stdout
    assert said.partition(": ")[2] in shown.stdout
    ((_, messages),) = blocks_of(text, "json")
    assert said.partition(": ")[2] in answers(messages, tmp_path)[-1]["result"]["content"][0]["text"]


def answers(messages: str, folder: Path, *more: str) -> list[dict[str, Any]]:
    """What the server answers to requests that are sent one after the other."""
    command = [sys.executable, "desk.py", *more]
    found = list[dict[str, Any]]()
    with subprocess.Popen(command, cwd=folder, stdin=-1, stdout=-1, stderr=-3, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in messages.splitlines():
            server.stdin.write(f"{line}\n")
            server.stdin.flush()
            found += [json.loads(server.stdout.readline())] if "id" in json.loads(line) else []
    return found


def described(words: str) -> Described:
    return Described(Tool("read", words, {"properties": {"path": {}}}), "mcp")


FINDING = Finding(
    id="0123456789",
    tool="read",
    kind="crash",
    error="KeyError",
    where="",
    message="",
    why="",
    signature="",
    calls=(Invocation("read", "{}"),),
    original=(),
    found_after=1,
)


@pytest.mark.parametrize(
    ("tool", "error", "title"),
    [
        ("read", "KeyError", "Unhandled `KeyError` in `read()`"),
        ("![x](http://a.b)", "KeyError", "Unhandled `KeyError` in `![x](http://a.b)()`"),
        ("a`b", "KeyError", "Unhandled `KeyError` in ``a`b()``"),
        ("<img>\n# x", "KeyError", "Unhandled `KeyError` in <code>&#60;img&#62;&#92;u000a&#35; x</code>"),
        ("read", "@all: <b>", "`read()` fails with an internal error (`@all: <b>`)"),
        ("read", "process died", "`read()` ends the server's process"),
    ],
)
def test_nothing_in_a_title_is_markup(tool: str, error: str, title: str) -> None:
    calls = (Invocation(tool, "{}"),)
    assert title_of(structs.replace(FINDING, tool=tool, error=error, calls=calls)) == title


@pytest.mark.parametrize(
    ("kind", "error", "title"),
    [
        ("security", "path outside", "`read` reaches files outside of its folder"),
        ("contract", "read-only", "`read` is declared read-only, but changes something"),
        ("hang", "pages", "`read` does not answer"),
    ],
)
def test_several_calls_are_about_the_tool_at_fault(kind: str, error: str, title: str) -> None:
    calls = (Invocation("read", "{}"), Invocation("list", "{}"))
    assert title_of(structs.replace(FINDING, kind=kind, error=error, calls=calls)) == title


def test_a_block_is_not_ended_by_its_text() -> None:
    assert block("a\n````\nb", "text") == "`````text\na\n````\nb\n`````"


@pytest.mark.parametrize(
    "value",
    ["", "a'b\"c", "é\x00\ud800😀", {"a": [1, 2.5, None, True]}, "x" * 5000, "ab" * 300 + "a", 10**30, "\\n"],
)
def test_code_means_the_value(value: object) -> None:
    code = code_of(value)
    assert eval(code) == value
    assert code.isascii()
    assert len(code) < 100


def test_scripts_find_what_replies_say() -> None:
    found: dict[str, Any] = {"re": re}
    exec("\n".join(FIND_RETURNED), found)  # as in a script
    texts = ('{"id": "a1"}', '{"id": "b2"}', '[{"id": "a1"}]')
    replies = [SimpleNamespace(content=[SimpleNamespace(text=text)]) for text in texts]
    found["replies"] += zip(("create", "create", "list"), replies, strict=True)
    assert found["returned"]("id") == "a1"
    assert found["returned"]("id", "create", 1) == "b2"
    assert found["returned"]("id", "create", 2) == "a1"


def test_messages_are_left_out_if_one_is_too_long() -> None:
    assert messages_of([Invocation("read", json.dumps({"text": "x" * 5000}))], True) == ""
    (only,) = messages_of([Invocation("read", "{}")], False).splitlines()
    assert json.loads(only)["params"] == {"name": "read", "arguments": {}}


def with_progress(asked: bool) -> Invocation:
    """A call that asks for reports of progress, or does not."""
    found = ({"n": number} for number in range(100))
    return Invocation(
        "read", json.dumps(next(each for each in found if wants_progress("read", each) is asked))
    )


def test_calls_ask_for_progress_as_those_that_showed_the_finding() -> None:
    one, other = with_progress(True), with_progress(False)
    server = McpServer("s", ("server",))

    def script(*calls: Invocation) -> str:
        return script_for_server(structs.replace(FINDING, calls=calls), server, NeededFiles(), 5, False)

    assert f"{json.loads(one.arguments)}, progress_callback=ignored)".replace("'", '"') in script(one)
    assert "progress" not in script(other)
    both = script(one, other)
    assert both.count("progress_callback=ignored") == 1
    compile(both, "repro.py", "exec")
    sent = [json.loads(line)["params"] for line in messages_of([one, other], False).splitlines()]
    assert [each.get("_meta") for each in sent] == [{"progressToken": 1}, None]


def test_the_files_that_calls_name_are_made_as_they_were(tmp_path: Path) -> None:
    calls = [{"path": f"{WORK}/data/people.json"}, {"path": "shop.db"}, {"path": "picture.png"}]
    found = structs.replace(FINDING, calls=tuple(Invocation("read", json.dumps(call)) for call in calls))
    tool = described("Read a file, a database or an image.")
    needed = files_needed(found, (), [tool], "")
    assert {"data/people.json", "shop.db", "picture.png"} <= set(needed.files)
    assert "notes.md" not in needed.files
    lines = ["import base64, sqlite3", "from pathlib import Path", f"WORK = Path({str(tmp_path)!r})"]
    exec("\n".join([*lines, *code_for(needed)]), {})
    assert json.loads((tmp_path / "data/people.json").read_text())[0]["name"] == "Ada"
    assert (tmp_path / "picture.png").read_bytes() == needed.files["picture.png"]
    query = [
        "-c",
        "import sqlite3; print(sqlite3.connect('shop.db').execute('SELECT name FROM products').fetchall())",
    ]
    done = subprocess.run([sys.executable, *query], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "apple" in done.stdout


def test_files_of_the_user_are_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("my text")
    found = structs.replace(FINDING, calls=(Invocation("read", '{"path": "private.txt"}'),))
    assert files_needed(found, (), [described("Read a file.")], str(tmp_path)) == NeededFiles(
        {}, (), ("private.txt",)
    )
