"""Reports of runs of every kind, as files."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, get_args

import jsonschema
import junitparser
import pytest

from misstep.core.settings import Report
from tests.conftest import Command
from tests.features.consistency.two_roads import two_roads
from tests.features.crosstalk.grouped_tools import GOOD, eager, write_tools
from tests.features.fix.test_command import Travelling
from tests.fuzzing.agent_tests.scripted_roles import plays
from tests.fuzzing.consistency.roads import SOURCE
from tests.interop.test_sarif import SCHEMA
from tests.scripted import Script, ScriptedServer

KINDS = ",".join(get_args(Report))
ALL = ("--report", KINDS, "--report-dir", "out", "--display", "none")
PLAN = ("plan", "test", "--agent", "sim:greedy", "--seed", "1")
ENDINGS = [".html", ".json", ".md", ".ndjson", ".sarif", ".xml"]
TOOLS = '''
PRICES = {"apple": 3}


def find(query: str) -> int:
    """Find a price."""
    return PRICES[query]


def count(items: list[int]) -> int:
    """Count items."""
    return len(items)
'''


class Reports:
    """What lies in a folder of reports of one run, read by others' readers."""

    def __init__(self, folder: Path) -> None:
        files = {path.suffix: path for path in folder.iterdir()}
        self.endings = sorted(files)
        (self.suite,) = junitparser.JUnitXml.fromfile(str(files[".xml"]))
        document = json.loads(files[".sarif"].read_text())
        jsonschema.Draft4Validator(SCHEMA).validate(document)
        self.sarif: dict[str, Any] = document["runs"][0]
        self.summary: dict[str, Any] = json.loads(files[".json"].read_text())
        self.markdown = files[".md"].read_text()
        self.page = files[".html"].read_text()
        lines = files[".ndjson"].read_text().splitlines() if ".ndjson" in files else []
        self.events = [json.loads(line) for line in lines]

    @property
    def verdicts(self) -> dict[str, int]:
        kinds = [type(case.result[0]).__name__ if case.result else "passed" for case in self.suite]
        return {kind: kinds.count(kind) for kind in kinds}

    @property
    def places(self) -> list[str]:
        found = [result["locations"][0].get("physicalLocation") for result in self.sarif["results"]]
        return [
            f"{each['artifactLocation']['uri']}:{each['region']['startLine']}" if each else ""
            for each in found
        ]


def test_a_planning_run(misstep: Command, tmp_path: Path) -> None:
    printed = misstep(*PLAN, "--count", "60", *ALL, "--json")
    assert printed.code == 1
    reports = Reports(tmp_path / "out")
    assert reports.endings == ENDINGS
    summary = json.loads(printed.out)
    assert reports.summary == summary
    assert reports.verdicts == {"passed": summary["passed"], "Failure": summary["failed"]}
    assert len(reports.sarif["results"]) == summary["failed"]
    assert set(reports.places) == {""}
    (case, *_) = [case for case in reports.suite if case.result]
    id = case.name.partition(" ")[0]
    text = str(case.result[0].text)
    assert "Sentence " in text
    assert "\nmisstep: step " in text
    assert f"Replay: misstep replay {summary['run']}/{id}" in text
    assert misstep("replay", f"{summary['run']}/{id}").code == 1
    assert f"misstep replay {summary['run']}/{id}" in reports.markdown


def test_a_stored_run_says_the_same(misstep: Command, tmp_path: Path) -> None:
    misstep(*PLAN, "--count", "20", *ALL, "--jobs", "1")
    printed = misstep("report", "last", "--report", KINDS, "--report-dir", "again")
    assert printed.code == 0
    assert sorted(printed.out.split()) == sorted(
        f"again/{path.name}" for path in (tmp_path / "out").iterdir()
    )
    first, second = Reports(tmp_path / "out"), Reports(tmp_path / "again")
    assert (first.summary, first.sarif, first.verdicts) == (second.summary, second.sarif, second.verdicts)
    assert first.page == second.page
    assert [event["type"] for event in first.events] == [event["type"] for event in second.events]
    assert first.events[1:] == second.events[1:]


def test_a_page_is_what_is_written_if_nothing_is_said(misstep: Command, tmp_path: Path) -> None:
    misstep(*PLAN, "--count", "5")
    run = json.loads(misstep("runs", "--json").out)["runs"][0]["run"]
    assert misstep("report", "last").out == f"misstep-report/{run}.html\n"
    assert "<!doctype html>" in (tmp_path / "misstep-report" / f"{run}.html").read_text()


def test_a_report_on_standard_output(misstep: Command, tmp_path: Path) -> None:
    misstep(*PLAN, "--count", "5")
    printed = misstep("report", "last", "--report", "json", "--report-dir", "-")
    assert json.loads(printed.out)["cases"] == 5
    assert not (tmp_path / "-").exists()
    both = misstep("report", "last", "--report", "json,md", "--report-dir", "-")
    assert (both.code, both.out) == (2, "")
    assert "only one report can go to standard output, not json, md" in both.err
    alone = misstep(*PLAN, "--count", "5", "--report", "junit", "--report-dir", "-", "--display", "none")
    assert alone.out.startswith("<?xml")
    assert alone.out.endswith("</testsuites>\n")


def test_an_agent_is_located_in_its_file(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "agent.py").write_text("\n\ndef idle(request, tools):\n    return 'done'\n")
    printed = misstep("plan", "test", "--agent", "mine/agent.py:idle", "--count", "3", *ALL)
    assert printed.code == 1
    assert Reports(tmp_path / "out").places == ["mine/agent.py:3"] * 3


@pytest.mark.full
def test_tools_that_were_fuzzed(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / ".git").mkdir()
    given = ("shop.py:find", "shop.py:count", "--calls-per-tool", "60", "--sandbox", "none")
    assert misstep("tool", "fuzz", *given, *ALL).code == 1
    reports = Reports(tmp_path / "out")
    assert reports.endings == ENDINGS
    assert {case.name: bool(case.result) for case in reports.suite} == {"find": True, "count": False}
    assert reports.places == ["shop.py:7"]
    assert "KeyError" in reports.sarif["results"][0]["message"]["text"]
    assert "KeyError" in reports.markdown
    before = reports.sarif["results"][0]["partialFingerprints"]
    (tmp_path / "shop.py").write_text(f"# moved\n\n{TOOLS}")
    misstep("tool", "fuzz", *given, "--report", "sarif", "--report-dir", "moved", "--display", "none")
    (moved,) = (tmp_path / "moved").iterdir()
    (result,) = json.loads(moved.read_text())["runs"][0]["results"]
    assert result["partialFingerprints"] == before
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 9}


def test_documentation_that_was_looked_at(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    given = ("shop.py:find", "--sandbox", "none", "--calls-per-tool", "20", "--report-dir", "out")
    kinds = KINDS.removesuffix(",ndjson")
    assert misstep("tool", "lint", *given, "--report", kinds).code == 1
    reports = Reports(tmp_path / "out")
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {"tool-lint"}
    assert set(reports.places) == {"shop.py:5"}
    assert {result["ruleId"].partition("/")[0] for result in reports.sarif["results"]} == {"lint"}
    assert "find: failed" in reports.page
    refused = misstep("tool", "lint", *given, "--report", "ndjson")
    assert refused.code == 2
    assert "there are no events to report" in refused.err


def through_agent(misstep: Command, script: Script, verb: str, *given: str) -> int:
    with ScriptedServer(script) as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, "--retries", "0")
        return misstep("tool", verb, *given, *model, "--max-steps", "5", "--sandbox", "none", *ALL).code


def test_answers_that_were_compared(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "roads.py").write_text(SOURCE)
    given = ("roads.py:road", "--variants", "4", "--count", "1")
    assert through_agent(misstep, two_roads(), "consistency", *given) == 1
    reports = Reports(tmp_path / "out")
    assert reports.verdicts == {"Failure": 1}
    assert reports.places[0].startswith("roads.py:")
    assert [result["ruleId"] for result in reports.sarif["results"]] == ["tool/consistency"]


def test_tools_that_answer_for_others(misstep: Command, tmp_path: Path) -> None:
    write_tools(tmp_path)
    assert (
        through_agent(
            misstep, plays(GOOD, eager), "crosstalk", "desk.py:tools", "web.py:tools", "--count", "2"
        )
        == 1
    )
    reports = Reports(tmp_path / "out")
    assert reports.verdicts == {"passed": 2, "Failure": 1}
    assert [result["ruleId"] for result in reports.sarif["results"]] == ["tool/crosstalk"]
    assert "Tools called by mistake" in reports.page
    assert '<b class="bad">search_web, read_file</b>' in reports.page
    assert reports.events[-1]["type"] == "run_finished"


def test_descriptions_that_were_mended(misstep: Command, tmp_path: Path) -> None:
    """A tool that has better words has passed."""
    (tmp_path / "roads.py").write_text(SOURCE)
    with Travelling().server as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, "--retries", "0")
        short = (*model, "--sandbox", "none", "--max-steps", "5", "--jobs", "1")
        made = ("--variants", "4", "--count", "2", "--fail-on", "none", "--display", "none")
        misstep("tool", "consistency", "roads.py:road", *short, *made)
        fixed = misstep("tool", "fix", "roads.py:road", "--from", "last", *short, "--candidates", "1", *ALL)
    assert fixed.code == 0, fixed.err
    reports = Reports(tmp_path / "out")
    assert reports.endings == ENDINGS
    assert reports.verdicts == {"passed": 1}
    assert reports.sarif["results"] == []
    assert reports.summary == json.loads(misstep("show", "last", "--json").out)
    assert ">road</h2>" in reports.page
    assert "<summary>Candidate 1</summary>" in reports.page
    run = json.loads(misstep("runs", "--json").out)["runs"][0]["run"]
    assert f"misstep tool fix --resume {run} --write</pre>" in reports.page


def test_an_agent_that_says_the_worst(misstep: Command, tmp_path: Path) -> None:
    """Calls and answers that are markup, forbidden characters and no end of text."""
    (tmp_path / "agent.py").write_text(
        "HOSTILE = '</failure>]]><script>|`[a](http://evil.example)\\x00\\x1b' * 2_000\n\n\n"
        "def agent(request, tools):\n"
        "    tools[0](**{HOSTILE: HOSTILE})\n"
        "    return HOSTILE\n"
    )
    given = ("plan", "test", "--agent", "agent.py:agent", "--count", "3")
    assert misstep(*given, *ALL).code == 1
    reports = Reports(tmp_path / "out")
    assert reports.verdicts == {"Failure": 3}
    assert len(reports.markdown) < 20_000
    assert "<script>|" not in reports.page


def test_tasks_of_a_benchmark(misstep: Command, tmp_path: Path) -> None:
    assert (
        misstep("bench", "files", "--agent", "sim:damage", "--count", "3", "--sandbox", "none", *ALL).code
        == 1
    )
    reports = Reports(tmp_path / "out")
    assert reports.verdicts == {"Failure": 3}
    assert {result["ruleId"] for result in reports.sarif["results"]} == {"bench/task"}


def test_inquiries(misstep: Command, tmp_path: Path) -> None:
    """How far an agent gets, why it fails, on how little: none but the last has a gate."""
    few = ("--actions", "3-4", "--per-pair", "2", "--agent", "sim:greedy", "--display", "none")
    assert misstep("plan", "capability", *few, "--report", KINDS, "--report-dir", "far").code == 0
    far = Reports(tmp_path / "far")
    assert far.summary["curve"]
    assert f"{far.verdicts['Failure']} of" in far.markdown.splitlines()[0]
    run = far.summary["run"]
    assert misstep("plan", "dissect", run, "--sample", "1", *ALL).code == 0
    (diagnosis,) = Reports(tmp_path / "out").summary["failures"]
    assert Reports(tmp_path / "out").sarif["results"][0]["ruleId"] == f"cause/{diagnosis['cause']}"
    given = ("--report", KINDS, "--report-dir", "small", "--display", "none")
    assert misstep("plan", "shrink", run, diagnosis["case"], *given).code == 1
    assert Reports(tmp_path / "small").verdicts == {"Failure": 1}


def test_a_run_that_is_short_of_budget_is_reported_as_such(misstep: Command, tmp_path: Path) -> None:
    short = misstep(*PLAN, "--count", "60", "--budget-calls", "43", *ALL)
    assert short.code == 3
    reports = Reports(tmp_path / "out")
    (whole, *_) = reports.suite
    assert isinstance(whole.result[0], junitparser.Error)
    assert "did not finish" in str(whole.result[0].message)
    assert "did not finish" in reports.markdown
    assert not reports.sarif["invocations"][0]["executionSuccessful"]
    run = reports.summary["run"]
    on = ("--budget-calls", "100000", "--fail-on", "none", *ALL)
    assert misstep("plan", "test", "--resume", run, *on).code == 0
    whole = Reports(tmp_path / "out")
    assert sum(whole.verdicts.values()) == whole.summary["cases"] == 60
    assert whole.sarif["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize("kind", get_args(Report))
def test_a_folder_that_can_not_be_made(misstep: Command, tmp_path: Path, kind: str) -> None:
    """It is found out before anything is run."""
    (tmp_path / "taken").write_text("")
    for command in (PLAN, ("report", "last"), ("tool", "lint", "shop.py:find")):
        result = misstep(*command, "--report", kind, "--report-dir", "taken/in")
        assert (result.code, result.out) == (2, "")
    assert not (tmp_path / ".misstep").exists()


def test_a_run_that_is_not_there(misstep: Command) -> None:
    assert "no store here yet" in misstep("report", "last").err
    misstep(*PLAN, "--count", "2")
    assert "there is no run 'nope'" in misstep("report", "nope").err
    assert "expected one or more of html, junit, sarif" in misstep("report", "last", "--report", "x").err


@pytest.mark.full
def test_several_reports_of_one_run_at_once(misstep: Command, tmp_path: Path) -> None:
    """Each is whole, whoever comes last, and nothing else stays behind."""
    misstep(*PLAN, "--count", "50")
    command = [sys.executable, "-m", "misstep", "report", "last", "--report", "junit,sarif,md,json,html"]
    runs = [
        threading.Thread(target=subprocess.run, args=(command,), kwargs={"check": True}) for _ in range(3)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    folder = tmp_path / "misstep-report"
    assert len(list(folder.iterdir())) == 5
    assert sum(Reports(folder).verdicts.values()) == 50


def test_a_report_that_is_cut_off_leaves_nothing_behind(misstep: Command, tmp_path: Path) -> None:
    """The reader of the store fails half-way: there is no part of a file where the report was to be."""
    misstep(*PLAN, "--count", "30")
    script = f"""
import os, signal
from misstep.interop import junit as module
real = module._case
def stopping(*given):
    stopping.count += 1
    if stopping.count == 20:
        os.kill(os.getpid(), signal.{{name}})
    return real(*given)
stopping.count = 0
module._case = stopping
from misstep.cli import run
import sys
sys.exit(run(["report", "last", "--report", "junit", "--report-dir", {str(tmp_path / "out")!r}]))
"""
    for name in ("SIGINT", "SIGKILL"):
        result = subprocess.run([sys.executable, "-c", script.format(name=name)], capture_output=True)
        assert result.returncode == (130 if name == "SIGINT" else -signal.SIGKILL)
        assert list((tmp_path / "out").glob("[!.]*")) == []
    assert os.path.isdir(tmp_path / "out")


def test_a_name_beyond_ascii(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "läden.py").write_text(
        'def größe(größe: str) -> int:\n    """Größe."""\n    return {}[größe]\n'
    )
    given = ("läden.py:größe", "--calls-per-tool", "20", "--sandbox", "none", "--display", "none")
    misstep("tool", "fuzz", *given, "--report", KINDS, "--report-dir", "berichte/übersicht")
    reports = Reports(tmp_path / "berichte" / "übersicht")
    assert reports.places == ["l%C3%A4den.py:3"]
    assert [case.name for case in reports.suite] == ["größe"]
