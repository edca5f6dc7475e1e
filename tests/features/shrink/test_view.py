"""Failures as tests of the user's own, run by a real pytest, and reductions as people see them."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.results.diagnosis import ProblemSize, Reduction
from misstep.core.settings import Settings
from misstep.features.shrink.view import reduction_view, regression_test
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.executor import replay_case

FAULTY = {"agent": "sim:topic", "agent_args": {"topic": "baker"}}
BEFORE, AFTER = ProblemSize(6, 4, 7, 150), ProblemSize(2, 1, 1, 90)

AGENT = """
async def backwards(request, tools):
    for tool in reversed(sorted(tools, key=lambda tool: request.index(tool.name.replace("_", " ")))):
        tool()
"""


def baker(families: tuple[str, ...] = ("order",)) -> Case:
    return make_case(Suite(0, 3, 4, topics=("baker",), families=families), 0)  # type: ignore[arg-type]


def reduced(outcome: Outcome | None, case: Case, failed: int = 3, tried: int = 3) -> Reduction:
    minimal = outcome is not None
    return Reduction(case, "order", outcome, BEFORE, AFTER, failed, tried, 4, 17, minimal)


def found(settings: Settings, case: Case) -> Reduction:
    outcome = replay_case(case, settings)
    assert outcome.verdict.verdict == "failed"
    return reduced(outcome, case)


def run_pytest(folder: Path, source: str) -> tuple[int, str]:
    """What pytest makes of a test file in an empty project."""
    (folder / "test_regression.py").write_text(source, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_regression.py"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other people's take seconds to load
    done = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.full(after=1)
@pytest.mark.parametrize("families", [("order",), ("order", "time", "data", "dynamic")], ids=str)
def test_it_fails_for_the_faulty_agent_and_passes_once_that_is_mended(
    families: tuple[str, ...], tmp_path: Path
) -> None:
    case = make_case(Suite(3, 5, 5, topics=("baker",), families=families), 0)  # type: ignore[arg-type]
    reduction = found(Settings(**FAULTY), case)
    assert reduction.outcome
    code, printed = run_pytest(tmp_path, regression_test(reduction, Settings(**FAULTY)))
    assert code == 1, printed
    assert reduction.outcome.verdict.explanation in printed
    code, printed = run_pytest(tmp_path, regression_test(reduction, Settings(agent="sim:perfect")))
    assert code == 0, printed
    assert "1 passed" in printed


def test_it_runs_where_the_agent_is(tmp_path: Path) -> None:
    """An agent of the user's own, found by the file's name alone."""
    (tmp_path / "agent.py").write_text(AGENT)
    source = regression_test(found(Settings(**FAULTY), baker()), Settings(agent="agent.py:backwards"))
    code, printed = run_pytest(tmp_path, source)
    assert code == 1, printed
    assert "failed (order)" in printed


@pytest.mark.parametrize(
    "evil",
    [
        '"""\nimport os; os.abort()\n"""',
        "'); raise SystemExit(3)  #",
        "{case} {0} %s \\",
        "\\N{NULL}\\x00\x00\u202e\u2028\ud800",
        "\"'`",
    ],
)
def test_no_text_is_more_than_a_text(evil: str) -> None:
    settings = Settings(agent=evil, agent_args={evil: evil}, model=evil)
    case = msgspec.structs.replace(baker(), query=evil, id=evil, topic=evil, sentences=(evil,))
    verdict = Verdict(evil, "failed", "order", 1, explanation=evil)
    source = regression_test(reduced(Outcome(case, Transcript(evil, ()), verdict), case), settings)
    source.encode()
    tree = ast.parse(source)
    assert [type(node).__name__ for node in tree.body] == [
        "Expr",
        "Import",
        "ImportFrom",
        *["Assign"] * 4,
        "FunctionDef",
    ]
    literals = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert evil in literals
    space: dict[str, object] = {}
    exec(compile(source, "test", "exec"), space)
    assert space["CASE"] == case
    assert space["SETTINGS"] == settings


def test_only_what_makes_the_agent_is_told() -> None:
    settings = Settings(**FAULTY, store="/secret/place.db", jobs=3, timeout=7.0, count=5)
    source = regression_test(found(settings, baker()), settings)
    assert "place.db" not in source
    assert "'timeout': 7.0" in source


@pytest.mark.parametrize(("failed", "tried", "runs"), [(3, 3, 1), (5, 10, 5), (3, 10, 9), (1, 100, 20)])
def test_rare_failures_take_more_runs(failed: int, tried: int, runs: int) -> None:
    outcome = replay_case(baker(), Settings(**FAULTY))
    source = regression_test(reduced(outcome, baker(), failed, tried), Settings(**FAULTY))
    assert f"\nRUNS = {runs}\n" in source


def test_what_did_not_fail_again_makes_no_test() -> None:
    with pytest.raises(ValueError, match="no test"):
        regression_test(reduced(None, baker()), Settings())


def shown(reduction: Reduction) -> str:
    console = Console(width=140)
    with console.capture() as captured:
        console.print(reduction_view(reduction))
    return captured.get()


def test_a_reduction_shows_the_request_the_calls_and_what_they_break() -> None:
    reduction = found(Settings(**FAULTY), baker())
    assert reduction.outcome
    text = shown(reduction)
    assert "6 actions, 4 sentences, 7 constraints → 2, 1, 1" in text
    assert "4 steps and 17 runs of the agent; it fails 3 of 3 runs (order)" in text
    assert "every smaller or simpler request was tried" in text
    assert reduction.outcome.case.sentences[0].split(",")[0] in text
    assert "← misstep" in text
    assert text.index("request") < text.index("calls") < text.index("why") < text.index("broken constraints")
    assert " before " in text.split("broken constraints")[1]


def test_what_could_not_be_tried_is_said() -> None:
    reduction = msgspec.structs.replace(found(Settings(**FAULTY), baker()), minimal=False)
    assert "there may be a smaller one" in shown(reduction)


def test_what_did_not_fail_again_is_said() -> None:
    assert "did not fail this way again in 20 further runs" in shown(reduced(None, baker(), 0, 20))


def test_hostile_words_are_harmless() -> None:
    evil = "\x1b]0;owned\x07 [red]x[/red] \u202e"
    case = msgspec.structs.replace(baker(), query=evil)
    verdict = Verdict(case.id, "failed", "order", explanation=evil)
    text = shown(reduced(Outcome(case, Transcript(case.id, ()), verdict), case))
    assert "\x1b]0" not in text
    assert "\u202e" not in text
    assert "[red]x[/red]" in text
