"""What a server does wrong beside its tools: found, replayed, and written down for others; and what is no fault."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.features.tool_fuzz.test_issues import SHORT, TO_STDOUT, answers, blocks_of, run_script, script_in

pytestmark = pytest.mark.full

# Its argument says what is wrong with it. `wait_for` never answers for some texts, as its name says.
DESK = """
import json
import sys
import time
from threading import Event, Lock, Thread

(FAULT,) = sys.argv[1:]
PRINTING = Lock()
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"name": name, "description": name, "inputSchema": TEXT} for name in ("get_text", "show_text", "wait_for")]
CANCELLED, CALLS = {}, {}


def call(name: str, arguments: dict, number: int) -> dict:
    if name not in [tool["name"] for tool in TOOLS] and FAULT != "answers unlisted":
        return {"error": {"code": -32602, "message": f"unknown tool: {name}"}}
    text = str(arguments.get("text", ""))
    if name == "wait_for" and len(text) % 4 == 3:
        CANCELLED[number].wait() if FAULT == "stops when cancelled" else time.sleep(3600)
    return {"result": {"content": [{"type": "text", "text": text}], "isError": text.startswith("Error")}}


def reply(request: dict) -> dict:
    given = request.get("params", {})
    if request["method"] == "initialize":
        about = {"name": "desk", "version": "1"}
        version = given["protocolVersion"]
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
    if request["method"] == "tools/list":
        return {"result": {"tools": TOOLS[:2] if FAULT in ("none", "answers unlisted", "stuck when cancelled") else TOOLS}}
    if request["method"] == "tools/call":
        return call(given["name"], given.get("arguments", {}), request["id"])
    return {"error": {"code": -32601, "message": "Method not found"}}


def answer(request: dict) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply(request)})
    with PRINTING:  # print writes a line and its end one after the other
        print(line, flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "notifications/cancelled":
        number = request["params"]["requestId"]
        CANCELLED[number].set()
        while FAULT == "stuck when cancelled" and CALLS[number] == "show_text":
            time.sleep(1)
    elif "id" in request:
        CANCELLED[request["id"]], CALLS[request["id"]] = Event(), request.get("params", {}).get("name")
        if FAULT in ("goes on", "stops when cancelled"):
            Thread(target=answer, args=[request], daemon=True).start()
        else:
            answer(request)
"""
QUICK = ("--calls-per-tool", "10", "--timeout", "5", "--time-per-tool", "120")


def findings(misstep: Command, folder: Path, fault: str, *more: str) -> list[dict[str, Any]]:
    (folder / "desk.py").write_text(DESK)
    misstep("tool", "fuzz", f"mcp:{sys.executable} desk.py '{fault}'", *QUICK, *SHORT[2:], *more)
    report = json.loads(misstep("show", "last", "--json").out)
    return [finding for tool in report["tools"] for finding in tool["findings"]]


def test_a_call_of_an_unlisted_tool_is_found_replayed_and_written_down(
    tmp_path: Path, misstep: Command
) -> None:
    (finding,) = findings(misstep, tmp_path, "answers unlisted", "--emit", "pytest", "--out", "test_desk.py")
    assert (finding["kind"], finding["error"], finding["replayed"]) == ("contract", "unlisted tool", 2)
    assert [call["sent"] for call in finding["calls"]] == ["unlisted"]
    replayed = misstep("replay", f"last/{finding['id']}")
    assert "under a name that is not listed" in replayed.out
    assert "calling 'misstep_unlisted_tool', which it does not list, succeeds" in replayed.out
    test = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_desk.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "contract: unlisted tool" in test.stdout
    text = misstep("report", "last", *TO_STDOUT).out
    assert text.startswith("# A call of a tool that does not exist succeeds\n")
    shown = run_script(
        script_in(text).replace(f'"{Path(sys.executable).name}"', repr(sys.executable)), tmp_path
    )
    assert "is_error=False" in shown.stdout
    ((_, messages),) = blocks_of(text, "json")
    assert "content" in answers(messages, tmp_path, "answers unlisted")[-1]["result"]


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("none", []),
        ("stuck when cancelled", [("get_text", "cancellation")]),
        ("stuck after time-outs", [("wait_for", "time-out")]),
        ("goes on", []),
        ("stops when cancelled", []),
    ],
)
def test_a_server_answers_on_after_cancelled_calls(
    fault: str, found: list[tuple[str, str]], tmp_path: Path, misstep: Command
) -> None:
    told = findings(misstep, tmp_path, fault)
    assert sorted((each["tool"], each["error"]) for each in told) == found
    for each in told:
        assert each["error"] in misstep("replay", f"last/{each['id']}").out
        text = misstep("report", f"last/{each['id']}", *TO_STDOUT).out
        shown = run_script(
            script_in(text).replace(f'"{Path(sys.executable).name}"', repr(sys.executable)), tmp_path
        )
        assert "TimeoutError" in shown.stdout.splitlines()[-1]
        ((_, messages),) = blocks_of(text, "json")
        assert "notifications/cancelled" in messages
