"""Curves that are kept in files, and what others have published, beside measured ones."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.snapshots import check_snapshot

RESULTS = Path(__file__).parents[3] / "training" / "results"
SMALL = ("--actions", "2-4", "--per-pair", "6", "--most-cases", "30", "--display", "none")
GREEDY = ("plan", "capability", "--agent", "sim:greedy", *SMALL)
PERFECT = ("plan", "capability", "--agent", "sim:perfect", *SMALL)


def keep(misstep: Command, path: str, *command: str) -> str:
    """What the command prints as JSON, in a file."""
    Path(path).write_text(misstep(*command, "--json").out)
    return path


def without_hint(printed: str) -> str:
    """All but the last line, which names the run or file."""
    return printed.rpartition("\n\n")[0]


def test_a_kept_curve_stands_beside_a_new_one(misstep: Command) -> None:
    file = keep(misstep, "kept.json", *GREEDY)
    by_run = misstep(*PERFECT, "--beside", "last")
    by_file = misstep(*PERFECT, "--beside", file)
    assert by_file.code == by_run.code == 0
    assert without_hint(by_file.out) == without_hint(by_run.out)
    assert "▲ sim:greedy" in by_file.out


def test_a_kept_curve_is_shown_like_its_run(misstep: Command) -> None:
    file = keep(misstep, "kept.json", *GREEDY)
    misstep(*PERFECT)
    run, curve = json.loads(Path(file).read_text())["run"], misstep("show", file, "--beside", "last").out
    assert without_hint(curve) in misstep("show", run, "--beside", "last").out
    assert curve.endswith("Report: misstep report kept.json\n")
    assert misstep("show", file, "--json").out == Path(file).read_text()


def test_no_curve_stands_beside_itself(misstep: Command) -> None:
    file = keep(misstep, "kept.json", *GREEDY)
    assert misstep("show", file, "--beside", "last", "--beside", file).out == misstep("show", file).out


def test_kept_curves_need_no_store(misstep: Command, tmp_path: Path) -> None:
    file, other = keep(misstep, "kept.json", *GREEDY), keep(misstep, "perfect.json", *PERFECT)
    for left in (tmp_path / ".misstep").iterdir():
        left.unlink()
    (tmp_path / ".misstep").rmdir()
    check_snapshot("show-kept", misstep("show", file, "--beside", other, "--published").out)
    result = misstep("report", file, "--beside", other, "--published")
    page = tmp_path / "misstep-report" / "kept.html"
    assert (result.code, result.out) == (0, "misstep-report/kept.html\n")
    for name in ("sim:greedy", "sim:perfect", "GPT-4 in the PDoctor paper", "other problems than these"):
        assert name in page.read_text()
    assert misstep("report", file, "--report-dir", "-").out.startswith("<!doctype html>")
    assert not (tmp_path / ".misstep").exists()


def test_the_curves_in_the_readme_can_be_drawn_again(misstep: Command) -> None:
    tuned, base = (str(RESULTS / f"{name}.json") for name in ("local", "local-base"))
    page = misstep("report", tuned, "--beside", base, "--published", "--report-dir", "-").out
    for model in ("local/smollm2-135m-planner: ", "local/smollm2-135m: "):
        assert f"tools, {model}" in page


def test_what_can_t_stand_beside_a_curve_is_told_before_the_run(misstep: Command, tmp_path: Path) -> None:
    assert misstep(*PERFECT, "--beside", "none.json").code == 2
    assert not (tmp_path / ".misstep").exists()


@pytest.mark.parametrize("shown", ["show", "report", "plan"])
def test_what_is_published_stands_beside_a_run(misstep: Command, shown: str) -> None:
    page = ("--report", "html", "--report-dir", "-")
    misstep(*GREEDY)
    alone, among = {
        "show": (("show", "last"), ("show", "last", "--published")),
        "report": (("report", "last", *page), ("report", "last", *page, "--published")),
        "plan": ((*GREEDY, *page), (*GREEDY, *page, "--published")),
    }[shown]
    assert "PDoctor" not in misstep(*alone).out
    told = misstep(*among).out
    assert "GPT-3.5 in the PDoctor paper" in told
    assert "46 % with 3–5 actions (OT), under 20 % at 4" in told


def test_a_report_of_a_run_has_kept_curves_beside_it(misstep: Command) -> None:
    file = keep(misstep, "kept.json", *GREEDY)
    misstep(*PERFECT)
    page = misstep("report", "last", "--beside", file, "--report-dir", "-").out
    assert "sim:greedy: " in page


def test_a_file_of_settings_that_asks_for_it_hinders_no_other_run(misstep: Command, tmp_path: Path) -> None:
    keep(misstep, "kept.json", *GREEDY)
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "5", "--display", "none")
    (tmp_path / "misstep.toml").write_text('published = true\nbeside = ["kept.json"]\n')
    assert misstep("show", "last").code == 0
    assert json.loads(misstep("show", "last", "--json").out)["cases"] == 5
    assert misstep("report", "last").code == 0


@pytest.mark.full(after=5)
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            (*PERFECT, "--beside", "none.json"),
            "none.json  can't be read\n  No such file or directory\n  expected",
        ),
        (("show", "none.json"), "none.json  can't be read\n  No such file or directory\n  expected"),
        (("report", "none.json"), "none.json  can't be read\n  No such file or directory\n  expected"),
        (
            ("show", "no.json"),
            "no.json  is not a capability curve: Object missing required field `agent`\n  expected",
        ),
        (("show", "newer.json"), "newer.json  a curve of version 2\n  this misstep reads version 1"),
        (("show", "good.json", "--beside", "no.json"), "no.json  is not a capability curve: "),
        (("show", "good.json", "--beside", "nothing"), "there is no run 'nothing'"),
        (
            ("show", "good.json", "--json", "--published"),
            "--published can't be combined with --json\n  misstep show RUN --json prints each curve separately",
        ),
        ((*PERFECT, "--json", "--beside", "good.json"), "--beside can't be combined with --json"),
        (
            ("show", "good.json", "--by", "topic"),
            "good.json  --by can't be combined with a curve in a file\n  it has no",
        ),
        (
            ("report", "good.json", "--baseline", "last"),
            "good.json  --baseline can't be combined with a curve in a file\n  it has no cases",
        ),
        (
            ("report", "good.json", "--report", "junit"),
            "good.json  a curve has no junit report\n  it has no cases; use --report html",
        ),
        (
            ("show", "last", "--published"),
            "--published can't be combined with a run of plan test\n  only a plan capability run or",
        ),
        (("report", "last", "--beside", "good.json"), "--beside can't be combined with a run of plan test"),
        (("show", "last", "--by", "topic", "--published"), "--published can't be combined with --by"),
        (
            ("show", "last", "c1", "--beside", "x", "--published"),
            "--beside and --published can't be combined with a case",
        ),
    ],
)
def test_what_can_t_be_done(misstep: Command, arguments: tuple[str, ...], complaint: str) -> None:
    good = json.loads(Path(keep(misstep, "good.json", *GREEDY)).read_text())
    Path("no.json").write_text('{"run":"r1","cases":3}')
    Path("newer.json").write_text(json.dumps({**good, "version": 2}))
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "5", "--display", "none")
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert "Traceback" not in result.err
