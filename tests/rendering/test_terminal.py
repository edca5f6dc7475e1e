"""The list of runs, the summary of one, and its failures."""

import io
from typing import Any

from msgspec import structs
from rich.console import Console

from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.results.summary import ListedRun, Run, Summary, Tally
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.rendering.terminal import failures_view, runs_table, summary_view
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


def summed(passed: int, failed: int, chance: float | None = 0.1) -> Summary:
    whole = Tally().summary("abc234", "sim:greedy")
    cases = passed + failed
    return structs.replace(
        whole,
        cases=cases,
        passed=passed,
        failed=failed,
        success=passed / cases if cases else None,
        interval=(0.4, 0.8),
        chance=chance,
    )


def test_the_rate_comes_first_with_a_bar_of_its_interval_and_the_chance_level() -> None:
    first, second, third, fourth = shown(summary_view(summed(60, 40)), 100).splitlines()
    rate, _, bar, *rest = first.split()
    assert rate == "60.0"
    assert " ".join(rest) == "60 of 100 cases passed"
    assert len(bar) == 30
    assert bar[3] == "│"  # a tenth of the way
    assert bar.replace("│", "█") == "█" * 12 + "▓" * 6 + "▒" * 6 + "░" * 6
    assert second.split(", ")[:2] == ["         95 % interval 40.0 % to 80.0 %", "chance level 10.0 %"]
    assert third.split(" · ") == ["         40 failed", "0 calls"]
    assert fourth.strip() == "sim:greedy"


def test_a_terminal_without_unicode_gets_a_bar_it_can_show() -> None:
    console = Console(width=100, color_system=None, file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with console.capture() as captured:
        console.print(summary_view(summed(60, 40)))
    assert captured.get().split()[2] == "###|########======------......"


def test_nothing_judged_has_no_rate_and_an_empty_bar() -> None:
    first, second = shown(summary_view(summed(0, 0, None)), 100).splitlines()[:2]
    assert first.split()[0] == "–"
    assert first.split()[1] == "░" * 30
    assert "interval" not in second


def test_failures_are_blocks_of_what_why_and_which_sentence() -> None:
    case = make_case(Suite(0, 3, 3), 0)
    why = "Step 2, the audit, came too early: x has to be done before it. Sentence 1 says so: “X first.” 1 more constraint is broken."
    verdict = Verdict("c1", "failed", "order", 2, explanation=why)
    told = shown(failures_view([Outcome(case, Transcript("c1", ()), verdict)]), 80).splitlines()
    assert told[:4] == [
        "c1  order at step 2",
        "  Step 2, the audit, came too early: x has to be done before it.",
        "  Sentence 1 says so: “X first.”",
        "  1 more constraint is broken.",
    ]
