"""A store with a run of every kind."""

from collections.abc import Sequence
from typing import Any

from misstep.core.outcome import Outcome
from misstep.core.run import RunSpec
from misstep.core.settings import Settings, Span
from misstep.core.spending import Spent
from misstep.features.capability.run import measure_capability
from misstep.features.dissect.run import dissect
from misstep.features.plan_test.run import run_agent
from misstep.features.shrink.run import shrink_case
from misstep.runs.lookup import view_run
from misstep.store.runs import Store
from tests.features.bench.test_view import a_task
from tests.features.consistency.stored_run import report_on_tool
from tests.features.crosstalk.test_view import noisy
from tests.features.fix.test_view import AFTER, BEFORE, report
from tests.features.tool_fuzz.test_view import REPORT

KINDS: tuple[str, ...] = (
    *("test", "capability", "dissect", "shrink", "fuzz", "consistency", "crosstalk", "fix", "files"),
)


def keep_every_kind(settings: Settings) -> dict[str, str]:
    """The id of each run by its verb."""
    settings = settings.overlay({"agent": "sim:greedy", "count": 12, "sample": 2, "jobs": 1})
    run = run_agent(settings).run
    failed = view_run(settings, run, 1).failures[0].case.id
    found: dict[str, str] = {"test": run}
    found["dissect"] = dissect(settings, run).run
    found["shrink"], _ = shrink_case(settings, run, failed)
    found["capability"] = measure_capability(settings.overlay({"actions": Span(2, 3), "count": None})).run
    found["fuzz"] = keep_reports(settings, "fuzz", REPORT.tools)
    found["consistency"] = keep_reports(settings, "consistency", [report_on_tool("moon", 3, 5)])
    found["crosstalk"] = keep_reports(settings, "crosstalk", noisy(2).groups)
    found["fix"] = keep_reports(settings, "fix", [report(*BEFORE, *AFTER)])
    found["files"] = keep_reports(settings, "files", [a_task(), a_task("passed", name="fi2")])
    return found


def keep_reports(settings: Settings, verb: str, reports: Sequence[Any]) -> str:
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings, len(reports), 1000.0, purpose=RunSpec(verb, tools=("a.py:b",))).id
        with store.sit(run, 0.0) as seat:
            for each in reports:
                seat.keep_report(each, Spent())
    return run


def keep_outcomes(settings: Settings, outcomes: Sequence[Outcome], total: int = 0) -> str:
    """A run that has not finished."""
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings, total, 1000.0).id
        with store.sit(run, 0.0) as seat:
            seat.keep(outcomes, Spent())
    return run
