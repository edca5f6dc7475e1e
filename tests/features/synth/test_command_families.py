"""Families, difficulty and tools of the user's own through the whole command line."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from misstep.core.constraint import FAMILIES
from tests.conftest import Command
from tests.snapshots import check_snapshot

ALL = ",".join(FAMILIES)
QUIET = ("--display", "none", "--fail-on", "none", "--json")

TOOLS = '''
import sys

def called(*_, **__):
    sys.exit("a mocked tool was called")

def search(query: str, limit: int = 10) -> str:
    """Search the web."""
    called()

def book(city: str, nights: int, breakfast: bool) -> str:
    """Book a hotel."""
    called()

def ping() -> str:
    """Say hello."""
    called()

def convert(amount: float, currency: str) -> float:
    """Convert money."""
    called()

tools = [search, book, ping, convert]
'''


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_solutions(path: Path, cases: list[dict[str, Any]]) -> None:
    plans = [{"case": case["id"], "calls": case["solution"]} for case in cases]
    path.write_text("\n".join(map(json.dumps, plans)))


@pytest.mark.parametrize("family", ["time", "order,time", "data", "choice", "budget,dynamic", ALL])
def test_from_cases_to_verdicts(misstep: Command, tmp_path: Path, family: str) -> None:
    made = misstep(
        "plan", "synth", "--family", family, "--actions", "6", "--count", "12", "--out", "cases.jsonl"
    )
    assert made.code == 0
    cases = lines(tmp_path / "cases.jsonl")
    write_solutions(tmp_path / "plans.jsonl", cases)
    checked = misstep(
        "plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--out", "v.jsonl", "--verify"
    )
    assert checked.code == 0, checked.err
    assert "12 passed" in checked.err
    tested = misstep("plan", "test", "--agent", "sim:perfect", "--cases", "cases.jsonl", *QUIET)
    assert json.loads(tested.out)["passed"] == 12
    idle = misstep("plan", "test", "--agent", "sim:idle", "--cases", "cases.jsonl", *QUIET)
    assert json.loads(idle.out)["errors"]["lost"] == 12


def test_timed_is_order_and_time(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--timed", "--count", "10", "--out", "one.jsonl")
    misstep("plan", "synth", "--family", "time,order", "--count", "10", "--out", "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_what_synth_says_of_families_and_difficulty(misstep: Command) -> None:
    made = misstep("plan", "synth", "--family", "order,data", "--count", "20", "--out", "cases.jsonl")
    check_snapshot("plan-synth-families", made.err)
    summary = json.loads(
        misstep("plan", "synth", "--family", "data", "--count", "5", "--out", "x", "--json").out
    )
    assert summary["families"] == {"data": 5}
    assert set(summary["difficulty"]) == {"chance", "actions", "constraints", "chain", "reading", "tokens"}


def test_a_timed_case_in_full_and_once_more(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "test", "--agent", "sim:stubborn", "--timed", "--actions", "5", "--count", "60", *QUIET)
    listed = misstep("show", "last").out
    case = listed.split("Details: misstep show ")[1].split()[1]
    shown = misstep("show", "last", case)
    check_snapshot("show-timed-case", shown.out)
    again = misstep("replay", f"last/{case}")
    assert again.code == 1
    assert "as before: failed, order at step" in again.out


def test_difficulty_keeps_to_its_bounds(misstep: Command, tmp_path: Path) -> None:
    wanted = ("--difficulty", "chain>=4", "--difficulty", "reading>=2,chance<0.05")
    result = misstep("plan", "synth", "--actions", "5", "--count", "10", *wanted, "--out", "hard.jsonl")
    assert result.code == 0
    assert all(case["chance"] < 0.05 for case in lines(tmp_path / "hard.jsonl"))
    alone = lines(tmp_path / "hard.jsonl")[3]
    misstep(
        "plan", "synth", "--actions", "5", "--count", "1", "--seed", str(alone["seed"]), "--out", "x", *wanted
    )
    assert lines(tmp_path / "x") == [alone]


def test_tools_of_the_user_s_own(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    own = ("--tools", "mine.py:tools", "--actions", "3", "--distractors", "1", "--count", "30")
    assert misstep("plan", "synth", *own, "--out", "cases.jsonl").code == 0
    for case in lines(tmp_path / "cases.jsonl"):
        offered = {action["tool"] for action in (*case["actions"], *case["distractors"])}
        assert offered == {"search", "book", "ping", "convert"}
        given = {c["action"]: c["arguments"] for c in case["constraints"] if c["kind"] == "given"}
        for action in case["actions"]:
            assert set(given.get(action["id"], ())) == set(action["parameters"].get("required", ()))
            if action["id"] in given:
                assert f"`{json.dumps(given[action['id']])}`" in case["query"]
    tested = misstep("plan", "test", "--agent", "sim:perfect", "--cases", "cases.jsonl", *QUIET)
    assert json.loads(tested.out)["passed"] == 30
    mixed = ("--family", "order,choice,dynamic", "--actions", "4")
    tested = misstep("plan", "test", "--agent", "sim:perfect", "--tools", "mine.py:tools", *mixed, *QUIET)
    assert json.loads(tested.out)["passed"] == 100, tested.err


def test_arguments_of_one_s_own_tools_are_judged(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    misstep(
        "plan", "synth", "--tools", "mine.py:tools", "--actions", "4", "--count", "1", "--out", "cases.jsonl"
    )
    (case,) = lines(tmp_path / "cases.jsonl")

    def verdict(**changed: object) -> tuple[str, str | None]:
        calls = [
            {**call, "arguments": {**call["arguments"], **changed}} if call["tool"] == "book" else call
            for call in case["solution"]
        ]
        (tmp_path / "plans.jsonl").write_text(json.dumps({"case": case["id"], "calls": calls}))
        misstep("plan", "check", "--cases", "cases.jsonl", "--plans", "plans.jsonl", "--out", "v.jsonl")
        (judged,) = lines(tmp_path / "v.jsonl")
        return judged["verdict"], judged.get("error")

    assert verdict() == ("passed", None)
    assert verdict(city="Nowhere") == ("failed", "parameter")
    assert verdict(nights="two") == ("failed", "act")
    assert verdict(pets=True) == ("failed", "act")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("family", ("--family", "oder")),
        ("family-actions", ("--family", "choice", "--actions", "2-5")),
        ("family-many-actions", ("--timed", "--actions", "15")),
        ("family-sentences", ("--family", ALL, "--actions", "8", "--sentences", "3")),
        ("family-exhaustive", ("--timed", "--exhaustive")),
        ("attempts", ("--timed", "--attempts", "0")),
        ("distractors", ("--distractors", "15", "--actions", "10")),
        ("difficulty", ("--difficulty", "hard")),
        ("difficulty-measure", ("--difficulty", "chian>=3")),
        ("difficulty-none", ("--difficulty", "chain>=6", "--actions", "5")),
        ("tools-missing", ("--tools", "nowhere.py:tools")),
        ("tools-few", ("--tools", "mine.py:tools", "--actions", "5")),
        ("tools-timed", ("--tools", "mine.py:tools", "--timed")),
        ("tools-topic", ("--tools", "mine.py:tools", "--topic", "baker")),
        ("part", ("--part", "trian")),
        ("part-train", ("--part", "train,words")),
        ("part-topic", ("--part", "train", "--topic", "baker")),
        ("part-unseen-topic", ("--part", "topics", "--topic", "brewer")),
        ("part-tools", ("--part", "topics", "--tools", "mine.py:tools", "--actions", "3")),
        ("part-structures", ("--part", "structures", "--family", "data,choice")),
        ("part-exhaustive", ("--part", "structures", "--exhaustive")),
    ],
)
def test_usage_errors(misstep: Command, tmp_path: Path, name: str, arguments: tuple[str, ...]) -> None:
    (tmp_path / "mine.py").write_text(TOOLS)
    result = misstep("plan", "synth", *arguments, "--out", "cases.jsonl")
    assert (result.code, result.out) == (2, "")
    assert not (tmp_path / "cases.jsonl").exists()
    check_snapshot(f"error-{name}", result.err, tmp_path)


def test_a_run_keeps_to_its_part(misstep: Command, tmp_path: Path) -> None:
    """Stopped and resumed, it is on the same cases as one that was not, whatever the settings say by then."""

    def cases_of_last() -> list[str]:
        table = misstep("export", "last", "--format", "csv").out
        return sorted(row["case"] for row in csv.DictReader(io.StringIO(table)))

    chosen = ("--agent", "sim:perfect", "--part", "topics,words", "--count", "20", "--jobs", "1")
    assert misstep("plan", "test", *chosen, "--json").code == 0
    whole = cases_of_last()
    assert misstep("plan", "test", *chosen, "--budget-calls", "20", "--json").code == 3
    (tmp_path / "misstep.toml").write_text('part = "train"\n')
    assert misstep("plan", "test", "--resume", "last", "--budget-calls", "1000", "--json").code == 0
    assert len(whole) == 20
    assert cases_of_last() == whole
    refused = misstep("plan", "test", "--resume", "last", "--part", "train")
    assert refused.err.startswith("--part can't be combined with --resume")
