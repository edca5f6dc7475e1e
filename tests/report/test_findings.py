"""Defects of tools as people see them: in the terminal, as JSON, on a page, as tests."""

import ast
import json

from msgspec import structs

from misstep.core.finding import Finding, FuzzReport, Reach, Richness, ToolReport
from misstep.core.ruling import Judged
from misstep.core.settings import Settings
from misstep.core.summary import Tally
from misstep.core.tool import Frame, Invocation
from misstep.report.findings import as_json, finding_detail, fuzz_view, judged_view
from misstep.report.page import Findings, run_page
from misstep.report.tool_regression import regression_tests
from tests.report.screens import shown
from tests.snapshots import check_snapshot

HOSTILE = '\x1b[31m</pre><script>alert("x")</script>\u202e"""\n'
CALL = Invocation("delete_note", json.dumps({"note": "\ud800\0é"}))

FINDING = Finding(
    id="ab12cd34ef",
    tool="delete_note",
    kind="crash",
    error="UnicodeEncodeError",
    where="notes.py:12 in delete_note",
    message="surrogates not allowed",
    why="UnicodeEncodeError left the tool: its own code at notes.py:12 did not handle it",
    signature="UnicodeEncodeError notes.py:12",
    calls=(Invocation("add_note", '{"text": ""}'), CALL),
    original=(CALL,),
    found_after=17,
    seen=3,
    replayed=3,
    reproduced=3,
    frames=(Frame("notes.py", 12, "delete_note", True), Frame("os.py", 500, "remove", False)),
    spec="notes.py:tools",
)
REPORT = FuzzReport(
    "k3f9xa",
    ("notes.py:tools",),
    (
        ToolReport(
            "delete_note",
            1_000,
            (
                FINDING,
                structs.replace(FINDING, id="ff00", kind="hang", error="hang", reproduced=1, frames=()),
            ),
            refused=12,
            richness=Richness(2.5, 2.0, 6.1),
            reach=Reach(7, 9, ("notes.py:14-15",)),
            sandbox="bubblewrap: no network, read-only system, 1,024 MB",
        ),
        ToolReport("fetch", 30, environment=30, ended="exhausted", notes=("the sandbox has no network",)),
    ),
    12.5,
)


def test_the_terminal_view() -> None:
    check_snapshot("fuzz", shown(fuzz_view(REPORT, "misstep replay k3f9xa", " --store x.db"), 100))


def test_one_finding_in_full() -> None:
    check_snapshot("finding", shown(finding_detail(FINDING, None), 100))


def test_what_came_of_a_replay() -> None:
    judged = Judged("crash", "it left the tool", "s", "KeyError", "notes.py:3 in f", "'x'")
    assert (
        shown(judged_view(judged), 80).splitlines()[0].rstrip() == "now: crash  KeyError at notes.py:3 in f"
    )
    assert shown(judged_view(Judged("fine")), 80).strip() == "now: fine"


def test_nothing_found_is_said() -> None:
    report = structs.replace(REPORT, tools=REPORT.tools[1:])
    assert "no defects were found" in shown(fuzz_view(report, ""), 80)


def test_json_has_the_agreed_fields() -> None:
    printed = json.loads(json.dumps(as_json(REPORT)))
    tool, other = printed["tools"]
    assert (tool["calls"], tool["unique_errors"], tool["calls_per_error"]) == (1_000, 2, 500.0)
    assert tool["chao1"] == {"estimate": 2.5, "low": 2.0, "high": 6.1}
    finding = tool["findings"][0]
    assert finding["arguments"] == {"note": "\ud800\0é"}
    assert [call["tool"] for call in finding["calls"]] == ["add_note", "delete_note"]
    assert {"id", "kind", "error", "where", "message", "found_after"} <= finding.keys()
    assert (other["calls_per_error"], other["chao1"], other["environment"]) == (None, None, 30)


def hostile() -> FuzzReport:
    finding = structs.replace(
        FINDING, tool=HOSTILE, error=HOSTILE, where=HOSTILE, message=HOSTILE, why=HOSTILE, spec=HOSTILE
    )
    return FuzzReport("k3f9xa", (HOSTILE,), (ToolReport(HOSTILE, 5, (finding,), notes=(HOSTILE,)),))


def test_hostile_words_are_only_words() -> None:
    assert "\x1b" not in shown(fuzz_view(hostile(), ""), 200)
    page = run_page(Findings(Tally().summary("k3f9xa", HOSTILE), tools=hostile()))
    assert "<script>alert" not in page
    assert "\u202e" not in page
    source = regression_tests(hostile(), Settings(), "/nowhere")
    strings = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    assert HOSTILE in strings
    calls = [
        node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert set(calls) == {"Path", "Settings", "replay_calls"}


def test_a_page_shows_tools_and_findings() -> None:
    page = run_page(
        Findings(Tally().summary("k3f9xa", "notes.py:tools"), tools=REPORT, place=" --store x.db")
    )
    for words in (
        "delete_note",
        "2.5 (2–6)",
        "7/9",
        "UnicodeEncodeError",
        "misstep replay k3f9xa/ab12cd34ef --store x.db",
    ):
        assert words in page
