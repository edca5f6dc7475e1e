"""`misstep tool consistency` as it is typed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.runs.lookup import find_run
from tests.conftest import Command
from tests.features.consistency.two_roads import PER_SET, two_roads
from tests.fuzzing.agent_tests.scripted_roles import always
from tests.fuzzing.consistency.roads import SOURCE, with_country
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
    1  2 of 10: it says 939 km; asked again, 2: it says 939 km
    2  9 of 10: it says 465 km
    3  2 of 10: it says 939 km; asked again, 2: it says 939 km
    4  2 of 10: it says 939 km; asked again, 2: it says 939 km
  the pair that differs
    1  {"end": "Lyon", "start": "Paris"} → 939 km (2 of 10)
    2  {"end": "Lyon, France", "start": "Paris, France"} → 465 km (9 of 10)
"""


def test_a_run_is_shown_replayed_and_labelled(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server))
    assert printed.code == 1
    tidy = printed.out
    assert SHOWN in tidy
    assert [line for line in tidy.splitlines() if line.endswith(" ")] == []
    assert "road: what differs: arguments: end, start (1 set)" in tidy
    found = json.loads(misstep("show", "last", "--json").out)
    assert (found["sets"], found["failed"], found["tools"][0]["verdict"]) == (1, 1, "failed")
    (one,) = found["tools"][0]["sets"]
    assert one["buckets"]["outputs"] == [
        {"requests": [1, 3, 4], "value": "939 km"},
        {"requests": [2], "value": "465 km"},
    ]
    assert (one["scores"][0]["says"], one["scores"][1]["second"]) == ("wrong", None)
    assert f"Replay: misstep replay {found['run']}/{one['id']}" in tidy
    detail = misstep("show", "last", one["id"][:5])
    assert "agent answer" in detail.out
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
    assert "no set failed" in printed.out


def test_what_could_not_be_judged_is_told_and_is_no_failure(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(judge=always("no idea"))) as server:
        printed = misstep(*given(server))
    assert printed.code == 4
    assert ": not scored: " in printed.out


def test_an_agent_whose_model_is_out_is_told_plainly(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(faults=[None] * 4 + [Fault("500")])) as server:
        printed = misstep(*given(server))
    assert printed.code == 2
    assert "the agent's model is unavailable: openai/x answered 500" in printed.err
    assert "resume with: misstep tool consistency --resume" in printed.err


def test_an_agent_that_breaks_is_told_plainly(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(faults=[None] * 4 + [Fault("400")] * 4)) as server:
        printed = misstep(*given(server))
    assert printed.code == 4
    told = " ".join(printed.out.split())
    assert "the agent gave no answer 4 of 4 times, which says nothing about the tool; last error:" in told
    assert "no set failed; 1 set could not be judged" in told


def test_reports_are_written(tmp_path: Path, misstep: Command, server: ScriptedServer) -> None:
    more = ("--report", "html,ndjson", "--report-dir", "out", "--fail-on", "none")
    assert misstep(*given(server, *more)).code == 0
    (page,) = (tmp_path / "out").glob("*.html")
    text = page.read_text()
    assert re.search(r">\d+ of \d+ sets? failed<", text)
    assert "It is approximately 465 km." in text
    for fact in ("openai/x", "misstep tool consistency (toolfuzz)", "no sandbox", "300 s per tool"):
        assert fact in text
    assert f"<h1>roads.py:road · run {page.stem}</h1>" in text
    (events,) = (tmp_path / "out").glob("*.ndjson")
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["run_started", "set_judged", "tool_checked", "run_finished"]
    assert lines[1]["set"]["verdict"] == "failed"


def test_progress_is_shown(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server, "--display", "plain", "--usd-per-tool", "0.2"))
    assert ": 1 tool\n" in printed.err
    assert "failed, buckets: 4 of inputs, 2 of outputs; answers judged wrong: 3 of 4" in printed.err
    assert "1/1  passed 0  failed 1" in printed.err
    assert (
        printed.err.count(
            "the price of openai/x is unknown, so the limit of 0.2 USD per tool can't be checked"
        )
        == 1
    )


def test_a_stopped_run_is_shown_and_goes_on(misstep: Command, server: ScriptedServer) -> None:
    printed = misstep(*given(server, "--count", "2", "--budget-calls", "5"))
    assert printed.code == 3
    assert "How far is it from [start] to [end]?" in printed.out
    assert "stopped early" in printed.out
    assert "the budget is exhausted: 5 of 5 calls" in printed.err
    shown = misstep("show", "last")
    assert "unfinished: 0 of 1 tools\n" in shown.out
    assert "Resume: misstep tool consistency --resume" in shown.out
    wrong = misstep("tool", "consistency", "--resume", "last", "--variants", "3", "--agent", "react")
    told = "--agent and --variants can't be combined with --resume\n  omit them\n"
    assert (wrong.code, wrong.err) == (2, told)
    assert misstep("tool", "fuzz", "--resume", "last").code == 2
    more = ("--budget-calls", "50", "--time-per-request", "180s", "--display", "none", "--json")
    printed = misstep("tool", "consistency", "--resume", "last", *more)
    assert (printed.code, json.loads(printed.out)["failed"]) == (1, 2)
    settings = find_run(Settings(), "last").settings
    assert (settings.time_per_request, settings.retries, settings.budget_calls) == (180.0, 0, 50)


def test_an_outage_is_told(tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(faults=[*[None] * (1 + PER_SET), Fault("500")])) as server:
        printed = misstep(*given(server, "--count", "2"))
    assert printed.code == 2
    assert "resume with: misstep tool consistency --resume" in printed.err
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
    assert "<script>alert" not in page.read_text()
    assert "<img" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no tools were given"),
        (["a.py:b", "--resume", "last"], "can't be combined with --resume"),
        (["a.py:b", "--agent", "tools"], "no model given"),
        (
            ["a.py:b", "--model-role", "juge=x"],
            "known roles: agent, generator, judge\n  Did you mean 'judge'?",
        ),
        (["a.py:b", "--agent", "mcp:false", "--model", "x"], "does not contain {config}\n  for example mcp:"),
        (["a.py:b", "--checks", "inputs,luck"], "expected one or more of inputs, outputs, judge"),
        (["a.py:b", "--variants", "1"], "expected a whole number from 2 to 100"),
    ],
)
def test_what_is_typed_wrong_is_told(misstep: Command, arguments: list[str], said: str) -> None:
    printed = misstep("tool", "consistency", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert said in printed.err
    assert not Path(".misstep").exists()


def test_a_run_in_which_nothing_could_be_judged_says_so(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads(infills=always("no"))) as server:
        printed = misstep(*given(server))
        let_through = misstep(*given(server, "--fail-on", "none"))
        demanded = misstep(*given(server, "--fail-on", "threshold:0.5"))
    assert printed.code == 4
    assert printed.err.splitlines()[-1] == "inconclusive: 1 tool not judged"
    assert let_through.code == 0
    assert demanded.code == 1
    said = "--fail-on threshold:0.5 failed: nothing was judged, required: 50.0 %"
    assert demanded.err.splitlines()[-1] == said


def test_only_agents_that_it_takes_are_suggested(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    for agent in ((), ("--agent", "toolz"), ("--agent", "sim:perfect")):
        refused = misstep("tool", "consistency", "roads.py:road", "--model", "local", *agent)
        assert refused.code == 2
        assert "react, tools, responses, assistant" in refused.err
        assert "sim:" not in refused.err.replace("'sim:perfect'", "")
