"""An agent in misstep.toml is for commands that can use it, and breaks no other."""

import json
from pathlib import Path

import pytest

from misstep import test_tools
from tests.conftest import Command, misstep

__all__ = ["misstep"]

TOOLS = """
def lookup(name: str) -> str:
    \"\"\"Look up a price by name.\"\"\"
    return name.upper()

def agent(request, tools):
    return "done"
"""
NO_AGENT = "no agent given\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(TOOLS)
    return tmp_path


@pytest.mark.parametrize("agent", ["sim:greedy", "mine.py:agent", "no-such-agent"])
def test_fuzzing_and_reading_tools_need_no_agent(folder: Path, misstep: Command, agent: str) -> None:
    lines = (f'agent = "{agent}"', 'prompt = "none.txt"', 'tool_method = "greybox"', "skip_sanity = true")
    (folder / "misstep.toml").write_text("\n".join(lines))
    fuzzed = misstep("tool", "fuzz", "mine.py:lookup", "--calls-per-tool", "5", "--fail-on", "none", "--json")
    assert fuzzed.code == 0, fuzzed.err
    assert json.loads(fuzzed.out)["tools"][0]["name"] == "lookup"
    assert misstep("tool", "list", "mine.py:lookup").code == 0
    assert misstep("tool", "lint", "mine.py:lookup", "--calls-per-tool", "5", "--fail-on", "none").code == 0


def test_fuzzing_with_an_agent_takes_one_that_is_typed(
    folder: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_AGENT", "sim:greedy")
    arguments = ("tool", "fuzz", "mine.py:lookup", "--calls-per-tool", "5", "--fail-on", "none")
    assert misstep(*arguments).code == 0
    assert "'sim:greedy' can't call real tools" in misstep(*arguments, "--agent", "sim:greedy").err
    refused = misstep(*arguments, "--method", "greybox")
    assert refused.err == "--method greybox requires --agent\n  add --agent\n"


@pytest.mark.parametrize(
    "command",
    [
        ("tool", "consistency", "mine.py:lookup"),
        ("tool", "crosstalk", "mine.py:lookup"),
        ("tool", "fix", "mine.py:lookup", "--bench", "files", "--strategy", "source"),
        ("bench", "files"),
        ("bench", "forge"),
    ],
    ids=" ".join,
)
def test_a_simulated_agent_of_the_file_counts_as_none(
    folder: Path, misstep: Command, command: tuple[str, ...]
) -> None:
    (folder / "misstep.toml").write_text('agent = "sim:greedy"\nagent_args = {noise = "0.1"}\n')
    found = misstep(*command)
    assert found.code == 2
    assert NO_AGENT in found.err
    (folder / "misstep.toml").write_text('agent = "mine.py:agnet"\n')
    assert "agnet" in misstep(*command).err  # a real one is used


def test_a_typed_agent_leaves_behind_what_describes_that_of_the_file(folder: Path, misstep: Command) -> None:
    (folder / "misstep.toml").write_text(
        'agent = "tools"\nprompt = "p.txt"\nagent_args = {parallel = "no"}\n'
    )
    tried = misstep("plan", "test", "--agent", "sim:perfect", "--count", "3", "--display", "none")
    assert (tried.code, tried.err) == (0, "")
    files = misstep("bench", "files", "--agent", "sim:right", "--count", "1", "--display", "none")
    assert (files.code, files.err) == (0, "")


def test_tools_tested_from_python_need_no_agent_either(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "misstep.toml").write_text('agent = "sim:greedy"\nskip_sanity = true\n')
    monkeypatch.chdir(folder)
    assert test_tools("mine.py:lookup", calls=5).findings == []
