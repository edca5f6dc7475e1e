"""Findings in packages that others wrote, judged and merged again: true, worst first, one for each cause."""

import sys
from collections.abc import Iterator, Sequence
from typing import cast, get_args

import msgspec
import pytest
from msgspec import structs

from misstep.core.results.finding import Cause, Finding, FindingKind, causes_of
from misstep.core.results.trial import Judged
from misstep.fuzzing import contracts
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.judging import demands, endings, ruling
from misstep.fuzzing.triage.defect_index import finding_of, frames_of, located
from tests.quality.labelled_findings import LabelledFinding, LabelledPackage, labelled_packages

FIRST = 5  # causes that people read before all others
KINDS = get_args(FindingKind)


class Score(msgspec.Struct):
    """How well misstep judges, merges and orders findings whose labels are known."""

    false: float  # share of false ones among the causes shown
    first: float  # share of true ones among the first causes of each run
    per_cause: float  # causes shown for each real one
    merged: list[set[str]]  # real causes shown as one
    missed: list[str]  # true ones that are not reported


def shown(package: LabelledPackage) -> list[tuple[Cause, list[LabelledFinding]]]:
    """The causes in the order in which they are shown, each with the labels of its findings."""
    rows = dict[str, LabelledFinding]()
    findings = list[Finding]()
    for finding, row in _reported(package):
        rows[finding.id] = row
        findings.append(finding)
    return [(cause, [rows[each.id] for each in cause.findings]) for cause in causes_of(findings)]


def _reported(package: LabelledPackage) -> Iterator[tuple[Finding, LabelledFinding]]:
    """What misstep says about the stored reactions now; what it does not report any more is left out."""
    rule, tools = judge_sequences_of(package.tools), {tool.name: tool for tool in package.tools}
    for number, row in enumerate(package.findings):
        judged = rule(row.calls, row.reactions)
        if judged.ruling in KINDS:
            found = finding_of(judged, cast("FindingKind", judged.ruling), row.calls, number)
            found = structs.replace(found, frames=frames_of(judged, row.reactions[-1]))
            yield located(found, package.spec, tools, f"{number}"), row


def score(packages: Sequence[LabelledPackage]) -> Score:
    runs = [shown(package) for package in packages]
    causes = [(cause.findings[0], rows) for run in runs for cause, rows in run]
    leading = [[rows for cause, rows in run if not cause.findings[0].is_minor] for run in runs]
    first = [rows[0].label for run in leading for rows in run[:FIRST]]
    real = [{row.cause for _, rows in run for row in rows} for run in runs]
    return Score(
        false=sum(rows[0].label == "false" for _, rows in causes) / len(causes),
        first=first.count("true") / len(first),
        per_cause=len(causes) / sum(map(len, real)),
        merged=[named for _, rows in causes if len(named := {row.cause for row in rows}) > 1],
        missed=[
            f"{package.package}: {row.cause}"
            for package, found in zip(packages, real, strict=True)
            for row in package.findings
            if row.label == "true" and row.cause not in found
        ],
    )


PACKAGES = labelled_packages()


def is_good(found: Score) -> bool:
    is_told_once = found.per_cause <= 1.1 and not found.merged
    return found.false <= 0.02 and found.first >= 0.8 and is_told_once and not found.missed


def test_what_is_shown_is_true_and_each_cause_is_shown_once() -> None:
    assert len({(package.package, row.cause) for package in PACKAGES for row in package.findings}) >= 40
    found = score(PACKAGES)
    assert is_good(found), found


def test_every_finding_has_a_label_and_a_cause_has_one() -> None:
    for package in PACKAGES:
        labels = {(row.cause, row.label) for row in package.findings}
        assert all(row.cause and row.label and row.reason for row in package.findings), package.package
        assert len({cause for cause, _ in labels}) == len(labels), package.package


def everything_is_fine(*_: object) -> Judged:
    return Judged("fine")


@pytest.mark.parametrize(
    ("where", "name", "worse"),
    [
        (Finding, "marks", property(lambda self: (self.id,))),
        (Finding, "marks", property(lambda self: (self.cause,))),
        (Finding, "marks", property(lambda self: (self.spec,))),
        (Finding, "marks", property(lambda self: (self.spec + self.error,))),
        (Finding, "_words", []),
        (Finding, "_says_why", False),
        (Finding, "_family", property(lambda self: self.error)),
        (Finding, "_oddity", 0),
        (Finding, "_severity", 0),
        (demands, "refused_by_system", lambda *_: ""),
        (endings, "runs_what_it_is_given", lambda _: False),
        (endings, "MUCH", sys.maxsize),
        (ruling, "_judge_returned", everything_is_fine),
        (ruling, "judge_raised", everything_is_fine),
        (contracts.checks, "_unflagged", lambda _: None),
        (contracts.sql, "find_breach", lambda *_: None),
    ],
)
def test_judging_or_merging_worse_is_noticed(
    where: object, name: str, worse: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, worse)
    assert not is_good(score(PACKAGES))
