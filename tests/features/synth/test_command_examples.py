"""`misstep plan synth --format sft`: problems with their solutions, to train models on."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep.core.constraint import FAMILIES
from tests.conftest import Command
from tests.planning.rereading import Rereading

SFT = ("plan", "synth", "--format", "sft")


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_example_for_each_case(misstep: Command, tmp_path: Path) -> None:
    settings = ("--count", "12", "--seed", "3", "--part", "train")
    cases = [json.loads(line) for line in misstep("plan", "synth", *settings).out.splitlines()]
    result = misstep(*SFT, *settings)
    examples = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 0
    assert [example["misstep"]["case"] for example in examples] == [case["id"] for case in cases]
    assert [example["messages"][1]["content"] for example in examples] == [case["query"] for case in cases]
    assert all(example["misstep"]["part"] == ["train"] for example in examples)
    assert result.err.splitlines()[-1] == "12 examples"


@pytest.mark.full(after=3)
@pytest.mark.parametrize("family", [*FAMILIES, ",".join(FAMILIES), "order,time", "order,data,repeat"])
def test_every_family(misstep: Command, tmp_path: Path, family: str) -> None:
    result = misstep(
        *SFT, "--family", family, "--actions", "8", "--count", "10", "--out", "x.jsonl", "--json"
    )
    summary, examples = json.loads(result.out), read(tmp_path / "x.jsonl")
    assert (summary["cases"], summary["examples"], summary["left_out"]) == (10, 10, {})
    assert summary["format"] == "sft"
    for example in examples:
        assert set(family.split(",")) <= set(example["misstep"]["families"])
        assert example["misstep"]["actions"] == 8
        assert not Rereading(example).complaints


def test_the_words_are_those_of_our_agent(misstep: Command, tmp_path: Path) -> None:
    """The user's own, where settings name such; a file of cases for another command has no say."""
    (tmp_path / "own.txt").write_text("Be quick about it.")
    usual = json.loads(misstep(*SFT, "--count", "1").out)["messages"][0]["content"]
    assert usual.startswith("You carry out requests with the tools")
    (tmp_path / "misstep.toml").write_text(
        'agent = "tools"\nprompt = "own.txt"\ncases = "no.jsonl"\npart = ["words", "topics"]\n'
    )
    example = json.loads(misstep(*SFT, "--count", "1").out)
    assert example["messages"][0]["content"] == "Be quick about it."
    assert example["misstep"]["part"] == ["topics", "words"]


def test_one_shot_and_what_it_leaves_out(misstep: Command, tmp_path: Path) -> None:
    mixed = ("--family", "order,choice", "--count", "40", "--one-shot", "--out", "x.jsonl")
    result = misstep(*SFT, *mixed)
    examples = read(tmp_path / "x.jsonl")
    left = 40 - len(examples)
    assert 0 < left < 40
    assert result.err.splitlines()[-2:] == [
        f"{len(examples)} examples",
        f"left out: {left} whose calls depend on earlier results",
    ]
    assert json.loads(misstep(*SFT, *mixed, "--json").out)["left_out"] == {"stepwise": left}
    for example in examples:
        rereading = Rereading(example)
        assert not rereading.complaints
        assert len(rereading.turns) == 1


def test_our_own_check_passes_all_of_them(misstep: Command, tmp_path: Path) -> None:
    every = ("--family", ",".join(FAMILIES), "--actions", "7-8", "--count", "20")
    misstep("plan", "synth", *every, "--out", "cases.jsonl")
    misstep(*SFT, *every, "--out", "examples.jsonl")
    checked = misstep(
        "plan", "check", "--cases", "cases.jsonl", "--plans", "examples.jsonl", "--json", "--out", "v"
    )
    assert json.loads(checked.out)["passed"] == 20


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("plan", "synth", "--one-shot"), "--one-shot requires --format sft\n  add --format sft"),
        ((*SFT, "--json"), "--json and the examples can't both go to standard output"),
        (("plan", "synth", "--format", "dpo"), "'dpo' is not one of"),
    ],
)
def test_mistakes_are_explained(misstep: Command, arguments: tuple[str, ...], problem: str) -> None:
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err
