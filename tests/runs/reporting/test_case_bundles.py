"""The cases of a stored run: all in the index, failures first, with what only the store knows."""

import json
from pathlib import Path

import pytest

from misstep.core.case import Case
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.dissect.run import dissect
from misstep.features.plan_test.run import run_agent
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.rendering.html.page import run_page
from misstep.runs.lookup import find_run
from misstep.runs.reporting.case_bundles import bundle_of, case_detail, case_index
from misstep.runs.reporting.statement import page_of
from tests.rendering.html.test_page import held
from tests.runs.stored import keep_run

CASES: list[Case] = [make_case(Suite(0, 3, 4), number) for number in range(6)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(agent="a", store=str(tmp_path / "store.db"))


def column(index: dict[str, object], name: str) -> list[object]:
    values = index[name]
    if isinstance(values, dict):
        return [values["words"][number] for number in values["of"]]
    assert isinstance(values, list)
    return values


def test_every_case_is_there_failures_first(settings: Settings) -> None:
    run = keep_run(
        settings, zip(CASES, ("passed", "failed", "errored", "passed", "inconclusive", "failed"), strict=True)
    )
    index = case_index(settings, run)
    assert column(index, "verdict") == ["failed", "failed", "errored", "inconclusive", "passed", "passed"]
    assert column(index, "id") == [CASES[number].id for number in (1, 5, 2, 4, 0, 3)]
    book = bundle_of(settings, find_run(settings, run))
    assert book.index == index
    kept, details = held(run_page(page_of(settings, run)))
    assert kept == json.loads(json.dumps(index))
    assert [each["id"] for each in details] == index["id"]
    assert details[0] == json.loads(json.dumps(case_detail(settings, run, CASES[1].id)))


def test_a_case_that_is_not_there(settings: Settings) -> None:
    run = keep_run(settings, [(CASES[0], "passed")])
    with pytest.raises(UsageError, match="there is no case 'nobody'"):
        case_detail(settings, run, "nobody")


def test_a_case_is_flaky_if_runs_of_the_same_agent_disagree(settings: Settings) -> None:
    first = keep_run(settings, [(CASES[0], "passed"), (CASES[1], "failed"), (CASES[2], "failed")])
    assert case_index(settings, first)["flaky"] is None
    keep_run(settings.overlay({"agent": "another"}), [(CASES[2], "passed")])
    keep_run(settings, [(CASES[0], "passed"), (CASES[1], "passed"), (CASES[3], "passed")])
    index = case_index(settings, first)
    flaky = dict(zip(index["id"], column(index, "flaky"), strict=True))
    assert flaky == {CASES[0].id: 0, CASES[1].id: 1, CASES[2].id: None}


def test_causes_come_from_dissections_of_the_run(settings: Settings) -> None:
    own = settings.overlay({"agent": "sim:greedy", "count": 12})
    run = run_agent(own).run
    assert case_index(own, run)["cause"] is None
    found = dissect(own.overlay({"sample": 2}), run)
    index = case_index(own, run)
    causes = dict(zip(index["id"], column(index, "cause"), strict=True))
    for diagnosis in found.failures:
        assert causes[diagnosis.case] == diagnosis.cause
        assert case_detail(own, run, diagnosis.case)["cause"]["evidence"] == diagnosis.evidence
    assert sum(map(bool, causes.values())) == 2
    page = run_page(page_of(own, found.run))
    for diagnosis in found.failures:
        assert f'<a href="#case={diagnosis.case}">' in page
