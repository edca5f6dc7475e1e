"""Table 2 of the ToolFuzz paper: a benchmark before and after other descriptions, by three commands."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import Command
from tests.documents.pages import ROOT
from tests.features.bench.run.few_tasks import by_the_book
from tests.scripted import Call, Script, ScriptedServer

PAGE = ROOT / "docs/reference/benchmarks.md"
BETTER = "Missing folders on the way are made, so that no call has to make them."
WORDS = f'[tools.move]\ndescription = "Move or rename a file or a folder. {BETTER}"\n'
FEW = (
    "--kind",
    "move,delete",
    "--split",
    "validation",
    "--sandbox",
    "none",
    "--jobs",
    "1",
    "--display",
    "none",
)


def only_when_told(prompt: str, tools: list[str]) -> Sequence[Call]:
    """A model that moves nothing unless it has read that folders are made."""
    calls = by_the_book(prompt, tools)
    return [call for call in calls if call.name != "move" or BETTER in prompt]


def tells_of_words(shown: str) -> bool:
    return f"descriptions: {Path('words.toml').absolute()}" in shown.replace("\n", "")


def test_rates_before_and_after(misstep: Command) -> None:
    Path("words.toml").write_text(WORDS)
    script = Script(plan=only_when_told, find_request=lambda prompt: prompt)
    with ScriptedServer(script) as server:
        given = ("--agent", "react", "--model", "x", "--model-base-url", server.base_url, *FEW, "--json")
        before = json.loads(misstep("bench", "files", *given).out)
        after = json.loads(misstep("bench", "files", *given, "--descriptions", "words.toml").out)
    moves = before["by_kind"]["move"]["failed"]
    assert (moves > 0, before["by_kind"]["move"]["passed"]) == (True, 0)
    assert before["by_kind"]["delete"] == after["by_kind"]["delete"]
    assert (after["passed"], after["tasks"]) == (after["total"], before["tasks"])
    found = json.loads(misstep("compare", before["run"], after["run"], "--json").out)
    pairing, kinds = found["pairing"], {part["kind"]: part["pairing"] for part in found["kinds"]}
    assert (pairing["second_only"], pairing["first_only"]) == (moves, 0)
    assert pairing["interval"][0] < pairing["difference"] < pairing["interval"][1]
    assert (kinds["move"]["second_only"], kinds["delete"]["both"]) == (moves, before["passed"])
    first, second = found["effort"]
    assert 0 < first["calls"] < second["calls"]
    assert 0 < first["tokens"] < second["tokens"]
    shown = misstep("compare", before["run"], after["run"]).out
    assert re.search(r"second +\w+ +react\b[^\n]*, described\s+by words\.toml", shown)
    assert shown.count("described") == 1
    assert re.search(rf" move +{moves} +0\.0 % +100\.0 % +\+100\.0 ", shown)
    assert re.search(r"calls +\d+\.\d +\d+\.\d\n +tokens +[\d,]+ +[\d,]+\n", shown)
    assert tells_of_words(misstep("show", after["run"]).out)


def test_the_forge_takes_other_descriptions(misstep: Command) -> None:
    Path("words.toml").write_text('[tools.create_branch]\ndescription = "Make a branch."\n')
    few = ("--agent", "sim:right", "--kind", "create-branch", "--split", "validation", "--display", "none")
    printed = misstep("bench", "forge", *few, "--descriptions", "words.toml", "--json")
    found = json.loads(printed.out)
    assert (found["passed"], found["total"]) == (2, 2)
    assert tells_of_words(misstep("show", found["run"]).out)
    Path("words.toml").write_text('[tools.create_brnch]\ndescription = "Make a branch."\n')
    wrong = misstep("bench", "forge", *few, "--descriptions", "words.toml")
    assert (wrong.code, "Did you mean 'create_branch'?" in wrong.err) == (2, True)


def test_the_page_shows_these_commands() -> None:
    part = PAGE.read_text().partition("### Before and after: Table 2")[2]
    (block,) = re.findall(r"```sh\n(.*?)```", part.partition("\n## ")[0], re.DOTALL)
    first, second, third = (line.split("#")[0].split() for line in block.splitlines())
    assert second == [*first, "--descriptions", "words.toml"]
    assert (first[:3], third) == (["misstep", "bench", "files"], ["misstep", "compare", "RUN", "RUN"])
