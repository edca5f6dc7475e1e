"""What misstep lists of the field study's findings today: true, worst first, one cause once."""

from collections.abc import Sequence

import msgspec
import pytest

from misstep.core.results.finding import Cause, Finding, causes_of
from tests.quality.field_study import StudiedFinding, StudiedRun, studied_runs

FIRST = 5  # causes that people read before all others
RUNS = studied_runs()


class Score(msgspec.Struct):
    """How well what is listed agrees with the readers, over all servers together.

    A cause is what the first reader calls one, and true or false if both readers do; all others are
    debatable. A listed cause has the label of its worst finding. `first` counts the first five of each
    server, without minor ones, which are listed apart; most servers have fewer.
    """

    listed: int
    false: float  # share of false ones among those listed
    first: float  # share of true ones among the first of each server
    per_cause: float  # listed for each real one
    merged: list[set[str]]  # real causes listed as one
    folded: list[str]  # true causes that are listed among the minor ones only
    missed: list[str]  # true causes that are not listed


def listed_in(run: StudiedRun) -> list[tuple[Cause, list[StudiedFinding]]]:
    """The causes in the order in which they are listed, with what the readers said about each finding."""
    said = {each.finding.id: each for each in run.findings}
    causes = causes_of(each.finding for each in run.findings)
    return [(cause, [said[each.id] for each in cause.findings]) for cause in causes]


def score(runs: Sequence[StudiedRun]) -> Score:
    lists = [listed_in(run) for run in runs]
    causes = [each for listed in lists for each in listed]
    shown = [[rows for cause, rows in listed if not cause.findings[0].is_minor] for listed in lists]
    first = [rows[0].label for leading in shown for rows in leading[:FIRST]]
    named = [_groups(rows) for _, rows in causes]
    missed, folded = list[str](), list[str]()
    for run, listed, leading in zip(runs, lists, shown, strict=True):
        found = set().union(*(_groups(rows) for _, rows in listed))
        leads = set().union(*map(_groups, leading))
        missed += [f"{run.package}: {name}" for name in sorted(run.true - found)]
        folded += [f"{run.package}: {name}" for name in sorted(run.true & found - leads)]
    return Score(
        listed=len(causes),
        false=sum(rows[0].label == "false" for _, rows in causes) / len(causes),
        first=first.count("true") / len(first),
        per_cause=len(causes) / sum(len(set().union(*(_groups(rows) for _, rows in each))) for each in lists),
        merged=[groups for groups in named if len(groups) > 1],
        folded=folded,
        missed=missed,
    )


def _groups(rows: Sequence[StudiedFinding]) -> set[str]:
    """The causes that the first reader named, of findings that say what they said then."""
    return {row.group for row in rows if row.is_same}


def is_good(found: Score) -> bool:
    is_told_once = found.per_cause <= 1.09 and not found.merged
    is_found = not found.missed and len(found.folded) <= 2
    return found.false <= 0.02 and found.first >= 0.8 and is_told_once and is_found


def test_what_is_listed_is_true_and_each_cause_is_listed_once() -> None:
    assert sum(run.labelled for run in RUNS) >= 100
    found = score(RUNS)
    assert is_good(found), found


def test_nothing_is_listed_that_nobody_has_labelled() -> None:
    assert all(_groups(rows) for run in RUNS for _, rows in listed_in(run))


@pytest.mark.parametrize(
    ("name", "worse"),
    [
        ("marks", property(lambda self: (self.id,))),
        ("marks", property(lambda self: (self.cause,))),
        ("marks", property(lambda self: (self.spec,))),
        ("_complaint", ""),
        ("_unchecked", ""),
        ("_is_mild", False),
        ("_is_mild", True),
        ("_severity", 0),
    ],
)
def test_merging_or_ordering_worse_is_noticed(
    name: str, worse: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Finding, name, worse)
    assert not is_good(score(RUNS))
