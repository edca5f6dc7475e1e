"""Defects of tools as people see them: in the terminal, as JSON, on a page, as tests."""

import ast
import json

from msgspec import structs

from misstep.core.results.finding import Cause, Finding
from misstep.core.results.fuzzing import CodeReach, FuzzReport, ReachAttempt, Refusal, Richness, ToolReport
from misstep.core.results.summary import Tally
from misstep.core.results.trial import Judged, Trial
from misstep.core.settings import Settings
from misstep.core.tool import Frame, Invocation
from misstep.features.tool_fuzz.page import defects
from misstep.features.tool_fuzz.replay import regression_tests
from misstep.features.tool_fuzz.view import as_json, finding_detail, fuzz_view, judged_view
from misstep.rendering.html.page import RunPage, run_page
from tests.rendering.screens import shown
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
ORDINARY = structs.replace(FINDING, calls=(Invocation("delete_note", '{"note": "a"}'),))
REPORT = FuzzReport(
    "k3f9xa",
    ("notes.py:tools",),
    (
        ToolReport(
            "delete_note",
            1_000,
            (
                FINDING,
                structs.replace(ORDINARY, id="ff00", kind="hang", error="hang", reproduced=1, frames=()),
            ),
            refused=12,
            richness=Richness(2.5, 2.0, 6.1),
            reach=CodeReach(7, 9, ("notes.py:14-15",)),
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


def test_lines_that_are_wrapped_keep_their_indent() -> None:
    long = "words " * 30
    _, *said = shown(judged_view(Judged("crash", long, "s", "KeyError", "notes.py:3", long)), 80).splitlines()
    assert len(said) == 6
    assert [line for line in said if not line.startswith("  words")] == []
    rehearsed = ReachAttempt("ab12cd34ef", "unmet", rehearsal=Trial("please", answer=long))
    lines = shown(finding_detail(FINDING, rehearsed), 80).splitlines()
    assert [line[:9] for line in lines[lines.index("    (no call)") + 1 :]] == ["    words"] * 3
    refusal = Refusal("add", "ValueError", long, "", json.dumps({"text": long}), 5)
    tool = ToolReport("add", 9, (ORDINARY,), valid=9, refused=9, refusals=(refusal,))
    view = fuzz_view(structs.replace(REPORT, tools=(tool,)), "misstep replay", f" --store {'x' * 75}")
    lines = shown(view, 80).splitlines()
    assert lines[lines.index("  Replay: misstep replay/ab12cd34ef --store") + 1] == f"  {'x' * 75}"
    refused, call = (
        next(number for number, line in enumerate(lines) if start in line) for start in ("55.6 %", "add({")
    )
    assert [line[:9] for line in lines[refused + 1 : call]] == ["    words"] * (call - refused - 1)
    assert lines[call + 1].startswith("      words")


def test_nothing_found_is_said() -> None:
    report = structs.replace(REPORT, tools=REPORT.tools[1:])
    assert "no defects found" in shown(fuzz_view(report, ""), 80)


def test_json_has_the_agreed_fields() -> None:
    printed = json.loads(json.dumps(as_json(REPORT)))
    tool, other = printed["tools"]
    assert (tool["calls"], tool["unique_errors"], tool["calls_per_error"]) == (1_000, 2, 500.0)
    assert tool["chao1"] == {"estimate": 2.5, "low": 2.0, "high": 6.1}
    (finding,) = [each for each in tool["findings"] if each["id"] == FINDING.id]
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
    page = run_page(RunPage(Tally().summary("k3f9xa", HOSTILE), tuple(defects(hostile(), ""))))
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
        RunPage(Tally().summary("k3f9xa", "notes.py:tools"), tuple(defects(REPORT, " --store x.db")))
    )
    for words in (
        "delete_note",
        "2.5 (2–6)",
        "7/9",
        "UnicodeEncodeError",
        "misstep replay k3f9xa/ab12cd34ef --store x.db",
    ):
        assert words in page


def grouped() -> FuzzReport:
    """Three tools with one cause, one of them with an odd call and one of its own that nobody has replayed."""

    def place(tool: str, text: str) -> Finding:
        call = Invocation(tool, json.dumps({"path": text}))
        return structs.replace(FINDING, id=f"id-{tool}", tool=tool, calls=(call,), original=(call,))

    waiting = structs.replace(
        FINDING, id="waiting", where="notes.py:99 in late", replayed=0, reproduced=0, message="only once"
    )
    tools = (
        ToolReport("odd", 9, (place("odd", "\0"),)),
        ToolReport("plain", 9, (place("plain", "a"),), unconfirmed=(waiting,)),
        ToolReport("long", 9, (place("long", "a" * 90),)),
    )
    return FuzzReport("k3f9xa", ("notes.py:tools",), tools)


def test_one_cause_is_shown_once_by_its_most_plausible_call_with_all_places() -> None:
    told = shown(fuzz_view(grouped(), "misstep replay k3f9xa"), 200)
    assert "1 defect in 3 tools; 1 not confirmed" in told
    assert told.count("surrogates not allowed") == 1
    assert "same cause at 2 more places: long (id-long), odd (id-odd)" in told
    assert told.index('plain({"path": "a"})') < told.index("not confirmed: seen") < told.index("only once")
    page = run_page(RunPage(Tally().summary("k3f9xa", "notes.py", None, None), tuple(defects(grouped(), ""))))
    assert "1 defect in 3 tools; 1 not confirmed" in page
    assert page.index("1 defect in 3 tools") < page.index("id-plain") < page.index("Not confirmed</h2>")
    assert page.index("Not confirmed</h2>") < page.index("only once")


def test_json_keeps_what_was_not_replayed_apart() -> None:
    told = json.loads(json.dumps(as_json(grouped())))
    assert (told["unique_errors"], told["unconfirmed"]) == (3, 1)
    places = [{"tool": name, "finding": f"id-{name}"} for name in ("plain", "long", "odd")]
    assert [cause["places"] for cause in told["causes"]] == [places]
    assert [len(tool["findings"]) for tool in told["tools"]] == [1, 1, 1]
    assert {each["cause"] for tool in told["tools"] for each in tool["findings"]} == {told["causes"][0]["id"]}
    assert all(each["confirmed"] for tool in told["tools"] for each in tool["findings"])
    (waiting,) = [each for tool in told["tools"] for each in tool["unconfirmed"]]
    assert (waiting["id"], waiting["confirmed"]) == ("waiting", False)


def test_nothing_confirmed_is_no_defect() -> None:
    (_, plain, _) = grouped().tools
    report = FuzzReport("k3f9xa", (), (structs.replace(plain, findings=()),))
    assert "no defects found; 1 not confirmed" in shown(fuzz_view(report, ""), 100)
    assert report.causes == []
    assert regression_tests(report, Settings(), "/x").count("def test_") == 0


def test_causes_are_looked_for_once_however_many_tools_there_are() -> None:
    looks = list[int]()

    class Watched(FuzzReport, frozen=True):
        @property
        def causes(self) -> list[Cause]:
            looks.append(len(self.tools))
            return super().causes

    tools = tuple(structs.replace(REPORT.tools[0], name=f"tool{number}") for number in range(20))
    as_json(Watched("k3f9xa", ("notes.py:tools",), tools))
    assert looks == [20]
