"""`misstep plan synth|check|test`, whole."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from misstep.planning.judging import solver
from misstep.planning.language.reader import read
from tests.conftest import Command
from tests.snapshots import check_snapshot


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_plans(path: Path, cases: list[dict[str, Any]], backwards: bool = False) -> None:
    with path.open("w") as file:
        for case in cases:
            tools = {action["id"]: action["tool"] for action in case["actions"]}
            order = case["witness"][::-1] if backwards else case["witness"]
            calls = [{"tool": tools[action], "arguments": {}} for action in order]
            file.write(json.dumps({"case": case["id"], "calls": calls, "ended": "answered"}) + "\n")


def test_synth_writes_cases_as_documented(misstep: Command, tmp_path: Path) -> None:
    result = misstep(
        "plan", "synth", "--actions", "3-5", "--count", "20", "--seed", "7", "--out", "cases.jsonl"
    )
    assert (result.code, result.out) == (0, "")
    check_snapshot("plan-synth", result.err)
    cases = lines(tmp_path / "cases.jsonl")
    assert len(cases) == 20
    for case in cases:
        assert case["version"] == 1
        assert {
            "id",
            "seed",
            "topic",
            "query",
            "actions",
            "constraints",
            "witness",
            "chance",
            "skeleton",
        } <= set(case)
        assert all(set(action) >= {"id", "name", "tool"} for action in case["actions"])
        for constraint in case["constraints"]:
            assert set(constraint) == {"kind", "first", "then", "sentence"}
            assert constraint["kind"] == "before"
        names = [action["name"] for action in case["actions"]]
        assert all(len(read(sentence, names)) == 1 for sentence in case["sentences"])


def test_synth_gives_the_same_bytes_again_and_on_standard_output(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--count", "30", "--out", "one.jsonl")
    misstep("plan", "synth", "--count", "30", "--out", "two.jsonl")
    printed = misstep("plan", "synth", "--count", "30")
    one = (tmp_path / "one.jsonl").read_bytes()
    assert one == (tmp_path / "two.jsonl").read_bytes() == printed.out.encode()
    assert misstep("plan", "synth", "--count", "30", "--seed", "1").out.encode() != one


def test_synth_json(misstep: Command) -> None:
    result = misstep("plan", "synth", "--count", "50", "--out", "cases.jsonl", "--json")
    summary = json.loads(result.out)
    assert result.err == ""
    assert (summary["cases"], sum(summary["actions"].values())) == (50, 50)
    assert summary["skeletons"]["grammar"] == 250
    assert 0 < summary["skeletons"]["used"] <= 250


@pytest.mark.parametrize(("actions", "count"), [("3", 5), ("4", 16), ("5", 63), ("6", 318), ("3-5", 84)])
def test_synth_exhaustive(misstep: Command, actions: str, count: int) -> None:
    result = misstep("plan", "synth", "--exhaustive", "--actions", actions, "--out", "c.jsonl", "--json")
    assert json.loads(result.out)["cases"] == count


def test_check(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--count", "10", "--out", "cases.jsonl")
    cases = lines(tmp_path / "cases.jsonl")
    write_plans(tmp_path / "plans.jsonl", cases)
    result = misstep("plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--out", "v.jsonl")
    assert result.code == 0
    assert lines(tmp_path / "v.jsonl") == [{"case": case["id"], "verdict": "passed"} for case in cases]
    write_plans(tmp_path / "plans.jsonl", cases, backwards=True)
    result = misstep("plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--verify")
    assert result.code == 1
    for line, case in zip(result.out.splitlines(), cases, strict=True):
        verdict = json.loads(line)
        assert (verdict["verdict"], verdict["error"]) == ("failed", "order")
        assert verdict["violated"] == list(range(len(case["constraints"])))
        assert verdict["explanation"]
    check_snapshot("plan-check", result.err)


def test_check_json_and_gate(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--count", "10", "--out", "cases.jsonl")
    cases = lines(tmp_path / "cases.jsonl")
    write_plans(tmp_path / "good.jsonl", cases[:9])
    write_plans(tmp_path / "bad.jsonl", cases[9:], backwards=True)
    (tmp_path / "plans.jsonl").write_text(
        (tmp_path / "good.jsonl").read_text() + (tmp_path / "bad.jsonl").read_text()
    )
    arguments = ("plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--out", "v.jsonl")
    result = misstep(*arguments, "--json")
    summary = json.loads(result.out)
    assert (result.code, summary["passed"], summary["failed"], summary["errors"]["order"]) == (1, 9, 1, 1)
    assert summary["interval"] == pytest.approx([0.5958, 0.9821], abs=1e-4)
    codes = {
        gate: misstep(*arguments, "--fail-on", gate).code
        for gate in ("any", "none", "threshold:0.9", "threshold:0.91")
    }
    assert codes == {"any": 1, "none": 0, "threshold:0.9": 0, "threshold:0.91": 1}


def test_test_prints_progress_and_a_closing_table(misstep: Command) -> None:
    result = misstep("plan", "test", "--agent", "sim:greedy", "--count", "40", "--seed", "1")
    assert result.code == 1
    check_snapshot("plan-test-progress", result.err)
    check_snapshot("plan-test", result.out)


LAST_IN_FIRST_OUT = """
import asyncio

waiting, ended = [], []

async def agent(request, tools):
    waiting.append(request)
    while len(waiting) < 6 or waiting[-1 - len(ended)] != request:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)
    ended.append(request)
"""


def test_the_first_failures_are_those_of_the_first_cases(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(LAST_IN_FIRST_OUT)
    misstep("plan", "synth", "--count", "6", "--out", "cases.jsonl")
    cases = [case["id"] for case in lines(tmp_path / "cases.jsonl")]
    options = ("--agent", "agent.py:agent", "--count", "6", "--jobs", "6", "--display", "none")
    printed = misstep("plan", "test", *options).out
    stored = [line.split()[0] for line in misstep("show", "last").out.splitlines() if "  lost" in line]
    assert stored[0] != cases[0]  # the order of their ends
    listed = printed.partition("First 3 failures")[2]
    assert [line.split()[0] for line in listed.splitlines() if "  lost" in line] == cases[:3]
    assert f"/{cases[0]}\n" in printed


def test_an_error_that_repeats_is_shown_once(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def agent(request, tools):\n    raise RuntimeError('no key')\n")
    printed = misstep("plan", "test", "--agent", "agent.py:agent", "--count", "4", "--display", "none").out
    assert printed.count("no key") == 1
    assert "First failure\n" in printed
    (case,) = re.findall(r"^Details: +misstep show \w+ (\w+)$", printed, re.MULTILINE)
    assert "agent.py:2" in misstep("show", "last", case).out.replace(", line 2", ":2").replace('"', "")


def test_test_json_has_every_field(misstep: Command) -> None:
    result = misstep("plan", "test", "--agent", "sim:random", "--count", "200", "--json", "--display", "none")
    summary = json.loads(result.out)
    assert (result.code, result.err) == (1, "")
    assert summary["cases"] == summary["passed"] + summary["failed"] == 200
    assert summary["errors"] == {
        "timeout": 0,
        "act": 0,
        "lost": 0,
        "order": summary["failed"],
        "parameter": 0,
    }
    assert summary["success"] == summary["passed"] / 200
    low, high = summary["interval"]
    assert low < summary["success"] < high
    assert low < summary["chance"] < high
    assert summary["tokens"] == {"input": 0, "output": 0, "cached": 0}
    assert (summary["agent"], summary["model"], summary["usd"]) == ("sim:random", None, 0.0)
    assert summary["calls"] > 600
    assert summary["run"]


def test_a_perfect_agent_passes(misstep: Command) -> None:
    result = misstep("plan", "test", "--agent", "sim:perfect", "--exhaustive", "--actions", "2-5", "--json")
    assert result.code == 0
    assert json.loads(result.out)["passed"] == 86


def test_an_idle_agent_loses_everything(misstep: Command) -> None:
    result = misstep("plan", "test", "--agent", "sim:idle", "--count", "5", "--json")
    assert json.loads(result.out)["errors"]["lost"] == 5


def test_agent_parameters(misstep: Command) -> None:
    arguments = ("plan", "test", "--agent", "sim:probability", "--count", "100", "--json")
    assert json.loads(misstep(*arguments, "-A", "rate=0").out)["failed"] == 0
    assert json.loads(misstep(*arguments, "-A", "rate=1").out)["failed"] == 100


def test_a_file_of_cases_can_be_tested(misstep: Command) -> None:
    misstep("plan", "synth", "--count", "30", "--seed", "5", "--out", "cases.jsonl")
    from_file = json.loads(
        misstep("plan", "test", "--agent", "sim:greedy", "--cases", "cases.jsonl", "--json").out
    )
    fresh = json.loads(
        misstep("plan", "test", "--agent", "sim:greedy", "--count", "30", "--seed", "5", "--json").out
    )
    for summary in (from_file, fresh):
        del summary["run"], summary["seconds"]
    assert from_file == fresh


def test_too_few_steps_is_a_timeout(misstep: Command) -> None:
    result = misstep(
        "plan",
        "test",
        "--agent",
        "sim:perfect",
        "--actions",
        "5",
        "--max-steps",
        "4",
        "--count",
        "3",
        "--json",
    )
    assert json.loads(result.out)["errors"]["timeout"] == 3


EFFECTS = {
    "--actions 6": lambda case: len(case["actions"]) == 6,
    "--topic baker": lambda case: case["topic"] == "baker",
    "--sentences 1 --actions 5": lambda case: len(case["sentences"]) == 1,
    "--group 1 --actions 9": lambda case: "+" not in case["skeleton"],
    "--relative 0 --actions 9": lambda case: "which" not in case["skeleton"],
    "--relative 1 --group 1 --actions 9": lambda case: "which" in case["skeleton"],
    "--request memo": lambda case: case["query"].startswith("To: the "),
    "--exhaustive --actions 2": lambda case: len(case["actions"]) == 2,
}


@pytest.mark.parametrize("flags", EFFECTS)
def test_every_flag_of_synthesis_has_an_effect(misstep: Command, flags: str) -> None:
    counted = [] if "--exhaustive" in flags else ["--count", "30"]
    printed = misstep("plan", "synth", *flags.split(), *counted).out
    assert all(EFFECTS[flags](json.loads(line)) for line in printed.splitlines())


def test_redundancy_has_an_effect(misstep: Command) -> None:
    printed = misstep("plan", "synth", "--redundancy", "1", "--count", "30").out
    assert any(json.loads(line).get("redundant") for line in printed.splitlines())


def test_few_iterations_leave_less_said(misstep: Command) -> None:
    def constraints(iterations: str) -> int:
        result = misstep(
            "plan",
            "synth",
            "--iterations",
            iterations,
            "--count",
            "300",
            "--actions",
            "6",
            "--sentences",
            "12",
            "--out",
            "c",
            "--json",
        )
        return int(json.loads(result.out)["constraints"])

    assert constraints("1") < constraints("50")


CHECK = ["plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--out", "v.jsonl", "--json"]


def test_forbidden_parallel_calls_and_a_planted_disagreement(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    misstep("plan", "synth", "--count", "3", "--out", "cases.jsonl")
    cases = lines(tmp_path / "cases.jsonl")
    write_plans(tmp_path / "plans.jsonl", cases)
    together = (tmp_path / "plans.jsonl").read_text().replace('"arguments": {}', '"arguments": {}, "turn": 1')
    (tmp_path / "plans.jsonl").write_text(together)
    assert json.loads(misstep(*CHECK).out)["passed"] == 3
    assert json.loads(misstep(*CHECK, "--parallel", "forbid").out)["errors"]["act"] == 3
    monkeypatch.setattr(solver, "violated_by", lambda case, plan: (0,))
    assert misstep(*CHECK).code == 0
    result = misstep(*CHECK, "--verify")
    assert result.code == 70
    assert "Z3 and the fast path disagree on case" in result.err


def test_cases_that_could_not_be_judged_pass_no_gate(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--count", "10", "--out", "cases.jsonl")
    cases = lines(tmp_path / "cases.jsonl")
    write_plans(tmp_path / "plans.jsonl", cases)
    broken = (tmp_path / "plans.jsonl").read_text().splitlines()
    broken[1:] = [line.replace('"answered"', '"error"') for line in broken[1:]]
    (tmp_path / "plans.jsonl").write_text("\n".join(broken) + "\n")
    result = misstep(*CHECK, "--fail-on", "threshold:0.9")
    summary = json.loads(result.out)
    assert (result.code, summary["success"], summary["errored"]) == (1, 1.0, 9)
    assert summary["chance"] == pytest.approx(cases[0]["chance"])
    assert misstep(*CHECK).code == 1


@pytest.mark.parametrize("display", ["plain", "rich", "none"])
def test_json_is_all_there_is_on_standard_output(misstep: Command, display: str) -> None:
    result = misstep("plan", "test", "--agent", "sim:greedy", "--count", "20", "--json", "--display", display)
    assert json.loads(result.out)["cases"] == 20
    assert bool(result.err) == (display != "none")


def test_live_progress_shows_counts_per_verdict(misstep: Command) -> None:
    result = misstep("plan", "test", "--agent", "sim:greedy", "--count", "20", "--display", "rich")
    assert "20/20" in result.err
    assert "passed" in result.err
    assert "failed" in result.err
