"""Inspect reads our runs, runs our cases, and comes to the same verdicts."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

import misstep
from misstep.core.case import Case
from misstep.core.outcome import Call, Transcript, Usage
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.errors import MissingExtra
from misstep.features.plan_test.run import check_plans
from misstep.runs.reporting.export import write_inspect
from misstep.store.runs import Store
from tests.conformance.subject_subprocess import find_python
from tests.interop.runs import HOSTILE, Motley, outcomes, run, verdicts

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
SUBJECT = Path(__file__).with_name("inspect_subject.py")
PYTHON = find_python("TEST_INSPECT_PYTHON", ".venv-inspect")
needs_inspect = pytest.mark.skipif(not PYTHON, reason="Inspect needs TEST_INSPECT_PYTHON or .venv-inspect")

Inspect = Callable[..., Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as pip would install it: Inspect finds tasks by what a distribution says of itself."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site-packages")
    return folder / "site-packages"


@pytest.fixture
def there(site: Path, tmp_path: Path) -> Inspect:
    """Runs something in Inspect's environment, with misstep installed; what it printed."""

    def call(*arguments: str) -> str:
        home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "PYTHONPATH": str(site)}
        command = [PYTHON, *arguments]
        ran = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **home}, capture_output=True, text=True, check=False
        )
        assert ran.returncode in (0, 1), ran.stderr
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran.stdout

    return call


def dumped(there: Inspect, command: str, *arguments: str) -> Any:
    """What Inspect's own command line says."""
    return json.loads(there("-m", "inspect_ai", "log", command, *arguments))


@needs_inspect
def test_a_run_opens_in_inspect(there: Inspect, tmp_path: Path) -> None:
    settings = run(tmp_path, by=Motley(), family=("order", "data"))
    there(
        "-m", "misstep", "export", "last", "--format", "inspect", "--out", "run.eval", "--store", "store.db"
    )
    log = json.loads(there(str(SUBJECT), "read", "run.eval"))
    kept = {outcome.case.id: outcome for outcome in outcomes(settings)}
    with Store(settings.store) as store:
        ours = store.find_run("last").summary
    assert ours is not None
    (metrics,), (again,) = log["metrics"], log["again"]
    assert metrics["accuracy"] == again["accuracy"] == pytest.approx(ours.success)
    assert metrics["stderr"] == pytest.approx(again["stderr"])
    assert metrics["chance"] == ours.chance
    assert {name for name in metrics if name.startswith("actions ")} == {
        "actions 3",
        "actions 4",
        "actions 5",
    }
    assert set(log["summaries"]) == set(kept)
    for sample in log["samples"]:
        outcome = kept[sample["id"]]
        verdict = outcome.verdict
        assert sample["input"] == sample["messages"][0]["content"] == outcome.case.query
        asked = [call for message in sample["messages"] for call in message.get("tool_calls") or ()]
        assert [call["function"] for call in asked] == [call.tool for call in outcome.transcript.calls]
        assert sample["metadata"]["verdict"] == verdict.verdict
        assert (sample["error"] is not None) == (verdict.verdict == "errored")
        if verdict.verdict in ("passed", "failed"):
            score = sample["scores"]["misstep"]
            assert score["value"] == ("C" if verdict.verdict == "passed" else "I")
            assert (score["explanation"] or "") == verdict.explanation
            assert len(sample["metadata"]["constraints"]) == len(outcome.case.constraints)
        else:
            assert not sample["scores"]


@needs_inspect
def test_inspect_s_own_commands_read_it_and_so_do_we(there: Inspect, tmp_path: Path) -> None:
    settings = run(tmp_path, by=Motley())
    there(
        "-m", "misstep", "export", "last", "--format", "inspect", "--out", "run.eval", "--store", "store.db"
    )
    log = dumped(there, "dump", "run.eval")
    assert (log["status"], len(log["samples"])) == ("success", 40)
    (listed,) = dumped(there, "list", "--log-dir", ".", "--json")
    assert listed["name"].endswith("run.eval")
    (tmp_path / "log.json").write_text(json.dumps(log))
    for name in ("run.eval", "log.json"):
        checked = check_plans(Settings(cases=str(tmp_path / "cases.jsonl"), plans=str(tmp_path / name)))
        assert verdicts(list(checked)) == verdicts(outcomes(settings))


def task(number: int) -> TaskReport:
    verdict = ("passed", "failed", "errored")[number % 3]
    used = Use("move", json.dumps({"to": HOSTILE}), "moved", Judged("fine"))
    return TaskReport(
        name=f"fi{number}",
        kind="move",
        request=f"Move {number}.",
        split="test",
        verdict=verdict,  # type: ignore[arg-type]
        domain="art",
        why=(HOSTILE,) if verdict == "failed" else (),
        trial=Trial("x", (used,) * number, answer=HOSTILE) if verdict != "errored" else None,
        usage={"agent": Usage(7, 3)},
        seconds=1.5,
        place=number,
    )


@needs_inspect
def test_a_benchmark_opens_in_inspect(there: Inspect, tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store.db"), agent="tools", model="openai/gpt-4o")
    with Store(settings.store, create=True) as store:
        name = store.add_run(settings, 9, 1e9, purpose=RunSpec("files", tools=("plain",))).id
        with store.sit(name, 1e9) as seat:
            for number in range(9):
                seat.keep_report(task(number), Spent())
    there("-m", "misstep", "export", name, "--format", "inspect", "--out", "run.eval", "--store", "store.db")
    log = json.loads(there(str(SUBJECT), "read", "run.eval"))
    assert log["status"] == "cancelled"  # it has not been finished
    assert log["metrics"][0]["accuracy"] == log["again"][0]["accuracy"] == 0.5
    assert log["metrics"][0]["domain art"] == 0.5
    used = log["samples"][1]["model_usage"]["gpt-4o"]
    assert (used["input_tokens"], used["output_tokens"]) == (7, 3)


def planned(case: Case, number: int) -> list[list[dict[str, Any]]]:
    """Turns that go right, or wrong in one of several ways."""
    if case.solution:
        calls = [{"tool": call.tool, "arguments": call.arguments} for call in case.solution]
    else:
        tools = {action.id: action.tool for action in case.actions}
        calls = [{"tool": tools[action], "arguments": {}} for action in case.witness]
    match number % 5:
        case 1:
            return [calls[::-1]]  # all in one turn
        case 2:
            return [[call] for call in calls[:-1]]
        case 3:
            return [[{"tool": "no_such_tool", "arguments": {}}], *[[call] for call in calls]]
        case 4:
            return [[{**calls[0], "arguments": {"made": "up"}}], *[[call] for call in calls[1:]]]
    return [[call] for call in calls]


@needs_inspect
@pytest.mark.parametrize("family", ["order", "order,data,time"])
def test_our_cases_inside_inspect(there: Inspect, tmp_path: Path, family: str) -> None:
    given = {"actions": "3-5", "count": 20, "seed": 3, "family": family.split(",")}
    families = tuple(family.split(","))
    settings = Settings(actions=misstep.Span(3, 5), count=20, seed=3, family=families)  # type: ignore[arg-type]
    cases = list(misstep.synthesise(settings))
    plans = [{"request": case.query, "turns": planned(case, n)} for n, case in enumerate(cases)]
    (tmp_path / "plans").write_text("\n".join(map(json.dumps, plans)))
    log = json.loads(there(str(SUBJECT), "eval", "plans", json.dumps(given)))
    expected = {case.id: judged(case, planned(case, n)) for n, case in enumerate(cases)}
    plain = {id: json.loads(msgspec.json.encode(verdict)) for id, verdict in expected.items()}
    found = {sample["id"]: sample["scores"]["constraints_kept"] for sample in log["samples"]}
    assert {id: score["metadata"] for id, score in found.items()} == plain
    passed = sum(verdict.verdict == "passed" for verdict in expected.values())
    (metrics,) = log["metrics"]
    assert metrics["accuracy"] == passed / 20 > 0
    assert metrics["chance"] == pytest.approx(sum(case.chance or 0 for case in cases) / 20)
    assert "actions 3" in metrics
    # And what Inspect has written down is judged the same.
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, cases)))
    (written,) = (tmp_path / "logs").glob("*.eval")
    there("-m", "misstep", "plan", "check", "--cases", "cases.jsonl", "--plans", str(written), "--out", "out")
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert {line["case"]: line for line in lines} == plain


def judged(case: Case, turns: list[list[dict[str, Any]]]) -> misstep.Verdict:
    calls = [
        Call(call["tool"], call["arguments"], turn=number)
        for number, turn in enumerate(turns, 1)
        for call in turn
    ]
    return misstep.check(case, Transcript(case.id, tuple(calls)))


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="Inspect is here")
def test_without_inspect_it_is_said_what_brings_it(tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match=r"pip install .*\[inspect\]"):
        write_inspect(run(tmp_path, agent="sim:perfect", count=1), "last")
