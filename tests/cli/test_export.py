"""`misstep export` as people use it."""

import json
from pathlib import Path

import pytest

from misstep.errors import install_command
from tests.conftest import Command


@pytest.fixture
def greedy(misstep: Command) -> str:
    """A run of thirty cases, some of them failed."""
    result = misstep("plan", "test", "--agent", "sim:greedy", "--count", "30", "--json", "--fail-on", "none")
    return str(json.loads(result.out)["run"])


def test_to_standard_output(misstep: Command, greedy: str) -> None:
    failed = json.loads(misstep("show", greedy, "--json").out)["failed"]
    result = misstep("export", greedy, "--format", "sft")
    assert result.code == 0
    examples = [json.loads(line) for line in result.out.splitlines()]
    assert len(examples) == failed
    assert set(examples[0]) == {"messages", "tools", "misstep"}
    assert result.err == f"{failed} examples of run {greedy} (order {failed})\n"


def test_into_a_file_with_counts(misstep: Command, greedy: str, tmp_path: Path) -> None:
    result = misstep("export", greedy[:4], "--format", "dpo", "--out", "pairs.jsonl", "--json")
    counts = json.loads(result.out)
    examples = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert (result.code, result.err) == (0, "")
    assert counts == {
        "run": greedy,
        "format": "dpo",
        "out": "pairs.jsonl",
        "examples": len(examples),
        "kinds": {"order": len(examples)},
        "left_out": {},
    }
    assert set(examples[0]) == {"prompt", "chosen", "rejected", "tools", "misstep"}


def test_passed_cases_too(misstep: Command, greedy: str) -> None:
    result = misstep("export", "last", "--format", "sft", "--all")
    assert len(result.out.splitlines()) == 30
    assert "passed" in result.err


def test_one_shot(misstep: Command, greedy: str) -> None:
    """Both sides ask for all their calls in one turn."""
    for side, others in (("messages", ("--format", "sft")), ("rejected", ("--format", "dpo"))):
        lines = misstep("export", greedy, *others, "--one-shot").out.splitlines()
        assert lines
        for line in lines:
            messages = json.loads(line)[side]
            turns = [message["tool_calls"] for message in messages if message.get("tool_calls")]
            assert [len(turn) for turn in turns] == [json.loads(line)["misstep"]["actions"]]


def test_what_can_t_be_done_in_one_shot_is_told(misstep: Command) -> None:
    chosen = ("--family", "order,choice", "--count", "30", "--json", "--fail-on", "none")
    misstep("plan", "test", "--agent", "sim:greedy", *chosen)
    every = misstep("export", "last", "--format", "sft").out.splitlines()
    result = misstep("export", "last", "--format", "sft", "--one-shot", "--out", "x.jsonl", "--json")
    counts = json.loads(result.out)
    assert counts["left_out"]["stepwise"] == len(every) - counts["examples"] > 0
    told = misstep("export", "last", "--format", "sft", "--one-shot").err.splitlines()[1]
    assert told == f"left out: {counts['left_out']['stepwise']} whose calls depend on earlier results"


def test_examples_say_what_their_cases_were_drawn_from(misstep: Command) -> None:
    misstep("plan", "test", "--agent", "sim:idle", "--part", "words,topics", "--count", "2", "--json")
    for line in misstep("export", "last", "--format", "sft").out.splitlines():
        assert json.loads(line)["misstep"]["part"] == ["topics", "words"]
    misstep("plan", "synth", "--count", "2", "--out", "cases.jsonl")
    Path("misstep.toml").write_text('part = "train"\n')
    misstep("plan", "test", "--agent", "sim:idle", "--cases", "cases.jsonl", "--json")
    for line in misstep("export", "last", "--format", "sft").out.splitlines():
        assert json.loads(line)["misstep"]["part"] == []  # nobody knows


def test_nothing_to_export_is_an_empty_file(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "2", "--json")
    result = misstep("export", "last", "--format", "sft", "--out", "none.jsonl")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("0 examples of run ")
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def test_what_was_left_out_is_told(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def agent(request, tools):\n    raise OSError('no')\n")
    misstep("plan", "test", "--agent", "broken.py:agent", "--count", "3", "--json", "--display", "none")
    result = misstep("export", "last", "--format", "sft")
    assert result.err.splitlines()[1] == "left out: 3 errored"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--format", "sft", "--json"], "can't both go to standard output"),
        (["--format", "dpo", "--all"], "have no rejected conversation"),
        (["--format", "csv", "--all"], "csv contains all cases already"),
        (["--format", "csv", "--one-shot"], "--one-shot requires --format sft or dpo"),
        (["--format", "csv", "--json"], "can't both go to standard output"),
        (["--format", "parquet"], "name a file with --out"),
        (["--format", "inspect"], "name a file with --out"),
        (["--format", "csv", "--out", ".misstep/store.db"], "would be overwritten"),
        (["--format", "xml"], "'xml' is not one of"),
        ([], "missing option '--format'"),
        (["--format", "sft", "--out", ".misstep/store.db"], "would be overwritten"),
        (["--format", "sft", "--out", "no/such/folder/x.jsonl"], "can't be written"),
    ],
)
def test_mistakes_are_explained(misstep: Command, greedy: str, arguments: list[str], problem: str) -> None:
    before = Path(".misstep/store.db").stat().st_size
    result = misstep("export", greedy, *arguments)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err
    assert Path(".misstep/store.db").stat().st_size == before


def test_the_cases_that_settings_name_are_spared(misstep: Command, greedy: str, tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text('cases = "cases.jsonl"\n')
    (tmp_path / "cases.jsonl").write_text("{}\n")
    result = misstep("export", greedy, "--format", "sft", "--out", "cases.jsonl")
    assert (result.code, (tmp_path / "cases.jsonl").read_text()) == (2, "{}\n")


def test_a_file_appears_whole_or_not_at_all(misstep: Command, greedy: str, tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text("what was there\n")
    result = misstep("export", "nowhere", "--format", "sft", "--out", "kept.jsonl")
    assert result.code == 2
    assert (tmp_path / "kept.jsonl").read_text() == "what was there\n"
    assert not list(tmp_path.glob(".*.part"))


def test_tables_and_traces(misstep: Command, greedy: str, tmp_path: Path) -> None:
    table = misstep("export", greedy, "--format", "csv")
    assert (table.code, table.out.splitlines()[0][:9]) == (0, "run,case,")
    assert table.err == f"30 rows of run {greedy}\n"
    counts = json.loads(misstep("export", greedy[:4], "--format", "otlp", "--out", "t.jsonl", "--json").out)
    assert counts == {"run": greedy, "format": "otlp", "out": "t.jsonl", "rows": 30}
    assert len((tmp_path / "t.jsonl").read_text().splitlines()) == 30


def test_what_was_exported_can_be_checked(misstep: Command, greedy: str) -> None:
    misstep("plan", "synth", "--count", "30", "--out", "cases.jsonl")
    misstep("export", greedy, "--format", "otlp", "--out", "t.jsonl")
    arguments = (
        "plan",
        "check",
        "--cases",
        "cases.jsonl",
        "--plans",
        "t.jsonl",
        "--out",
        "v.jsonl",
        "--json",
    )
    checked, shown = json.loads(misstep(*arguments).out), json.loads(misstep("show", greedy, "--json").out)
    assert (checked["passed"], checked["errors"]) == (shown["passed"], shown["errors"])


def test_a_missing_package_is_named_before_anything_is_written(misstep: Command, greedy: str) -> None:
    result = misstep("export", greedy, "--format", "inspect", "--out", "run.eval")
    assert (result.code, Path("run.eval").exists()) == (2, False)
    assert install_command("inspect") in result.err
