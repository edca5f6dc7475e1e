"""Runs that must not fall behind an earlier one."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command, Result
from tests.features.consistency.two_roads import two_roads
from tests.fuzzing.consistency.roads import SOURCE
from tests.scripted import ScriptedServer

SOUND = '''
def find(query: str) -> int:
    """Find a price."""
    return len(query)


def count(items: list[int]) -> int:
    """Count items."""
    return len(items)
'''
BROKEN = SOUND.replace("return len(query)", "return {}[query]")
WORSE = BROKEN.replace("return len(items)", "return items[0]")
FUZZ = (
    "tool",
    "fuzz",
    "shop.py:find",
    "shop.py:count",
    "--calls-per-tool",
    "60",
    "--sandbox",
    "none",
    "--display",
    "none",
)


def plan(misstep: Command, agent: str, *given: str) -> Result:
    return misstep(
        "plan", "test", "--agent", agent, "--count", "60", "--seed", "1", "--display", "none", *given
    )


def latest(misstep: Command) -> str:
    return str(json.loads(misstep("runs", "--json").out)["runs"][0]["run"])


def baseline(result: Result) -> dict[str, Any]:
    return dict(json.loads(result.out)["baseline"])


def test_failures_that_were_there_before_don_t_count(misstep: Command) -> None:
    assert plan(misstep, "sim:greedy").code == 1
    first = latest(misstep)
    same = plan(misstep, "sim:greedy", "--baseline", first)
    assert same.code == 0
    assert f"the same as baseline {first}: 0 lost, 0 won of 60 cases in common" in same.out


def test_a_significant_regression_fails(misstep: Command, tmp_path: Path) -> None:
    plan(misstep, "sim:greedy")
    first = latest(misstep)
    kinds = ("--report", "junit,json,md,html", "--report-dir", "out")
    worse = plan(misstep, "sim:random", "--baseline", first, "--json", *kinds)
    assert worse.code == 1
    told = baseline(worse)
    assert (told["run"], told["regressed"], told["in_common"]) == (first, True, 60)
    assert told["p"] < 0.05
    assert told["interval"][1] < 0
    assert len(told["lost"]) > len(told["won"])
    written = sorted((tmp_path / "out").iterdir())
    assert [path.suffix for path in written] == [".html", ".json", ".md", ".xml"]
    for path in written:
        assert f"orse than baseline {first}" in path.read_text(), path
        assert f"report: out/{path.name}\n" in worse.err
    compared = json.loads(misstep("compare", first, latest(misstep), "--json").out)
    assert compared["lost"] == told["lost"]
    assert compared["pairing"]["p"] == told["p"]
    last = worse.err.splitlines()[-1]
    assert last.startswith(f"--baseline {first} failed: ")
    assert f"worse than baseline {first}" in last
    assert f"{len(told['lost'])} lost, {len(told['won'])} won of 60 cases in common" in last


def test_an_improvement_passes_and_says_so(misstep: Command) -> None:
    plan(misstep, "sim:greedy")
    better = plan(misstep, "sim:perfect", "--baseline", "last")
    assert better.code == 0
    assert "better than baseline" in better.out


def test_what_chance_explains_is_no_regression(misstep: Command) -> None:
    plan(misstep, "sim:probability", "-A", "rate=0.3")
    other = plan(misstep, "sim:probability", "-A", "rate=0.36", "--baseline", "last")
    assert other.code == 0
    assert "no significant difference from baseline" in other.out


@pytest.mark.parametrize(
    ("gate", "code"), [("any", 1), ("none", 0), ("threshold:0.5", 0), ("threshold:0.9", 1)]
)
def test_a_gate_that_is_asked_for_holds_as_well(misstep: Command, gate: str, code: int) -> None:
    """The agent is no worse than before, and passes about two thirds."""
    plan(misstep, "sim:greedy")
    assert plan(misstep, "sim:greedy", "--baseline", "last", "--fail-on", gate).code == code


def test_a_baseline_is_no_matter_to_commands_that_have_none(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_BASELINE", "nope")
    (tmp_path / "shop.py").write_text("def find(query: str) -> int:\n    return 1\n")
    assert misstep("tool", "lint", "shop.py:find", "--sandbox", "none", "--calls-per-tool", "5").code == 1


def test_a_regression_fails_whatever_else_is_asked_for(misstep: Command) -> None:
    plan(misstep, "sim:perfect")
    for gate in ("none", "threshold:0.1"):
        assert plan(misstep, "sim:greedy", "--baseline", latest_perfect(misstep), "--fail-on", gate).code == 1


def latest_perfect(misstep: Command) -> str:
    runs = json.loads(misstep("runs", "--json").out)["runs"]
    return next(run["run"] for run in runs if run["agent"] == "sim:perfect")


@pytest.mark.full
def test_the_last_run_of_the_same_command(misstep: Command, tmp_path: Path) -> None:
    """Not one of another command, nor one that has not come to its end; where there is none, that is said."""
    none = plan(misstep, "sim:greedy", "--baseline", "last", "--json")
    assert none.code == 0
    assert baseline(none) == {
        "run": None,
        "regressed": False,
        "conclusion": "there is no earlier run to compare with",
    }
    first = latest(misstep)
    (tmp_path / "shop.py").write_text(SOUND)
    assert misstep(*FUZZ).code == 0
    assert plan(misstep, "sim:greedy", "--budget-calls", "20").code == 3
    cut_short = latest(misstep)
    assert baseline(plan(misstep, "sim:greedy", "--baseline", "last", "--json"))["run"] == first
    more = ("--budget-calls", "100000", "--baseline", "last", "--json")
    resumed = misstep("plan", "test", "--resume", cut_short, "--display", "none", *more)
    assert baseline(resumed)["run"] == first


def test_runs_that_can_not_be_compared(misstep: Command, tmp_path: Path) -> None:
    plan(misstep, "sim:greedy")
    first = latest(misstep)
    other = plan(misstep, "sim:greedy", "--seed", "7", "--baseline", first)
    assert other.code == 2
    assert "have no judged case in common" in other.err
    assert f"the results are stored: misstep show {latest(misstep)}" in other.err
    (tmp_path / "shop.py").write_text(SOUND)
    kind = misstep(*FUZZ, "--baseline", first)
    assert (kind.code, kind.out) == (2, "")
    assert f"run {first} is one of plan test, not of tool fuzz" in kind.err
    gone = plan(misstep, "sim:greedy", "--baseline", "nope")
    assert (gone.code, gone.out) == (2, "")
    assert "there is no run 'nope'" in gone.err
    assert "the same store as the run: see --store" in gone.err
    elsewhere = plan(misstep, "sim:greedy", "--baseline", first, "--store", "other.db")
    assert elsewhere.code == 2
    assert "other.db  no store here yet" in elsewhere.err
    itself = misstep("report", first, "--baseline", first)
    assert itself.code == 2
    assert f"both are run {first}" in itself.err


@pytest.mark.full
def test_new_findings_fail(misstep: Command, tmp_path: Path) -> None:
    source = tmp_path / "shop.py"
    source.write_text(BROKEN)
    assert misstep(*FUZZ).code == 1
    first = latest(misstep)
    source.write_text(f"# a line that moves all others\n\n{BROKEN}")
    same = misstep(*FUZZ, "--baseline", first)
    assert same.code == 0
    assert f"no findings beyond baseline {first}" in same.out
    source.write_text(WORSE)
    worse = misstep(*FUZZ, "--baseline", first, "--json", "--report", "md")
    assert worse.code == 1
    told = baseline(worse)
    assert [(each["tool"], each["kind"], each["error"]) for each in told["new"]] == [
        ("count", "crash", "IndexError")
    ]
    assert told["gone"] == []
    (page,) = (tmp_path / "misstep-report").glob("*.md")
    assert "1 finding not in baseline" in page.read_text()
    source.write_text(SOUND)
    better = misstep(*FUZZ, "--baseline", first)
    assert better.code == 0
    assert "1 finding no longer occurs" in better.out


def test_a_second_defect_of_one_kind_in_one_function_is_new(misstep: Command, tmp_path: Path) -> None:
    source = tmp_path / "shop.py"
    source.write_text(BROKEN)
    misstep(*FUZZ)
    twice = BROKEN.replace(
        "    return {}[query]", "    if query == '':\n        return {}[query]\n    return {}[query]"
    )
    source.write_text(twice)
    worse = misstep(*FUZZ, "--baseline", "last", "--json")
    assert worse.code == 1
    assert [each["error"] for each in baseline(worse)["new"]] == ["KeyError"]


@pytest.mark.full
def test_tools_of_which_nothing_was_known(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(WORSE)
    misstep(*FUZZ[:3], *FUZZ[4:])
    first = latest(misstep)
    assert [each["tool"] for each in baseline(misstep(*FUZZ, "--baseline", first, "--json"))["new"]] == [
        "count"
    ]
    other = misstep(*FUZZ[:2], *FUZZ[3:], "--baseline", first)
    assert other.code == 2
    assert "have no judged tool in common" in other.err


def test_tasks_of_a_benchmark(misstep: Command) -> None:
    given = ("--count", "12", "--sandbox", "none", "--display", "none")
    assert misstep("bench", "files", "--agent", "sim:right", *given).code == 0
    first = latest(misstep)
    worse = misstep("bench", "files", "--agent", "sim:idle", *given, "--baseline", first)
    assert worse.code == 1
    assert f"worse than baseline {first}" in worse.out
    assert "of 12 tasks in common" in worse.out


def test_answers_of_tools(misstep: Command, tmp_path: Path) -> None:
    """One set can't be a significant difference; that it is the same one is seen."""
    (tmp_path / "roads.py").write_text(SOURCE)
    with ScriptedServer(two_roads()) as server:
        model = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, "--retries", "0")
        given = (
            "--variants",
            "4",
            "--count",
            "1",
            "--max-steps",
            "5",
            "--sandbox",
            "none",
            "--display",
            "none",
        )
        assert misstep("tool", "consistency", "roads.py:road", *model, *given).code == 1
        again = misstep("tool", "consistency", "roads.py:road", *model, *given, "--baseline", "last")
    assert again.code == 0
    assert "0 lost, 0 won of 1 set in common" in again.out


def test_a_stored_run_against_another(misstep: Command) -> None:
    plan(misstep, "sim:greedy")
    first = latest(misstep)
    plan(misstep, "sim:random")
    worse = misstep("report", "last", "--baseline", "last", "--report", "md", "--report-dir", "-")
    assert worse.code == 1
    assert f"worse than baseline {first}" in worse.out
    assert misstep("report", first, "--report", "md", "--report-dir", "-").code == 0
