"""`misstep mcp serve`, from the shell's side."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")


@pytest.fixture
def case(misstep: Command) -> str:
    assert misstep("plan", "synth", "--count", "2", "--out", "cases.jsonl").code == 0
    found: str = json.loads(Path("cases.jsonl").read_text().splitlines()[0])["id"]
    return found


def test_its_input_is_spared(misstep: Command, case: str) -> None:
    before = Path("cases.jsonl").read_text()
    result = misstep("mcp", "serve", case, "--cases", "cases.jsonl", "--out", "cases.jsonl")
    assert (result.code, "would be overwritten by the plan" in result.err) == (2, True)
    assert Path("cases.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense", "--cases", "cases.jsonl"], "there is no case 'nonsense'"),
        (["nonsense"], "does not name a case"),
        (["", "--cases", "cases.jsonl"], "could be any of several"),
        (["last/x"], "no store here yet"),
        (["x", "--cases", "cases.jsonl", "--json"], "standard output belongs to the client"),
    ],
)
def test_errors(misstep: Command, case: str, arguments: list[str], words: str) -> None:
    result = misstep("mcp", "serve", *arguments)
    assert (result.code, words in result.err) == (2, True), result.err


def test_an_empty_host_is_not_everywhere(misstep: Command, case: str) -> None:
    result = misstep("mcp", "serve", case, "--cases", "cases.jsonl", "--http", "--host", "")
    assert (result.code, "--host  can't be empty" in result.err) == (2, True), result.err
