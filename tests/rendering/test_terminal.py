"""The list of runs."""

from typing import Any

from misstep.core.results.summary import ListedRun, Run, Tally
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.rendering.terminal import runs_table
from tests.rendering.screens import shown

FOLDER = "/home/somebody/with/a/very/long/name/of/a/folder"
TOOLS = (f"{FOLDER}/shop.py:tools", "mcp:uvx server")


def row(purpose: RunSpec, **settings: Any) -> ListedRun:
    own = Settings(agent="react", model="openai/x", **settings)
    summary = Tally().summary("abc234", "react")
    return ListedRun(Run("abc234", 0.0, 3, 2, own, summary, purpose=purpose), live=False)


def lines(*rows: ListedRun) -> list[str]:
    return [" ".join(line.split()) for line in shown(runs_table(rows), 80).splitlines()]


def test_runs_on_tools_are_told_apart_within_80_columns() -> None:
    fuzzing, checking = RunSpec("fuzz", tools=TOOLS), RunSpec("consistency", tools=TOOLS)
    table = lines(
        row(fuzzing, tool_method="greybox"),
        row(fuzzing, skip_sanity=True),
        row(checking, checks=("judge",)),
        row(checking),
        row(RunSpec("crosstalk", tools=TOOLS)),
    )
    assert table[0] == "run started tools cases success"
    assert [line for line in table if line.startswith(("fuzz", "consistency", "crosstalk"))] == [
        "fuzz (greybox)",
        "fuzz (toolfuzz; without sanity check)",
        "consistency (toolfuzz; checks judge)",
        "consistency (toolfuzz)",
        "crosstalk",
    ]
    assert table[1].endswith("shop.py:tools, mcp:uvx server 2 tools – (0–100)")
    assert table[2] == "react, openai/x"
    assert not any(FOLDER[:10] in line for line in table)


def test_beside_plans_there_are_their_columns() -> None:
    table = lines(row(RunSpec("fuzz", tools=TOOLS)), row(RunSpec()))
    assert table[0] == "run started agent actions cases success chance"
    assert any(line.endswith("react 3-5 2 – (0–100) –") for line in table)
